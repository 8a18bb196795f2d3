"""The report: results, pictures and shapes in one HTML file that needs no server or network."""

from evaltex_cli.report.detectors import Detector, open_again, read, with_diagnoses
from evaltex_cli.report.page import make

__all__ = ["Detector", "make", "open_again", "read", "with_diagnoses"]
