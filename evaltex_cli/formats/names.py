"""Names of images: of which files they are, which are safe as names of result files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from evaltex_cli.errors import quote

MAX_NAME_BYTES = 1000
"""Longest image name, in UTF-8: it becomes a path of folders."""
MOST_BYTES = 255
"""Of a file's name; no common file system takes more."""
_LEAVES_FOLDER = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.{0,2}(?:[/\\]|$)|[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"\w[\w .-]*")
_PREFIX = re.compile(r"\A(?:poly_gt|gt|res|det|pred)_", re.IGNORECASE)
_SUFFIX = re.compile(
    r"\.(?:jpe?g|jpe|jp2|png|bmp|tiff?|gif|webp|avif|p[bgp]m|txt|xml|json)\s*\Z", re.IGNORECASE
)
UPLOADED = re.compile(r"\A(?!(?:19|20)\d{6}-|000)[0-9a-f]{8}-(?=.)")
"""What Label Studio puts before the name of a picture that was uploaded; no date or number."""
_RESULT = re.compile(r"(?<=.)_res\Z", re.IGNORECASE)
"""What PaddleOCR 3 adds to the names of its results."""


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


def bytes_of(name: str) -> int:
    """How many bytes a name has in UTF-8; one of a file's name that is not UTF-8 counts too."""
    return len(name.encode("utf-8", "replace"))


def leaves_result_folder(name: str) -> bool:
    """Whether a name is absolute, or has a drive letter, an empty, ``.`` or ``..`` component (with
    either slash) or a control character.
    """
    return _LEAVES_FOLDER.search(name) is not None


def unfit_name(name: str) -> tuple[str, str] | None:
    """Return what is wrong with an image's name, and what is expected; None if nothing is."""
    if _PLAIN.fullmatch(name) and len(name) <= MAX_NAME_BYTES // 4:
        return None
    if bytes_of(name) > MAX_NAME_BYTES:
        return f"an image name of more than {MAX_NAME_BYTES} bytes", "a shorter one"
    if not name or leaves_result_folder(name) or re.search("[\ud800-\udfff]", name):
        return (
            f"image name {quote(name)}",
            "a name that stays in the result folder: no absolute path, drive letter,"
            " '..' or control character",
        )
    return None


def bad_names(names: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the position of each name that is unfit, or is there again, with what is wrong with it
    and what is expected.
    """
    seen: set[str] = set()
    for k, name in enumerate(names):
        wrong = unfit_name(name)
        if wrong:
            yield k, *wrong
        if name in seen:
            yield k, f"image name {quote(name)} again", "image names used once"
        seen.add(name)


def unfit_for_files(names: Iterable[str], suffix: str) -> dict[str, tuple[str, str]]:
    """Return each name that is too long for a file ``<name><suffix>`` -> what it makes, and what is
    expected.
    """
    unfit = {}
    for name in names:
        length = max(bytes_of(part) for part in f"{name}{suffix}".split("/"))
        if length > MOST_BYTES:
            found = f"makes a file name of {length} bytes"
            unfit[name] = found, f"at most {MOST_BYTES}; shorten it"
    return unfit


def stem(name: str) -> str:
    """Return a name without folders, prefix (`gt_`, `res_`, `poly_gt_`, Label Studio's eight
    digits, ...), extension, `_res` and outer blanks.
    """
    last = UPLOADED.sub("", re.split(r"[/\\]", name.strip())[-1])
    return without_prefix(_RESULT.sub("", _SUFFIX.sub("", last))).strip()


def unique(names: Sequence[str], spelling: Callable[[str], Hashable]) -> dict[Hashable, str]:
    """Return spelling -> the only name that has it; not those that several names have."""
    keys = [spelling(name) for name in names]
    times = Counter(keys)
    return {key: name for key, name in zip(keys, names, strict=True) if key and times[key] == 1}
