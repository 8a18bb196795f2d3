"""What tests of several modules of this folder take."""

import pytest
from validate_inputs import DET, GT


@pytest.fixture
def files(tmp_path):
    """Write both texts, and return their paths."""

    def write(gt=GT, det=DET):
        (tmp_path / "gt.txt").write_text(gt)
        (tmp_path / "det.txt").write_text(det)
        return tmp_path / "gt.txt", tmp_path / "det.txt"

    return write
