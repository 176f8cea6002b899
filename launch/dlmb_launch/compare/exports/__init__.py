# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The formats of --export by name; one file here per format that other tools read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dlmb_launch.compare.comparison import Comparison
from dlmb_launch.compare.document import document, dumps
from dlmb_launch.compare.exports import github, junit, otava, sites
from dlmb_results.files import write_output

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def write_github(comparison: Comparison, path: Path) -> None:
    write_output(path, github.text(comparison))
    if summary := os.environ.get(SUMMARY_VARIABLE):
        github.append_summary(comparison, Path(summary))


Writer = Callable[[Comparison, int, Path], None]  # the comparison, its exit code, where to

FORMATS: dict[str, Writer] = {
    "junit": lambda comparison, _, path: write_output(path, junit.text(comparison)),
    "github": lambda comparison, _, path: write_github(comparison, path),
    "gab": lambda comparison, _, path: sites.write_github_action_benchmark(comparison.candidate, path),
    "bencher": lambda comparison, _, path: write_output(path, sites.bencher_text(comparison.candidate)),
    "otava": lambda comparison, _, path: otava.write((comparison.baseline, comparison.candidate), comparison.metric, path),
    "json": lambda comparison, code, path: write_output(path, dumps(document(comparison, code))),
}

SEVERAL_FILES = ("gab", "otava")  # beside the path that is given
