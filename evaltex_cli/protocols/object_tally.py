"""Evidence that most protocols begin with: objects and detections, and their credits."""

from __future__ import annotations

from dataclasses import dataclass

from evaltex_cli.protocols.tally import Count, Sum, Tally, at_most, require


@dataclass(frozen=True, eq=False)
class ObjectTally(Tally):
    """Objects and detections, and those that count: what most protocols begin
    with (`object_counts`).
    """

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    counted_detections: Count

    def check(self) -> None:
        super().check()
        require(self.counted_gt_objects <= self.gt_objects, "more objects count than there are")
        require(self.counted_detections <= self.detections, "more detections count than there are")


@dataclass(frozen=True, eq=False)
class CreditTally(ObjectTally):
    """Summed credits, at most 1 each, of objects towards recall and of
    detections towards precision.
    """

    recall_credit: Sum
    precision_credit: Sum

    def check(self) -> None:
        super().check()
        require(at_most(self.recall_credit, self.counted_gt_objects), "more recall than objects")
        require(
            at_most(self.precision_credit, self.counted_detections),
            "more precision than detections",
        )
