"""The handshake's decisions: which version to ask with, what an answer means, and which version a request gets."""

from __future__ import annotations

import re

import pytest

import kproxy
from kproxy.errors import MalformedMessageError, RefusedError, UpstreamError
from kproxy.upstream.handshake import HELLO, NotOfferedError, Offered, Request, decode_answer, next_hello, offered, pick
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.fetch_request import FetchRequest
from kproxy.wire.generated.list_offsets_request import ListOffsetsRequest
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.produce_request import ProduceRequest

NEWEST = HELLO.max_version


def refusal(*keys: ApiVersion, code: int = 35) -> ApiVersionsResponse:
    """An answer with an error."""
    return ApiVersionsResponse(error_code=code, api_keys=list(keys))


def test_kproxy_names_itself() -> None:
    """Name and version are those that Kafka accepts (KIP-511), and no node or cluster is claimed (KIP-1242)."""
    assert HELLO.client_software_name == "kproxy"
    assert HELLO.client_software_version == kproxy.__version__
    assert re.fullmatch(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", kproxy.__version__)
    assert (HELLO.cluster_id, HELLO.node_id) == (None, -1)


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_good_answer_is_read_in_the_version_asked(version: int) -> None:
    """Every version's own form is understood."""
    answer = ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 12)])
    assert decode_answer(answer.encode(version), version) == answer
    assert next_hello(answer, version) is None


def test_a_refusal_is_read_in_the_form_of_v0() -> None:
    """Error 35 comes in a v0 body, whatever was asked."""
    assert decode_answer(refusal(ApiVersion(18, 0, 3)).encode(0), NEWEST).api_keys == [ApiVersion(18, 0, 3)]


@pytest.mark.parametrize("rest", ["01 0012 0000 0002 00000000", "", "7fffffff"])
def test_a_refusal_that_cannot_be_read_names_no_range(rest: str) -> None:
    """librdkafka's mock cluster answers so (the first case): it is still a refusal, and v0 follows."""
    answer = decode_answer(b"\0\x23" + bytes.fromhex(rest), NEWEST)
    assert (answer.error_code, answer.api_keys) == (35, [])
    assert next_hello(answer, NEWEST) == 0


def test_garbage_is_malformed() -> None:
    """A body that is no ApiVersions answer raises its one exception."""
    with pytest.raises(MalformedMessageError):
        decode_answer(b"\0\0\xff", NEWEST)


@pytest.mark.parametrize(
    ("own", "follow"),
    [([ApiVersion(18, 0, 3)], 3), ([ApiVersion(18, 0, 99)], None), ([], 0), ([ApiVersion(3, 0, 12)], 0)],
)
def test_after_a_refusal_the_version_that_the_broker_names(own: list[ApiVersion], follow: int | None) -> None:
    """It is the broker's newest, or v0 when it names none; a broker that refuses its own range is given up."""
    if follow is None:
        with pytest.raises(UpstreamError, match="UNSUPPORTED_VERSION"):
            next_hello(refusal(*own), NEWEST)
    else:
        assert next_hello(refusal(*own), NEWEST) == follow


def test_a_negative_version_is_not_asked_for() -> None:
    """A nonsense range leads to v0, not to an encoding error."""
    assert next_hello(refusal(ApiVersion(18, -7, -5)), 3) == 0


def test_the_versions_asked_for_only_fall() -> None:
    """When v0 is refused, or for any other error, the handshake ends instead of looping."""
    for answer, version in ((refusal(), 0), (refusal(code=42), NEWEST)):
        why = f"v{version}: the broker answers ApiVersions with {error_name(answer.error_code)}"
        with pytest.raises(RefusedError, match=why):
            next_hello(answer, version)


def test_offered_is_by_api_key() -> None:
    """The answer's ranges, by key."""
    assert offered(ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 12)])) == {3: Offered(0, 12)}


@pytest.mark.parametrize(("low", "high", "version"), [(0, 4, 4), (0, 99, 13), (13, 99, 13), (0, 0, 0)])
def test_pick_is_the_newest_that_both_know(low: int, high: int, version: int) -> None:
    """The upper end of the intersection."""
    assert pick(MetadataRequest(), {3: Offered(low, high)}) == version


@pytest.mark.parametrize("ranges", [{}, {3: Offered(14, 20)}, {3: Offered(5, 4)}])
def test_nothing_in_common_is_an_error_that_no_retry_helps(ranges: dict[int, Offered]) -> None:
    """An API that is absent, too new, or has an empty range: the error names it."""
    with pytest.raises(NotOfferedError, match="Metadata"):
        pick(MetadataRequest(), ranges)


@pytest.mark.parametrize(
    ("message", "high", "says"),
    [
        (ProduceRequest(), 2, "kproxy v3 to"),
        (FetchRequest(), 3, "kproxy v4 to"),
        (ListOffsetsRequest(), 0, "kproxy v1"),
    ],
)
def test_what_kafka_4_has_removed_is_for_clients_only(message: Request, high: int, says: str) -> None:
    """kproxy's own records and questions are not of the first formats."""
    with pytest.raises(NotOfferedError, match=says):
        pick(message, {message.api_key: Offered(0, high)})


def test_a_broker_too_old_for_kproxy() -> None:
    """A request whose oldest version is newer than the broker's newest is not sent."""

    class Newer(MetadataRequest):
        min_version = 4

    with pytest.raises(NotOfferedError, match="v0 to v3, kproxy v4 to v13"):
        pick(Newer(), {3: Offered(0, 3)})
