"""Gates as JUnit XML, which every CI server shows."""

from __future__ import annotations

import html
from collections.abc import Sequence

from evaltex_cli.results.result_document import Verdict


def document(verdicts: Sequence[Verdict]) -> str:
    """One test suite, a test case for each gate."""
    failed = sum(not verdict.passed for verdict in verdicts)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites><testsuite name="evaltex" tests="{len(verdicts)}" failures="{failed}" errors="0">')
    for verdict in verdicts:
        case = f'<testcase classname="evaltex.{verdict.protocol}" name="{html.escape(verdict.expression)}"'
        failure = f'><failure message="{html.escape(str(verdict))}"/></testcase>'
        lines.append(case + ("/>" if verdict.passed else failure))
    lines.append("</testsuite></testsuites>")
    return "\n".join(lines) + "\n"
