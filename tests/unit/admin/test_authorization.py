"""kproxy.admin.authorization: who may give commands."""

from __future__ import annotations

import pytest

from kproxy.admin.authorization import check_commander
from kproxy.admin.message import HttpError, Request

TOKEN = "s3cret-\u00e9"


def request(**headers: str) -> Request:
    return Request("POST", "/api/v1/reload", headers=headers)


def refused(status: int, request: Request, token: str | None, *, local: bool = False) -> HttpError:
    """The refusal, which must have this status."""
    with pytest.raises(HttpError) as caught:
        check_commander(request, token, local=local, anyone=False)
    assert caught.value.status == status
    return caught.value


@pytest.mark.parametrize(("local", "anyone"), [(True, False), (False, True), (True, True)])
def test_without_a_token(local: bool, anyone: bool) -> None:
    """Who is on this machine, and everybody where the configuration says so."""
    check_commander(request(), None, local=local, anyone=anyone)


def test_from_another_machine() -> None:
    """The reason says both ways that there are; a token that kproxy does not know of does not help."""
    error = refused(403, request(authorization=f"Bearer {TOKEN}"), None)
    assert "admin.token_file" in str(error)
    assert "kubectl exec" in str(error)


@pytest.mark.parametrize("said", [f"Bearer {TOKEN}", f"bearer  {TOKEN} "])
def test_with_the_token(said: str) -> None:
    """Wherever it comes from; the header is read as latin-1, the token's file as UTF-8."""
    check_commander(request(authorization=said.encode().decode("latin-1")), TOKEN, local=False, anyone=False)


@pytest.mark.parametrize("said", [None, "", "Basic czNjcmV0", TOKEN, "Bearer"])
@pytest.mark.parametrize("local", [True, False])
def test_without_the_token(said: str | None, local: bool) -> None:
    """Not on this machine either; the answer says how to bear it."""
    error = refused(401, request() if said is None else request(authorization=said), TOKEN, local=local)
    assert error.headers == {"WWW-Authenticate": 'Bearer realm="kproxy"'}
    assert "--token-file" in str(error)


@pytest.mark.parametrize("said", ["Bearer x", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \u00ff", "Bearer "])
def test_with_another_token(said: str) -> None:
    """Whatever it is."""
    assert "not that of" in str(refused(401, request(authorization=said), TOKEN))
