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
    from evaltex_cli.api.accumulator import Accumulator as Accumulator
    from evaltex_cli.api.arrays import image_objects as image_objects
    from evaltex_cli.api.evaluate import evaluate as evaluate
    from evaltex_cli.api.evaluate import save_results as save_results
    from evaltex_cli.api.evaluate import write_report as write_report
    from evaltex_cli.api.functions import compare as compare
    from evaltex_cli.api.functions import convert as convert
    from evaltex_cli.api.functions import diagnose as diagnose
    from evaltex_cli.api.functions import find_suspects as find_suspects
    from evaltex_cli.api.functions import rank as rank
    from evaltex_cli.api.functions import sweep as sweep
    from evaltex_cli.api.functions import validate as validate
    from evaltex_cli.audit.audit import Audit as Audit
    from evaltex_cli.comparison.compare import Comparison as Comparison
    from evaltex_cli.comparison.compare import Comparisons as Comparisons
    from evaltex_cli.conversion.convert import Converted as Converted
    from evaltex_cli.diagnosis.diagnosis import Diagnosis as Diagnosis
    from evaltex_cli.errors import ConfigError as ConfigError
    from evaltex_cli.errors import EvaltexError as EvaltexError
    from evaltex_cli.errors import EvaltexWarning as EvaltexWarning
    from evaltex_cli.errors import InputError as InputError
    from evaltex_cli.evaluation.evaluation import ByProtocol as ByProtocol
    from evaltex_cli.evaluation.evaluation import Evaluation as Evaluation
    from evaltex_cli.evaluation.evaluation import Evaluations as Evaluations
    from evaltex_cli.ranking.rank import Ranking as Ranking
    from evaltex_cli.thresholds.result import Sweep as Sweep
    from evaltex_cli.validation.findings import Validation as Validation

_NAMES = {
    "api.accumulator": ("Accumulator",),
    "api.arrays": ("image_objects",),
    "api.evaluate": ("evaluate", "save_results", "write_report"),
    "api.functions": (
        "compare",
        "convert",
        "diagnose",
        "find_suspects",
        "rank",
        "sweep",
        "validate",
    ),
    "audit.audit": ("Audit",),
    "comparison.compare": ("Comparison", "Comparisons"),
    "conversion.convert": ("Converted",),
    "diagnosis.diagnosis": ("Diagnosis",),
    "errors": ("ConfigError", "EvaltexError", "EvaltexWarning", "InputError"),
    "evaluation.evaluation": ("ByProtocol", "Evaluation", "Evaluations"),
    "ranking.rank": ("Ranking",),
    "thresholds.result": ("Sweep",),
    "validation.findings": ("Validation",),
}
"""The names of each module, which are loaded on use: `evaltex --help` must not load numpy."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evaltex_cli' has no attribute {name!r}")
    return getattr(import_module(f"evaltex_cli.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
