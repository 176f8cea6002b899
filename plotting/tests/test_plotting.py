# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading, grouping and drawing of a small result file (example.jsonl beside this file)."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from dlmb_plotting import figures, style
from dlmb_plotting.command import main
from dlmb_plotting.groups import grouped
from dlmb_plotting.results import read
from dlmb_results.lines import TEST_DOUBLE, ResultError

EXAMPLE = Path(__file__).with_name("example.jsonl")
SCHEMA_EXAMPLES = EXAMPLE.parents[2] / "results-schema" / "examples"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and what went to standard error."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, errors.getvalue()


class WithFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, text: str) -> Path:
        path = self.folder / "results.jsonl"
        path.write_text(text)
        return path


class ReadingTest(WithFolder):
    def test_every_cell_line_becomes_a_cell(self) -> None:
        results = read([EXAMPLE])
        self.assertEqual([cell.way for cell in results.cells], ["mpi alltoallv", "ucx linear", "nccl default", "mpi alltoallv"])
        self.assertEqual(results.remarks, [])
        self.assertEqual(results.cells[0].phases_ns, {"count_exchange": 20e3, "dispatch": 900e3, "combine": 1000e3})

    def test_a_killed_run_is_read_up_to_its_last_whole_line_and_said_to_be_cut(self) -> None:
        lines = EXAMPLE.read_text().splitlines(keepends=True)
        results = read([self.file("".join(lines[:3]) + lines[3][:100])])
        self.assertEqual(len(results.cells), 2)
        self.assertEqual(len(results.remarks), 2)
        self.assertIn("cut off", results.remarks[0])
        self.assertIn("no end line", results.remarks[1])

    def test_a_cell_measured_again_counts_once_and_a_later_failure_does_not_hide_it(self) -> None:
        launch, cell = EXAMPLE.read_text().splitlines()[:2]
        again = json.loads(cell) | {"time_ns": json.loads(cell)["time_ns"] | {"median": 1234567}}
        failed = json.loads(cell) | {"status": "failed"}
        results = read([self.file("\n".join([launch, cell, json.dumps(again), json.dumps(failed)]))])
        self.assertEqual([cell.median_ns for cell in results.cells], [1234567])

    def test_a_broken_line_before_the_last_is_an_error_that_names_it(self) -> None:
        lines = EXAMPLE.read_text().splitlines()
        with self.assertRaisesRegex(ResultError, "results.jsonl:2: not a line"):
            read([self.file("\n".join([lines[0], lines[1][:50], lines[2]]))])

    def test_a_launch_on_a_test_double_is_warned_about_once(self) -> None:
        launch = json.loads(EXAMPLE.read_text().splitlines()[0])
        for warnings in ([], [TEST_DOUBLE]):
            launch |= {"test_double": True, "environment": {"warnings": warnings}}
            self.assertEqual(read([self.file(json.dumps(launch) + "\n")]).warnings, [TEST_DOUBLE])
        launch["test_double"] = False
        launch["environment"]["warnings"] = []
        self.assertEqual(read([self.file(json.dumps(launch) + "\n")]).warnings, [])

    def test_another_major_version_of_the_schema_is_refused(self) -> None:
        with self.assertRaisesRegex(ResultError, "this program reads dlmb.result/1.x"):
            read([self.file('{"kind": "launch", "schema": "dlmb.result/2.0", "launch_id": "a"}\n')])


class GroupingTest(unittest.TestCase):
    def test_cells_of_the_same_traffic_stand_together(self) -> None:
        groups = grouped(read([EXAMPLE]).cells)["moe_alltoall"]
        self.assertEqual([len(group.cells) for group in groups], [3, 1])

    def test_a_title_names_preset_ranks_and_memory_but_not_what_follows_from_the_preset(self) -> None:
        groups = grouped(read([EXAMPLE]).cells)["moe_alltoall"]
        self.assertEqual(groups[0].title, "mixtral-8x7b, 4 ranks, host memory")
        self.assertEqual(groups[1].title, "deepseek-v3, 4 ranks, 2 per node, host memory")


class DrawingTest(WithFolder):
    def test_two_pictures_per_pattern_are_written(self) -> None:
        code, errors = run(str(EXAMPLE), "-o", str(self.folder))
        self.assertEqual((code, errors), (0, "dlmb_plot: note: a launch warns: more ranks than processing units\n"))
        for name in ("moe_alltoall.phases.png", "moe_alltoall.bandwidth.png"):
            self.assertTrue((self.folder / name).read_bytes().startswith(PNG_SIGNATURE), name)

    def test_a_warning_of_a_launch_is_in_the_picture(self) -> None:
        groups = grouped(read([EXAMPLE]).cells)["moe_alltoall"]
        figure = figures.phase_figure("moe_alltoall", groups, ["more ranks than processing units"])
        self.assertIn("Note: more ranks than processing units", figure._suptitle.get_text())

    def test_the_examples_of_the_schema_can_be_drawn(self) -> None:
        for path in sorted(SCHEMA_EXAMPLES.glob("*.jsonl")):
            self.assertEqual(run(str(path), "-o", str(self.folder))[0], 0, path)

    def test_bars_have_the_length_of_the_phases_and_axes_name_their_unit(self) -> None:
        figure = figures.phase_figure("moe_alltoall", grouped(read([EXAMPLE]).cells)["moe_alltoall"])
        axis = figure.axes[0]
        self.assertEqual(axis.get_xlabel(), "time (ms)")
        widths = [bar.get_width() for bar in axis.patches[:3]]
        for width, expected in zip(widths, (0.02, 0.9, 1.0)):
            self.assertAlmostEqual(width, expected)
        self.assertGreater(axis.get_xlim()[1], 2.2, "the interval's end, 2.2 ms, is inside the picture")
        self.assertIn("skipped: nccl: no CUDA device", [text.get_text() for text in axis.texts])

    def test_the_bandwidth_axis_starts_at_zero_and_names_its_unit(self) -> None:
        figure = figures.bandwidth_figure("moe_alltoall", grouped(read([EXAMPLE]).cells)["moe_alltoall"])
        assert figure is not None
        self.assertEqual(figure.axes[0].get_xlim()[0], 0)
        self.assertGreater(figure.axes[0].get_xlim()[1], 2.0, "the largest value, 2.0 GB/s, is inside the picture")
        self.assertIn("GB/s", figure.axes[0].get_xlabel())

    def test_numbers_keep_three_digits(self) -> None:
        self.assertEqual([style.number(value) for value in (1.234, 12.34, 1234.5)], ["1.23", "12.3", "1234"])
        self.assertEqual(style.time_unit(2.5e6), ("ms", 1e6))


class CommandTest(WithFolder):
    def test_a_missing_file_is_a_usage_error_that_names_it(self) -> None:
        code, errors = run(str(self.folder / "none.jsonl"))
        self.assertEqual(code, 64)
        self.assertIn("none.jsonl", errors)

    def test_a_file_without_a_cell_that_ran_is_no_success(self) -> None:
        self.assertEqual(run(str(self.file(EXAMPLE.read_text().splitlines()[0])))[0], 64)

    def test_no_argument_is_a_usage_error(self) -> None:
        self.assertEqual(run()[0], 64)


if __name__ == "__main__":
    unittest.main()
