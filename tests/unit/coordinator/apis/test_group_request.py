"""kproxy.coordinator.apis.group_request: which requests are taken, and who may be a member."""

from __future__ import annotations

import pytest

from kproxy.coordinator.apis.group_request import Permissions
from kproxy.errors import MalformedMessageError
from kproxy.observe.troubles import Where
from kproxy.protocol.answer import response_frame
from kproxy.protocol.outcomes import AskBroker, Deferred
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.join_group_response import JoinGroupResponse
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from tests.support.every import every
from tests.unit.coordinator.apis.hosting import GROUP, ID, OTHER, UNKNOWN, Connection, Hosting, Response
from tests.unit.coordinator.apis.test_members import join, stable

REQUESTS: dict[int, tuple[type[WireMessage], type[WireMessage]]] = {
    ApiKey.JOIN_GROUP: (JoinGroupRequest, JoinGroupResponse),
    ApiKey.SYNC_GROUP: (SyncGroupRequest, SyncGroupResponse),
    ApiKey.HEARTBEAT: (HeartbeatRequest, HeartbeatResponse),
    ApiKey.LEAVE_GROUP: (LeaveGroupRequest, LeaveGroupResponse),
}
EVERY = [(key, version) for key in REQUESTS for version in range(APIS[key].min_version, APIS[key].max_version + 1)]
NOT_READY, NOT_COORDINATOR, INVALID, FORBIDDEN = 14, 16, 24, 30


def request_of(key: int, group_id: str) -> WireMessage:
    """A request that every version has."""
    if key == ApiKey.JOIN_GROUP:
        protocols = [JoinGroupRequestProtocol("range", b"")]
        return JoinGroupRequest(group_id, 10_000, protocol_type="consumer", protocols=protocols)
    return REQUESTS[key][0](group_id=group_id)  # type: ignore[call-arg]


def heartbeat(connection: Connection, group_id: str = GROUP, permits: int = UNKNOWN) -> int:
    """The error of a heartbeat of a group."""
    request = HeartbeatRequest(group_id, 1, "one")
    return connection.send(request, 4, HeartbeatResponse, permits).body.error_code


@every(("key", "version"), EVERY)
def test_a_group_that_is_not_hosted_passes_unread(key: int, version: int) -> None:
    """Nothing behind its id is looked at, and nobody is asked."""
    connection = Connection(Hosting())
    body = request_of(key, OTHER).encode(version)
    upto = body.index(OTHER.encode()) + len(OTHER)
    assert connection.outcome(key, version, body) is None
    assert connection.outcome(key, version, body[:upto] + b"\xff" * 9) is None


@every(("key", "version"), EVERY)
def test_a_request_that_is_cut_short(key: int, version: int) -> None:
    """It is malformed, wherever it is cut, and nobody is asked."""
    connection = Connection(Hosting())
    body = request_of(key, GROUP).encode(version)
    for size in range(len(body)):
        with pytest.raises(MalformedMessageError):
            connection.outcome(key, version, body[:size])


@pytest.mark.parametrize("error", [NOT_READY, 15, NOT_COORDINATOR, INVALID, FORBIDDEN])
@every(("key", "version"), EVERY)
def test_the_brokers_refusal_is_the_clients(key: int, version: int, error: int) -> None:
    """In the shape of each API and version, as a broker sends it; the coordinator hears of nothing."""
    hosting = Hosting()
    connection = Connection(hosting)
    body = connection.send(request_of(key, GROUP), version, REQUESTS[key][1], permits=error).body
    expected: dict[str, object] = {"error_code": error}
    if key == ApiKey.JOIN_GROUP and version >= 7:
        expected["protocol_name"] = None
    assert body == REQUESTS[key][1](**expected)
    assert hosting.coordinator.groups == {}
    assert [each.group_id for each in connection.questions] == [GROUP]


@pytest.mark.parametrize("answer", [0, 22, UNKNOWN, 27, 69])
def test_a_principal_that_may_read_the_group(answer: int) -> None:
    """Whatever the broker makes of the member and the generation: it was authorized."""
    connection = Connection(Hosting())
    assert heartbeat(connection, permits=answer) == UNKNOWN
    assert heartbeat(connection, permits=FORBIDDEN) == UNKNOWN
    assert len(connection.questions) == 1


def test_the_question_is_a_heartbeat_of_nobody() -> None:
    """It names the client's group, and a member that no group has, so that it changes nothing."""
    connection = Connection(Hosting())
    heartbeat(connection)
    (question,) = connection.questions
    assert (question.group_id, question.generation_id) == (GROUP, 0)
    assert " " in question.member_id, "ids that brokers give have a UUID at the end"


def test_permission_is_asked_once_a_connection_and_group() -> None:
    """Whatever the API; a refusal is not remembered."""
    hosting = Hosting()
    one, two = Connection(hosting), Connection(hosting)
    assert heartbeat(one, permits=FORBIDDEN) == FORBIDDEN
    for key, version in EVERY:
        one.send(request_of(key, GROUP), version, REQUESTS[key][1])
    assert len(one.questions) == 2
    heartbeat(one, "hosted-2")
    heartbeat(two)
    assert ([each.group_id for each in one.questions], len(two.questions)) == ([GROUP, GROUP, "hosted-2"], 1)


def test_permission_is_asked_again_for_another_principal() -> None:
    """A connection may authenticate anew (KIP-368), and what the one may the other may not."""
    connection = Connection(Hosting())
    connection.context.principal = "User:alice"
    heartbeat(connection)
    connection.context.principal = "User:bob"
    assert heartbeat(connection, permits=FORBIDDEN) == FORBIDDEN
    heartbeat(connection)
    connection.context.principal = "User:alice"
    heartbeat(connection)
    assert len(connection.questions) == 4


class Beating:
    """The only member of a group, with a session of 10 s, and its connection."""

    def __init__(self) -> None:
        self.hosting = Hosting()
        self.connection = Connection(self.hosting)
        (joined,) = stable(self.hosting, None)
        self.request = HeartbeatRequest(GROUP, joined.generation_id, joined.member_id)

    def beat(self, permits: int = UNKNOWN) -> int:
        """Send a heartbeat; return its error."""
        return self.connection.send(self.request, 4, HeartbeatResponse, permits).body.error_code

    def asked(self, times: int) -> list[int]:
        """Beat every three seconds; return how often the broker had been asked after each time."""
        asked = []
        for _ in range(times):
            self.hosting.wait(3)
            assert self.beat() == 0
            asked.append(len(self.connection.questions))
        return asked


def test_a_heartbeat_has_permission_asked_again() -> None:
    """Each half minute: else the broker of a member that commits nothing would end its connection as idle."""
    member = Beating()
    assert member.asked(25) == [1] * 10 + [2] * 10 + [3] * 5
    assert member.connection.questions[-1] == member.connection.questions[0]


def test_a_permission_that_is_taken_back() -> None:
    """The member gets the broker's error, at each request from then on, until it is given again."""
    member = Beating()
    member.asked(10)
    member.hosting.wait(3)
    assert [member.beat(FORBIDDEN), member.beat(FORBIDDEN), member.beat()] == [FORBIDDEN, FORBIDDEN, 0]


@pytest.mark.parametrize("error", [15, NOT_COORDINATOR])
def test_a_broker_that_is_not_the_coordinator_any_more(error: int) -> None:
    """The member is told so, and stays a member: at the right one it goes on."""
    member = Beating()
    member.asked(10)
    for _ in range(9):
        member.hosting.wait(3)
        assert member.beat(error) == error
    assert member.beat() == 0


class Asked:
    """A heartbeat of a member whose broker is asked again; it came 9 s after the one before."""

    def __init__(self, member: Beating) -> None:
        member.asked(10)
        member.hosting.wait(9)
        outcome = member.connection.outcome(ApiKey.HEARTBEAT, 4, member.request.encode(4))
        assert isinstance(outcome, AskBroker)
        self.steps = outcome.steps
        next(self.steps)

    def answered(self) -> int:
        """Have the broker answer; return the heartbeat's error."""
        answer = bytes(encode_response_header(ID, ApiKey.HEARTBEAT, 0)) + HeartbeatResponse(error_code=UNKNOWN).encode(
            0
        )
        with pytest.raises(StopIteration) as end:
            self.steps.send(answer)
        return Response(end.value.value, ApiKey.HEARTBEAT, 4, HeartbeatResponse).body.error_code


def test_a_broker_that_stalls_when_it_is_asked_again() -> None:
    """No session ends for the broker's sake, within bounds: heartbeats behind the question are not read."""
    member = Beating()
    asked = Asked(member)
    member.hosting.wait(65)
    assert asked.answered() == 0
    member.hosting.wait(9)
    assert member.beat() == 0
    asked = Asked(member := Beating())
    member.hosting.wait(71)
    assert asked.answered() == UNKNOWN


def test_a_member_that_goes_while_its_broker_is_asked_again() -> None:
    """It has its session from then on, as one whose connection ends at any time."""
    member = Beating()
    Asked(member).steps.close()
    member.hosting.wait(9)
    assert member.beat() == 0
    Asked(member := Beating()).steps.close()
    member.hosting.wait(11)
    assert member.beat() == UNKNOWN


def test_a_rebalance_that_begins_while_its_broker_is_asked_again() -> None:
    """The heartbeat's answer has what holds by then; during a rebalance nobody is asked."""
    member = Beating()
    asked = Asked(member)
    join(Connection(member.hosting), 9)
    assert asked.answered() == ErrorCode.REBALANCE_IN_PROGRESS
    member = Beating()
    member.asked(10)
    join(Connection(member.hosting), 9)
    member.hosting.wait(3)
    assert (member.beat(), len(member.connection.questions)) == (ErrorCode.REBALANCE_IN_PROGRESS, 1)


@pytest.mark.parametrize("version", [0, 1, 4])
def test_the_question_is_of_another_version(version: int) -> None:
    """Else the relay would take the broker's answer for the client's, and count its error."""
    outcome = Connection(Hosting()).outcome(ApiKey.HEARTBEAT, version, HeartbeatRequest(GROUP).encode(version))
    assert isinstance(outcome, AskBroker)
    question = next(outcome.steps)
    assert decode_request_header(question, 4, len(question))[0].api_version == (1 if version == 0 else 0) != version


def test_a_connection_with_very_many_groups() -> None:
    """No more than so many are remembered; all are served."""
    connection = Connection(Hosting())
    for number in (*range(300), 299, 0):
        heartbeat(connection, f"hosted-{number}")
    assert len(connection.questions) == 301


def test_a_connection_with_as_many_groups_as_are_remembered() -> None:
    """To ask again about one of them makes none of the others forgotten."""
    connection = Connection(Hosting())
    permissions = connection.context.state(Permissions)
    for number in (*range(16), 0):
        permissions.add(f"hosted-{number}", None, 0.0)
    assert all(permissions.has(f"hosted-{number}", None) for number in range(16))


def test_a_permission_for_a_long_id_is_not_remembered() -> None:
    """It is asked again and again, and works: connections are many, and ids may have 32 kB."""
    connection = Connection(Hosting())
    for size in (240, 240, 300, 300):
        heartbeat(connection, "hosted-" + "g" * size)
    assert len(connection.questions) == 3


def test_a_permission_that_cannot_be_read_ends_the_connection() -> None:
    """A broker that answers anything else is none."""
    outcome = Connection(Hosting()).outcome(ApiKey.HEARTBEAT, 0, HeartbeatRequest(GROUP).encode(0))
    assert isinstance(outcome, AskBroker)
    next(outcome.steps)
    with pytest.raises(MalformedMessageError):
        outcome.steps.send(b"\x00\x00\x00\x4d\x00")


def test_a_client_that_is_gone_before_its_join_is_answered() -> None:
    """Its answer is dropped when it comes."""
    hosting = Hosting()
    connection = Connection(hosting)
    heartbeat(connection)
    outcome = connection.outcome(ApiKey.JOIN_GROUP, 0, request_of(ApiKey.JOIN_GROUP, GROUP).encode(0))
    assert isinstance(outcome, Deferred)
    outcome.abandon()
    hosting.wait(3.0)
    assert (outcome.frame, hosting.coordinator.groups[GROUP].generation) == (None, 1)


def test_an_answer_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its member alone is told that something went wrong (-1); the others of the group are answered."""
    hosting = Hosting()
    joins = [join(Connection(hosting), 9) for _ in range(3)]
    failing = iter([True, False, False])

    def sometimes(header: RequestHeader, answer: WireMessage) -> bytes:
        if next(failing):
            raise ValueError(answer)
        return response_frame(header, answer)

    monkeypatch.setattr("kproxy.coordinator.apis.group_request.response_frame", sometimes)
    hosting.wait(9.0)
    errors = [each.body.error_code for each in joins]
    assert sorted(errors) == [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE, ErrorCode.NONE]
    assert hosting.troubles.errors[Where.GROUPS.value] == 1
