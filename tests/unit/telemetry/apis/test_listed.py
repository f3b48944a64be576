"""A broker's list of resources, which stays encoded."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.telemetry.apis.listed import Listed
from kproxy.telemetry.config_policies import RESPONSES
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.list_config_resources_response import ConfigResource, ListConfigResourcesResponse
from tests.support.every import every

TOPIC, CLIENT_METRICS = 2, 16
TAGGED = ConfigResource("tagged" * 40, TOPIC, unknown_tags=((9, b"nine"), (300, b"")))
SOME = [ConfigResource("s", CLIENT_METRICS), ConfigResource("a", TOPIC), TAGGED, ConfigResource("t", CLIENT_METRICS)]
OWN = [ConfigResource(f"own-{number}", CLIENT_METRICS) for number in range(3)]


def response(resources: list[ConfigResource], code: int = 0) -> ListConfigResourcesResponse:
    return ListConfigResourcesResponse(throttle_time_ms=7, error_code=code, config_resources=resources)


@pytest.mark.parametrize("resources", [[], SOME, SOME * 100], ids=len)
@pytest.mark.parametrize("own", [[], OWN, OWN * 100], ids=len)
def test_the_brokers_subscriptions_make_room_for_the_proxys(
    resources: list[ConfigResource], own: list[ConfigResource]
) -> None:
    """All others stay as they are, with their tagged fields."""
    listed = Listed.decode(response(resources).encode(1), 1)
    assert (listed.throttle_time_ms, listed.error_code, listed.config_resources) == (7, 0, [])
    listed.config_resources = own
    others = [one for one in resources if one.resource_type != CLIENT_METRICS]
    assert ListConfigResourcesResponse.decode(listed.encode(1), 1) == response(others + own)


def test_an_error() -> None:
    """It is the broker's."""
    listed = Listed.decode(response([], 31).encode(1), 1)
    assert ListConfigResourcesResponse.decode(listed.encode(1), 1) == response([], 31)


@every("size", range(len(response(SOME).encode(1))))
def test_a_response_that_is_cut(size: int) -> None:
    """It is malformed wherever it ends."""
    with pytest.raises(MalformedMessageError):
        Listed.decode(response(SOME).encode(1)[:size], 1)


def test_a_brokers_topics_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dialogues read a broker's list without an object for each topic: decoding 100,000 held the loop for 0.3 s."""
    body = response([ConfigResource(f"topic-{number}", TOPIC) for number in range(100_000)]).encode(1)

    def refuse(*args: object) -> ConfigResource:
        raise AssertionError("a resource is decoded")

    monkeypatch.setattr(ConfigResource, "read", refuse)
    monkeypatch.setattr(ConfigResource, "write", refuse)
    listed = RESPONSES[ApiKey.LIST_CONFIG_RESOURCES].decode(body, 1)
    assert listed.encode(1) == body
