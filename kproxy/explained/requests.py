# This module is pure (no I/O, no clock).
"""Errors that any request may get: the broker, the network, the version, a quota, client telemetry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR: Text(
            "The broker failed at the request in a way for which Kafka has no code.",
            "Look for the exception in the broker's log at that moment.",
            kproxy="When kproxy itself fails at a request of a hosted group, or a broker's answer about configs lacks "
            "a resource.",
        ),
        ErrorCode.NONE: Text(
            "There is no error.",
            "Nothing.",
            client="It takes the response as a success.",
        ),
        ErrorCode.REQUEST_TIMED_OUT: Text(
            "The broker did not finish the request in the time that it was given, so it may have been carried out.",
            "Nothing, if it is rare; otherwise look for replicas that are slow or away.",
        ),
        ErrorCode.BROKER_NOT_AVAILABLE: Text(
            "The broker that the request needs is not running, or is not ready to serve.",
            "See that the broker runs, and try again.",
        ),
        ErrorCode.NETWORK_EXCEPTION: Text(
            "The connection ended before the response had come, so the request may have been carried out.",
            "Nothing, if it is rare; otherwise look at the network and at the broker's log.",
            client="Libraries use this code for a lost connection, mostly without having got it from a broker.",
            kproxy="When the broker does not answer kproxy's question about configs of client telemetry.",
        ),
        ErrorCode.UNSUPPORTED_VERSION: Text(
            "The broker does not serve this version of the request, or not with these fields.",
            "Use a client and a broker whose versions fit, or leave out the feature that the older one lacks.",
            kproxy="For a version of ApiVersions that kproxy does not know, with the newest that it does; for the list "
            "of config resources of other types where the broker cannot list them.",
            kip=35,
        ),
        ErrorCode.INVALID_CONFIG: Text(
            "A config has a value that the broker does not accept.",
            "Correct the value that the error message names.",
            kproxy="For a subscription of client telemetry with a wrong interval or match.",
            kip=4,
        ),
        ErrorCode.INVALID_REQUEST: Text(
            "The request contradicts itself, or breaks a rule of its API.",
            "Read the error message and the broker's log; otherwise report it to the client library.",
            client="In answer to telemetry, Java's client sends no more of it (read in its source).",
            kproxy="For a push of client telemetry after the last one or without an instance id, for subscriptions "
            "that are not well formed, for a broker's config with an address that kproxy has put in its place, and for "
            "a description of client metrics together with too much else.",
        ),
        ErrorCode.POLICY_VIOLATION: Text(
            "A policy that the broker's operators have configured refuses the request.",
            "Change the request as the error message says, or ask the operators.",
            kproxy="When hosted groups have reached a limit (groups, bytes, ids given out), for a subscription that "
            "stands in kproxy's own configuration, and beyond the largest number of subscriptions.",
            kip=108,
        ),
        ErrorCode.OPERATION_NOT_ATTEMPTED: Text(
            "Another part of the same request failed, so this part was not tried.",
            "Look at the part that failed: it has the real error.",
        ),
        ErrorCode.THROTTLING_QUOTA_EXCEEDED: Text(
            "The client asks for more than its quota allows.",
            "Send less, or have the quota raised, if it lasts.",
            client="In answer to telemetry, Java's client waits for its next interval (read in its source).",
            kproxy="For client telemetry that comes before its interval is over, or takes more than the part of its "
            "connection or address. `byte_rates` never answer it: they give a throttle time.",
            kip=599,
        ),
        ErrorCode.RESOURCE_NOT_FOUND: Text(
            "The request names something that is not there, e.g. a user without SCRAM credentials.",
            "Check the name.",
            kip=554,
        ),
        ErrorCode.DUPLICATE_RESOURCE: Text(
            "The request names the same thing twice.",
            "Name each thing once.",
            kip=554,
        ),
        ErrorCode.UNKNOWN_SUBSCRIPTION_ID: Text(
            "The client pushes metrics for a subscription that has changed since it asked.",
            AGAIN,
            client="It asks for its subscription at once, and then pushes by the new one (KIP-714).",
            kproxy="For a push with a subscription id that is not the present one.",
            kip=714,
        ),
        ErrorCode.TELEMETRY_TOO_LARGE: Text(
            "A push of the client's metrics is larger than what is accepted.",
            "Subscribe to fewer metrics, or raise the limit.",
            client="Java's client drops that push, and goes on with the next (read in its source).",
            kproxy="For a push beyond max_bytes, max_points, max_attributes, max_buckets or max_fields, and for more "
            "than 60,000 fields in the metrics of one resource.",
            kip=714,
        ),
        ErrorCode.REBOOTSTRAP_REQUIRED: Text(
            "What the client knows of the cluster is out of date as a whole.",
            "Nothing: a client that knows the code bootstraps again.",
            client="Measured across a failover: Java 4.3 and 4.4, librdkafka 2.11 to 2.16, kafka-python 3.0 and "
            "franz-go 1.22 go on within about two seconds (docs/rebootstrap.md).",
            kproxy="To Metadata v13 and ApiVersions v5 of a client whose topology is gone, once in an epoch "
            "(docs/rebootstrap-table.md).",
            kip=1102,
        ),
    }
)
