"""`/`: what there is, for a person with a browser or curl."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from http import HTTPStatus

from kproxy import __version__
from kproxy.admin.dispatch import Handler, Route
from kproxy.admin.message import Request, Response
from kproxy.admin.view import View


def _line(route: Route) -> str:
    path = escape(route.path)
    shown = f'<a href="{path}">{path}</a>' if route.method == "GET" and "{" not in path else path
    return f"<li>{route.method} {shown}: {escape(route.help)}</li>\n"


def index_of(routes: Sequence[Route]) -> Handler:
    """A handler that lists the routes, with links where a link can lead."""
    lines = "".join(_line(route) for route in routes)
    page = f"<!doctype html>\n<title>kproxy</title>\n<h1>kproxy {__version__}</h1>\n<ul>\n{lines}</ul>\n".encode()

    async def index(_request: Request, _view: View) -> Response:
        return Response(HTTPStatus.OK, "text/html; charset=utf-8", page)

    return index
