"""Gates as JUnit XML, which every CI server shows."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from evaltex_cli.gate import Verdict


def document(verdicts: Sequence[Verdict]) -> str:
    """One test suite, a test case for each gate."""
    failed = sum(not verdict.passed for verdict in verdicts)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}" errors="0">')
    for verdict in verdicts:
        case = f"<testcase classname={quoteattr('evaltex.' + verdict.protocol)} name={quoteattr(verdict.expression)}"
        failure = f"><failure message={quoteattr(str(verdict))}/></testcase>"
        lines.append(case + ("/>" if verdict.passed else failure))
    lines.append("</testsuite></testsuites>")
    return "\n".join(lines) + "\n"
