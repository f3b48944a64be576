"""kproxy.admin.dispatch: the table decides."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from kproxy.admin.dispatch import Room, Route, find
from kproxy.admin.message import HttpError, Request, Response
from kproxy.admin.routes import ROUTES
from kproxy.admin.view import View


async def read(_request: Request, _view: View) -> Response:
    return Response(HTTPStatus.OK, "text/plain", b"read")


async def change(_request: Request, _view: View) -> Response:
    return Response(HTTPStatus.OK, "text/plain", b"changed")


TABLE = (
    Route("GET", "/things", read, ""),
    Route("GET", "/things/{name}", read, ""),
    Route("POST", "/things/{name}", change, ""),
    Route("POST", "/things/{name}/reset", change, ""),
)

OWN = frozenset({"k"})


def test_a_path_finds_its_handler_and_segments() -> None:
    """Methods on one path differ; a {name} is one segment, never empty, never two."""
    route, request = find(TABLE, Request("POST", "/things/a b/reset"))
    assert (route.handler, request.segments) == (change, {"name": "a b"})
    assert find(TABLE, Request("GET", "/things/x"))[0].handler is read
    assert find(TABLE, Request("POST", "/things/x"))[0].handler is change


def test_head_is_get() -> None:
    """HEAD goes where GET goes."""
    assert find(TABLE, Request("HEAD", "/things"))[0].handler is read


@pytest.mark.parametrize("path", ["", "/", "/thing", "/things/", "/things/a/b", "/things/a/reset/", "*", "/THINGS"])
def test_what_is_not_there_is_a_404(path: str) -> None:
    """Paths match whole, by case, without a slash too many."""
    with pytest.raises(HttpError, match="GET / lists") as caught:
        find(TABLE, Request("GET", path))
    assert caught.value.status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/things", "GET, HEAD"),
        ("PUT", "/things/a", "GET, HEAD, POST"),
        ("GET", "/things/a/reset", "POST"),
        ("HEAD", "/things/a/reset", "POST"),
        ("get", "/things", "GET, HEAD"),
    ],
)
def test_the_wrong_method_is_a_405(method: str, path: str, allow: str) -> None:
    """It says which ones are right, as RFC 9110 demands."""
    with pytest.raises(HttpError) as caught:
        find(TABLE, Request(method, path))
    assert caught.value.status == HTTPStatus.METHOD_NOT_ALLOWED
    assert caught.value.headers == {"Allow": allow}


def test_routes_are_distinct() -> None:
    """No two routes of the real table answer the same method and path, and each has a help line."""
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
    assert all(route.help for route in ROUTES)


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({}, False),
        ({"host": "k:1"}, False),
        ({"host": "k:1", "origin": "http://k:1"}, False),
        ({"host": "l:1", "origin": "http://l:1"}, True),
        ({"host": "k:1", "origin": "http://k:2"}, True),
        ({"host": "k:1", "origin": "null"}, True),
        ({"host": "", "origin": "null"}, True),
        ({"origin": "http://k:1"}, True),
    ],
)
def test_pages_of_other_sites_may_only_read(headers: dict[str, str], refused: bool) -> None:
    """Whatever the handler does: the table's POST routes all stand behind this."""
    assert find(TABLE, Request("GET", "/things/x", headers=headers), OWN)[0].handler is read
    if not refused:
        assert find(TABLE, Request("POST", "/things/x", headers=headers), OWN)[0].handler is change
        return
    with pytest.raises(HttpError, match="may not do this") as caught:
        find(TABLE, Request("POST", "/things/x", headers=headers), OWN)
    assert caught.value.status == HTTPStatus.FORBIDDEN


def test_each_kind_has_a_room_of_its_own() -> None:
    """Probes wait for nobody; /metrics is one, /metrics/clients is a page of any size."""
    probes = {route.path for route in ROUTES if route.room is Room.PROBE}
    assert probes == {"/", "/metrics", "/livez", "/readyz"}
    assert all((route.room is Room.COMMAND) == (route.method != "GET") for route in ROUTES)
