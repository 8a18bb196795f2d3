"""Evaluation of a data set that comes image by image, for training loops."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, cast, overload

import numpy as np

from evaltex_cli.api.evaluate import evaluate_sides
from evaltex_cli.api.inputs import asked, sides, warn
from evaltex_cli.api.sweep import sweep
from evaltex_cli.errors import ConfigError, EvaltexWarning, InputError, counted, listed, quote
from evaltex_cli.evaluation.arrays import (
    OneImage,
    image_size,
    objects_of,
    refuse_mixed,
    refuse_other_masks,
)
from evaltex_cli.evaluation.chosen import chosen_parameters
from evaltex_cli.evaluation.evaluate import of_nothing, runs_of
from evaltex_cli.evaluation.evaluation import ByProtocol, Evaluation, Evaluations
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.thresholds.result import Sweep

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result = TypeVar("Result", bound=Evaluation | Evaluations, default=Evaluation)
else:
    from typing import TypeVar

    Result = TypeVar("Result")


class _Image(NamedTuple):
    name: str | None
    gt: Objects
    det: Objects
    size: tuple[float, float] | None


class Accumulator(Generic[Result]):
    """Keeps images, and scores all of them when asked.

    Parameters
    ----------
    protocol : str or sequence of str
        A name of the registry, several, or ``"all"``.
    params : mapping, optional
        Parameters of the protocol, or of several: ``{"iou": {"iou_constraint": 0.7}}``.
    per_image : bool
        Whether results have those of each image and object.
    min_confidence : float, optional
        Detections whose confidence is lower are left out; those without one stay.
    **parameters
        Parameters of the only protocol, as in `params`.

    Raises
    ------
    ConfigError
        For an unknown protocol or parameter, or a value out of range.

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
    def __init__(
        self: Accumulator[Evaluations],
        protocol: Literal["all"],
        *,
        params: Mapping[str, Any] | None = None,
        per_image: bool = False,
        min_confidence: float | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Accumulator[Evaluation],
        protocol: str = "evaltex",
        *,
        params: Mapping[str, Any] | None = None,
        per_image: bool = False,
        min_confidence: float | None = None,
        **parameters: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Accumulator[Evaluations],
        protocol: Sequence[str],
        *,
        params: Mapping[str, Any] | None = None,
        per_image: bool = False,
        min_confidence: float | None = None,
    ) -> None: ...
    def __init__(
        self,
        protocol: str | Sequence[str] = "evaltex",
        *,
        params: Mapping[str, Any] | None = None,
        per_image: bool = False,
        min_confidence: float | None = None,
        **parameters: Any,
    ) -> None:
        self._chosen = chosen_parameters(protocol, params, parameters)
        self._protocol, self._per_image = protocol, per_image
        self._options: dict[str, Any] = {
            "params": {**(params or {}), **parameters},
            "min_confidence": min_confidence,
        }
        self.reset()

    def reset(self) -> None:
        """Forget everything added so far."""
        self._images: list[_Image] = []
        self._names: set[str] = set()
        self._has_masks: bool | None = None

    def __repr__(self) -> str:
        images = counted(len(self._images), "{count} image[s]")
        return f"Accumulator({', '.join(self._chosen.records)}: {images})"

    def update(
        self,
        gt: OneImage,
        det: OneImage,
        *,
        size: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        """Add one image.

        Parameters
        ----------
        gt, det : Objects or array
            `image_objects`; (n, 4) boxes x0, y0, x1, y1; (n, 8) or (n, k, 2) vertices; a list of
            (k, 2) polygons; or (n, height, width) masks of bool.
        size : (height, width), optional
            Of the image in pixels, in the order of an array's shape; CLEval's `scale_bins` needs
            it.
        name : str, optional
            Of the image, for results of images and messages. An image of the same name is refused.

        Raises
        ------
        InputError
            As `image_objects`; for a size that is none; where the parameters need a size or
            confidences that are not given; for an image that was added before, or that cannot be
            scored. The image is then not added.
        """
        height, width = image_size(size).tolist()
        image = _Image(
            None if name is None else str(name),
            objects_of(gt),
            objects_of(det),
            None if size is None else (height, width),
        )
        if image.name is not None and image.name in self._names:
            raise InputError(
                f"image {quote(image.name)} was added before; reset() begins a new data set"
            )
        name = str(len(self._images)) if image.name is None else image.name
        pictures = refuse_other_masks(name, image.gt, image.det)
        has_masks = any(picture is not None for picture in pictures)
        is_empty = image.gt.count + image.det.count == 0
        refuse_mixed(self._has_masks, None if is_empty else has_masks)
        sizes = np.array([[height, width]])
        measured = Measured(ImageBatch([name], sizes, image.gt, image.det))
        for protocol, parameters in self._chosen.records.items():
            if has_masks and "outlines" in load(protocol).needs:
                raise InputError(f"protocol {protocol} does not work on masks; leave it out")
            if not has_masks:
                measured.evidence(load(protocol), parameters)  # refuses what cannot be scored
        self._has_masks = self._has_masks if is_empty else has_masks
        self._images.append(image)
        self._names |= set() if image.name is None else {image.name}

    def merge(self, other: Accumulator[Result]) -> None:
        """Add everything another accumulator has seen; it must score by the same protocols and
        parameters.

        Raises
        ------
        ConfigError
            When it does not.
        InputError
            When one has masks, the other boxes or polygons.
        """
        ours, theirs = (
            (one._chosen, one._options["min_confidence"], one._per_image) for one in (self, other)
        )
        if ours != theirs:
            raise ConfigError(
                f"accumulators differ: {ours[0].records} and {theirs[0].records}; expected the same"
                " options"
            )
        refuse_mixed(self._has_masks, other._has_masks)
        if twice := sorted(self._names & other._names):
            again = counted(
                len(twice),
                "{count} image[s] [was|were] added to both accumulators, and count[s|] twice",
            )
            warnings.warn(f"{again}: {listed(twice)}", EvaltexWarning, stacklevel=2)
        self._images += other._images
        self._names |= other._names
        self._has_masks = other._has_masks if self._has_masks is None else self._has_masks

    def gather(self, group: Any = None) -> Accumulator[Result]:
        """Return an accumulator of the images of all ranks of ``torch.distributed``, the same on
        every rank.

        Parameters
        ----------
        group : ProcessGroup, optional
            All ranks by default.

        Notes
        -----
        Every rank must call it. This accumulator stays as it is. Without an initialised process
        group the result is a copy. A sampler that repeats images, so that all ranks have as many,
        makes them count twice; a warning lists those that have names.
        """
        from torch import distributed

        parts: list[Any] = [copy.deepcopy(self)]
        if distributed.is_available() and distributed.is_initialized():
            parts = [None] * distributed.get_world_size(group)
            distributed.all_gather_object(parts, self, group=group)
        for part in parts[1:]:
            parts[0].merge(part)
        return cast("Accumulator[Result]", parts[0])

    def compute(self) -> Result:
        """Score everything added so far; more may be added after.

        Returns
        -------
        Evaluation or Evaluations
            Of one protocol if one name was given, else by protocol. An image without a name is
            called by its number.
        """
        if not self._images:
            runs = runs_of(self._chosen.records)
            nothing = {run.protocol.name: of_nothing(run) for run in runs}
            return cast("Result", self._chosen.result(nothing))
        wanted = asked(self._protocol, dict(self._options))
        given = sides(*_sides_of(self._by_name()))
        result = evaluate_sides(given, wanted, self._per_image, in_training=True)
        warn(result.warnings)
        return cast("Result", result)

    def compute_sweep(self, **options: Any) -> Sweep | ByProtocol[Sweep]:
        """Score everything added so far at each confidence threshold; more may be added after.

        Parameters
        ----------
        **options
            ``points``, ``folds``, ``seed``, ``tolerance``, ``max_detections``,
            ``confidence_intervals`` and ``resamples``, as of `evaltex_cli.sweep`.

        Returns
        -------
        Sweep or ByProtocol
            Of one protocol if one name was given, else by protocol.

        Raises
        ------
        InputError
            For masks, and where no detection has a confidence (`image_objects`).
        ConfigError
            For options that are unknown or out of range.
        """
        gt, det, sizes = _sides_of(self._by_name())
        protocol: Any = self._protocol
        found: Sweep | ByProtocol[Sweep] = sweep(
            gt, det, protocol, sizes=sizes, **self._options, **options
        )
        return found

    def _by_name(self) -> dict[str, _Image]:
        images: dict[str, _Image] = {}
        for number, image in enumerate(self._images):
            name = str(number) if image.name is None else image.name
            while name in images:
                name += " again"
            images[name] = image
        return images


def _sides_of(
    images: Mapping[str, _Image],
) -> tuple[dict[str, Objects], dict[str, Objects], dict[str, tuple[float, float]]]:
    """Return ground truth, detections and known sizes of images, by name."""
    return (
        {name: image.gt for name, image in images.items()},
        {name: image.det for name, image in images.items()},
        {name: image.size for name, image in images.items() if image.size is not None},
    )
