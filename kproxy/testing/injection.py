"""What a test does with kproxy: it injects faults by name, and sees what they have hit.

The fixture `kproxy` is a `Kproxy`. All of it is synchronous, so it serves any style of tests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from kproxy.errors import CommandError, KproxyError
from kproxy.testing.observed import ResponseError, requests, response_errors, since
from kproxy.testing.process import CLUSTER, KproxyProcess

_FAULTS: Final = f"/api/v1/clusters/{CLUSTER}/faults"
_POLL: Final = 0.02


class UnusedRuleError(KproxyError, AssertionError):
    """A rule has hit fewer requests than the test needs, so the test has shown nothing."""


class Rule:
    """A rule by which faults are injected. As a context manager it ends with the block, and must have hit something."""

    def __init__(self, owner: Kproxy, shown: Mapping[str, Any], *, allow_unused: bool) -> None:
        self._owner = owner
        self._path = f"{_FAULTS}/{shown['id']}"
        self._final: int | None = None
        self.described = _described(shown)
        """Its fault and whom it hits, in words."""
        self.allow_unused = allow_unused

    @property
    def hits(self) -> int:
        """How many requests it has hit, also once it is over or removed."""
        return int(self._owner.json("GET", self._path)["hits"]) if self._final is None else self._final

    def remove(self) -> None:
        """End it; a second time does nothing."""
        if self._final is not None:
            return
        self._final = self.hits
        with suppress(CommandError):  # it is over by itself
            self._owner.json("DELETE", self._path)

    def end(self) -> None:
        """End it with its test, which has judged it; `hits` stays."""
        self.allow_unused = True
        with suppress(KproxyError):  # kproxy has ended, which the test has said
            self.remove()

    def wait_for_hits(self, count: int = 1, timeout: float = 10.0) -> int:
        """Wait until it has hit so many requests; return how many. Raises UnusedRuleError after `timeout` seconds."""
        __tracebackhide__ = True
        deadline = time.monotonic() + timeout
        while (hits := self.hits) < count:
            if time.monotonic() > deadline:
                raise UnusedRuleError(
                    f"the rule {self.described} has hit {hits} of {count} requests in {timeout:g} s; "
                    f"{self._owner.seen()}"
                )
            self._owner.pause(_POLL)
        return hits

    def check(self) -> None:
        """Raise UnusedRuleError where it has hit nothing, and must have."""
        __tracebackhide__ = True
        if not self.allow_unused and not self.hits:
            raise UnusedRuleError(
                f"the rule {self.described} has hit no request, so the test has shown nothing "
                f"(allow_unused=True permits it); {self._owner.seen()}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        if error is None:
            self.remove()
            self.check()
            return
        with suppress(KproxyError):  # what the block raised says more
            self.remove()


class Kproxy:
    """A running kproxy. Methods raise KproxyError when it has ended."""

    def __init__(self, process: KproxyProcess, bootstrap_servers: str) -> None:
        self._process = process
        self.bootstrap_servers = bootstrap_servers
        """`host:port` for the application's `bootstrap.servers`."""
        self._rules: list[Rule] = []
        self._log_begin = 0
        metrics = self._metrics()
        self._errors_before, self._requests_before = response_errors(metrics), requests(metrics)

    def inject(
        self,
        api: str,
        *,
        error: str | None = None,
        delay: float | None = None,
        close: bool = False,
        half: str | None = None,
        client_id: str | None = None,
        software: str | None = None,
        rate: float = 1.0,
        count: int | None = None,
        duration: float | None = None,
        allow_unused: bool = False,
    ) -> Rule:
        """Add a rule with exactly one of `error`, `delay`, `close` and `half`; it ends with the test at the latest.

        `error` and `half` are Kafka's names, `delay` and `duration` seconds, `client_id` and `software` regexes (RE2),
        `rate` is a share from 0 to 1, `count` the most requests. A rule that hits nothing fails the test, unless
        `allow_unused`. Raises InvalidArgumentError with all that is wrong with it.
        """
        __tracebackhide__ = True
        fields = {"api": api, "error": error, "delay": delay, "close": close, "half": half, "client_id": client_id}
        fields |= {"software": software, "rate": rate, "count": count, "duration": duration}
        given = {name: value for name, value in fields.items() if value is not None}
        rule = Rule(self, self.json("POST", _FAULTS, given), allow_unused=allow_unused)
        self._rules.append(rule)
        return rule

    def response_errors(self) -> list[ResponseError]:
        """Return the errors that responses have carried since the test began, brokers' own and injected ones."""
        return since(self._errors_before, response_errors(self._metrics()))

    def seen(self) -> str:
        """Return in words which requests have come since the test began."""
        found = requests(self._metrics()) - self._requests_before
        if not found:
            return "no request has come through kproxy: is it the application's bootstrap server?"
        return "requests since the test began: " + ", ".join(
            f"{api} {count}" for (api,), count in sorted(found.items())
        )

    def begin_test(self) -> None:
        """Count from now on. Raises EndedError."""
        metrics = self._metrics()
        self._errors_before, self._requests_before = response_errors(metrics), requests(metrics)
        self._log_begin = self._process.log_size()

    def check_test(self) -> None:
        """Raise EndedError where kproxy has ended, UnusedRuleError where a rule has hit nothing."""
        self._process.ask("GET", "/livez")
        for rule in self._rules:
            rule.check()

    @property
    def has_rules(self) -> bool:
        """Whether the test has injected something, also one that has taken the fixture by its name alone."""
        return bool(self._rules)

    def end_test(self) -> None:
        """Remove the test's rules."""
        for rule in self._rules:
            rule.end()
        self._rules.clear()
        with suppress(KproxyError):  # it has ended, which the test has said
            self.json("DELETE", _FAULTS)

    def log_of_test(self) -> str:
        """Return the log since the test began."""
        return self._process.log(self._log_begin)

    def pause(self, seconds: float) -> None:
        """Wait so long. Raises EndedError where kproxy ends meanwhile."""
        if self._process.ended_within(seconds):
            self._process.check()

    def json(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON that the admin port answers; raises as `KproxyProcess.ask`."""
        __tracebackhide__ = True
        return json.loads(self._process.ask(method, path, fields))

    def _metrics(self) -> str:
        return self._process.ask("GET", "/metrics")


def _described(shown: Mapping[str, Any]) -> str:
    fault = shown["error"] or (f"half of {shown['half']}" if shown["half"] else None)
    fault = fault or ("close" if shown["close"] else f"delay of {shown['delay']:g} s")
    clients = [f"{name}={shown[name]}" for name in ("client_id", "software") if shown[name] is not None]
    return ", ".join([f"{fault} of {shown['api']}", *clients])
