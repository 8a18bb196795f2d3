"""What is read is what was indexed: an input that is replaced in between is
an error, for every reader.
"""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from evaltex_cli.cli import main
from evaltex_cli.errors import ChangedError, FaultLog, InputError
from evaltex_cli.evaluation import inputs, mask_batches
from evaltex_cli.formats import open_source
from evaltex_cli.formats.files.entries import Entries, Entry

IMAGES = 4
VOC = "<annotation><size><width>50</width><height>50</height></size><object><name>a</name><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>10</xmax><ymax>10</ymax></bndbox></object></annotation>"
Kind = tuple[list[str], str, Callable[[], None]]
"""Arguments, the file that is replaced as messages name it, and what replaces it."""


def written_over(path: Path, data: bytes) -> Callable[[], None]:
    """Return what writes over a file, and restores the times that it had."""

    def write() -> None:
        status = path.stat()
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    return write


def text() -> Kind:
    """EvaLTex files; the new bytes are as many, of the same time, in the same file."""
    Path("gt.txt").write_text(
        "".join(f'img_{k}\n50,50\n1,1,"",f,0,0,10,10\n' for k in range(IMAGES))
    )
    Path("det.txt").write_text("".join(f'img_{k}\n1,"",0,0,10,10\n' for k in range(IMAGES)))
    det = Path("det.txt").read_bytes()
    return (
        ["gt.txt", "det.txt", "res"],
        "det.txt",
        written_over(Path("det.txt"), det.replace(b"10,10", b"10,30")),
    )


def longer_text() -> Kind:
    arguments, _, _ = text()
    gt = Path("gt.txt").read_bytes()
    return arguments, "gt.txt", written_over(Path("gt.txt"), gt.replace(b"10,10", b"10,100"))


def shorter_text() -> Kind:
    arguments, _, _ = text()
    return arguments, "gt.txt", written_over(Path("gt.txt"), Path("gt.txt").read_bytes()[:-30])


def removed_text() -> Kind:
    arguments, file, _ = text()
    return arguments, file, Path(file).unlink


def packed_text() -> Kind:
    """Of a packed file the content is read, which nobody else writes to; but
    for that file it would be as for text.
    """
    arguments, _, _ = text()
    Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
    _, file, replace = text()
    return ["gt.txt.gz", *arguments[1:]], file, replace


def folder() -> Kind:
    Path("gt").mkdir()
    Path("det").mkdir()
    for k in range(IMAGES):
        Path(f"gt/gt_img_{k}.txt").write_text("0,0,10,10,word\n")
        Path(f"det/res_img_{k}.txt").write_text("0,0,10,10\n")
    return (
        ["gt", "det", "res"],
        "det/res_img_3.txt",
        written_over(Path("det/res_img_3.txt"), b"0,0,10,30\n"),
    )


def packed(path: Path, folder: Path, method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for file in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), method)


def removed_file() -> Kind:
    arguments, file, _ = folder()
    return arguments, file, Path(file).unlink


def zip_archive() -> Kind:
    """The member that changes has as many bytes, so the archive has."""
    _, _, replace = folder()
    packed(Path("det.zip"), Path("det"))
    replace()
    packed(Path("other.zip"), Path("det"))
    data = Path("other.zip").read_bytes()
    assert len(data) == Path("det.zip").stat().st_size
    return ["gt", "det.zip", "res"], "det.zip/res_img_3.txt", written_over(Path("det.zip"), data)


def documents() -> Kind:
    for side in ("gt", "det"):
        Path(side).mkdir()
        for k in range(IMAGES):
            Path(side, f"img_{k}.xml").write_text(VOC)
    other = VOC.replace("<xmax>10", "<xmax>30").encode()
    return ["gt", "det", "res"], "gt/img_2.xml", written_over(Path("gt/img_2.xml"), other)


def masks() -> Kind:
    """The new picture has as many bytes, but not the same time."""
    arguments, _, _ = text()
    labels = np.zeros((50, 50), np.uint8)
    labels[:10, :10] = 1
    for side in ("gt", "det"):
        Path(side).mkdir()
        for k in range(IMAGES):
            Image.fromarray(labels).save(Path(side, f"img_{k}.bmp"))
    size = Path("det/img_3.bmp").stat().st_size

    def replace() -> None:
        Image.fromarray(labels.T * (np.arange(50) < 5).astype(np.uint8)).save("det/img_3.bmp")
        assert Path("det/img_3.bmp").stat().st_size == size
        os.utime("det/img_3.bmp", ns=(0, 1))

    return [*arguments, "gt", "det"], "det/img_3.bmp", replace


def removed_mask() -> Kind:
    arguments, file, _ = masks()
    return arguments, "det/img_3", Path(file).unlink


def sizes() -> Kind:
    """Pictures that only give their sizes."""
    arguments, _, _ = folder()
    Path("pictures").mkdir()
    for k in range(IMAGES):
        Image.new("L", (50, 50)).save(f"pictures/img_{k}.png")

    def replace() -> None:
        Image.new("L", (500, 500)).save("pictures/img_1.png")
        os.utime("pictures/img_1.png", ns=(0, 1))

    return [*arguments, "--images", "pictures"], "pictures/img_1.png", replace


KINDS: dict[str, Callable[[], Kind]] = {
    "text": text,
    "longer text": longer_text,
    "shorter text": shorter_text,
    "removed text": removed_text,
    "packed text": packed_text,
    "folder": folder,
    "removed file": removed_file,
    "zip": zip_archive,
    "documents": documents,
    "masks": masks,
    "removed mask": removed_mask,
    "sizes": sizes,
}


def message_of_change(
    arguments: list[str], replace: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> str:
    """Evaluate, replace a file once it is indexed, and return the message."""
    stamp, has_masks = mask_batches.picture_stamps, "gt" in arguments[3:5]

    def paired(*given: Any) -> Any:
        if not has_masks:
            replace()
        return pair_images(*given)

    def stamped(*given: Any) -> Any:
        found = stamp(*given)
        if has_masks:
            replace()
        return found

    pair_images = inputs.pair_images
    monkeypatch.setattr(inputs, "pair_images", paired)
    monkeypatch.setattr(mask_batches, "picture_stamps", stamped)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2, result.output
    assert not Path("res").exists()
    return result.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_input_that_is_replaced_is_refused(
    kind: str, jobs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, file, replace = KINDS[kind]()
    reported = message_of_change([*arguments, "--jobs", jobs], replace, monkeypatch)
    assert file in reported and ("indexed" in reported or "cannot be read" in reported)
    assert str(tmp_path) not in reported


@pytest.mark.parametrize("kind", ["quad", "voc", "table"])
def test_an_archive_has_the_digest_of_what_was_read_of_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It changes after its files were read, and before its SHA-256 is made."""
    monkeypatch.chdir(tmp_path)
    content = {"quad": "0,0,9,0,9,9,0,9,a\n", "voc": VOC, "table": "image,x0,y0,x1,y1\na,0,0,9,9\n"}
    Path("gt").mkdir()
    Path("gt", f"img_1.{ {'quad': 'txt', 'voc': 'xml', 'table': 'csv'}[kind] }").write_text(
        content[kind]
    )
    packed(Path("gt.zip"), Path("gt"))
    replace = written_over(Path("gt.zip"), Path("gt.zip").read_bytes())

    def read_and_replaced(entries: Entries, chosen: Sequence[Entry]) -> Iterator[bytes]:
        yield from read_many(entries, chosen)
        replace()

    read_many = Entries.read_many
    monkeypatch.setattr(Entries, "read_many", read_and_replaced)
    with pytest.raises(InputError, match=r"gt\.zip: changed while it was read"):
        open_source(Path("gt.zip"), "gt", FaultLog(), kind)


def test_an_error_of_a_changed_file_can_be_sent() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(ChangedError("there")))
    assert str(error) == str(ChangedError("there")) and error.place == "there"


@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["rank", "gt", "det", "det2"],
        ["audit", "gt", "det", "det2"],
        ["audit", "gt", "det", "det2", "--patch", "new.json"],
        ["reconcile", "gt", "det", "--recall", "0.1", "--protocol", "iou"],
    ],
    ids=" ".join,
)
def test_what_is_read_several_times_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], side: str
) -> None:
    """A folder whose files change between two readings, in place and with their times restored."""
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("gt", "det", "det2")):
        Path(name).mkdir()
        for image in range(IMAGES):
            box = f"0,0,1{k},0,1{k},10,0,10"
            Path(name, f"img_{image}.txt").write_text(f"{box},a\n" if name == "gt" else f"{box}\n")
    opened, done = inputs.open_inputs, []

    def open_changed(*given: Any, **options: Any) -> Any:
        done.append(1)
        last = 3 if "--patch" in arguments else 2
        if len(done) == last:
            file = Path(side, "img_0.txt")
            written_over(file, file.read_bytes().replace(b",10,0,10", b",20,0,20"))()
        return opened(*given, **options)

    monkeypatch.setattr(inputs, "open_inputs", open_changed)
    found = CliRunner().invoke(main, arguments)
    if (arguments[0], side) == ("rank", "det"):
        assert found.exit_code == 0, "read once, and not yet"
        return
    assert found.exit_code == 2, found.output
    reasons = (f"{side}: changed while it was read", "is not the file that was indexed")
    assert any(reason in " ".join(found.stderr.split()) for reason in reasons)
    assert not Path("new.json").exists()
