"""Write the settings as JSON Schema and as tables for the docs: `python -m kproxy.config.reference`.

`make generate` runs it, and a test compares. `kproxy config schema` prints the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kproxy.config.authentication import Authentication, CertificateRule
from kproxy.config.client_credentials import ClientCredentials
from kproxy.config.cluster import VirtualCluster
from kproxy.config.environment import FLAGS, flag, variable
from kproxy.config.events import DESTINATIONS, Events
from kproxy.config.faults import FaultRule, Faults
from kproxy.config.groups import GroupRule
from kproxy.config.identity import Identity
from kproxy.config.models import Config
from kproxy.config.nodes import Nodes
from kproxy.config.oauthbearer import OAuthBearer
from kproxy.config.process import Admin, Drain, Limits, Log, Reload, State, Timeouts, Topology
from kproxy.config.proxy_protocol import ProxyProtocol
from kproxy.config.receivers import BUILT_IN, PlugIn, Tls
from kproxy.config.telemetry import Subscription, Telemetry
from kproxy.config.tls import AdminTls, ClientTls, UpstreamTls
from kproxy.config.upstreams import Failover, Upstream
from kproxy.docs_part import with_part

PAGE: Final = FilePath("docs", "configuration.md")
BEGIN: Final = "<!-- begin: written by `python -m kproxy.config.reference` -->\n"
END: Final = "<!-- end -->\n"
_UNNAMED: Final = "–"
_GROUPS: Final[tuple[tuple[str, str, type[BaseModel]], ...]] = (
    ("clusters[]", "", VirtualCluster),
    ("clusters[].upstreams[]", _UNNAMED, Upstream),
    ("clusters[].identity", "identity", Identity),
    ("clusters[].identity.client_credentials", "identity__client_credentials", ClientCredentials),
    ("clusters[].authentication", "authentication", Authentication),
    ("clusters[].authentication.oauthbearer", "authentication__oauthbearer", OAuthBearer),
    ("clusters[].authentication.certificates[]", _UNNAMED, CertificateRule),
    ("clusters[].failover", "failover", Failover),
    ("clusters[].nodes", "nodes", Nodes),
    ("clusters[].telemetry", "telemetry", Telemetry),
    ("clusters[].telemetry.subscriptions[]", _UNNAMED, Subscription),
    ("clusters[].tls", "tls", ClientTls),
    ("clusters[].upstream_tls", "upstream_tls", UpstreamTls),
    ("clusters[].proxy_protocol", "proxy_protocol", ProxyProtocol),
    ("clusters[].groups[]", _UNNAMED, GroupRule),
    ("clusters[].faults", "faults", Faults),
    ("clusters[].faults.rules[]", _UNNAMED, FaultRule),
    ("admin", "admin", Admin),
    ("admin.tls", "admin__tls", AdminTls),
    ("limits", "limits", Limits),
    ("timeouts", "timeouts", Timeouts),
    ("topology", "topology", Topology),
    *((f"receivers[{kind}]", _UNNAMED, model) for kind, model in BUILT_IN.items()),
    ("receivers[].tls", _UNNAMED, Tls),
    ("receivers[kafka].tls", _UNNAMED, UpstreamTls),
    ("receivers[kafka].identity", _UNNAMED, Identity),
    ("receivers[plug-in]", _UNNAMED, PlugIn),
    ("events", "events", Events),
    *((f"events.destinations[{kind}]", _UNNAMED, model) for kind, model in DESTINATIONS.items()),
    ("events.destinations[kafka].tls", _UNNAMED, UpstreamTls),
    ("events.destinations[kafka].identity", _UNNAMED, Identity),
    ("state", "state", State),
    ("reload", "reload", Reload),
    ("drain", "drain", Drain),
    ("log", "log", Log),
)

# Fields that have their own tables.
_TABLES: Final = frozenset(
    {
        "authentication",
        "nodes",
        "failover",
        "telemetry",
        "tls",
        "upstream_tls",
        "proxy_protocol",
        "faults",
        "identity",
        "client_credentials",
        "oauthbearer",
    }
)


def json_schema() -> str:
    """Return the JSON Schema of a configuration file, with the short forms that YAML may use."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Config.model_json_schema()
    return json.dumps(schema | {"title": "kproxy configuration"}, indent=2) + "\n"


def tables() -> str:
    """Return a Markdown table for each group of settings: key, default, variable and flag, meaning."""
    return "\n".join(_table(*group) for group in _GROUPS)


def with_tables(page: str) -> str:
    """Return the page with the tables between its two marks; raise ValueError when a mark is missing."""
    return with_part(PAGE, page, BEGIN, f"\n{tables()}\n", END)


def _table(key: str, group: str, model: type[BaseModel]) -> str:
    head = f"### `{key}`\n\n{model.__doc__}\n\n| Key | Default | Environment, flag | Meaning |\n|---|---|---|---|\n"
    return head + "".join(_rows(key, group, model))


def _rows(key: str, group: str, model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        path = (group, name) if group else (name,)
        if name not in _TABLES:
            yield f"| `{key}.{name}` | {_default(field)} | {_names(path)} | {field.description} |\n"


def _names(path: tuple[str, ...]) -> str:
    """Return the variable and the flag; neither for a setting inside a list, since the list has the variable."""
    if path[0] == _UNNAMED:
        return _UNNAMED
    short = ("admin",) if path == ("admin", "listen") else path
    return f"`{variable(short)}`" + (f" `{flag(short)}`" if short in FLAGS else "")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default in (None, (), {}):
        return _UNNAMED
    if isinstance(field.default, tuple):
        return f"`{','.join(field.default)}`"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def write(root: FilePath) -> None:
    """Write schema and tables into the source tree at `root`."""
    (root / "config" / "kproxy.schema.json").write_text(json_schema(), encoding="utf-8")
    page = root / PAGE
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(FilePath(__file__).parents[2])
