# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading and grouping of a small result file (example.jsonl beside this file)."""

from __future__ import annotations

import json
import unittest

from made import EXAMPLE, WithFolder, cell_line, comparison_document, launch_line, lines, plan_document
from plan_files import plan_text

from dlmb_plotting.inputs import read_inputs
from dlmb_plotting.results import grouped, read
from dlmb_results.cells import TEST_DOUBLE, CellFields, each_kind_once
from dlmb_results.lines import ResultError
from dlmb_results.program import UsageError


class ReadingTest(WithFolder):
    def test_every_cell_line_becomes_a_cell(self) -> None:
        results = read([EXAMPLE])
        self.assertEqual([cell.method_name for cell in results.cells], ["mpi alltoallv", "ucx linear", "nccl default", "mpi alltoallv"])
        self.assertEqual(results.remarks, [])
        self.assertEqual(dict(results.cells[0].phases_ns), {"count_exchange": 20e3, "dispatch": 900e3, "combine": 1000e3})

    def test_a_cell_has_the_figures_of_later_lines_too(self) -> None:
        launch, cell = map(json.loads, EXAMPLE.read_text().splitlines()[:2])
        derived = {"kind": "derived", "launch_id": launch["launch_id"], "cell_id": cell["cell_id"], "statistics": {"interference": 1.5}}
        (found,) = read([self.file("".join(json.dumps(line) + "\n" for line in (launch, cell, derived)))]).cells
        self.assertEqual(found.statistics, {**cell["statistics"], "interference": 1.5})

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

    def test_launches_with_other_variables_have_cells_of_their_own(self) -> None:
        text = ""
        for number, tls in enumerate(("sm", "tcp", "sm")):
            launch = launch_line(f"l{number}")
            launch["environment"]["variables"] = {"UCX_TLS": tls, "SLURM_JOB_ID": str(number)}
            text += lines(launch, *(cell_line(8, 1000.0 * (number + 1), backend, f"l{number}") for backend in ("mpi", "ucx")))
        results = read([self.file(text)])
        groups = grouped(results.cells)
        self.assertEqual([group.title for group in groups], ["4 ranks, host memory, environment UCX_TLS=sm", "4 ranks, host memory, environment UCX_TLS=tcp"])
        self.assertEqual([[cell.median_ns for cell in group.cells] for group in groups], [[3000, 3000], [2000, 2000]])
        self.assertEqual([[time for _, time in results.visits[group.cells[0].id]] for group in groups], [[1000, 3000], [2000]])

    def test_a_broken_line_before_the_last_is_an_error_that_names_it(self) -> None:
        lines = EXAMPLE.read_text().splitlines()
        with self.assertRaisesRegex(ResultError, "results.jsonl:2: not a line"):
            read([self.file("\n".join([lines[0], lines[1][:50], lines[2]]))])

    def test_what_is_no_json_is_refused_where_it_was_named_and_passed_over_where_it_was_found(self) -> None:
        other = self.file('{"a": NaN}', "other.json")
        self.file(EXAMPLE.read_text())
        inputs = read_inputs([self.folder])
        self.assertTrue(inputs.results.cells)
        self.assertIn(f"{other}: not JSON: NaN is no number of JSON; it is passed over", inputs.results.remarks)
        with self.assertRaisesRegex(UsageError, "other.json: not JSON"):
            read_inputs([other])

    def test_files_of_equal_names_are_all_kept(self) -> None:
        for folder in ("a", "b", "b/a"):
            (self.folder / folder).mkdir()
            self.file(plan_text(plan_document()) * 2, f"{folder}/pipe.plan.jsonl")
            self.file(json.dumps(comparison_document()), f"{folder}/compare.mon.json")
        self.file(json.dumps(comparison_document()), "compare.tue.json")
        inputs = read_inputs([self.folder])
        self.assertEqual(list(inputs.plans), ["pipe.0", "pipe.1", "a.pipe.0", "a.pipe.1", "b.pipe.0", "b.pipe.1"])
        self.assertEqual(list(inputs.comparisons), ["compare.mon", "a.compare.mon", "b.compare.mon", "compare.tue"])
        (self.folder / "b/a/a").mkdir()
        self.file(json.dumps(comparison_document()), "b/a/a/compare.mon.json")
        self.assertIn("a.compare.mon.2", read_inputs([self.folder]).comparisons)

    def test_all_that_a_plot_looks_at_is_read_where_only_wanted_fields_are(self) -> None:
        self.assertIn("figures", CellFields.__annotations__)

    def test_a_launch_on_a_test_double_is_warned_about_once(self) -> None:
        launch = json.loads(EXAMPLE.read_text().splitlines()[0])
        for warnings in ([], [TEST_DOUBLE]):
            launch |= {"test_double": True, "environment": {**launch["environment"], "warnings": warnings}}
            self.assertEqual(read([self.file(json.dumps(launch) + "\n")]).warnings(), [(TEST_DOUBLE, 1)])
        launch["test_double"] = False
        launch["environment"]["warnings"] = []
        self.assertEqual(read([self.file(json.dumps(launch) + "\n")]).warnings(), [])

    def test_a_line_without_a_field_is_named(self) -> None:
        launch, cell = (json.loads(line) for line in EXAMPLE.read_text().splitlines()[:2])
        for line, names in ((launch, ("campaign_id", "world", "environment")), (cell, ("cache", "fill", "flags", "below_floor", "validation", "phases"))):
            for name in names:
                broken = [{key: value for key, value in each.items() if each is not line or key != name} for each in (launch, cell)]
                with self.assertRaisesRegex(ResultError, rf"results.jsonl:[12]: (launch|cell)\.{name}: is missing"):
                    read([self.file("".join(json.dumps(each) + "\n" for each in broken))])

    def test_texts_that_differ_in_numbers_are_one_kind_with_their_range(self) -> None:
        said = [("a", "3 of 4 ranks wait"), ("b", "not bound"), ("b", "4 of 4 ranks wait"), ("c", "10 of 4 ranks wait"), ("c", "10 of 4 ranks wait")]
        self.assertEqual(each_kind_once(said), [("3 to 10 of 4 ranks wait", 3), ("not bound", 1)])

    def test_another_major_version_of_the_schema_is_refused(self) -> None:
        with self.assertRaisesRegex(ResultError, "this program reads dlmb.result/1.x"):
            read([self.file('{"kind": "launch", "schema": "dlmb.result/2.0", "launch_id": "a"}\n')])


    def test_cells_that_do_not_time_phases_have_none(self) -> None:
        lines = EXAMPLE.read_text().splitlines()
        cell = next(index for index, line in enumerate(lines) if json.loads(line).get("status") == "ok")
        changed = json.loads(lines[cell])
        for phase in changed["phases"].values():  # as --timing nccl writes them
            del phase["median"]
        lines[cell] = json.dumps(changed)
        with_phases = {one.id: one for one in read([EXAMPLE]).cells}
        without = {one.id: one for one in read([self.file("\n".join(lines) + "\n")]).cells}
        identifier = changed["cell_id"]
        self.assertNotEqual(with_phases[identifier].phases_ns, ())
        self.assertEqual(without[identifier].phases_ns, ())
        self.assertEqual(without[identifier].median_ns, with_phases[identifier].median_ns)


class GroupingTest(unittest.TestCase):
    def test_cells_of_the_same_traffic_stand_together(self) -> None:
        groups = grouped(read([EXAMPLE]).cells)
        self.assertEqual([len(group.cells) for group in groups], [3, 1])

    def test_a_title_names_preset_ranks_and_memory_but_not_what_follows_from_the_preset(self) -> None:
        groups = grouped(read([EXAMPLE]).cells)
        self.assertEqual(groups[0].title, "mixtral-8x7b, 4 ranks, host memory")
        self.assertEqual(groups[1].title, "deepseek-v3, 4 ranks, 2 per node, host memory")


    def test_a_parameter_called_mode_is_not_taken_for_how_iterations_follow_each_other(self) -> None:
        cell = read([EXAMPLE]).cells[0]
        groups = grouped([cell._replace(parameters=(("mode", mode),)) for mode in ("batched", "separate")])
        self.assertTrue(groups[0].title.endswith("mode batched"), groups[0].title)
        same = grouped([cell._replace(parameters=(("mode", "batched"), ("pp", pp))) for pp in (1, 2)])
        self.assertNotIn("mode", same[0].title)


if __name__ == "__main__":
    unittest.main()
