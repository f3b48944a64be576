"""An authorization server of one test: a token endpoint that signs JWTs, and the keys that check them."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT: Final = "kproxy"
CLIENT_SECRET: Final = "battery:staple/correct+horse"
"""It has what must be encoded in a header; it must be found nowhere."""
AUDIENCE: Final = "kafka"


@dataclass
class AuthorizationServer:
    """Issues tokens for the client that knows the secret; `refuses` is a status and body to answer instead."""

    issuer: str = ""
    lifetime: float = 3600
    subject: str = CLIENT
    audience: str = AUDIENCE
    refuses: tuple[int, Mapping[str, Any]] | None = None
    delay: float = 0
    """Seconds before each token."""
    asked: list[dict[str, str]] = field(default_factory=list)
    """The form of each request."""
    keys: dict[str, rsa.RSAPrivateKey] = field(default_factory=dict)
    fetched_keys: int = 0
    issuer_key_set: bytes | None = None
    """What to answer in place of the keys."""
    key_set_status: int = 200

    def __post_init__(self) -> None:
        self.rotate("first")

    def rotate(self, key_id: str) -> None:
        """Sign with a new key from now on."""
        self.keys[key_id] = rsa.generate_private_key(65537, 2048)

    @property
    def now(self) -> float:
        """Its clock, in seconds since the Unix epoch."""
        return time.time()

    @property
    def key_set(self) -> dict[str, Any]:
        """The public keys (RFC 7517)."""
        return {
            "keys": [
                json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": name, "use": "sig"}
                for name, key in self.keys.items()
            ]
        }

    def token(self, **claims: Any) -> str:
        """Return a signed token; `claims` replace its own."""
        now, key_id = int(time.time()), [*self.keys][-1]
        own = {"iss": self.issuer, "aud": self.audience, "sub": self.subject, "iat": now, "exp": now + self.lifetime}
        return jwt.encode(own | claims, self.keys[key_id], algorithm="RS256", headers={"kid": key_id})

    def answer(self, form: dict[str, str], authorization: str) -> tuple[int, Mapping[str, Any]]:
        """Return status and body for a request for a token."""
        self.asked.append(form)
        time.sleep(self.delay)  # noqa: TID251 - it is how slow this server is
        if self.refuses is not None:
            return self.refuses
        given = form.get("client_id"), form.get("client_secret")
        if authorization:
            decoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            given = tuple(map(unquote_plus, decoded.split(":")))  # type: ignore[assignment]
        if given != (CLIENT, CLIENT_SECRET):
            return 401, {"error": "invalid_client", "error_description": f"no client has {given}"}
        if form.get("grant_type") != "client_credentials":
            return 400, {"error": "unsupported_grant_type"}
        return 200, {"access_token": self.token(), "token_type": "bearer", "expires_in": self.lifetime}


@contextmanager
def authorization_server(context: ssl.SSLContext | None = None) -> Iterator[AuthorizationServer]:
    """Serve it at a free port of 127.0.0.1, by https with a context; its `issuer` is its URL."""
    made = AuthorizationServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(*made.answer(dict(parse_qsl(body)), self.headers.get("Authorization", "")))

        def do_GET(self) -> None:
            made.fetched_keys += 1
            time.sleep(made.delay)  # noqa: TID251 - as above
            self._send_data(made.key_set_status, made.issuer_key_set or json.dumps(made.key_set).encode())

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            self._send_data(status, json.dumps(body).encode())

        def _send_data(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    made.issuer = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
