"""What the Python functions take: paths or arrays, protocols, and options by their names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evaltex_cli.api.arrays import OneImage, image_size, objects_of
from evaltex_cli.errors import (
    ConfigError,
    EvaltexWarning,
    InputError,
    counted,
    listed,
    nearest,
    quote,
)
from evaltex_cli.evaluation.evaluation import ByProtocol
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats import memory
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import MAX_PIXELS, InputOptions, MaskFolders
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Objects
from evaltex_cli.runtime import OrderedMap, workers

ALL = "all"
AnyPath: TypeAlias = "str | PathLike[str]"
Images: TypeAlias = "AnyPath | Mapping[str, OneImage] | Iterable[OneImage]"
"""One side: a path, or the objects of each image, by name or in the order of the other side."""
Protocols: TypeAlias = "Literal['all'] | list[str] | tuple[str, ...] | Set[str]"
"""What is answered by a mapping of protocol -> result, for type checkers: any iterable but str."""

READING = (
    *("gt_format", "det_format", "gt_level", "det_level", "gt_classes", "det_classes"),
    *("images", "coordinates", "columns", "only", "invalid"),
)
TRAINING = ("params", "preset", "min_confidence", "invalid", "dont_care")
SCORING = (*READING, *TRAINING, "gt_images", "det_images", "max_pixels", "lines", "sizes", "jobs")
"""Keywords of functions: how inputs are read, how arrays in memory are scored, and both."""


# Options ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """What a call asks for."""

    protocols: Mapping[str, Any]
    """Name -> parameters record."""
    options: InputOptions
    sizes: Any = None
    """(height, width) of images, by name or in their order."""
    jobs: int = 1
    is_one: bool = True
    """Whether one protocol was named, so that the result is that of the protocol."""

    def workers(self) -> AbstractContextManager[OrderedMap]:
        """Return what gives the map that does the work."""
        return workers.processes(self.jobs)

    def open(self, gt: Images, det: Images, ordered_map: OrderedMap = map) -> Inputs:
        """Read both sides; raises `InputError` for faults, with the image."""
        ours, theirs = sources({"gt": gt, "det": det}, self.sizes)
        return open_inputs(ours, theirs, self.options, ordered_map)

    def result(
        self, results: Mapping[str, Any], left_out: Mapping[str, str], kind: Any = ByProtocol
    ) -> Any:
        """Return the only result, or all by protocol."""
        return next(iter(results.values())) if self.is_one else kind(results, left_out)


def request(
    protocol: str | Iterable[str] | None, given: Mapping[str, Any], known: Sequence[str] = SCORING
) -> Request:
    """Return what a call asks for by keywords: options that are `known`, and parameters of the only
    protocol. Raises `ConfigError` and `InputError` as `evaluate`.
    """
    options = {name: value for name, value in given.items() if name in known}
    more = {name: value for name, value in given.items() if name not in known}
    preset, reading = options.get("preset"), reading_options(options)
    if preset is not None:
        rules = config.rules_of_preset(preset, options)
        protocol = rules.protocol if protocol is None else protocol
        if isinstance(protocol, str) and protocol.lower() != rules.protocol:
            own = f"protocol={protocol}: the preset {preset} has protocol={rules.protocol}"
            raise ConfigError(f"{own}; give protocol=[{protocol!r}] to score by both")
        reading = replace(reading, invalid=rules.invalid, preset=preset, **rules.levels)
    protocol = config.DEFAULT_SECTION if protocol is None else protocol
    names = [protocol.lower()] if isinstance(protocol, str) else list(protocol)
    if not names:
        raise ConfigError("no protocol; expected a name, a list of names, or 'all'")
    names = list(PROTOCOLS) if ALL in names else [load(name).name for name in names]
    if preset is not None:
        names = list(dict.fromkeys([rules.protocol, *names]))
    is_one = isinstance(protocol, str) and len(names) == 1
    refuse_unknown(more, [*known, *(one.name for n in names for one in fields(load(n).parameters))])
    settings = _settings({**(options.get("params") or {}), **more}, names)
    parameters = config.parameters_by_protocol(names, settings, preset)
    return Request(parameters, reading, options.get("sizes"), options.get("jobs", 1), is_one)


def refuse_unknown(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise `ConfigError` for a keyword that is not known."""
    for name in given:
        if name not in known:
            expected = "expected one of this function or of evaluate, or a parameter"
            raise ConfigError(f"unknown option {quote(name)}{nearest(name, known)}; {expected}")


def _settings(given: Mapping[str, Any], names: Sequence[str]) -> list[config.Setting]:
    """Return parameters of the only protocol, or protocol -> parameters, as settings."""
    settings = []
    for key, value in given.items():
        is_protocol = isinstance(value, Mapping)
        if not is_protocol and len(names) > 1:
            example = f"params={{{names[0]!r}: {{{key!r}: ...}}}}"
            raise ConfigError(f"{quote(key)}: several protocols have parameters; give {example}")
        protocol, values = (key, value) if is_protocol else (names[0], {key: value})
        settings += config.settings_of(protocol, values)
    config.refuse_others(settings, names)
    return settings


def reading_options(given: Mapping[str, Any]) -> InputOptions:
    """Return the options of reading among keywords; raises as `request`."""
    names = {field.name for field in fields(InputOptions)} - {"masks", "preset"}
    values = {name: given[name] for name in names if given.get(name) is not None}
    paths, several = ("images", "lines"), ("gt_classes", "det_classes", "only")
    for name, kind in {**dict.fromkeys(paths, Path), **dict.fromkeys(several, tuple)}.items():
        values |= {name: kind(values[name])} if name in values else {}
    gt_images, det_images = given.get("gt_images"), given.get("det_images")
    if (gt_images is None) != (det_images is None):
        raise InputError("gt_images and det_images go together; give both folders or neither")
    if gt_images is not None and det_images is not None:
        limit = given.get("max_pixels", MAX_PIXELS)
        values["masks"] = MaskFolders(Path(gt_images), Path(det_images), limit)
    return InputOptions(**values)


# Paths and arrays ---------------------------------------------------------------------------------


def sources(given: Mapping[Side, Images], sizes: Any = None) -> list[Path | Source]:
    """Return sides as the engine takes them; raises `InputError` for what are no objects, with the
    image, and for sides whose images do not pair.
    """
    sides = {side: _images_of(side, images) for side, images in given.items()}
    in_memory = [images for images in sides.values() if not isinstance(images, Path)]
    has_names = [isinstance(one, str | PathLike) or hasattr(one, "items") for one in given.values()]
    if sides.get("gt") == {}:
        raise InputError("gt: no images; expected at least one")
    if 0 < len(in_memory) < len(sides) and not all(has_names):
        found = "images without names, and the other side is a file"
        raise InputError(f"{found}; give image name -> array")
    if not any(has_names) and len({len(images) for images in in_memory}) > 1:
        ours, theirs = map(len, in_memory)
        found = f"{counted(ours, '{count} image[s]')} in gt, {theirs} in det"
        raise InputError(f"{found}; expected as many, in the same order")
    images = [item for side in in_memory for item in side.items()]
    has_masks = any(getattr(objects, "picture", None) for _, objects in images)
    if has_masks and len(in_memory) < len(sides):
        raise InputError("one side is a file, the other has masks; give both sides as arrays")
    known = _sizes(images, sizes, has_masks)
    return [
        one if isinstance(one, Path) else memory.source(side, one, known)
        for side, one in sides.items()
    ]


def _images_of(side: Side, given: Images) -> Path | dict[str, Objects]:
    """Return a path, or the objects of each image by name."""
    if isinstance(given, str | PathLike):
        return Path(given)
    if not isinstance(given, Iterable):
        expected = "a path, one array per image, or image name -> array"
        raise InputError(f"{side}: {type(given).__name__}; expected {expected}")
    images = {}
    for name, one in _by_name(side, given).items():
        try:
            images[name] = objects_of(one)
        except InputError as error:
            raise InputError(f"{side}, image {quote(name)}: {error}") from None
    return images


def _by_name(what: str, given: Any) -> dict[str, Any]:
    """Return what is given for each image by its name, as a mapping or a Series of pandas has it,
    or by its number from 0.
    """
    named: dict[str, Any] = {}
    for name, one in given.items() if hasattr(given, "items") else enumerate(given):
        if str(name) in named:
            raise InputError(f"{what}: name {quote(str(name))} is given twice; expected once")
        named[str(name)] = one
    return named


def _sizes(
    images: Sequence[tuple[str, Objects]], given: Any, has_masks: bool
) -> dict[str, tuple[float, float]]:
    """Return the heights and widths of images that are given, and those of masks, which all objects
    must be if some are.
    """
    sizes = _by_name("sizes", {} if given is None else given)
    sizes = {name: image_size(size) for name, size in sizes.items()}
    if not_there := sorted(sizes.keys() - dict(images).keys()):
        raise InputError(f"sizes of images that are not there: {listed(not_there)}")
    for name, objects in images if has_masks else ():
        picture = getattr(objects, "picture", None)
        if picture is None and objects.count:
            mixed = "boxes or polygons, and other objects are masks"
            raise InputError(f"image {quote(name)}: {mixed}; give all in one way")
        if picture is not None and sizes.setdefault(name, picture.shape) != picture.shape:
            shapes = f"masks of shapes {sizes[name]} and {picture.shape}"
            raise InputError(f"image {quote(name)}: {shapes}; expected one height and width")
    return sizes


def warn(texts: Iterable[str]) -> None:
    """Issue warnings of a result, each once, as if the caller of the public function did."""
    for text in dict.fromkeys(texts):
        warnings.warn(text, EvaltexWarning, stacklevel=3)
