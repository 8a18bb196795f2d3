"""Parameters of EvaLTex."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaltex_cli.records import Convention


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of EvaLTex, named as in the tool's evaltex.ini; the last three are ours."""

    region: bool = field(default=True, metadata={"help": "text area of a merge: the regions of its objects (Eq. 20)"})
    print_level: int = field(default=0, metadata={"help": "detail of the result .txt", "min": 0, "max": 2})
    min_area: float = field(
        default=0.0, metadata={"help": "an overlap counts above this many square pixels (Eq. 3, 4)", "min": 0.0}
    )
    hist_bin_nb: int = field(
        default=0,
        metadata={"help": "histogram bins, for printing and EMD; 0 = 10 printed, 100 for EMD", "min": 0, "max": 10_000},
    )
    split: bool = field(default=True, metadata={"help": "coverage is multiplied by the split penalty (Eq. 11)"})
    det_border: float = field(
        default=0.01, metadata={"help": "margin, as a share of an object's thickness (Eq. 6)", "min": 0.0, "below": 0.5}
    )
    split_function: str = field(
        default="tool",
        metadata={"help": "split penalty: tool 0.6/(1+ln²s)+0.4, paper 1/(1+ln s)", "choices": ("tool", "paper")},
    )
    overlap_filter: float = field(
        default=0.1, metadata={"help": "t of the candidate filter (Eq. 5)", "min": 0.0, "max": 1.0}
    )
    shape: str = field(
        default="polygon",
        metadata={"help": "polygons as they are, or as their bounding boxes", "choices": ("polygon", "box")},
    )


def convention(parameters: Parameters) -> Convention:
    """Continuous coordinates; polygons as they are, or as their bounding boxes."""
    return Convention(as_boxes=parameters.shape == "box")
