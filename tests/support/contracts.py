"""import-linter's contract for the modules that are marked pure."""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.domain.contract import ContractCheck

from kproxy.markers import PURE, marked, module_name


class MarkedPureContract(ForbiddenContract):
    """As import-linter's `forbidden`; its source modules are those marked pure (kproxy/markers.py)."""

    type_name = "marked_pure"

    def __init__(self, name: str, session_options: dict[str, Any], contract_options: dict[str, Any]) -> None:
        sources = [module_name(path) for path in marked(PURE)]
        options = {
            **contract_options,
            "source_modules": sources,
            "as_packages": "False",
            "allow_indirect_imports": "True",
        }
        super().__init__(name, session_options, options)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check the contract; raises ValueError when nothing is marked: a contract about nothing is always kept."""
        if not self.source_modules:
            raise ValueError("no module is marked pure (kproxy/markers.py)")
        return super().check(graph, verbose)
