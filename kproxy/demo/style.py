"""How kproxy's pictures look: colours, and matplotlib's settings."""

from __future__ import annotations

from typing import Any, Final

INK: Final = "#1f2933"
FAINT: Final = "#9aa5b1"
GRID: Final = "#e4e7eb"
BLUE: Final = "#2563eb"
GREEN: Final = "#059669"
ORANGE: Final = "#ea580c"
STYLE: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "grid.color": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
