"""Evaluation of a data set that comes image by image, for training loops."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar, cast, overload

from evaltex_cli.api.arrays import OneImage, image_size, objects_of
from evaltex_cli.api.evaluate import evaluated
from evaltex_cli.api.functions import sweep
from evaltex_cli.api.inputs import TRAINING, Protocols, request, warn
from evaltex_cli.errors import ConfigError, EvaltexWarning, InputError, counted, listed, quote
from evaltex_cli.evaluation.evaluate import runs_of, score_nothing
from evaltex_cli.evaluation.evaluation import ByProtocol, Evaluation, Evaluations
from evaltex_cli.records import Objects
from evaltex_cli.thresholds.result import Sweep

Result = TypeVar("Result", bound=Evaluation | Evaluations)


class _Image(NamedTuple):
    name: str | None
    gt: Objects
    det: Objects
    size: tuple[float, float] | None


class Accumulator(Generic[Result]):
    """Keeps images, and scores all of them when asked.

    `protocol`, `per_image`, and the options `params`, `preset`, `min_confidence`, `invalid` and
    `dont_care` are those of `evaluate`, which raises the same errors.

    Examples
    --------
    >>> accumulator = Accumulator("evaltex")
    >>> accumulator.update([[0, 0, 100, 20]], [[0, 0, 50, 20]])
    >>> accumulator
    Accumulator(evaltex: 1 image)
    >>> accumulator.compute()
    evaltex: recall 0.5000, precision 1.0000, fscore 0.6667 (1 image, 1 object, 1 detection)
    """

    @overload
    def __init__(self: Accumulator[Evaluations], protocol: Protocols, **options: Any) -> None: ...
    @overload
    def __init__(
        self: Accumulator[Evaluation], protocol: str | None = None, **options: Any
    ) -> None: ...
    def __init__(
        self,
        protocol: str | Iterable[str] | None = None,
        *,
        per_image: bool = False,
        **options: Any,
    ) -> None:
        self._protocol = protocol if isinstance(protocol, str | None) else list(protocol)
        self._options, self._per_image = options, per_image
        self._request = request(self._protocol, options, TRAINING)
        self.reset()

    def reset(self) -> None:
        """Forget everything added so far."""
        self._images: dict[str, _Image] = {}

    def __repr__(self) -> str:
        images = counted(len(self._images), "{count} image[s]")
        return f"Accumulator({', '.join(self._request.protocols)}: {images})"

    def update(
        self,
        gt: OneImage,
        det: OneImage,
        *,
        size: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        """Add one image: its objects as `evaluate` takes them, its size in pixels, (height, width),
        which CLEval's `scale_bins` needs, and its name, for results of images and messages.

        Raises `InputError` for what are no objects, and for a name that was added before; nothing
        is added then. `compute` refuses what cannot be scored, with the image.
        """
        if name in self._images:
            raise InputError(f"image {quote(name)} was added before; reset() begins a new data set")
        known = None if size is None else image_size(size)
        self._add(_Image(name, objects_of(gt), objects_of(det), known))

    def _add(self, image: _Image) -> None:
        name = str(len(self._images) if image.name is None else image.name)
        while name in self._images:
            name += " again"
        self._images[name] = image

    def merge(self, other: Accumulator[Result]) -> None:
        """Add everything another accumulator has seen.

        Raises `ConfigError` when it has other protocols, parameters or options. Images of a name
        that both have count twice, with a warning.
        """
        if (self._request, self._per_image) != (other._request, other._per_image):
            shown = f"{dict(self._request.protocols)} and {dict(other._request.protocols)}"
            raise ConfigError(f"accumulators differ: {shown}; expected the same options")
        if twice := [name for name, one in other._images.items() if one.name in self._images]:
            again = "{count} image[s] [was|were] added to both accumulators, and count[s|] twice"
            again = counted(len(twice), again)
            warnings.warn(f"{again}: {listed(twice)}", EvaltexWarning, stacklevel=2)
        for image in list(other._images.values()):
            self._add(image)

    def compute(self) -> Result:
        """Score everything added so far; more may be added after. Returns and raises what
        `evaluate` does; an image without a name is called by its number.
        """
        if not self._images:
            runs = runs_of(self._request.protocols)
            nothing = {run.protocol.name: score_nothing(run) for run in runs}
            return cast("Result", self._request.result(nothing, {}, Evaluations))
        gt, det, sizes = self._sides()
        inputs = replace(self._request, sizes=sizes).open(gt, det)
        result = evaluated(self._request, inputs, self._per_image, in_training=True)
        warn(result.warnings)
        return cast("Result", result)

    def compute_sweep(self, **options: Any) -> Sweep | ByProtocol[Sweep]:
        """Score everything added so far at each confidence threshold; more may be added after.
        Options and errors are those of `sweep`.
        """
        gt, det, sizes = self._sides()
        given: dict[str, Any] = {"sizes": sizes, **self._options, **options}
        result: Sweep | ByProtocol[Sweep] = sweep(gt, det, self._protocol, **given)
        return result

    def _sides(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return ground truth, detections and known sizes of the images, by name."""
        gt = {name: image.gt for name, image in self._images.items()}
        det = {name: image.det for name, image in self._images.items()}
        sizes = {name: image.size for name, image in self._images.items() if image.size}
        return gt, det, sizes
