# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A launch that was ended behind any of its lines is completed by --resume: each cell once, and every figure that several cells tell."""

import pathlib
import tempfile
import unittest

from programs import COLLECTIVE, REPLAY, cells, lines, overlay, run, validate

SHORT = ["--backend", "in_process", "--ranks", "2", "--calibration", "off"]
COMPUTE = [COLLECTIVE, *SHORT, "--operation", "allreduce", "-m", "1K:2K", "-i", "4", "-x", "1"]
BESIDE = [REPLAY, *SHORT, "-i", "6", "-x", "2", "--plan"]


def statistics(path):
    """Of each ok cell, with what derived lines add."""
    found = {}
    for line in lines(path):
        if line["kind"] == "derived":
            found[line["cell_id"]] |= line["statistics"]
        elif line["kind"] == "cell" and line["status"] == "ok":
            found[line["cell_id"]] = dict(line["statistics"])
    return found


class Resume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results.jsonl"

    def measure(self, command, *arguments, code=0):
        done = run([*command, "--results", str(self.results), *arguments])
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def completes(self, command, count, figure, with_it):
        """Behind each line of the launch. with_it: whether a cell of these parameters has the figure."""
        self.results.unlink(missing_ok=True)
        self.measure(command)
        whole = self.results.read_text(encoding="utf-8").splitlines(keepends=True)
        for kept in range(1, len(whole) + 1):
            self.results.write_text("".join(whole[:kept]), encoding="utf-8")
            before = [cell["cell_id"] for cell in cells(self.results, "ok")]
            done = self.measure(command, "--resume")
            self.assertIn("DLMB_RESULT: PASS", done.stdout)
            found = cells(self.results)
            self.assertEqual({cell["status"] for cell in found}, {"ok"}, f"{kept} lines kept")
            self.assertEqual([cell["cell_id"] for cell in found][: len(before)], before)
            self.assertEqual(len(found), count)
            self.assertEqual(len({cell["cell_id"] for cell in found}), count)
            said = statistics(self.results)
            self.assertEqual({cell["cell_id"] for cell in found if figure in said[cell["cell_id"]]},
                             {cell["cell_id"] for cell in found if with_it(cell["parameters"])}, f"{kept} lines kept")
            derived = [line["cell_id"] for line in lines(self.results) if line["kind"] == "derived"]
            self.assertEqual(len(derived), len(set(derived)), "a figure is there twice")
        self.assertEqual(validate(self.results).returncode, 0, validate(self.results).stdout)

    def test_a_cell_that_computes_as_long_as_another_took(self):
        for order in ("none,busy", "busy,none"):
            for rounds_over in ("point", "sweep"):
                with self.subTest(order=order, rounds_over=rounds_over):
                    self.completes([*COMPUTE, "--compute", order, "--rounds-over", rounds_over], 4, "overlap_ratio",
                                   lambda parameters: parameters["compute"] == "busy")

    def test_a_cell_that_computes_for_a_given_time(self):
        for order in ("none,busy", "busy,none"):
            with self.subTest(order):
                self.completes([*COMPUTE, "--compute", order, "--compute-us", "50"], 4, "overlap_ratio",
                               lambda parameters: parameters["compute"] == "busy")

    def test_a_cell_beside_other_traffic(self):
        plans = overlay(self.folder, 2)
        for rounds_over in ("point", "sweep"):
            with self.subTest(rounds_over):
                self.completes([*BESIDE, ",".join(plans), "--rounds-over", rounds_over], 3, "interference",
                               lambda parameters: parameters["plan"] == plans[2])

    def test_the_line_of_each_cell_stands_before_what_others_tell_of_it(self):
        self.measure([*BESIDE, ",".join(reversed(overlay(self.folder, 2)))])
        kinds = [line["kind"] for line in lines(self.results)]
        self.assertEqual(kinds, ["launch", *["cell"] * 3, "derived", "end"])

    def test_a_cell_whose_partner_was_never_measured_is_skipped_and_then_completed(self):
        done = self.measure([*COMPUTE, "--compute", "busy"], code=77)
        self.assertIn("with --resume, in the results file", done.stdout)
        self.measure([*COMPUTE, "--compute", "none"])
        self.measure([*COMPUTE, "--compute", "busy"], "--resume")
        busy = [cell for cell in cells(self.results, "ok") if cell["parameters"]["compute"] == "busy"]
        self.assertEqual(len(busy), 2)
        for cell in busy:
            self.assertIn("overlap_ratio", cell["statistics"])

    def test_what_was_not_checked_is_measured_again_where_checks_are_asked_for(self):
        plain = [*COMPUTE, "--compute", "none"]
        self.measure(plain, "-c", "off")
        done = self.measure(plain, "-c", "off", "--resume")
        self.assertIn("2 already in the results file, 2 of these unchecked", done.stdout)
        self.assertIn("DLMB_RESULT: UNCHECKED", done.stdout)
        done = self.measure(plain, "--resume")
        self.assertIn("DLMB_RESULT: PASS", done.stdout)
        self.assertEqual([cell["validation"]["verdict"] for cell in cells(self.results)], ["off", "off", "passed", "passed"])
        self.assertIn("2 already in the results file\n", self.measure(plain, "--resume").stdout)

    def test_a_file_with_other_counts_is_other_traffic(self):
        counts = self.folder / "counts.csv"
        command = [COLLECTIVE, *SHORT, "--operation", "alltoallv", "-m", "1K:1K", "--skew", f"file:{counts}", "-i", "4", "-x", "1", "--compute"]
        counts.write_text("1,2\n", encoding="utf-8")
        self.measure([*command, "none"])
        self.assertIn("1 already in the results file", self.measure([*command, "none"], "--resume").stdout)
        counts.write_text("2,1\n", encoding="utf-8")
        self.measure([*command, "busy", "--compute-us", "50"], "--resume")
        self.assertNotIn("overlap_ratio", cells(self.results, "ok")[-1]["statistics"], "of the time of other traffic")
        self.assertIn("its file does not say the traffic that was measured", self.measure([*command, "none"], "--resume").stderr)
        self.assertEqual([cell["parameters"]["compute"] for cell in cells(self.results, "ok")], ["none", "busy", "none"])

    def test_another_environment_is_said(self):
        plain = [*COMPUTE, "--compute", "none"]
        self.measure(plain)
        self.assertNotIn("another environment", self.measure(plain, "--resume").stderr)
        first, *others = lines(self.results)
        key = first["environment"]["env_key"]
        text = self.results.read_text(encoding="utf-8").replace(key, "0" * 16).replace('"version":"', '"version":"other ')
        self.results.write_text(text, encoding="utf-8")
        done = self.measure(plain, "--resume")
        self.assertIn("2 finished cells of the results file were measured in another environment", done.stderr)
        self.assertEqual(len([line for line in others if line["kind"] == "cell"]), 2)

    def test_a_file_of_another_kind_is_refused_and_stays_as_it_is(self):
        for text in ("dear diary", "dear diary\n", '{"a": 1}'):
            self.results.write_text(text, encoding="utf-8")
            done = self.measure([*COMPUTE, "--compute", "none"], code=64)
            self.assertIn("holds something else than results", done.stderr)
            self.assertEqual(self.results.read_text(encoding="utf-8"), text)


if __name__ == "__main__":
    unittest.main()
