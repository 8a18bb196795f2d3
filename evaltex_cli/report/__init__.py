"""The report: results, pictures and shapes in one HTML file that needs no server or network."""

from evaltex_cli.report.page import COMPARISON_NAME, NAME, Made, Pictures, make
from evaltex_cli.report.subject import Subject, of_results, of_run, read

__all__ = [
    "COMPARISON_NAME",
    "NAME",
    "Made",
    "Pictures",
    "Subject",
    "make",
    "of_results",
    "of_run",
    "read",
    "refuse_poorer",
]
