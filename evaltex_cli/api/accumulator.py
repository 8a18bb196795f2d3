"""Evaluation of a data set that comes image by image, for training loops."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, cast, overload

from evaltex_cli.api.arrays import OneImage, image_size, objects_of
from evaltex_cli.api.evaluate import evaluated
from evaltex_cli.api.functions import sweep
from evaltex_cli.api.inputs import Protocols, TrainingOptions, request, warn
from evaltex_cli.errors import ConfigError, EvaltexWarning, InputError, counted, listed, quote
from evaltex_cli.evaluation.evaluate import runs_of, score_nothing
from evaltex_cli.evaluation.evaluation import ByProtocol, Evaluation, Evaluations
from evaltex_cli.records import Objects
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
    size: tuple[float, ...] | None


class Accumulator(Generic[Result]):
    """Keeps images, and scores all of them when asked.

    Parameters
    ----------
    protocol : str or iterable of str
        One name (``evaltex`` by default), several, or ``"all"``.
    per_image : bool
        Whether results have those of each image and object.
    **options
        ``params``, ``preset``, ``min_confidence``, ``invalid`` and ``dont_care``, as of `evaluate`;
        other keywords are parameters of the only protocol.

    Raises
    ------
    ConfigError
        As `evaluate`.

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
        if protocol is not None and not isinstance(protocol, str):
            protocol = list(protocol)
        self._request = request(protocol, options, TrainingOptions)
        self._protocol, self._options, self._per_image = protocol, options, per_image
        self.reset()

    def reset(self) -> None:
        """Forget everything added so far."""
        self._images: list[_Image] = []
        self._names: set[str] = set()

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
        """Add one image; `compute` refuses what cannot be scored, with the image.

        Parameters
        ----------
        gt, det : Objects or array
            The objects of an image, as `evaluate`.
        size : (height, width), optional
            Of the image in pixels, in the order of an array's shape; CLEval's `scale_bins` needs
            it.
        name : str, optional
            The image's name, for results of images and messages. A second image of the same name is
            refused.

        Raises
        ------
        InputError
            For what are no objects, and for an image that was added before. It is then not added.
        """
        name = None if name is None else str(name)
        if name in self._names:
            raise InputError(f"image {quote(name)} was added before; reset() begins a new data set")
        known = None if size is None else tuple(image_size(size).tolist())
        self._images.append(_Image(name, objects_of(gt), objects_of(det), known))
        if name is not None:
            self._names.add(name)

    def merge(self, other: Accumulator[Result]) -> None:
        """Add everything another accumulator has seen.

        Raises
        ------
        ConfigError
            When it has other protocols, parameters or options.
        """
        ours, theirs = ((one._request, one._per_image) for one in (self, other))
        if ours != theirs:
            shown = f"{dict(ours[0].protocols)} and {dict(theirs[0].protocols)}"
            raise ConfigError(f"accumulators differ: {shown}; expected the same options")
        if twice := sorted(self._names & other._names):
            again = "{count} image[s] [was|were] added to both accumulators, and count[s|] twice"
            again = counted(len(twice), again)
            warnings.warn(f"{again}: {listed(twice)}", EvaltexWarning, stacklevel=2)
        self._images += other._images
        self._names |= other._names

    def gather(self, group: Any = None) -> Accumulator[Result]:
        """Return an accumulator of the images of all ranks of ``torch.distributed``, the same on
        every rank.

        Every rank must call it. This accumulator stays as it is. Without an initialised process
        group the result is a copy. A sampler that repeats images, so that all ranks have as many,
        makes them count twice; a warning lists those that have names.

        Parameters
        ----------
        group : ProcessGroup, optional
            All ranks by default.
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
            The result if one protocol was named, else a mapping of protocol -> result. An image
            without a name is called by its number.

        Raises
        ------
        InputError
            As `evaluate`: for faults, with the image.
        """
        if not self._images:
            runs = runs_of(self._request.protocols)
            nothing = {run.protocol.name: score_nothing(run) for run in runs}
            return cast("Result", self._request.result(nothing, kind=Evaluations))
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
        asked: dict[str, Any] = {"sizes": sizes, **self._options, **options}
        found: Sweep | ByProtocol[Sweep] = sweep(gt, det, self._protocol, **asked)
        return found

    def _sides(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return ground truth, detections and known sizes of the images, by name."""
        images: dict[str, _Image] = {}
        for number, image in enumerate(self._images):
            name = str(number) if image.name is None else image.name
            while name in images:
                name += " again"
            images[name] = image
        gt = {name: image.gt for name, image in images.items()}
        det = {name: image.det for name, image in images.items()}
        return gt, det, {name: one.size for name, one in images.items() if one.size is not None}
