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
    from evaltex_cli.api.accumulator import Accumulator
    from evaltex_cli.api.compare import compare
    from evaltex_cli.api.convert import convert
    from evaltex_cli.api.diagnose import diagnose
    from evaltex_cli.api.evaluate import evaluate
    from evaltex_cli.api.find_suspects import find_suspects
    from evaltex_cli.api.rank import rank
    from evaltex_cli.api.results import save_results, write_report
    from evaltex_cli.api.sweep import sweep
    from evaltex_cli.api.validate import validate
    from evaltex_cli.audit.audit import Audit
    from evaltex_cli.comparison.comparison import Comparison
    from evaltex_cli.conversion.convert import Converted
    from evaltex_cli.diagnosis.diagnosis import Diagnosis
    from evaltex_cli.errors import ConfigError, EvaltexError, EvaltexWarning, InputError
    from evaltex_cli.evaluation.arrays import image_objects
    from evaltex_cli.evaluation.evaluation import ByProtocol, Evaluation, Evaluations
    from evaltex_cli.ranking.ranking import Ranking
    from evaltex_cli.thresholds.result import Sweep
    from evaltex_cli.validation.findings import Validation

__all__ = [
    "Accumulator",
    "Audit",
    "ByProtocol",
    "Comparison",
    "ConfigError",
    "Converted",
    "Diagnosis",
    "EvaltexError",
    "EvaltexWarning",
    "Evaluation",
    "Evaluations",
    "InputError",
    "Ranking",
    "Sweep",
    "Validation",
    "__version__",
    "compare",
    "convert",
    "diagnose",
    "evaluate",
    "find_suspects",
    "image_objects",
    "rank",
    "save_results",
    "sweep",
    "validate",
    "write_report",
]

_HOMES = {
    "Accumulator": "api.accumulator",
    "save_results": "api.results",
    "write_report": "api.results",
    "image_objects": "evaluation.arrays",
    "Evaluation": "evaluation.evaluation",
    "ByProtocol": "evaluation.evaluation",
    "Evaluations": "evaluation.evaluation",
    "Audit": "audit.audit",
    "Comparison": "comparison.comparison",
    "Converted": "conversion.convert",
    "Diagnosis": "diagnosis.diagnosis",
    "Ranking": "ranking.ranking",
    "Sweep": "thresholds.result",
    "Validation": "validation.findings",
    **dict.fromkeys(("ConfigError", "EvaltexError", "EvaltexWarning", "InputError"), "errors"),
}
"""Where a name is; a function that is not here is in the module of its name in `api`."""


def __getattr__(name: str) -> Any:
    # Loaded on use: `evaltex --help` imports this package and must not load numpy.
    if name in __all__:
        return getattr(import_module(f"evaltex_cli.{_HOMES.get(name, f'api.{name}')}"), name)
    raise AttributeError(f"module 'evaltex_cli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
