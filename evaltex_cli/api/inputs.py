"""What the Python functions take: paths or arrays, protocols, and options by their names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

from evaltex_cli.api.arrays import (
    OneImage,
    image_size,
    objects_of,
    refuse_other_masks,
)
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
from evaltex_cli.formats.options import IN_MEMORY, MAX_PIXELS, InputOptions, MaskFolders
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import NOTHING, Objects
from evaltex_cli.runtime import OrderedMap, cores

ALL = "all"
NONE: Mapping[str, str] = {}
AnyPath: TypeAlias = "str | PathLike[str]"
Images: TypeAlias = "AnyPath | Mapping[str, OneImage] | Iterable[OneImage]"
"""One side: a path, or the objects of each image, by name or in the order of the other side."""
Sizes: TypeAlias = "Mapping[str, tuple[float, float]] | Iterable[tuple[float, float]]"
Protocols: TypeAlias = "Literal['all'] | list[str] | tuple[str, ...] | Set[str]"
"""What is answered by a mapping of protocol -> result, for type checkers: any iterable but str."""


class _Invalid(TypedDict, total=False):
    invalid: Literal["repair", "drop", "skip", "error"]


class TrainingOptions(_Invalid, total=False):
    """How images in memory are scored."""

    min_confidence: float | None
    dont_care: Literal["ignore", "count", "drop"]
    params: Mapping[str, Any] | None
    preset: str | None


class ReadingOptions(_Invalid, total=False):
    """How inputs are read."""

    gt_format: str | None
    det_format: str | None
    gt_level: str | None
    det_level: str | None
    gt_classes: Iterable[str] | None
    det_classes: Iterable[str] | None
    images: AnyPath | None
    coordinates: str | None
    columns: str | None
    only: Iterable[str] | None


class ScoringOptions(ReadingOptions, TrainingOptions, total=False):
    """How inputs are read and scored."""

    gt_images: AnyPath | None
    det_images: AnyPath | None
    max_pixels: int
    lines: AnyPath | None
    sizes: Sizes | None
    jobs: int


# Options ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """What a call asks for."""

    protocols: Mapping[str, Any]
    """Name -> parameters record."""
    options: InputOptions
    sizes: Sizes | None = None
    jobs: int = 1
    is_one: bool = True
    """Whether one protocol was named, so that the result is that of the protocol."""
    is_all: bool = False
    """Whether all protocols are meant, so that those are left out that the input does not allow."""

    @contextmanager
    def workers(self) -> Iterator[OrderedMap]:
        """Yield the map that does the work: in this process, or in several."""
        jobs = self.jobs or cores()
        if jobs == 1:
            yield map
            return
        from evaltex_cli.runtime import workers

        with workers.processes(jobs) as ordered_map:
            yield ordered_map

    def open(self, gt: Images, det: Images, ordered_map: OrderedMap = map) -> Inputs:
        """Read both sides; raises `InputError` for faults, with the image."""
        ours, theirs, are_masks = sides(gt, det, self.sizes)
        options = replace(self.options, masks=IN_MEMORY) if are_masks else self.options
        return open_inputs(ours, theirs, options, ordered_map)

    def result(
        self, results: Mapping[str, Any], left_out: Mapping[str, str] = NONE, kind: Any = ByProtocol
    ) -> Any:
        """Return the only result, or all by protocol."""
        return next(iter(results.values())) if self.is_one else kind(results, left_out)


def request(
    protocol: str | Iterable[str] | None, given: Mapping[str, Any], options: Any = ScoringOptions
) -> Request:
    """Return what a call asks for.

    Parameters
    ----------
    given : mapping
        Keywords. Those that `options` does not name are parameters of the only protocol.
    options : type
        The TypedDict of the function's keywords.

    Raises
    ------
    ConfigError, InputError
        As `evaluate`.
    """
    known = options.__annotations__
    more = {name: value for name, value in given.items() if name not in known}
    jobs, preset, params = given.get("jobs", 1), given.get("preset"), given.get("params") or {}
    if not isinstance(jobs, int) or jobs < 0:
        expected = "expected a number of processes, 0 for one per processor"
        raise ConfigError(f"jobs={quote(repr(jobs))}; {expected}")
    read, sizes = reading_options(given), given.get("sizes")
    if preset is not None:
        rules = config.preset_named(preset)
        demanded = {"protocol": rules.protocol, "invalid": rules.invalid, "dont_care": "ignore"}
        for name, value in {**demanded, **rules.levels}.items():
            asked = protocol if name == "protocol" else given.get(name)
            if asked not in (None, value):
                own_rule = f"the preset {preset} has {name}={value}"
                raise ConfigError(f"{name}={asked}: {own_rule}; leave out one of them")
        refuse_unknown(more, known, [rules.protocol])
        settings = config.settings_of(rules.protocol, {**params, **more})
        parameters = {rules.protocol: config.parameters_of_preset(preset, settings)}
        read = replace(read, invalid=rules.invalid, preset=preset, **rules.levels)
        return Request(parameters, read, sizes, jobs)
    protocol = config.DEFAULT_SECTION if protocol is None else protocol
    is_all = isinstance(protocol, str) and protocol.lower() == ALL
    names = _protocol_names([protocol] if isinstance(protocol, str) else list(protocol))
    refuse_unknown(more, known, names)
    is_one = isinstance(protocol, str) and not is_all
    return Request(_parameters(names, {**params, **more}), read, sizes, jobs, is_one, is_all)


def reading_options(given: Mapping[str, Any]) -> InputOptions:
    """Return the options of reading among keywords; raises as `request`."""
    values = {
        name: given[name]
        for name in InputOptions.__dataclass_fields__
        if name in ScoringOptions.__annotations__ and given.get(name) is not None
    }
    for name in ("images", "lines"):
        values |= {name: Path(values[name])} if name in values else {}
    for name in ("gt_classes", "det_classes", "only"):
        values |= {name: tuple(values[name])} if name in values else {}
    folders = {name: given[name] for name in ("gt_images", "det_images") if given.get(name)}
    if len(folders) == 1:
        raise InputError("gt_images and det_images go together; give both folders or neither")
    if folders:
        gt_images, det_images = map(Path, folders.values())
        limit = given.get("max_pixels", MAX_PIXELS)
        values["masks"] = MaskFolders(gt_images, det_images, limit)
    return InputOptions(**values)


def _protocol_names(given: list[Any]) -> list[str]:
    if not given or not all(isinstance(name, str) for name in given):
        found = f"protocol {quote(str(given))}"
        raise ConfigError(f"{found}; expected a name, a list of names, or 'all'")
    if ALL in [name.strip().lower() for name in given]:
        return list(PROTOCOLS)
    return list(dict.fromkeys(load(name.strip().lower()).name for name in given))


def refuse_unknown(
    given: Iterable[str], options: Iterable[str], protocols: Sequence[str] = ()
) -> None:
    """Raise `ConfigError` for a keyword that is neither an option nor a parameter of protocols."""
    parameters = [field.name for name in protocols for field in fields(load(name).parameters)]
    for key in given:
        if key not in (*options, *parameters):
            hint = nearest(key, [*options, *parameters])
            listing = f"; parameters of {protocols[0]}: {', '.join(parameters)}"
            raise ConfigError(f"unknown option {quote(key)}{hint}{listing * (len(protocols) == 1)}")


def _parameters(names: list[str], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of protocols, from parameter -> value if there is only one, or from
    protocol -> such a mapping.
    """
    by_name: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in params.items():
        if isinstance(value, Mapping) and key.lower() in names:
            by_name[key.lower()] |= value
        elif isinstance(value, Mapping):
            chosen = ", ".join(names)
            raise ConfigError(f"params of {quote(key)}, which is not among the protocols {chosen}")
        elif len(names) > 1:
            example = f"params={{{names[0]!r}: {{{key!r}: ...}}}}"
            raise ConfigError(f"{quote(key)}: several protocols have parameters; give {example}")
        else:
            by_name[names[0]][key] = value
    return {name: config.checked(name, own) for name, own in by_name.items()}


# Paths and arrays ---------------------------------------------------------------------------------


def sides(
    gt: Images, det: Images, sizes: Sizes | None = None
) -> tuple[Path | Source, Path | Source, bool]:
    """Return both sides as the engine takes them, and whether they are masks in memory. Raises
    `InputError` as `images_of`, and for sides whose images do not pair.
    """
    ours, theirs = images_of("gt", gt), images_of("det", det)
    has_names = [isinstance(one, str | PathLike) or _has_names(one) for one in (gt, det)]
    if ours is None or theirs is None:
        if not all(has_names):
            side = "det" if has_names[0] else "gt"
            unnamed = f"{side}: images without names, and the other side is a file"
            raise InputError(f"{unnamed}; give image name -> array")
    elif not ours:
        raise InputError("gt: no images; expected at least one")
    elif not any(has_names) and len(ours) != len(theirs):
        images = f"{counted(len(ours), '{count} image[s]')} in gt, {len(theirs)} in det"
        raise InputError(f"{images}; expected as many, in the same order")
    names = list((theirs or {}) if ours is None else ours)
    known, has_masks = _sizes(names, sizes), False
    if ours is not None and theirs is not None:
        for name, objects in ours.items():
            pictures = refuse_other_masks(name, objects, theirs.get(name, NOTHING))
            for picture in filter(None, pictures):
                known[name], has_masks = image_size(picture.shape), True
        for objects in [*ours.values(), *theirs.values()] if has_masks else ():
            if objects.count and getattr(objects, "picture", None) is None:
                mixed = "some images have masks, others boxes or polygons"
                raise InputError(f"{mixed}; give all of them in one way")
    one = Path(gt) if ours is None else memory.source("gt", ours, known)  # type: ignore[arg-type]
    other = Path(det) if theirs is None else memory.source("det", theirs, known)  # type: ignore[arg-type]
    for given, path in ((one, other), (other, one)):
        if isinstance(path, Path) and isinstance(given, Source) and given.pictures is not None:
            raise InputError(f"{path}: the other side has masks; give both sides as arrays")
    return one, other, has_masks


def images_of(side: Side, given: Images) -> dict[str, Objects] | None:
    """Return the objects of each image by name, numbers from 0 if they have none; None for a path.
    Raises `InputError` for anything else, with the image.
    """
    if isinstance(given, str | PathLike):
        return None
    try:
        items = _by_name(side, given)
    except TypeError as error:
        kind = f"{side}: {type(given).__name__}"
        expected = "expected a path, one array per image, or image name -> array"
        raise InputError(f"{kind}; {expected} ({error})") from error
    found = {}
    for name, one in items.items():
        try:
            found[name] = objects_of(one)
        except InputError as error:
            raise InputError(f"{side}, image {quote(name)}: {error}") from None
    return found


def one_side(side: Side, given: Images) -> Path | Source:
    """Return a side without the other one."""
    images = images_of(side, given)
    if images is None:
        return Path(given)  # type: ignore[arg-type]
    pictures = {name: getattr(one, "picture", None) for name, one in images.items()}
    sizes = {name: image_size(one.shape) for name, one in pictures.items() if one is not None}
    return memory.source(side, images, sizes)


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


def _sizes(names: list[str], sizes: Sizes | None) -> dict[str, Any]:
    if sizes is None:
        return {}
    if not isinstance(sizes, Iterable):
        raise InputError(f"sizes: {quote(repr(sizes))}; expected (height, width) of each image")
    given = _by_name("sizes", sizes if _has_names(sizes) else islice(sizes, len(names) + 1))
    if not _has_names(sizes):
        if len(given) != len(names):
            found = f"{len(given)} sizes for {counted(len(names), '{count} image[s]')}"
            raise InputError(f"{found}; expected one for each")
        given = dict(zip(names, given.values(), strict=True))
    known = set(names)
    if unknown := [name for name in given if name not in known]:
        raise InputError(f"sizes of images that are not there: {listed(unknown)}")
    return {name: image_size(size) for name, size in given.items()}


def warn(texts: Iterable[str]) -> None:
    """Issue warnings of a result, each once, as if the caller of the public function did."""
    for text in dict.fromkeys(texts):
        warnings.warn(text, EvaltexWarning, stacklevel=3)
