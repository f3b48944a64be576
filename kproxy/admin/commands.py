"""`POST /api/v1/clusters/{cluster}/…`: what an operator may have a virtual cluster do."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from math import ceil
from typing import TypeVar

from kproxy.admin.api import cluster_of
from kproxy.admin.message import HttpError, Request, Response, json_fields, json_response
from kproxy.admin.view import View
from kproxy.errors import ConflictError, InvalidArgumentError, NotFoundError, NotPersistedError, RetryLaterError

T = TypeVar("T")


async def rebootstrap(request: Request, view: View) -> Response:
    name = cluster_of(view, request.segments["cluster"]).name
    json_fields(request, {})
    told = await carried_out(view.rebootstrap(name))
    return json_response({"cluster": told.cluster, "epoch": told.epoch, "connections": told.connections})


async def failover(request: Request, view: View) -> Response:
    """`to`: the upstream, without it the next in order; `force`: even when it does not answer or lacks ports."""
    cluster = cluster_of(view, request.segments["cluster"])
    fields = json_fields(request, {"to": str, "force": bool})
    to = fields.get("to")
    names = [upstream.name for upstream in cluster.upstreams]
    if to is not None and to not in names:
        reason = f"{cluster.name} has no upstream {to!r}; there are: {', '.join(names)}"
        raise HttpError(HTTPStatus.NOT_FOUND, reason)
    told = await carried_out(view.failover(cluster.name, to, fields.get("force", False)))
    return json_response(asdict(told))


async def carried_out(order: Awaitable[T]) -> T:
    """What the order returns; its refusal as `HttpError`."""
    with refusals():
        return await order


@contextmanager
def refusals() -> Iterator[None]:
    """Turns an `CommandError` into the `HttpError` of its kind: 400, 404, 409, 429 with Retry-After, or 500."""
    try:
        yield
    except InvalidArgumentError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, str(error)) from error
    except NotFoundError as error:
        raise HttpError(HTTPStatus.NOT_FOUND, str(error)) from error
    except ConflictError as error:
        raise HttpError(HTTPStatus.CONFLICT, str(error)) from error
    except NotPersistedError as error:
        raise HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from error
    except RetryLaterError as error:
        wait = {"Retry-After": str(max(1, ceil(error.seconds)))}
        raise HttpError(HTTPStatus.TOO_MANY_REQUESTS, str(error), wait) from error
