"""The registry of formats, and how a file's format is detected."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evaltex_cli.errors import ConfigError, FaultLog, InputError, quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.old_formats.files import packed
from evaltex_cli.old_formats.files.row_files import FEW_FILES, begins_with_rows
from evaltex_cli.runtime import input_files

if TYPE_CHECKING:
    from evaltex_cli.old_formats.base import Format, Indexer, Side, Source
    from evaltex_cli.old_formats.options import InputOptions

FORMATS = {
    "hocr": ("evaltex_cli.old_formats.engines.hocr", "WORDS"),
    "hocr-line": ("evaltex_cli.old_formats.engines.hocr", "LINES"),
    "icdar-xml": ("evaltex_cli.old_formats.documents.icdar_xml", "FORMAT"),
    "chat-boxes": ("evaltex_cli.old_formats.engines.chat_boxes", "FORMAT"),
    "paddleocr": ("evaltex_cli.old_formats.engines.paddleocr", "LINES"),
    "paddleocr-json": ("evaltex_cli.old_formats.engines.paddleocr", "JSON"),
    "mmocr": ("evaltex_cli.old_formats.engines.mmocr", "ANNOTATION"),
    "mmocr-result": ("evaltex_cli.old_formats.engines.mmocr", "RESULT"),
    "easyocr": ("evaltex_cli.old_formats.engines.reading_lists", "LISTS"),
    "rapidocr": ("evaltex_cli.old_formats.engines.reading_lists", "OBJECTS"),
    "ocrmac": ("evaltex_cli.old_formats.engines.ocrmac", "FORMAT"),
    "doctr": ("evaltex_cli.old_formats.engines.doctr", "WORDS"),
    "doctr-line": ("evaltex_cli.old_formats.engines.doctr", "LINES"),
    "surya": ("evaltex_cli.old_formats.engines.surya", "WORDS"),
    "surya-line": ("evaltex_cli.old_formats.engines.surya", "LINES"),
    "label-studio": ("evaltex_cli.old_formats.documents.label_studio", "FORMAT"),
    "via": ("evaltex_cli.old_formats.documents.via", "FORMAT"),
    "rects": ("evaltex_cli.old_formats.documents.rects", "LINES"),
    "rects-chars": ("evaltex_cli.old_formats.documents.rects", "CHARACTERS"),
    "textract": ("evaltex_cli.old_formats.engines.textract", "WORDS"),
    "textract-line": ("evaltex_cli.old_formats.engines.textract", "LINES"),
    "google-vision": ("evaltex_cli.old_formats.engines.google_vision", "FORMAT"),
    "document-ai": ("evaltex_cli.old_formats.engines.document_ai", "WORDS"),
    "document-ai-line": ("evaltex_cli.old_formats.engines.document_ai", "LINES"),
    "azure": ("evaltex_cli.old_formats.engines.azure", "WORDS"),
    "azure-line": ("evaltex_cli.old_formats.engines.azure", "LINES"),
    "art": ("evaltex_cli.old_formats.documents.art", "FORMAT"),
    "coco": ("evaltex_cli.old_formats.documents.coco", "COCO"),
    "coco-res": ("evaltex_cli.old_formats.documents.coco", "RESULTS"),
    "coco-text": ("evaltex_cli.old_formats.documents.coco_text", "COCO_TEXT"),
    "coco-text-train": ("evaltex_cli.old_formats.documents.coco_text", "COCO_TEXT_TRAIN"),
    "textocr": ("evaltex_cli.old_formats.documents.coco_text", "TEXTOCR"),
    "hiertext": ("evaltex_cli.old_formats.documents.hiertext", "WORDS"),
    "hiertext-line": ("evaltex_cli.old_formats.documents.hiertext", "LINES"),
    "hiertext-para": ("evaltex_cli.old_formats.documents.hiertext", "PARAGRAPHS"),
    "hiertext-line-words": ("evaltex_cli.old_formats.documents.hiertext", "LINE_WORDS"),
    "hiertext-para-words": ("evaltex_cli.old_formats.documents.hiertext", "PARAGRAPH_WORDS"),
    "labelme": ("evaltex_cli.old_formats.documents.labelme", "FORMAT"),
    "page": ("evaltex_cli.old_formats.documents.page_xml", "WORDS"),
    "page-line": ("evaltex_cli.old_formats.documents.page_xml", "LINES"),
    "page-region": ("evaltex_cli.old_formats.documents.page_xml", "REGIONS"),
    "alto": ("evaltex_cli.old_formats.documents.alto", "WORDS"),
    "alto-line": ("evaltex_cli.old_formats.documents.alto", "LINES"),
    "cvat": ("evaltex_cli.old_formats.documents.cvat", "FORMAT"),
    "abbyy": ("evaltex_cli.old_formats.engines.abbyy_xml", "WORDS"),
    "abbyy-line": ("evaltex_cli.old_formats.engines.abbyy_xml", "LINES"),
    "tesseract-tsv": ("evaltex_cli.old_formats.engines.tesseract_tsv", "WORDS"),
    "tesseract-tsv-line": ("evaltex_cli.old_formats.engines.tesseract_tsv", "LINES"),
    "voc": ("evaltex_cli.old_formats.documents.voc", "FORMAT"),
    "ctw1500-xml": ("evaltex_cli.old_formats.documents.ctw1500_xml", "FORMAT"),
    "totaltext-mat": ("evaltex_cli.old_formats.documents.total_text_mat", "FORMAT"),
    "msra-td500": ("evaltex_cli.old_formats.icdar.msra_td500", "FORMAT"),
    "table": ("evaltex_cli.old_formats.rows.table", "FORMAT"),
    "dota": ("evaltex_cli.old_formats.rows.dota", "FORMAT"),
    "yolo": ("evaltex_cli.old_formats.rows.yolo", "FORMAT"),
    "ltrb": ("evaltex_cli.old_formats.icdar.format", "LTRB"),
    "quad": ("evaltex_cli.old_formats.icdar.format", "QUAD"),
    "polygon": ("evaltex_cli.old_formats.icdar.format", "POLYGON"),
    "box-polygon": ("evaltex_cli.old_formats.icdar.format", "BOX_POLYGON"),
    "mlt": ("evaltex_cli.old_formats.icdar.format", "MLT"),
    "rctw": ("evaltex_cli.old_formats.icdar.format", "RCTW"),
    "ctw1500": ("evaltex_cli.old_formats.icdar.format", "CTW1500"),
    "ctw1500-offsets": ("evaltex_cli.old_formats.icdar.format", "CTW1500_OFFSETS"),
    "popeval": ("evaltex_cli.old_formats.icdar.format", "POPEVAL"),
    "totaltext": ("evaltex_cli.old_formats.icdar.total_text", "FORMAT"),
    "evaltex": ("evaltex_cli.old_formats.evaltex.format", "FORMAT"),
}
"""Name -> module and attribute of its `Format`; the first that recognises an input reads it."""
_DOCUMENTS = ("evaltex_cli.old_formats.documents.", "evaltex_cli.old_formats.engines.")
_DOCUMENTS_OF_TEXT = {
    "chat-boxes",
    "paddleocr",
    "tesseract-tsv",
    "tesseract-tsv-line",
}
"""Those of these modules that .txt files may have; the others are not imported for such files."""
MEMORY = "memory"
"""The format of arrays in Python, which no file has."""


def load(name: str) -> Format:
    """Return a format by name.

    Raises
    ------
    InputError
        When the registry has none of that name.
    """
    if name not in FORMATS and name != MEMORY:
        raise InputError(
            f"unknown format {quote(name)}{nearest(name, list(FORMATS))}; `evaltex formats` lists"
            " them"
        )
    module, attribute = FORMATS.get(name, ("evaltex_cli.old_formats.memory", "FORMAT"))
    found: Format = getattr(import_module(module), attribute)
    return found


def open_source(
    path: Path | Source,
    side: Side,
    faults: FaultLog,
    format_name: str | None = None,
    options: InputOptions | None = None,
) -> Source:
    """Index an input, detecting its format by content unless one is named.

    Parameters
    ----------
    path : Path or Source
        A source in memory is indexed already, and returned.
    options : InputOptions, optional
        Has the option of the format, if it takes one (`base.Format.option`).

    Raises
    ------
    InputError
        When there is no such file or folder, it cannot be read, or no format fits it.
    """
    if not isinstance(path, Path):
        return path
    files = input_files.files_of(path)
    if files != [path]:
        return _open_shards(path, files, side, faults, format_name)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{path}: cannot be read ({reason}); give an existing file or folder"
        ) from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(
            f"{path}: is a pipe or device, and input is read more than once; write it to a file"
        )
    if format_name is None and options is not None and options.columns is not None:
        from evaltex_cli.old_formats.rows.table import has_columns

        format_name = "table" if has_columns(path, options.columns) else None
    if format_name is not None:
        return _open_named(path, side, faults, format_name, _indexer(format_name, options))
    _refuse_no_archive(path)
    if _is_plain_text(path):  # without importing all the others
        return _open_text(path, side, faults)
    from evaltex_cli.old_formats.files import archive

    with archive.held_state(path):
        name = _recognised(path)
        if name is not None:
            return _indexer(name, options)(path, side, faults)
        _refuse_unread(path)
    raise InputError(
        f"{path}: no known format; expected an EvaLTex .txt, a folder or .zip of ICDAR-style .txt"
        " files, or a data set's JSON, XML or .mat (`evaltex formats` lists all formats)"
    )


def _open_text(path: Path, side: Side, faults: FaultLog) -> Source:
    """Index EvaLTex text; what is wrong with it says of which list it looks
    like, if that is known.
    """
    before = faults.count
    source = load("evaltex").index(path, side, faults)
    if faults.count > before:
        from evaltex_cli.old_formats import unread

        found = unread.text_list(path)
        if found:
            raise InputError(f"{path}: {found}")
    return source


def _indexer(name: str, options: InputOptions | None) -> Indexer:
    """Return what indexes inputs of a format, by the option that it takes, if it takes one."""
    form = load(name)
    value = getattr(options, form.option) if options is not None and form.option else None
    return form.index if value is None or form.index_by is None else form.index_by(value)


def refuse_unused(options: InputOptions, sources: Sequence[Source]) -> None:
    """Refuse options of formats that none of the inputs has."""
    taken = {load(source.format).option for source in sources}
    found = ", ".join(f"{source.path} ({source.format})" for source in sources)
    if options.coordinates is not None and "coordinates" not in taken:
        raise ConfigError(
            f"coordinates {options.coordinates}: no input has boxes of format chat-boxes, but"
            f" {found}"
        )
    if options.columns is not None and "columns" not in taken:
        raise ConfigError(
            f"columns {options.columns}: no input is a table with these columns, but {found}"
        )


def _open_named(path: Path, side: Side, faults: FaultLog, name: str, index: Indexer) -> Source:
    """Index an input by the format that was named; what is wrong with it says
    which other one its content is of.
    """
    before = faults.count
    try:
        source = index(path, side, faults)
    except InputError as error:
        other = _other_format(path, name)
        if other is None:
            raise
        raise InputError(
            f"{error}\n{path}: {_found(other)}; expected {name}, which was named"
        ) from error
    other = _other_format(path, name) if faults.count > before else None
    if other is not None:
        faults.add(str(path), None, _found(other), f"{name}, which was named")
    return source


def _found(other: str) -> str:
    return f"content of the format {other}"


def _other_format(path: Path, name: str) -> str | None:
    """Return the format of documents that an input is of by its content, unless that is of the
    family that was named.

    Lines of numbers fit several formats, and a document type may be before any XML: both say
    nothing here.
    """
    from evaltex_cli.old_formats.documents import document_files

    try:
        found = _recognised(path)
    except InputError:
        return None
    finally:
        document_files.forget()
    if (
        found in (None, "icdar-xml")
        or not load(str(found)).ending
        or FORMATS[str(found)][0] == FORMATS[name][0]
    ):
        return None
    return found


def _open_shards(
    path: Path, files: Sequence[Path], side: Side, faults: FaultLog, format_name: str | None
) -> Source:
    from evaltex_cli.old_formats.evaltex import format as evaltex_txt

    for file in files:
        if (format_name or _recognised(file)) != "evaltex":
            raise InputError(
                f"{path}: {file} is no EvaLTex .txt; only files of that format may be given by a"
                " pattern"
            )
    return evaltex_txt.index_files(path, files, side, faults)


def _is_plain_text(path: Path) -> bool:
    """Whether a file is no archive, document or text of one image by how it begins, so that one
    format can read it.

    Only of a file without ending, or ending in .txt: of others any format may be.
    """
    if path.suffix.lower() not in ("", ".txt") or not path.is_file():
        return False
    beginning = input_files.first_bytes(path, 4096)
    beginning = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    return (
        beginning.isascii()
        and b"\0" not in beginning
        and b"\t"
        not in beginning.partition(b"\n")[0]  # a name has no tab; tables and lists of labels do
        and beginning[:1].isalnum()
        and not beginning.startswith((b"PK", b"MATLAB"))
        and not begins_with_rows(beginning)
    )


def _recognised(path: Path) -> str | None:
    if _is_plain_text(path):  # without importing all the others
        return "evaltex"
    from evaltex_cli.old_formats.documents.recognition import endings
    from evaltex_cli.old_formats.files import archive

    try:
        with archive.held_state(path):
            ending, names = _candidates(path)
            for name in names:
                candidate = load(name)
                may_be = ending is None or not candidate.ending or ending in candidate.endings
                if may_be and candidate.recognises(path):
                    if not candidate.ending and not (ending and endings(path)[".txt"]):
                        _refuse_unread(path)
                    return name
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    return None


def _candidates(path: Path) -> tuple[str | None, list[str]]:
    """Return the ending of most files of an archive, None for a file; and formats it may be of."""
    from evaltex_cli.old_formats.documents.recognition import endings, first_bytes, main_ending
    from evaltex_cli.old_formats.files import archive

    names = list(FORMATS)
    if not archive.is_archive(path):
        return None, names
    if set(endings(path)) == {".txt"}:
        is_many = endings(path)[".txt"] > FEW_FILES
        if is_many and first_bytes(path, ".txt")[:1].isdigit():  # without importing the others
            from evaltex_cli.old_formats.icdar.survey import survey

            return ".txt", [name for name in [survey(path).format()] if name in FORMATS]
        return ".txt", [name for name in names if may_be_text(name)]
    known = {ending for name in names for ending in load(name).endings} - {"", ".txt"}
    return main_ending(path, [".txt", *sorted(known)]), names


def may_be_text(name: str) -> bool:
    """Whether the files of a format may end in .txt; known without importing it."""
    return name in _DOCUMENTS_OF_TEXT or not FORMATS[name][0].startswith(_DOCUMENTS)


def _refuse_no_archive(path: Path) -> None:
    """Refuse a file that is named as an archive, and is text: its lines would be read."""
    if path.suffix.lower() == ".zip" and path.is_file():
        beginning = packed.beginning(path, 512)
        if beginning and b"\0" not in beginning and not beginning.startswith(b"PK"):
            shown = quote(beginning.decode("utf-8", "replace"), 20)
            raise InputError(
                f"{path}: is no zip archive, it begins with {shown}; pack it again, or name it as"
                " it is"
            )


def _refuse_unread(path: Path) -> None:
    """Refuse what no format reads, and would else be read as text or found empty.

    Raises
    ------
    InputError
        When it is binary, or JSON or XML of a layout that no format recognised, or a folder or
        archive of such without any .txt.
    """
    from evaltex_cli.old_formats import unread

    found = unread.described(path, [load(name) for name in FORMATS])
    if found:
        raise InputError(f"{path}: {found}")
