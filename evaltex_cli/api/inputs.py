"""What a user of the Python functions gives: paths or arrays, protocols and
options, as the records of the engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from evaltex_cli.errors import (
    ConfigError,
    EvaltexWarning,
    InputError,
    counted,
    listed,
    quote,
)
from evaltex_cli.evaluation.arrays import (
    OneImage,
    image_size,
    objects_of,
    refuse_mixed,
    refuse_other_masks,
)
from evaltex_cli.evaluation.chosen import Chosen, chosen_parameters
from evaltex_cli.formats import memory
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import (
    DONT_CARE_OBJECTS,
    IN_MEMORY,
    INVALID_POLYGONS,
    MAX_PIXELS,
    InputOptions,
    MaskFolders,
)
from evaltex_cli.protocols import config
from evaltex_cli.records import Objects
from evaltex_cli.records.rows import NOTHING
from evaltex_cli.runtime import OrderedMap, cores

AnyPath: TypeAlias = "str | PathLike[str]"
Images: TypeAlias = "AnyPath | Mapping[str, OneImage] | Iterable[OneImage]"
"""One side: a path, or the objects of each image, by name or in the order of the other side."""
Sizes: TypeAlias = "Mapping[str, tuple[float, float]] | Iterable[tuple[float, float]]"


class ReadingOptions(TypedDict, total=False):
    """How inputs are read."""

    gt_format: str | None
    det_format: str | None
    gt_level: str | None
    det_level: str | None
    gt_classes: Iterable[str] | None
    det_classes: Iterable[str] | None
    images: AnyPath | None
    gt_images: AnyPath | None
    det_images: AnyPath | None
    max_pixels: int
    min_confidence: float | None
    invalid_polygons: Literal["repair", "drop", "skip", "error"] | None
    coordinates: str | None
    columns: str | None
    gt_lines: AnyPath | None
    only: Iterable[str] | None
    dont_care: Literal["ignore", "count", "drop"]


class ScoringOptions(ReadingOptions, total=False):
    """How inputs are read and scored."""

    sizes: Sizes | None
    params: Mapping[str, Any] | None
    preset: str | None
    jobs: int


_PATHS = ("images", "gt_images", "det_images", "gt_lines")
READING = tuple(ReadingOptions.__annotations__)
SCORING = (*READING, "sizes", "params", "preset", "jobs")


@dataclass(frozen=True, slots=True)
class Asked:
    """Protocols, how inputs are read, and how many processes work; 0 for one per processor."""

    chosen: Chosen
    options: InputOptions
    sizes: Any = None
    jobs: int = 1

    @contextmanager
    def workers(self) -> Iterator[OrderedMap]:
        """Yield what does the work: this process, or several."""
        jobs = self.jobs or cores()
        if jobs == 1:
            yield map
            return
        from evaltex_cli.runtime import workers

        with workers.processes(jobs) as ordered_map:
            yield ordered_map


def asked(protocol: str | Iterable[str] | None, given: Mapping[str, Any]) -> Asked:
    """Return what keywords ask for; those that are no option are parameters of the only protocol.

    Raises
    ------
    ConfigError
        For unknown protocols, presets and parameters, values out of range, and what contradicts the
        preset.
    InputError
        For one folder of label pictures without the other.
    """
    params, more = (
        given.get("params") or {},
        {name: given[name] for name in given if name not in SCORING},
    )
    preset, jobs = given.get("preset"), given.get("jobs", 1)
    if not isinstance(jobs, int) or jobs < 0:
        raise ConfigError(
            f"jobs={quote(repr(jobs))}; expected a number of processes, 0 for one per processor"
        )
    if preset is None:
        chosen = chosen_parameters(
            config.DEFAULT_SECTION if protocol is None else protocol, params, more
        )
        return Asked(chosen, reading_options(given), given.get("sizes"), jobs)
    rules = config.preset_named(preset)
    _refuse_contradiction(preset, "protocol", protocol, rules.protocol)
    _refuse_contradiction(preset, "invalid_polygons", given.get("invalid_polygons"), rules.invalid)
    _refuse_contradiction(preset, "dont_care", given.get("dont_care"), DONT_CARE_OBJECTS[0])
    for name, level in rules.levels.items():
        _refuse_contradiction(preset, name, given.get(name), level)
    settings = config.settings_of(rules.protocol, {**params, **more})
    chosen = Chosen({rules.protocol: config.parameters_of_preset(preset, settings)})
    options = replace(reading_options(given), invalid=rules.invalid, preset=preset, **rules.levels)
    return Asked(chosen, options, given.get("sizes"), jobs)


def _refuse_contradiction(preset: str, what: str, given: Any, expected: str) -> None:
    if given not in (None, expected):
        raise ConfigError(
            f"{what}={given}: the preset {preset} has {what}={expected}; leave out one of them"
        )


def reading_options(given: Mapping[str, Any]) -> InputOptions:
    """Return the options of reading among keywords; raises as `asked`."""
    paths = {name: None if given.get(name) is None else Path(given[name]) for name in _PATHS}
    gt_images, det_images, masks = paths["gt_images"], paths["det_images"], None
    if gt_images is not None and det_images is not None:
        masks = MaskFolders(gt_images, det_images, given.get("max_pixels", MAX_PIXELS))
    elif gt_images is not None or det_images is not None:
        raise InputError("gt_images and det_images go together; give both folders or neither")
    return InputOptions(
        gt_format=given.get("gt_format"),
        det_format=given.get("det_format"),
        gt_level=given.get("gt_level"),
        det_level=given.get("det_level"),
        gt_classes=_names(given.get("gt_classes")),
        det_classes=_names(given.get("det_classes")),
        images=paths["images"],
        masks=masks,
        min_confidence=given.get("min_confidence"),
        invalid=given.get("invalid_polygons") or INVALID_POLYGONS[0],
        lines=paths["gt_lines"],
        coordinates=given.get("coordinates"),
        columns=given.get("columns"),
        only=_names(given.get("only")),
        dont_care=given.get("dont_care") or DONT_CARE_OBJECTS[0],
    )


def _names(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


# Paths and arrays ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides: files, or sources of objects in memory, which may be masks."""

    gt: Path | Source
    det: Path | Source
    are_masks: bool = False

    def options(self, options: InputOptions) -> InputOptions:
        """Return the options of reading, with masks if the objects are."""
        return replace(options, masks=IN_MEMORY) if self.are_masks else options


def sides(gt: Images, det: Images, sizes: Sizes | None = None) -> Sides:
    """Return both sides as what the engine reads.

    Parameters
    ----------
    sizes : mapping or iterable of (height, width), optional
        Of images in memory, by name or in the order of the images.

    Raises
    ------
    InputError
        For arrays that are no objects, with the image, and sides whose images do not pair.
    """
    of_gt, of_det = images_of("gt", gt), images_of("det", det)
    if of_gt is None or of_det is None:
        _refuse_unnamed(gt, det)
    elif not of_gt:
        raise InputError("gt: no images; expected at least one")
    elif not (_has_names(gt) or _has_names(det)) and len(of_gt) != len(of_det):
        raise InputError(
            f"{len(of_gt)} images in gt, {len(of_det)} in det; expected as many, in the same order"
        )
    names = list(of_gt if of_gt is not None else of_det or ())
    known = _sizes(names, sizes)
    are_masks = False
    for name in names if of_gt is not None and of_det is not None else ():
        pictures = refuse_other_masks(name, (of_gt or {})[name], (of_det or {}).get(name, NOTHING))
        shape = next((picture.shape for picture in pictures if picture is not None), None)
        are_masks |= shape is not None
        known |= {name: image_size(shape)} if shape is not None else {}
    one = Path(gt) if of_gt is None else memory.source("gt", of_gt, known)  # type: ignore[arg-type]
    other = Path(det) if of_det is None else memory.source("det", of_det, known)  # type: ignore[arg-type]
    for side, path in ((one, other), (other, one)):
        if isinstance(path, Path) and isinstance(side, Source) and side.pictures is not None:
            raise InputError(f"{path}: the other side has masks; give both sides as arrays")
    if are_masks:
        refuse_mixed(True, _all_masks([*(of_gt or {}).values(), *(of_det or {}).values()]))
    return Sides(one, other, are_masks)


def images_of(side: Side, given: Images) -> dict[str, Objects] | None:
    """Return the objects of each image by name, numbers from 0 if they have none; None for a path.

    Raises
    ------
    InputError
        For what is neither, with the image.
    """
    if isinstance(given, str | PathLike):
        return None
    try:
        items = _by_name(side, given)
    except TypeError as error:
        kind = type(given).__name__
        raise InputError(
            f"{side}: {kind}; expected a path, one array per image, or image name -> array"
            f" ({error})"
        ) from error
    found = {}
    for name, one in items.items():
        try:
            found[name] = objects_of(one)
        except InputError as error:
            raise InputError(
                f"{side}, image {quote(name)}: {error}"
            ) from None  # it is all in the message
    return found


def _has_names(given: Any) -> bool:
    """Whether it is a mapping, or gives names as one does: a pandas Series."""
    return hasattr(given, "items")


def _by_name(what: str, given: Any) -> dict[str, Any]:
    """Return what is given for each image by its name, or by its number from 0 if it has none."""
    found: dict[str, Any] = {}
    for name, one in given.items() if _has_names(given) else enumerate(given):
        if str(name) in found:
            raise InputError(f"{what}: name {quote(str(name))} is given twice; expected once")
        found[str(name)] = one
    return found


def _refuse_unnamed(gt: Images, det: Images) -> None:
    """Refuse images without names if the other side is a file."""
    for side, given in (("gt", gt), ("det", det)):
        if not (isinstance(given, str | PathLike) or _has_names(given)):
            raise InputError(
                f"{side}: images without names, and the other side is a file; give image name ->"
                " array"
            )


def _sizes(names: list[str], sizes: Sizes | None) -> dict[str, Any]:
    if sizes is None:
        return {}
    known = set(names)
    if _has_names(sizes):
        given = _by_name("sizes", sizes)
    elif not isinstance(sizes, Iterable):
        raise InputError(f"sizes: {quote(repr(sizes))}; expected (height, width) of each image")
    else:
        listing = list(islice(sizes, len(names) + 1))
        if len(listing) != len(names):
            raise InputError(
                f"{'more than ' * (len(listing) > len(names))}{min(len(listing), len(names))} sizes"
                f" for {counted(len(names), '{count} image[s]')}; expected one for each"
            )
        given = dict(zip(names, listing, strict=True))
    if unknown := [name for name in given if name not in known]:
        raise InputError(f"sizes of images that are not there: {listed(unknown)}")
    return {name: image_size(size) for name, size in given.items()}


def _all_masks(images: Iterable[Objects]) -> bool:
    return all(
        isinstance(one, memory.ImageObjects) and one.picture is not None
        for one in images
        if one.count
    )


# Warnings -----------------------------------------------------------------------------------------


def warn(texts: Iterable[str]) -> None:
    """Issue warnings of a result, each once, as if the caller of the public function did."""
    for text in dict.fromkeys(texts):
        warnings.warn(text, EvaltexWarning, stacklevel=3)


Progress: TypeAlias = "Callable[[int, int], None] | None"
