"""kproxy.wire.message: versions, bytes and values of whole messages."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest


def test_known_bytes() -> None:
    """A request has the bytes that a client sends."""
    body = MetadataRequest(topics=[MetadataRequestTopic(name="t")], allow_auto_topic_creation=False).encode(9)
    assert body == b"\x02\x02t\x00\x00\x00\x00\x00"
    assert MetadataRequest.decode(body, 9).topics == [MetadataRequestTopic(name="t")]


def test_null_and_empty_differ() -> None:
    """No topics at all is not the same as all topics."""
    assert MetadataRequest(topics=None).encode(1) == b"\xff\xff\xff\xff"
    assert MetadataRequest(topics=[]).encode(1) == b"\x00\x00\x00\x00"


@pytest.mark.parametrize("version", [-1, 14])
def test_unknown_version(version: int) -> None:
    """It is neither decoded nor encoded."""
    with pytest.raises(UnsupportedApiError, match="MetadataRequest has versions 0-13"):
        MetadataRequest.decode(b"", version)
    with pytest.raises(UnsupportedApiError, match="MetadataRequest has versions 0-13"):
        MetadataRequest().encode(version)


@pytest.mark.parametrize(
    "body",
    [b"", b"\x02", b"\x02\x03\xff\xff\x00\x00\x00\x00\x00", b"\x02\x00\x00\x00\x00\x00\x00"],
    ids=["nothing", "cut", "no UTF-8", "null where none may be"],
)
def test_malformed(body: bytes) -> None:
    """All raise the same exception, with the message's name and version."""
    with pytest.raises(MalformedMessageError, match="MetadataRequest v9: "):
        MetadataRequest.decode(body, 9)


def test_field_that_a_version_lacks() -> None:
    """As in Kafka, a value other than the default is refused; the default is left out."""
    with pytest.raises(ValueError, match=r"MetadataRequest\.allow_auto_topic_creation is set, but version 3"):
        MetadataRequest(allow_auto_topic_creation=False).encode(3)
    assert MetadataRequest().encode(3) == b"\x00\x00\x00\x00"


def test_ignorable_field_that_a_version_lacks() -> None:
    """A field that Kafka calls ignorable is dropped silently."""
    assert ApiVersionsResponse(throttle_time_ms=5).encode(0) == b"\x00\x00\x00\x00\x00\x00"


def test_unknown_tags_need_a_flexible_version() -> None:
    """They cannot be encoded in a version without tagged fields."""
    with pytest.raises(ValueError, match="unknown_tags is set, but version 2"):
        ApiVersionsResponse(unknown_tags=((9, b""),)).encode(2)


def test_known_and_unknown_tags_together() -> None:
    """All are in ascending order, known or not; the unknown ones survive."""
    body = ApiVersionsResponse(
        finalized_features_epoch=7, zk_migration_ready=True, unknown_tags=((2**20, b"x"),)
    ).encode(3)
    assert body == bytes.fromhex("0000 01 00000000 03 01 08 0000000000000007 03 01 01 808040 01 78")
    assert ApiVersionsResponse.decode(body, 3).unknown_tags == ((2**20, b"x"),)


@pytest.mark.parametrize("behind", [b"", b"\0", b"\xff" * 9])
def test_bytes_behind_that_do_not_matter(behind: bytes) -> None:
    """As by brokers and clients: librdkafka's mock cluster ends Metadata with a byte too many."""
    request = MetadataRequest(topics=None)
    assert MetadataRequest.decode(request.encode(12) + behind, 12) == request


def test_tagged_field_with_bytes_behind_its_value() -> None:
    """A tagged field is exactly as long as it says."""
    with pytest.raises(MalformedMessageError, match="1 bytes behind"):
        ApiVersionsResponse.decode(bytes.fromhex("0000 01 00000000 01 03 02 01 00"), 3)


def test_number_out_of_range() -> None:
    """A value that its type cannot hold is the caller's error."""
    with pytest.raises(ValueError, match="ApiVersionsResponse v0"):
        ApiVersionsResponse(api_keys=[ApiVersion(api_key=40_000)]).encode(0)


def test_null_where_none_may_be() -> None:
    """The error for a null that a version forbids has the field's name."""
    with pytest.raises(ValueError, match=r"MetadataRequest\.topics may not be null in version 0"):
        MetadataRequest(topics=None).encode(0)


def test_message_without_flexible_versions() -> None:
    """It has no field for unknown tags."""
    assert SaslHandshakeRequest(mechanism="PLAIN").encode(1) == b"\x00\x05PLAIN"
    assert not hasattr(SaslHandshakeRequest(), "unknown_tags")
