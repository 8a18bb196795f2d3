"""evaltex: how good is a text detector, really? Every protocol's answer from the same files.

>>> from evaltex_cli import evaluate
>>> evaluate("gt.txt", "det.txt").scores["fscore"]  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.errors import ConfigError, EvaltexError, InputError
    from evaltex_cli.evaluation.accumulator import Accumulator, image_objects
    from evaltex_cli.evaluation.evaluate import evaluate
    from evaltex_cli.evaluation.tally import Evaluation

__all__ = [
    "Accumulator",
    "ConfigError",
    "EvaltexError",
    "Evaluation",
    "InputError",
    "__version__",
    "evaluate",
    "image_objects",
]

_HOMES = {
    "Accumulator": "evaluation.accumulator",
    "image_objects": "evaluation.accumulator",
    "Evaluation": "evaluation.tally",
    "evaluate": "evaluation.evaluate",
    "ConfigError": "errors",
    "EvaltexError": "errors",
    "InputError": "errors",
}


def __getattr__(name: str) -> Any:
    # Loaded on use: `evaltex --help` imports this package and must not load numpy.
    if name in _HOMES:
        return getattr(import_module(f"evaltex_cli.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'evaltex_cli' has no attribute {name!r}")
