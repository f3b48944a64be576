"""`kproxy errors …`: what Kafka's error codes mean, and what to do about them. It asks nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from kproxy.cli.output import REFUSED, CliError, help_if_bare, print_table
from kproxy.errors import ErrorClass

if TYPE_CHECKING:
    from kproxy.explained.errors import Explanation

_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_INT16: Final = range(-(1 << 15), 1 << 15)


@click.group(invoke_without_command=True)
@click.pass_context
def errors(context: click.Context) -> None:
    """Explain Kafka's error codes."""
    help_if_bare(context)


@errors.command("list")
@click.option(
    "--class", "of", type=click.Choice([one.value for one in ErrorClass]), help="Only those of a class (KIP-1050)."
)
@_JSON
def list_errors(of: str | None, as_json: bool) -> int:
    """Show all error codes with their class and meaning."""
    from kproxy.explained.errors import explained

    found = list(explained(None if of is None else ErrorClass(of)))
    if as_json:
        click.echo(json.dumps({"errors": [_as_json(one) for one in found]}))
        return 0
    print_table(
        ("Code", "Name", "Class", "Meaning"),
        [(str(one.code), one.name, one.classes, one.text.meaning) for one in found],
    )
    return 0


# Otherwise click takes the -1 of UNKNOWN_SERVER_ERROR for an option.
@errors.command(context_settings={"ignore_unknown_options": True})
@click.argument("error", metavar="CODE|NAME")
@click.option("--api", metavar="API", help="The API that answers with it, e.g. Produce: 48 is of another class there.")
@_JSON
def explain(error: str, api: str | None, as_json: bool) -> int:
    """Explain an error code: class, meaning, what client libraries do, and what you should do."""
    from kproxy.explained.errors import explain as explain_code

    found = explain_code(_code(error), None if api is None else _api_key(api))
    if as_json:
        click.echo(json.dumps(_as_json(found)))
        return 0
    click.echo(f"{found.code} {found.name}" if found.known else f"{found.code}, an unknown code")
    for label, value in _facts(found):
        click.echo(f"{label + ':':<11}{value}")
    return 0


def _code(error: str) -> int:
    """Return the number of an error code that is given as a number or a name; raise for anything else."""
    from kproxy.wire.generated.error_codes import ErrorCode

    try:
        code = int(error)
    except ValueError:
        return _code_of(error, ErrorCode.__members__)
    if code not in _INT16:
        raise click.UsageError(f"{code} is no error code: they are {_INT16[0]} to {_INT16[-1]}")
    return code


def _code_of(name: str, known: Any) -> int:
    if name.startswith("-"):
        raise click.NoSuchOption(name, ctx=click.get_current_context())
    from kproxy.config.similar import hint

    written = name.upper().replace("-", "_")
    if written not in known:
        raise CliError(f"no error code is called {name!r}{hint(written, known)}", REFUSED)
    return int(known[written])


def _api_key(name: str) -> int:
    from kproxy.config.similar import hint
    from kproxy.wire.apis import APIS

    known = {api.name.lower(): api for api in APIS.values()}
    if name.lower() in known:
        return known[name.lower()].key
    meant = hint(name, (api.name for api in APIS.values()))
    raise CliError(f"--api: no API of Kafka is called {name!r}{meant}", REFUSED)


def _facts(found: Explanation) -> Iterable[tuple[str, str]]:
    yield "Class", found.classes
    yield "Retriable", "yes" if found.retriable else "no"
    yield "Meaning", found.text.meaning
    yield "Client", found.client
    yield "To do", found.text.advice
    if found.text.kproxy:
        yield "kproxy", found.text.kproxy
    if found.text.kip:
        yield "KIP", f"KIP-{found.text.kip}"


def _as_json(found: Explanation) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "known": found.known,
        "class": None if found.error_class is None else found.error_class.value,
        "class_by_api": {api: other.value for api, other in found.of_apis.items()},
        "retriable": found.retriable,
        "meaning": found.text.meaning,
        "client": found.client,
        "advice": found.text.advice,
        "kproxy": found.text.kproxy or None,
        "kip": found.text.kip,
    }
