"""Writes all generated files, or compares them with the existing ones.

`python -m codegen` calls `write`, and `stale` with `--check`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from codegen.codecs import codec
from codegen.enums import api_keys, error_codes
from codegen.error_walks import error_walks
from codegen.extraction import load
from codegen.messages import codec_names
from codegen.names import snake
from codegen.skims import skims
from codegen.table import api_table
from kproxy.markers import PURE, first_line

_DOC: Final = "What `python -m codegen` makes of Kafka's message schemas; one module a message."
GENERATED: Final = Path(__file__).parent.parent / "kproxy" / "wire" / "generated"


def texts() -> dict[str, str]:
    """Return the content of each file by its name."""
    schemas = load()
    files = {f"{snake(name)}.py": codec(schemas.messages[name], schemas.kafka_versions) for name in codec_names()}
    files["__init__.py"] = f'{first_line(PURE)}\n"""{_DOC}"""\n'
    files["api_keys.py"] = api_keys(schemas)
    files["api_table.py"] = api_table(schemas)
    files["error_codes.py"] = error_codes(schemas)
    files["error_walks.py"] = error_walks(schemas)
    files["skims.py"] = skims(schemas)
    return files


def stale() -> list[str]:
    """Return the names of files that are missing, differ, or are too many."""
    wanted = texts()
    there = {path.name: path.read_text(encoding="utf-8") for path in GENERATED.glob("*.py")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write() -> int:
    """Write all files and remove others; return the number of files."""
    wanted = texts()
    GENERATED.mkdir(exist_ok=True)
    for path in GENERATED.glob("*.py"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (GENERATED / name).write_text(text, encoding="utf-8")
    return len(wanted)
