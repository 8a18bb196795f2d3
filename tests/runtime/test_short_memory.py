"""What libraries say if they get no memory is no fault of an input, nor of a shape."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.parsers import expat

import numpy as np
import pytest
import shapely
from command_line import run

from evaltex_cli.cli import messages
from evaltex_cli.evaluation import evaluate as evaluation
from evaltex_cli.geometry import geos
from evaltex_cli.runtime import input_files

SHAPE = shapely.box(0, 0, 9, 9)
GT, DET = 'img_1\n9,9\n1,1,"a",f,0,0,5,5\n', 'img_1\n1,"a",0,0,5,5\n'
XML = '<annotations><image name="a"><box xtl="1" ytl="1" xbr="2" ybr="2"/></image></annotations>'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET)


def failing(error: Exception) -> Callable[..., Any]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.mark.parametrize("decorator", [geos._never_failing, geos._never_failing_each, geos._silent])
@pytest.mark.parametrize("shapes", [SHAPE, np.array([SHAPE, SHAPE])], ids=["one", "several"])
def test_no_shape_is_empty_for_want_of_memory(decorator: Callable[..., Any], shapes: Any) -> None:
    function = decorator(failing(shapely.GEOSException("std::bad_alloc")))
    with pytest.raises(MemoryError):
        function(shapes, shapes)


def test_nor_if_it_is_short_for_the_second_attempt_alone() -> None:
    errors = iter(["TopologyException: side location conflict", "std::bad_alloc"])

    def fails(*_: object) -> None:
        raise shapely.GEOSException(next(errors))

    with pytest.raises(MemoryError):
        geos._never_failing(fails)(SHAPE, SHAPE)


def test_nor_is_a_union(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapely, "union_all", failing(shapely.GEOSException("std::bad_alloc")))
    with pytest.raises(MemoryError):
        geos.unions(np.array([[SHAPE, SHAPE]]))


def says_out_of_memory(*arguments: str) -> None:
    found = run(*arguments, status=2)
    assert found.stderr == "evaltex: error: out of memory; nothing was written\n"
    assert not Path("res").exists()


def test_xml_is_not_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gt.xml").write_text(XML)
    real = expat.ParserCreate

    class Parser:
        """Expat's, without memory for a whole document."""

        def __init__(self, *given: Any, **options: Any) -> None:
            self.__dict__["parser"] = real(*given, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.parser, name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.parser, name, value)

        def Parse(self, data: bytes, is_final: bool = False) -> Any:
            if not is_final:
                return self.parser.Parse(data, is_final)
            error = expat.ExpatError("out of memory: line 1, column 0")
            error.code, error.lineno, error.offset = 1, 1, 0
            raise error

    monkeypatch.setattr(expat, "ParserCreate", Parser)
    says_out_of_memory("gt.xml", "det.txt", "res", "--gt-format", "cvat")


def test_an_archive_is_not_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile("gt.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("img_1.txt", "1,1,9,1,9,9,1,9,a\n" * 9)
    fails = failing(zlib.error("Error -4 while decompressing data"))
    monkeypatch.setattr(zlib, "decompressobj", lambda *_, **__: SimpleNamespace(decompress=fails))
    says_out_of_memory("gt.zip", "gt.zip", "res", "--gt-format", "quad", "--det-format", "quad")


def test_nor_is_a_packed_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gt.txt").write_bytes(gzip.compress(GT.encode()))
    monkeypatch.setattr(
        gzip.GzipFile, "read", failing(zlib.error("Error -4 while decompressing data"))
    )
    with pytest.raises(MemoryError):
        input_files.unpacked(Path("gt.txt"))
    with pytest.raises(MemoryError):
        input_files.without_gzip("gt.txt", Path("gt.txt").read_bytes(), 1 << 20)


def test_the_message_needs_none(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluation, "scored", failing(MemoryError()))
    monkeypatch.setattr(messages, "of_error", failing(MemoryError()))
    run("gt.txt", "det.txt", "res", status=2)
    assert capfd.readouterr().err == "evaltex: error: out of memory; nothing was written\n"
    assert not Path("res").exists()


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libXau.so.6: failed to map segment from shared object"),
        RuntimeError("can't allocate lock"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_cannot_be_loaded_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(evaluation, "scored", failing(error))
    found = run("gt.txt", "det.txt", "res", status=2)
    assert found.stderr == "evaltex: error: out of memory; nothing was written\n"
