"""Areas, margins and unions, vectorised over many objects. Pure functions over arrays; no protocol
knowledge.

Boxes never need shapely, and importing it takes as long as scoring a small data set. So `shapely`,
`geos` and `polygons`, which import it, and what only polygons need, are loaded when they are first
used as attributes: ``geometry.polygons.area(...)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "convex",
    "edge_pairs",
    "exact_unions",
    "geos",
    "midlines",
    "polygons",
    "ring_offsets",
    "rings",
    "shapely",
    "simple_rings",
]

if TYPE_CHECKING:
    import shapely

    from evaltex_cli.geometry import (
        convex,
        edge_pairs,
        exact_unions,
        geos,
        midlines,
        polygons,
        ring_offsets,
        rings,
        simple_rings,
    )
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(name if name == "shapely" else f"{__name__}.{name}")
