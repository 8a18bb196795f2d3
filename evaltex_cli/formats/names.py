"""Names of images: of which files they are, which are safe as names of result files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from evaltex_cli.errors import quote

MAX_NAME = 1000
"""Longest image name, in characters: it becomes a path of folders."""
_UNFIT = re.compile(r"^[A-Za-z]:|(?:^|[/\\])\.{0,2}(?:[/\\]|\Z)|[\x00-\x1f\x7f\ud800-\udfff]")
"""A drive letter, an empty, ``.`` or ``..`` component, a control character, half a surrogate."""
_INSIDE = "a name that stays in the result folder: no absolute path, drive letter or '..'"
_PREFIX = re.compile(r"\A(?:poly_gt|gt|res|det|pred)_", re.IGNORECASE)
_SUFFIX = re.compile(
    r"\.(?:jpe?g|jpe|jp2|png|bmp|tiff?|gif|webp|avif|p[bgp]m|txt|xml|json)\s*\Z", re.IGNORECASE
)
_ADDED = re.compile(
    r"(?<=.)_(?:res|results?|middle|content_list(?:_v2)?|model|det|pred|predictions?|output|response)"
    r"(?=(?:-\d+)?\Z)",
    re.IGNORECASE,
)
"""What PaddleOCR, MinerU and scripts put after the name of a picture or document."""
_UPLOADED = re.compile(r"\A(?!(?:19|20)\d{6}-|000)[0-9a-f]{8}-(?=.)")
"""What Label Studio puts before the name of a picture that was uploaded; no date or number."""


def without_prefix(stem: str) -> str:
    """Return a file's or image's name without ``gt_``, ``res_`` and the like."""
    return _PREFIX.sub("", stem)


def names_of_pictures(names: Sequence[str]) -> list[str]:
    """Name images by the files of their pictures: `image_names` of these without their endings."""
    return image_names([_SUFFIX.sub("", name) for name in names])


def image_names(paths: Sequence[str]) -> list[str]:
    """Name images by paths without ending.

    A name is the last part without a prefix such as ``gt_``. Where two would be the same, all are
    preceded by their folders, less those that all share.
    """
    parts = [parts_of(path) or [""] for path in paths]
    names = [without_prefix(part[-1]) for part in parts]
    if len(set(names)) == len(names):
        return names
    folders = [part[:-1] for part in parts]
    shared = len(os.path.commonprefix(folders))  # noqa: RUF071 (of lists it is by items)
    return ["/".join([*above[shared:], name]) for above, name in zip(folders, names, strict=True)]


def parts_of(name: str) -> list[str]:
    """Return folders and file name of an entry's name, whatever slash is between them."""
    return [part for part in name.replace("\\", "/").split("/") if part != "."]


def leaves_result_folder(name: str) -> bool:
    """Whether a name, as a path, is unfit for a file in the result folder."""
    return _UNFIT.search(name) is not None


def bad_names(names: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the position of each name of an image that is unfit, or is there again, with what is
    wrong with it and what is expected.
    """
    names = list(names)
    are_short = max(map(len, names), default=0) <= MAX_NAME
    if are_short and len(set(names)) == len(names) and not any(map(_UNFIT.search, names)):
        return
    seen: set[str] = set()
    for k, name in enumerate(names):
        if len(name) > MAX_NAME:
            yield k, f"an image name of more than {MAX_NAME} characters", "a shorter one"
        elif leaves_result_folder(name):
            yield k, f"image name {quote(name)}", _INSIDE
        if name in seen:
            yield k, f"image name {quote(name)} again", "image names used once"
        seen.add(name)


def stem(name: str) -> str:
    """Return a name without folders, prefix (`gt_`, `res_`, `poly_gt_`, Label Studio's eight
    digits, ...), extension, suffix (`_res`, `_middle`, ...) and outer blanks.
    """
    last = _SUFFIX.sub("", _UPLOADED.sub("", re.split(r"[/\\]", name.strip())[-1]))
    return without_prefix(_SUFFIX.sub("", _ADDED.sub("", last))).strip()


def unique(names: Sequence[str], spelling: Callable[[str], Hashable]) -> dict[Hashable, str]:
    """Return spelling -> the only name that has it; not those that several names have."""
    keys = [spelling(name) for name in names]
    times = Counter(keys)
    return {key: name for key, name in zip(keys, names, strict=True) if key and times[key] == 1}
