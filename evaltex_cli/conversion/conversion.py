"""Any readable source to a file of another format, with label pictures if wanted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.conversion import Target
from evaltex_cli.conversion.base import Block, Job, for_target, is_own, load
from evaltex_cli.conversion.kinds import KINDS, detect
from evaltex_cli.conversion.patches import patched, read_patch
from evaltex_cli.conversion.text_lines import group_lines
from evaltex_cli.display import Record
from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.old_formats import locations
from evaltex_cli.old_formats.base import Side, Source
from evaltex_cli.old_formats.files.image_names import (
    MOST_BYTES,
    bytes_of,
    is_unicode,
    leaves_result_folder,
    unfit_for_files,
)
from evaltex_cli.old_formats.filters import only_confident
from evaltex_cli.old_formats.image_sizes import with_sizes
from evaltex_cli.old_formats.image_subset import names_in, only_images
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.old_formats.reading import read_parts
from evaltex_cli.records import ANY_TYPE, Ints, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import take
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.outputs import output_folder

NAMED_BY_ID = "{count} image[s] [is|are] named by [its|their] COCO ID, not by file"
BLOCK_IMAGES = 1024


@dataclass(frozen=True, slots=True, repr=False)
class Converted(Record):
    """What a conversion wrote; `notes` are what the target does not contain
    as the source did, one sentence each.
    """

    images: int
    objects: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def convert(
    source: Path | Source,
    target: Path,
    side: Side | None = None,
    how: Target | None = None,
    options: InputOptions | None = None,
    ordered_map: OrderedMap = map,
) -> Converted:
    """Write everything in a source to a file of another format, or to a folder of files.

    Parameters
    ----------
    source, target : Path
        Any input of a known format, or a source in memory; the file to write, or the folder if the
        format has one file per image.
    side : {'gt', 'det'}, optional
        What the source is; None to find out (`kinds.detect`).
    how : Target, optional
    options : InputOptions, optional
        Format of this side, confidence threshold, images, and folder of pictures for sizes.
    ordered_map : callable
        What reads the source (`workers`); `map` does it here.

    Raises
    ------
    InputError
        For a faulty source, a patch that does not fit it, or a target that cannot be written; the
        targets are then left as they were.
    """
    how, options = how or Target(), options or InputOptions()
    writer = load(how.to) if how.to else for_target(target)
    if how.masks is not None and writer.name != "evaltex":
        raise InputError(
            f"label pictures go with an EvaLTex file, whose IDs they have, not with {writer.title}"
        )
    if isinstance(source, Path):
        _refuse_in_source(source, target)
    reason = ""
    if side is None and how.patch is not None:
        side = "gt"
    if side is None:
        if not isinstance(source, Path):
            raise InputError("objects in memory: say whether they are ground truth or detections")
        side, reason = detect(source, options)
    faults = FaultLog()
    opened = formats.open_source(source, side, faults, options.format_of(side), options)
    formats.refuse_unused(options, [opened])
    if not opened.names:
        faults.raise_if_any()
        expected = "give a file or folder of a format that `evaltex formats` lists"
        raise InputError(f"{source}: no image in it ({opened.format} as its format); {expected}")
    _refuse(opened, _not_unicode(opened.names), faults)
    names = _wanted(opened, options)
    ids = dict(zip(opened.names, opened.ids, strict=True)) if opened.ids is not None else {}
    job = Job(target, side, names, opened.path, faults, ids)
    if writer.name != "coco":
        job.lost[NAMED_BY_ID] = sum(ids.get(name) == name and name.isdigit() for name in names)
    opened = _without_others(opened, names, how.patch)
    if options.min_confidence is not None:
        opened = only_confident(opened, options.min_confidence)
    if options.images is not None:
        opened = with_sizes(opened, options.images)
    blocks = _changed(_blocks(opened, job, ordered_map), how.patch, opened, job)
    with _with_masks(how, opened, _shaped(blocks, how), job) as passing:
        writer.write(job, passing)
    notes = tuple(counted(count, sentence) for sentence, count in job.lost.items() if count)
    taken = (
        (f"{source} is taken for {KINDS[side]} by {reason}; --kind says otherwise",)
        if reason
        else ()
    )
    return Converted(len(job.names), job.written, taken + notes, opened.warnings)


def _refuse_in_source(source: Path, target: Path) -> None:
    if not target.exists():
        return
    if source.samefile(target) or Path(os.path.realpath(target)).is_relative_to(
        os.path.realpath(source)
    ):
        raise InputError(f"{target}: is the source itself, or in it; write to another place")


def _wanted(opened: Source, options: InputOptions) -> list[str]:
    """Return the names of the images that are converted."""
    if options.only is None:
        return list(opened.names)
    return list(names_in(opened, options.only, "converted"))


def _without_others(opened: Source, names: Sequence[str], patch: Path | None) -> Source:
    """Leave out images; with a patch, which is of all of them, they are left out after it."""
    if patch is not None or len(names) == len(opened.names):
        return opened
    return only_images(opened, names)


def _blocks(opened: Source, job: Job, ordered_map: OrderedMap) -> Iterator[Block]:
    """Yield the source's images; at the end, raise what was wrong with any."""
    images = len(opened.names)
    ranges = (
        (start, min(start + BLOCK_IMAGES, images)) for start in range(0, images, BLOCK_IMAGES)
    )
    for (start, stop), read in read_parts(opened, ranges, "converting", ordered_map):
        job.faults.extend(read.faults)
        if job.faults.gives_up:
            break
        job.lost[
            f"{{count}} object[s] left out, [its|their] confidence below {opened.min_confidence}"
        ] += read.unconfident
        objects = read.objects
        if objects.types is not None:
            job.lost["{count} object type[s] left out"] += int((objects.types != ANY_TYPE).sum())
        yield Block(opened.names[start:stop], read)
    job.faults.raise_if_any()


def _shaped(blocks: Iterable[Block], how: Target) -> Iterator[Block]:
    """Yield blocks with their objects as the target asks for them."""
    for block in blocks:
        objects = block.images.objects
        if how.boxes:
            objects = replace(objects, outlines=Outlines.of_boxes(objects.boxes))
        if how.regions == "lines":
            objects = replace(objects, regions=_line_regions(objects))
        yield replace(block, images=replace(block.images, objects=objects))


def _changed(
    blocks: Iterable[Block], patch: Path | None, opened: Source, job: Job
) -> Iterable[Block]:
    """Return blocks with a patch applied; refuse what none can be of, before anything is read.

    Raises
    ------
    InputError
        For detections, and what is no patch.
    """
    if patch is None:
        return blocks
    if job.side == "det":
        raise InputError(f"{patch}: is of ground truth, not of detections; leave out --kind det")
    changed = patched(blocks, read_patch(patch), patch, opened.sha256, job)
    return changed if len(job.names) == len(opened.names) else _taken(changed, set(job.names))


def _taken(blocks: Iterable[Block], names: Collection[str]) -> Iterator[Block]:
    """Yield the images of these names."""
    for block in blocks:
        images = [k for k, name in enumerate(block.names) if name in names]
        offsets = block.images.objects.offsets.tolist()
        rows = [np.arange(offsets[k], offsets[k + 1]) for k in images]
        if images:
            objects = take(
                block.images.objects,
                np.concatenate(rows),
                offsets_of(np.array(list(map(len, rows)))),
            )
            part = replace(block.images, sizes=block.images.sizes[images], objects=objects)
            yield Block([block.names[k] for k in images], part)


def _line_regions(objects: Objects) -> Ints:
    regions = np.zeros(objects.count, np.int64)
    for start, stop in zip(
        objects.offsets[:-1].tolist(), objects.offsets[1:].tolist(), strict=True
    ):
        regions[start:stop] = group_lines(objects.boxes[start:stop])
    return regions


@contextlib.contextmanager
def _with_masks(
    how: Target, opened: Source, blocks: Iterable[Block], job: Job
) -> Iterator[Iterable[Block]]:
    """Give the blocks on, each drawn into the folder as it passes; the folder
    is put in place at the end.
    """
    masks, mask_format = how.masks, how.mask_format
    if masks is None:
        yield blocks
        return
    from evaltex_cli.conversion import write_label_images

    files = {name: write_label_images.file_name(name, mask_format) for name in opened.names}
    _refuse(opened, _unfit_as_files(files), job.faults)
    with output_folder(masks, is_own) as folder:
        _refuse(opened, _unfit_in(folder, files), job.faults)
        yield write_label_images.draw_all(folder, mask_format, blocks, opened.path, job.faults)


# Names that a target cannot have ------------------------------------------------------------------


def _refuse(source: Source, unfit: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
    """Refuse images by their names, if there are any; `unfit` has what is wrong and what is
    expected.

    Raises
    ------
    InputError
        With what the reader has recorded of the names, if it has.
    """
    if unfit:
        if not faults.count:
            locations.log_names(source, unfit, faults)
        faults.raise_if_any()


def _not_unicode(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the names that no text can have, from files whose names are not UTF-8, or from lone
    surrogates; or that no XML can, beyond the control characters that no name has.
    """
    return {
        name: ("is not Unicode", "a name in UTF-8, without U+FFFE and U+FFFF; rename the image")
        for name in names
        if not is_unicode(name) or "\ufffe" in name or "\uffff" in name
    }


def _unfit_as_files(files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the names of which no file can be made, on any file system.

    Parameters
    ----------
    files : mapping
        Image name -> the file, with folders.
    """
    unfit: dict[str, tuple[str, str]] = {}
    first: dict[str, str] = {}
    for name, file in files.items():
        longest = max(map(bytes_of, file.split("/")))
        if leaves_result_folder(file):
            unfit[name] = (
                "is no file name",
                "no absolute path, drive letter, '..' or control character; rename the image",
            )
        elif longest > MOST_BYTES:
            unfit[name] = (
                f"makes a file name of {longest} bytes",
                f"at most {MOST_BYTES}; shorten it",
            )
        elif first.setdefault(file, name) != name:
            made = f"makes the file {quote(file)}, which is that of image {quote(first[file])}"
            unfit[name] = made, "names that differ by more than an ending; rename one of the images"
    return unfit


def _unfit_in(folder: Path, files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the names of which no file can be made in an existing folder, or
    none together with the others'.
    """
    unfit = unfit_for_files(files.values(), folder.parent, folder.name, "")
    return {name: unfit[file] for name, file in files.items() if file in unfit}
