"""evaltex: how good is a text detector? Every protocol's answer from the same files or arrays.

>>> from evaltex_cli import evaluate
>>> evaluate([[[0, 0, 100, 20]]], [[[0, 0, 90, 20]]], "iou").scores["recall"]
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.api.evaluate import evaluate
    from evaltex_cli.errors import ConfigError, EvaltexError, EvaltexWarning, InputError
    from evaltex_cli.evaluation.accumulator import Accumulator
    from evaltex_cli.evaluation.arrays import image_objects
    from evaltex_cli.evaluation.evaluations import Evaluations
    from evaltex_cli.evaluation.tally import Evaluation

__all__ = [
    "Accumulator",
    "ConfigError",
    "EvaltexError",
    "EvaltexWarning",
    "Evaluation",
    "Evaluations",
    "InputError",
    "__version__",
    "evaluate",
    "image_objects",
]

_HOMES = {
    "Accumulator": "evaluation.accumulator",
    "image_objects": "evaluation.arrays",
    "Evaluation": "evaluation.tally",
    "Evaluations": "evaluation.evaluations",
    "evaluate": "api.evaluate",
    "ConfigError": "errors",
    "EvaltexError": "errors",
    "EvaltexWarning": "errors",
    "InputError": "errors",
}


def __getattr__(name: str) -> Any:
    # Loaded on use: `evaltex --help` imports this package and must not load numpy.
    if name in _HOMES:
        return getattr(import_module(f"evaltex_cli.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'evaltex_cli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
