# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a trial looks at can be wrong: files and tables made up for it."""

import json
import pathlib
import tempfile
import types
import unittest

import trials
from launches import TRAFFIC


def cell(name, status="ok", launch="first"):
    return json.dumps({"kind": "cell", "launch_id": launch, "cell_id": name, "status": status}) + "\n"


class Checks(unittest.TestCase):
    def launch(self, *lines):
        """As far as the checks look at one."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "cells.jsonl"
        file.write_text("".join(lines), encoding="utf-8")
        return types.SimpleNamespace(files=lambda: [file], traffic=TRAFFIC["compute"], tables=lambda: "operation=allreduce 1 K  mpi  blocking host all 1.743  1 K    ok\n")

    def test_a_cell_that_failed_and_then_was_ok_in_one_launch_ended_twice(self):
        ended = trials.ended_twice(trials.lines_of(self.launch(cell("a", "failed"), cell("a"), cell("b"))))
        self.assertEqual(ended, ["a in launch first"])

    def test_a_cell_that_failed_in_one_launch_and_was_ok_in_the_next_ended_once_in_each(self):
        self.assertEqual(trials.ended_twice(trials.lines_of(self.launch(cell("a", "failed"), cell("a", launch="second")))), [])

    def test_a_broken_last_line_is_no_finished_cell(self):
        self.assertEqual(trials.ok_cells(self.launch(cell("a"), cell("b")[:-5])), [("cells.jsonl", "a")])
        self.assertEqual(trials.ok_cells(self.launch(cell("a"), cell("b")[:-1])), [("cells.jsonl", "a")])

    def test_a_row_without_a_line_is_a_finished_cell_that_was_lost(self):
        outcome = trials.Outcome()
        trials.compare_with_files(self.launch(), [], outcome)
        self.assertEqual(outcome.lost, ["a row without its line"])

    def test_a_line_that_was_there_before_and_is_not_any_more_is_lost(self):
        outcome = trials.Outcome()
        trials.compare_with_files(self.launch(cell("a")), [("cells.jsonl", "a"), ("cells.jsonl", "b")], outcome)
        self.assertEqual(outcome.lost, [("cells.jsonl", "b")])
        self.assertEqual(len(outcome.problems()), 1)


    def test_a_cell_of_which_others_tell_nothing_lacks_a_figure(self):
        name = "p.compute=busy/world=2"
        told = json.dumps({"kind": "derived", "launch_id": "second", "cell_id": name, "statistics": {"overlap_ratio": 0.5}}) + "\n"
        self.assertEqual(trials.without_figure(self.launch(cell("p.compute=none"), cell(name))), [name])
        self.assertEqual(trials.without_figure(self.launch(cell(name), told)), [])


if __name__ == "__main__":
    unittest.main()
