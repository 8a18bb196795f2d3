"""Evaluation image by image, for training loops: no files, the same batches, the same scores."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, cast, overload

import numpy as np

from evaltex_cli.api.sweep import options_of
from evaltex_cli.display import Rows
from evaltex_cli.errors import ConfigError, EvaltexWarning, InputError, counted, listed, quote
from evaltex_cli.evaluation import arrays, evaluate, tally
from evaltex_cli.evaluation.arrays import OneImage, image_size, objects_of, refuse_other_masks
from evaltex_cli.evaluation.batches import are_polygons
from evaltex_cli.evaluation.chosen import chosen_parameters
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult
from evaltex_cli.evaluation.evaluations import ByProtocol, Evaluations, by_protocol
from evaltex_cli.evaluation.input_counts import InputCounts, InputFile, InputSummary
from evaltex_cli.evaluation.input_warnings import input_warnings
from evaltex_cli.evaluation.mask_batches import with_pictures
from evaltex_cli.formats.filters import at_least
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.formats.options import IN_MEMORY, InputOptions
from evaltex_cli.geometry.picture_runs import PictureRuns
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Floats, GeometryCounts, ImageBatch, Objects
from evaltex_cli.records.rows import NOTHING, concatenate
from evaltex_cli.runtime import signals
from evaltex_cli.thresholds.kept_batches import KeptBatches
from evaltex_cli.thresholds.result import Sweep

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result = TypeVar("Result", bound=Evaluation | Evaluations, default=Evaluation)
else:
    from typing import TypeVar

    Result = TypeVar("Result")

FLUSH_OBJECTS = 20_000


class _Image(NamedTuple):
    """An image that is not scored yet; pictures are of masks, `unconfident` is what is left out."""

    name: str
    size: Floats
    gt: Objects
    det: Objects
    pictures: tuple[PictureRuns | None, PictureRuns | None]
    repairs: tuple[GeometryCounts, GeometryCounts]
    unconfident: int


@dataclass(slots=True)
class _Scoring:
    """One protocol by the parameters for data with, or without, polygons, and
    the results of the images.
    """

    run: tally.Run
    images: list[ImageResult] = field(default_factory=list)

    def of(self, batch: ImageBatch, per_image: bool) -> _Scoring:
        run, work = self.run.empty(), tally.SinkWork(tally.images_of) if per_image else None
        return _Scoring(run, tally.add_batch(run, batch, work) or [])

    def join(self, other: _Scoring) -> None:
        self.run.gathered.add(other.run.gathered)
        self.images += other.images


class Accumulator(Generic[Result]):
    """Scores a data set that comes image by image.

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
        self._options = InputOptions(min_confidence=min_confidence)
        self._per_image = per_image
        self.reset()

    def reset(self) -> None:
        """Forget everything added so far."""
        self._scoring: dict[bool, dict[str, _Scoring]] = {False: {}}
        for name, record in self._chosen.records.items():
            spec = load(name)
            among_boxes = spec.resolve(record, lambda: False)
            among_polygons = spec.resolve(record, lambda: True)
            self._scoring[False][name] = _Scoring(tally.Run(spec, among_boxes))
            if among_polygons != among_boxes:  # which one applies is known at the end
                self._scoring.setdefault(True, {})[name] = _Scoring(tally.Run(spec, among_polygons))
        self._has_polygons = False
        self._has_masks: bool | None = None
        self._waiting: list[_Image] = []
        self._waiting_objects = 0
        self._names: set[str] = set()
        self._kept = KeptBatches()
        self._counts = [InputCounts(), InputCounts()]

    def __repr__(self) -> str:
        images = counted(self._counts[0].images + len(self._waiting), "{count} image[s]")
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
            confidences that are not given; for an image that was added before. The image is then
            not added.
        """
        name = None if name is None else str(name)
        image = self._image(name or "", objects_of(gt), objects_of(det), image_size(size))
        if name is not None and name in self._names:
            raise InputError(f"image {quote(name)} was added before; reset() begins a new data set")
        has_masks = image.pictures != (None, None)
        batch = ImageBatch([image.name], image.size[None], image.gt, image.det)
        for scoring in self._scoring[False].values():
            if has_masks and not scoring.run.protocol.takes_masks:
                raise InputError(
                    f"protocol {scoring.run.protocol.name} does not work on masks; leave it out"
                )
            scoring.run.protocol.needs(batch, scoring.run.parameters)
        self._names |= {name} if name is not None else set()
        self._has_masks = has_masks if image.gt.count + image.det.count else self._has_masks
        self._waiting.append(image)
        self._waiting_objects += image.gt.count + image.det.count
        if self._waiting_objects >= FLUSH_OBJECTS:
            self._flush()

    def _image(self, name: str, gt: Objects, det: Objects, size: Floats) -> _Image:
        of_gt, of_det = (
            side.repairs if isinstance(side, ImageObjects) else GeometryCounts()
            for side in (gt, det)
        )
        pictures = refuse_other_masks(name, gt, det)
        has_masks = any(picture is not None for picture in pictures)
        arrays.refuse_mixed(self._has_masks, has_masks if gt.count + det.count else None)
        minimum, detections = self._options.min_confidence, det.count
        if minimum is not None:
            det = at_least(det, minimum)
        for picture in pictures:
            size = np.array(picture.shape, np.float64) if picture is not None else size
        return _Image(name, size, gt, det, pictures, (of_gt, of_det), detections - det.count)

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
            (one._chosen.records, one._options, one._per_image, one._chosen.is_one)
            for one in (self, other)
        )
        if ours != theirs:
            raise ConfigError(
                f"accumulators differ: {ours[0]} and {theirs[0]}; expected the same options"
            )
        arrays.refuse_mixed(self._has_masks, other._has_masks)
        if twice := sorted(self._names & other._names):
            again = counted(
                len(twice),
                "{count} image[s] [was|were] added to both accumulators, and count[s|] twice",
            )
            warnings.warn(f"{again}: {listed(twice)}", EvaltexWarning, stacklevel=2)
        self._flush()
        other._flush()
        with signals.blocked():
            for kind, by_name in self._scoring.items():
                for name, scoring in by_name.items():
                    scoring.join(other._scoring[kind][name])
            self._has_polygons |= other._has_polygons
            self._has_masks = other._has_masks if self._has_masks is None else self._has_masks
            self._names |= other._names
            self._kept.merge(other._kept)
            self._counts = [a + b for a, b in zip(self._counts, other._counts, strict=True)]

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

        self._flush()
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
            Of one protocol if one name was given, else by protocol.
        """
        self._flush(even_if_empty=not self._counts[0].images)
        gt, det = (
            InputSummary.of_file(InputFile(file), counts)
            for file, counts in zip(("gt", "det"), self._counts, strict=True)
        )
        options = InputOptions(masks=IN_MEMORY) if self._has_masks else self._options
        shared = input_warnings(options, gt, det) if gt.images else []
        found = {
            one.protocol.name: one
            for one in (
                replace(
                    evaluate.scored(scoring.run, gt, det, options, shared),
                    images=Rows(scoring.images),
                )
                for scoring in self._final()
            )
        }
        result = self._chosen.result(found)
        for text in result.warnings:
            warnings.warn(text, EvaltexWarning, stacklevel=2)
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

        Notes
        -----
        For it the objects of all images are kept in memory, unless the first 20,000 detections have
        no confidences.
        """
        own = options_of(options)
        if options:
            raise ConfigError(
                f"unknown option {quote(next(iter(options)))}; expected options of a sweep"
            )
        evaluations = list(by_protocol(self.compute()).values())
        found = self._kept.sweeps(evaluations, own)
        return found[0] if self._chosen.is_one else ByProtocol({one.protocol: one for one in found})

    def _final(self) -> Iterator[_Scoring]:
        """Yield what applies to the data, of each protocol."""
        among_polygons = self._scoring.get(True, {}) if self._has_polygons else {}
        return (among_polygons.get(name, scoring) for name, scoring in self._scoring[False].items())

    def _flush(self, even_if_empty: bool = False) -> None:
        if not self._waiting and not even_if_empty:
            return
        batch = _batch(self._waiting)
        has_polygons = are_polygons(batch.gt) or are_polygons(batch.det)
        self._has_polygons |= True in self._scoring and has_polygons
        scored = [
            (scoring, scoring.of(batch, self._per_image))
            for is_of_polygons, by_name in self._scoring.items()
            for name, scoring in by_name.items()
            if is_of_polygons or not (self._has_polygons and name in self._scoring[True])
        ]
        counts = list(self._counts)
        for k, objects in enumerate((batch.gt, batch.det)):
            repairs = sum((image.repairs[k] for image in self._waiting), GeometryCounts())
            unconfident = sum(image.unconfident for image in self._waiting) if k else 0
            counts[k] += InputCounts.of(objects, repairs, unconfident)
        with signals.blocked():  # what fails or is interrupted before has added nothing
            for scoring, of_batch in scored:
                scoring.join(of_batch)
            self._kept.add(batch)
            self._counts, self._waiting, self._waiting_objects = counts, [], 0


def _batch(images: Sequence[_Image]) -> ImageBatch:
    sides = [one.gt for one in images], [one.det for one in images]
    gt, det = (concatenate(parts) if parts else NOTHING for parts in sides)
    sizes = np.array([one.size for one in images]).reshape(-1, 2)
    batch = ImageBatch([one.name for one in images], sizes, gt, det)
    if all(picture is None for one in images for picture in one.pictures):
        return batch
    return with_pictures(batch, *([one.pictures[k] for one in images] for k in (0, 1)))
