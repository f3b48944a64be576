"""kproxy.authentication.oauthbearer: who is accepted, and everybody who is not."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kproxy.authentication.key_set import KeySet, parse_key_set
from kproxy.authentication.oauthbearer import (
    MAX_MESSAGE,
    TokenRefusedError,
    UnknownKeyError,
    bearer_in,
    check_message,
    check_token,
)
from tests.unit.authentication.tokens import (
    CLAIMS,
    NOW,
    SETTINGS,
    coded,
    jwk,
    key_set,
    keys,
    message,
    of_text,
    private,
    signed,
    with_header,
)


def refusal(token: str, found: KeySet | None = None, now: float = NOW, **settings: Any) -> str:
    """Return why a token is refused; the reason is one line, and does not repeat the token."""
    with pytest.raises(TokenRefusedError) as caught:
        check_token(token, found or keys(), SETTINGS.model_copy(update=settings), now)
    assert str(caught.value).isprintable()
    assert len(token) < 20 or token not in str(caught.value)
    if not settings:
        assert caught.value.answer == b'{"status":"invalid_token"}'
    return str(caught.value)


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"])
def test_a_good_token(algorithm: str) -> None:
    """Of each algorithm: the user, the end, and the claims."""
    found = check_token(signed(algorithm), keys(), SETTINGS, NOW)
    assert (found.principal, found.expires_at, dict(found.claims)) == ("alice", NOW + 60, CLAIMS)
    other = [each for each in SETTINGS.algorithms if each != algorithm]
    assert "which is not accepted" in refusal(signed(algorithm), algorithms=tuple(other))


@pytest.mark.parametrize(
    ("claims", "settings"),
    [
        ({"aud": ["x", "other"]}, {}),
        ({"exp": NOW - 29}, {}),
        ({"nbf": NOW + 29, "iat": NOW + 29}, {}),
        ({"exp": NOW + 0.5}, {"clock_skew": 0}),
        ({"sub": None, "azp": "alice"}, {"principal_claim": "azp"}),
        ({"scope": "a kafka b"}, {"required_scopes": ("kafka", "a")}),
        ({"scp": ["kafka"]}, {"required_scopes": ("kafka",)}),
        ({"groups": ["x", "writers"], "tid": "t"}, {"required_claims": {"groups": "writers", "tid": "t"}}),
    ],
)
def test_other_good_tokens(claims: dict[str, Any], settings: dict[str, Any]) -> None:
    """Audiences in a list, times within the skew, another claim that names the user, scopes and claims."""
    assert check_token(signed(**claims), keys(), SETTINGS.model_copy(update=settings), NOW).principal == "alice"


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"exp": NOW - 31}, "ended 31 s ago"),
        ({"exp": None}, "has no end"),
        ({"exp": "soon"}, "`exp` is no time"),
        ({"exp": True}, "`exp` is no time"),
        ({"exp": 2**60}, "`exp` is no time"),
        ({"nbf": NOW + 31}, "begins only in 31 s; look at the clocks"),
        ({"iat": NOW + 31}, "is issued only in 31 s; look at the clocks"),
        ({"nbf": []}, "`nbf` is no time"),
        ({"aud": "kafka2"}, "is for 'kafka2'"),
        ({"aud": None}, "is for None"),
        ({"aud": {"kafka": 1}}, "is for a dict"),
        ({"aud": ["x" * 99]}, "is for ['xxx"),
        ({"iss": "https://i"}, "issuer is 'https://i'"),
        ({"iss": None}, "issuer is None"),
        ({"iss": ["https://i/"]}, "issuer is ['https://i/']"),
        ({"sub": None}, "which names the user, is None"),
        ({"sub": ""}, "which names the user, is ''"),
        ({"sub": 7}, "which names the user, is 7"),
        ({"sub": "a\nUser:b"}, "too long for a name, or has control characters"),
        ({"sub": "a\x00"}, "control characters"),
        ({"sub": "a\u2028b"}, "control characters"),
        ({"sub": "a\ud800"}, "control characters"),
        ({"sub": "\u202ea"}, "control characters"),
        ({"sub": "x" * 256}, "too long for a name"),
    ],
)
def test_claims_that_are_refused(claims: dict[str, Any], why: str) -> None:
    """Each with its reason; signed by the issuer, all of them."""
    assert why in refusal(signed(**claims))


def test_required_scopes_and_claims() -> None:
    """The client is told which scopes it lacks, as RFC 7628 has it; nothing of other claims."""
    settings = SETTINGS.model_copy(update={"required_scopes": ("kafka", "x"), "required_claims": {"tid": "t"}})
    with pytest.raises(TokenRefusedError, match="claim tid is 'u', not t") as caught:
        check_token(signed(tid="u"), keys(), settings, NOW)
    assert json.loads(caught.value.answer) == {"status": "invalid_token"}
    with pytest.raises(TokenRefusedError, match="lacks the scopes kafka") as caught:
        check_token(signed(tid="t", scope="kafkas x"), keys(), settings, NOW)
    assert json.loads(caught.value.answer) == {"status": "insufficient_scope", "scope": "kafka x"}


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", "HS256", "HS512", "EdDSA", "ES256K", "RS1"])
def test_algorithms_that_are_never_accepted(algorithm: str) -> None:
    """With the signature of another one, and without any."""
    header = json.dumps({"alg": algorithm, "kid": "rsa"})
    assert "which is not accepted" in refusal(with_header(header, json.dumps(CLAIMS)))
    assert "no signed JWT" in refusal(with_header(header, json.dumps(CLAIMS)).rpartition(".")[0] + ".")


@pytest.mark.parametrize("form", [Encoding.PEM, Encoding.DER])
def test_the_public_key_as_a_secret(form: Encoding) -> None:
    """HS256 with what everybody knows: as no HS is ever accepted, it does not matter which bytes are the secret."""
    secret = private("rsa").public_key().public_bytes(form, PublicFormat.SubjectPublicKeyInfo)
    header = b'{"alg":"HS256","kid":"rsa"}'
    text = f"{coded(header)}.{coded(json.dumps(CLAIMS).encode())}"
    token = f"{text}.{coded(hmac.digest(secret, text.encode(), hashlib.sha256))}"
    assert "signature is 'HS256', which is not accepted" in refusal(token)


def test_a_key_of_the_token_s_own() -> None:
    """`jwk`, `jku` and `x5c` in a header name keys that the issuer did not publish: nobody looks at them."""
    headers = {"kid": "ES256", "jwk": jwk("rsa"), "jku": "https://evil/", "x5c": ["MIIB"]}
    assert "signature is wrong" in refusal(of_text(json.dumps(CLAIMS), "RS256", headers | {"alg": "RS256"}))


def test_keys() -> None:
    """An unknown one, none where there are several, the wrong kind, a key that is for encryption."""
    with pytest.raises(UnknownKeyError, match="is of the key 'new', which is not among"):
        check_token(signed(headers={"kid": "new"}), keys(), SETTINGS, NOW)
    assert check_token(signed("ES256", headers={"kid": None}), keys(), SETTINGS, NOW).principal == "alice"
    two = parse_key_set(key_set(jwk("rsa"), jwk("rsa", kid="two")))
    assert "does not say which" in refusal(signed(headers={"kid": None}), two)
    assert "`kid` is no text" in refusal(signed(headers={"kid": 5}))
    assert "signature is wrong" in refusal(signed("ES256", headers={"kid": "ES384"}))
    only = parse_key_set(key_set(jwk("rsa", alg="PS256")))
    assert "signature is wrong" in refusal(signed("RS256"), only)
    assert check_token(signed("PS256"), only, SETTINGS, NOW).principal == "alice"


def test_signatures() -> None:
    """One bit, another token's, none of its length."""
    token = signed()
    text, _, signature = token.rpartition(".")
    assert "signature is wrong" in refusal(f"{text}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}")
    assert "signature is wrong" in refusal(f"{signed(sub='root').rpartition('.')[0]}.{signature}")
    assert "signature is wrong" in refusal(f"{text}.{signature[:-4]}")
    assert "signature is not base64url" in refusal(f"{text}.A")


@pytest.mark.parametrize("critical", [["exp"], ["b64"], [], "x", None])
def test_extensions_that_must_be_understood(critical: Any) -> None:
    """`crit` is refused, whatever is in it."""
    header = json.dumps({"alg": "RS256", "kid": "rsa", "crit": critical, "b64": True})
    assert "extensions that must be understood" in refusal(with_header(header, json.dumps(CLAIMS)))


@pytest.mark.parametrize(
    "twice",
    [
        json.dumps(CLAIMS)[:-1] + ', "sub": "root"}',
        json.dumps(CLAIMS)[:-1] + ', "realm": {"a": 1, "a": 2}}',
        json.dumps(CLAIMS)[:-1] + ', "n": NaN}',
        json.dumps(CLAIMS)[:-1] + ', "n": ' + "9" * 5000 + "}",
        json.dumps(CLAIMS)[:-1],
        "[" * 20_000,
    ],
)
def test_claims_that_are_no_json(twice: str) -> None:
    """Names that occur twice among them: two readers would see two tokens."""
    assert "claims is no JSON, or has a name twice" in refusal(of_text(twice))


@pytest.mark.parametrize("claims", ["[]", '"x"', "5", "null"])
def test_claims_that_are_no_object(claims: str) -> None:
    """A list, a text, a number, nothing."""
    assert "claims is no JSON object" in refusal(of_text(claims))


def test_headers_that_are_none() -> None:
    """A name twice, no UTF-8, no object, no algorithm."""
    claims = json.dumps(CLAIMS)
    assert "header is no JSON" in refusal(with_header('{"alg":"RS256","kid":"rsa","alg":"none"}', claims))
    assert "header is no JSON object" in refusal(with_header("[]", claims))
    assert "signature is None" in refusal(with_header("{}", claims))
    assert "signature is a dict" in refusal(with_header('{"alg":{}}', claims))
    assert "header is no JSON" in refusal(".".join((coded(b"\xff"), coded(b"{}"), "AAAA")))
    assert "header is not base64url" in refusal("A.AAAA.AAAA")


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.", "..", "a.b.c.d", "a.b.c.d.e", "a b.c.d", "é.b.c"])
def test_no_jwt(token: str) -> None:
    """Too few parts, too many (an encrypted one has five), other characters."""
    assert "no signed JWT" in refusal(token)


def test_a_huge_token() -> None:
    """It is refused by its length, before anything is made of it."""
    assert "no signed JWT" in refusal(f"{'a' * MAX_MESSAGE}.b.c")
    with pytest.raises(TokenRefusedError, match="more than 65536 bytes"):
        bearer_in(message("a" * MAX_MESSAGE))


@pytest.mark.parametrize(
    ("data", "token", "name"),
    [
        (b"n,,\x01auth=Bearer a.b-c\x01\x01", "a.b-c", ""),
        (b"n,a=alice,\x01auth=bearer x\x01\x01", "x", "alice"),
        (b"n,a=a=2Cb=3Dc,\x01auth=BEARER  x==\x01\x01", "x==", "a,b=c"),
        ("n,a=é,\x01auth=Bearer x\x01\x01".encode(), "x", "é"),
        (b"n,,\x01host=h\x01port=9092\x01auth=Bearer x\x01logicalCluster=lkc\x01\x01", "x", ""),
    ],
)
def test_messages(data: bytes, token: str, name: str) -> None:
    """As Kafka's clients send them, with SASL extensions (KIP-342), which kproxy does not look at."""
    assert bearer_in(data) == (bearer := bearer_in(data))
    assert (bearer.token, bearer.authorization_id) == (token, name)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not OAUTHBEARER's"),
        (b"\x01", "is not OAUTHBEARER's"),
        (b"\0alice\0password", "is not OAUTHBEARER's"),
        (b"y,,\x01auth=Bearer x\x01\x01", "is not OAUTHBEARER's"),
        (b"p=tls-unique,,\x01auth=Bearer x\x01\x01", "is not OAUTHBEARER's"),
        (b"n,,\x01auth=Bearer x\x01", "is not OAUTHBEARER's"),
        (b"n,,\x01auth=Bearer x\x01\x01\x01", "is not OAUTHBEARER's"),
        (b"n,,\x01auth=Bearer \xff\x01\x01", "is not OAUTHBEARER's"),
        (b"n,,\x01\x01", "is not OAUTHBEARER's"),
        (b"n,,\x01host=h\x01\x01", "0 times `auth`"),
        (b"n,,\x01auth=Bearer x\x01auth=Bearer y\x01\x01", "2 times `auth`"),
        (b"n,,\x01auth=Basic x\x01\x01", "`auth` is no bearer token"),
        (b"n,,\x01auth=Bearer x y\x01\x01", "`auth` is no bearer token"),
        (b"n,,\x01auth=Bearer\x01\x01", "`auth` is no bearer token"),
        (b"n,a=\xff,\x01auth=Bearer x\x01\x01", "authorization id is not UTF-8"),
    ],
)
def test_messages_that_are_none(data: bytes, why: str) -> None:
    """Each with its reason."""
    with pytest.raises(TokenRefusedError, match=why):
        bearer_in(data)


def test_who_a_client_wants_to_be() -> None:
    """Only who the token names."""
    for before in ("n,,", "n,a=alice,"):
        assert check_message(message(signed(), before), keys(), SETTINGS, NOW).principal == "alice"
    with pytest.raises(TokenRefusedError, match="wants to be 'root', and its token is of 'alice'"):
        check_message(message(signed(), "n,a=root,"), keys(), SETTINGS, NOW)
