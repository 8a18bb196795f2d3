"""The patch of an audit: one entry for each suspect, none of them accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.conversion.patches import Entry, GroundTruth, Patch


def patch_of(ground_truth: GroundTruth, suspects: Sequence[Suspect]) -> Patch:
    """Return the patch of some suspects, in their order.

    Parameters
    ----------
    ground_truth : GroundTruth
        What was audited, whole (`conversion.patching.identify`).
    suspects : sequence of Suspect

    Returns
    -------
    Patch
        For `conversion.patches.write_patch`, and `in_json` for a page.
    """
    return Patch(ground_truth, _Entries(suspects))


@dataclass(frozen=True, slots=True)
class _Entries(Sequence[Entry]):
    """The entries of suspects, each made when it is read."""

    suspects: Sequence[Suspect]

    def __len__(self) -> int:
        return len(self.suspects)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _Entries(self.suspects[index])
        one = self.suspects[index]
        return Entry(one.kind, one.image, one.objects, one.suspicion, one.current, one.proposed)
