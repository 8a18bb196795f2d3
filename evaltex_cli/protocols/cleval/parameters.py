"""Parameters of CLEval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.protocols.base import parameter
from evaltex_cli.protocols.detection_order import order_field
from evaltex_cli.protocols.normalisation import normalisation_field
from evaltex_cli.records import Convention


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of CLEval."""

    reference: str = parameter(
        "official", "score as the authors' program, or as the paper", choices=("official", "paper")
    )
    area_precision: float = parameter(
        0.0,
        "least share of a detection inside an object (Eq. 4); 0 = 0.3 official, 0.5 paper",
        min=0.0,
        max=1.0,
    )
    recall_granularity_penalty: float = parameter(
        1.0, "characters lost with each further detection of an object (Eq. 7)", min=0.0
    )
    precision_granularity_penalty: float = parameter(
        1.0, "characters lost with each further object of a detection (Eq. 7)", min=0.0
    )
    vertical_aspect: float = parameter(
        0.0,
        "vertical: width/height below it (official; 0 = 0.5), height/width from it on"
        " (paper; 0 = 1.5)",
        min=0.0,
    )
    annotation: str = parameter(
        "auto",
        "four vertices are a quadrilateral, or a polygon; auto: a polygon where any"
        " object has others",
        choices=("auto", "quad", "polygon"),
    )
    case_sensitive: bool = parameter(True, "upper and lower case letters are different")
    normalisation: str = normalisation_field("none")
    scale_bins: str = parameter(
        "", "edges of scale-wise results: shorter side / longer side of the image, 0,0.01,0.1,1 say"
    )
    order: str = order_field("confidence")

    def __post_init__(self) -> None:
        self.bins()

    @property
    def official(self) -> bool:
        """Whether the reference is the authors' program."""
        return self.reference == "official"

    @property
    def threshold(self) -> float:
        """Least area precision."""
        return self.area_precision or (0.3 if self.official else 0.5)

    def bins(self) -> list[tuple[float, float]]:
        """Lowest and highest scale of each bin, both inclusive.

        Raises
        ------
        ConfigError
            When the edges are not numbers that rise.
        """
        if not self.scale_bins:
            return []
        try:
            edges = [float(edge) for edge in self.scale_bins.split(",")]
        except ValueError:
            edges = []
        bins = list(pairwise(edges))
        if not bins or not all(low < high for low, high in bins):
            raise ConfigError(
                f"scale_bins is {quote(self.scale_bins)}; expected two or more rising numbers with"
                " commas between them, 0,0.01,0.1,1 say"
            )
        return bins


def resolve(parameters: Parameters, has_polygons: Callable[[], bool]) -> Parameters:
    """Let the data set say what four vertices are, if nobody else does."""
    if parameters.annotation != "auto":
        return parameters
    return replace(parameters, annotation="polygon" if has_polygons() else "quad")


def convention(parameters: Parameters) -> Convention:
    """Quadrilaterals with coordinates cut to integers."""
    return Convention(truncated=parameters.annotation != "polygon")
