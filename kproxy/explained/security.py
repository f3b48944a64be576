# This module is pure (no I/O, no clock).
"""Errors of permissions, authentication, delegation tokens and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: Text(
            "The principal may not do this with the topic.",
            "Grant its principal the operation on the topic, or use another principal.",
        ),
        ErrorCode.GROUP_AUTHORIZATION_FAILED: Text(
            "The principal may not do this with the group.",
            "Grant its principal the operation on the group, or use another principal.",
            kproxy="For the deletion of a hosted group, where the broker says that the principal may not.",
        ),
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: Text(
            "The principal may not do this with the cluster.",
            "Grant its principal the operation on the cluster, or use another principal.",
            kproxy="For subscriptions of client telemetry that a principal may not change or see (telemetry.admin), "
            "and for telemetry of clients that nobody has authenticated (telemetry.require_principal).",
        ),
        ErrorCode.UNSUPPORTED_SASL_MECHANISM: Text(
            "The server does not offer the SASL mechanism that the client asks for.",
            "Set sasl.mechanism to one that the server offers.",
            kproxy="Where clients authenticate to kproxy, with the mechanisms that are offered.",
            kip=43,
        ),
        ErrorCode.ILLEGAL_SASL_STATE: Text(
            "The request does not fit into the present step of the authentication.",
            "Set security.protocol and the mechanism as the server's listener has them.",
            kip=43,
        ),
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Text(
            "The principal may not use this transactional id.",
            "Grant its principal Write on the transactional id; Describe is enough to look at it.",
            kip=98,
        ),
        ErrorCode.SECURITY_DISABLED: Text(
            "The brokers have no authorizer, so there are no ACLs.",
            "Configure an authorizer at the brokers, if there are to be ACLs.",
            kip=140,
        ),
        ErrorCode.SASL_AUTHENTICATION_FAILED: Text(
            "The server does not accept what the client authenticates with.",
            "Correct the user, the password or the token; the server's log says more than the client may know.",
            kproxy="Where clients authenticate to kproxy (docs/authentication.md).",
            kip=152,
        ),
        ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: Text(
            "The brokers are not configured for delegation tokens.",
            "Set a secret key for delegation tokens at the brokers and controllers.",
            kip=48,
        ),
        ErrorCode.DELEGATION_TOKEN_NOT_FOUND: Text(
            "The brokers do not have this delegation token.",
            "Check the token, or create a new one.",
            kip=48,
        ),
        ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH: Text(
            "The principal is neither owner nor renewer of the delegation token.",
            "Use the principal that owns the token.",
            kip=48,
        ),
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: Text(
            "Requests about delegation tokens are not allowed on a connection that is authenticated this way.",
            "Authenticate by SASL or a client certificate, and not by a delegation token.",
            kip=48,
        ),
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: Text(
            "The principal may not do this with the delegation token.",
            "Grant its principal the operation on the token.",
            kip=48,
        ),
        ErrorCode.DELEGATION_TOKEN_EXPIRED: Text(
            "The time of the delegation token is over.",
            "Create a new token, and renew it in time.",
            kip=48,
        ),
        ErrorCode.INVALID_PRINCIPAL_TYPE: Text(
            "A principal is of a type that the brokers do not support here.",
            "Write the principal as User:NAME.",
            kip=48,
        ),
        ErrorCode.UNACCEPTABLE_CREDENTIAL: Text(
            "The brokers do not accept a SCRAM credential as it is, e.g. with too few iterations.",
            "Correct the credential as the error message says.",
            kip=554,
        ),
        ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE: Text(
            "A controller cannot read the principal in a request that a broker has forwarded.",
            "Give brokers and controllers the same principal builder.",
            kip=590,
        ),
    }
)
