# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The reader that all Python tools share, where it is more than a JSON parser."""

from __future__ import annotations

import unittest
from pathlib import Path

from dlmb_results.lines import read_lines
from made import WithFolder, cell, launch

from dlmb_launch.compare.metrics import METRICS
from dlmb_launch.compare.reading import read_campaign

EXAMPLES = Path(__file__).resolve().parents[2] / "results-schema" / "examples"


class SamplesTest(WithFolder):
    def test_samples_are_left_out_and_nothing_else(self) -> None:
        line = cell("a", 1) | {"samples_ns": [1, 2, 3], "reason": 'text with "samples_ns":[1,2] in it'}
        found = list(read_lines(self.file("one", [launch("a"), line]), []))
        self.assertEqual(found[1], (2, line | {"samples_ns": []}))


class ExamplesTest(unittest.TestCase):
    def test_the_examples_of_the_schema_can_be_compared(self) -> None:
        for path in EXAMPLES.glob("*.jsonl"):
            campaign = read_campaign("baseline", path, METRICS["time"])
            self.assertEqual((campaign.counts() > 0).sum(), 1, path.name)


if __name__ == "__main__":
    unittest.main()
