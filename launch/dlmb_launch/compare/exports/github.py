# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Workflow commands of GitHub Actions, to be printed by a step, and the step's summary.

A step shows ten errors and ten warnings, so the ten worst regressions are errors and all others share one notice. A summary
above 1 MiB is dropped as a whole, so it is cut before.
"""

from __future__ import annotations

from pathlib import Path

from dlmb_launch.compare import tables, wording
from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.verdict import State, Verdict

SHOWN = 10
SUMMARY_BYTES = 1024 * 1024 - 1
TITLE = "Performance regression"


def escaped_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    return escaped_text(text).replace(":", "%3A").replace(",", "%2C")


def error(verdict: Verdict, comparison: Comparison) -> str:
    text = f"{verdict.cell.name}: {wording.sentence(verdict, comparison.metric)}"
    return f"::error title={escaped_property(TITLE)}::{escaped_text(text)}"


def text(comparison: Comparison) -> str:
    regressed = [verdict for verdict in comparison.verdicts if verdict.state == State.REGRESSED]
    regressed.sort(key=lambda verdict: -verdict.evidence.ratio if verdict.evidence else 0.0)
    lines = [error(verdict, comparison) for verdict in regressed[:SHOWN]]
    rest = wording.counts(comparison)
    if len(regressed) > SHOWN:
        rest += f"; {len(regressed) - SHOWN} regressed cells are not shown one by one"
    rest = "; ".join(filter(None, [rest, wording.not_in_turns(comparison)]))
    lines.append(f"::notice title=dlmb_compare::{escaped_text(rest)}")
    return "\n".join(lines) + "\n"


def append_summary(comparison: Comparison, path: Path) -> None:
    """The text of other steps in the file counts towards the limit."""
    held = path.stat().st_size if path.exists() else 0
    with path.open("a", encoding="utf-8") as file:
        file.write(tables.markdown(comparison, max(SUMMARY_BYTES - held, 0)))
