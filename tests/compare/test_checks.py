# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launches that may not be compared, and cells that only one side has."""

from __future__ import annotations

import json
import unittest

from made import CELL, WithFolder, cell, fault, launch, side

from dlmb_launch.compare.campaign import METRICS
from dlmb_launch.compare.comparison import Rules
from dlmb_launch.compare.pairing import Declared, facts_that_differ
from dlmb_launch.compare.reading import read_campaign
from dlmb_launch.compare.verdict import State
from dlmb_results.lines import ResultError
from dlmb_results.program import UsageError

US = [100.0] * 8
BASE = side("base", {CELL: US})


class EnvironmentTest(WithFolder):
    def reason(self, candidate: list[dict], rules: Rules = Rules()) -> str:
        found = self.compared(BASE, candidate, rules=rules).verdicts[0]
        self.assertIn(found.state, (State.NOT_COMPARABLE, State.SAME))
        return found.reason

    def test_another_machine_is_not_compared_and_the_difference_is_named(self) -> None:
        other = side("cand", {CELL: US}, identity={"cpu_model": "Other CPU"})
        self.assertEqual(self.reason(other), "cpu_model differs: 'Made CPU' in the baseline, 'Other CPU' in the candidate")

    def test_facts_of_the_machine_that_differ_are_named_and_forbid_nothing(self) -> None:
        other = side("cand", {CELL: US})
        for line in other:
            if line["kind"] == "launch":
                line["environment"]["informational"] |= {"kernel": "6.2", "governor": "performance"}
        self.assertEqual(self.reason(other), "")
        campaigns = [read_campaign(name, self.file(name, lines), METRICS["time"]) for name, lines in (("baseline", BASE), ("candidate", other))]
        self.assertEqual(
            facts_that_differ(*campaigns),
            [
                "kernel differs, which may explain a change: 'unknown' in the baseline, '6.2' in the candidate",
                "governor differs, which may explain a change: 'unknown' in the baseline, 'performance' in the candidate",
            ],
        )

    def test_an_allowed_difference_and_a_factor_are(self) -> None:
        other = side("cand", {CELL: US}, variables={"NCCL_ALGO": "Tree"})
        self.assertEqual(self.reason(other), "NCCL_ALGO differs: 'unset' in the baseline, 'Tree' in the candidate")
        for declared in (Declared(factors=frozenset({"NCCL_ALGO"})), Declared(ignored=frozenset({"NCCL_ALGO"}))):
            self.assertEqual(self.reason(other, Rules(declared)), "")

    def test_a_factor_is_one_thing_per_side_and_an_allowed_difference_is_not(self) -> None:
        mixed = side("cand", {CELL: US}, variables={"NCCL_ALGO": "Tree"})
        mixed[0]["environment"]["variables"] = {"NCCL_ALGO": "Ring"}
        factor = Rules(Declared(factors=frozenset({"NCCL_ALGO"})))
        self.assertEqual(self.reason(mixed, factor), "NCCL_ALGO differs within the candidate: 'Ring' and 'Tree'")
        self.assertEqual(self.reason(mixed, Rules(Declared(ignored=frozenset({"NCCL_ALGO"})))), "")

    def test_a_job_number_steers_nothing(self) -> None:
        self.assertEqual(self.reason(side("cand", {CELL: US}, variables={"SLURM_JOB_ID": "7"})), "")

    def test_an_unknown_setting_is_refused_with_those_near_it(self) -> None:
        with self.assertRaisesRegex(UsageError, "no launch records it: unknown setting 'cpu_modl'; nearest: cpu_model, "):
            self.compared(BASE, side("cand", {CELL: US}), rules=Rules(Declared(ignored=frozenset({"cpu_modl"}))))

    def test_a_test_double_measures_nothing(self) -> None:
        self.assertIn("test double", self.reason(side("cand", {CELL: US}, test_double=True)))


class CellTest(WithFolder):
    def changed(self, **fields: object) -> str:
        lines = side("cand", {CELL: US})
        for line in lines:
            if line["kind"] == "cell":
                line.update(fields)
        found = self.compared(BASE, lines).verdicts[0]
        self.assertEqual(found.state, State.NOT_COMPARABLE)
        return found.reason

    def test_another_definition_or_traffic_is_not_compared(self) -> None:
        self.assertEqual(self.changed(definition="other"), "definition differs: 'made up' in 8 and 0 launches, 'other' in 0 and 8 launches (baseline and candidate)")
        self.assertIn("payload_bytes differs", self.changed(traffic={"payload_bytes": 1, "wire_bytes": 1, "imbalance_send": 1.0, "imbalance_recv": 1.0}))

    def test_turns_on_one_gpu_and_zeros_measure_nothing(self) -> None:
        for field, value, said in (("shared_gpu", True, "took turns"), ("fill", "zeros", "zeros")):
            lines = [[line | {field: value} for line in side(name, {CELL: US})] for name in ("base", "cand")]
            self.assertIn(said, self.compared(*lines).verdicts[0].reason)

    def test_another_number_of_slots_is_not_compared(self) -> None:
        self.assertEqual(self.changed(cache={"mode": "warm", "slots": 2}), "slots differs: '1' and '2'")
        lines = side("cand", {CELL: US})
        lines[1]["cache"] = {"mode": "warm", "slots": 2}
        self.assertEqual(self.compared(BASE, lines).verdicts[0].reason, "within the candidate slots differs: '2' and '1'")


class OneSideTest(WithFolder):
    def test_a_cell_that_vanished_is_not_comparable_and_a_new_one_is_listed(self) -> None:
        found = self.compared(BASE, side("cand", {f"{CELL}/x=1": US}))
        self.assertEqual([(v.state, v.reason) for v in found.verdicts], [(State.NOT_COMPARABLE, "only in the baseline")])
        self.assertEqual([each.id for each in found.only_in_candidate], [f"{CELL}/x=1"])

    def test_a_cell_that_is_now_skipped_is_not_comparable_with_the_reason(self) -> None:
        lines = [line for index in range(8) for line in (launch(f"cand-{index}"), fault(f"cand-{index}", "skipped"))]
        found = self.compared(BASE, lines).verdicts[0]
        self.assertEqual(
            (found.state, found.reason), (State.NOT_COMPARABLE, "skipped in 8 launches of the candidate: made to fail")
        )

    def test_what_ran_on_neither_side_is_only_counted(self) -> None:
        lines = [side(name, {CELL: US}) + [fault(f"{name}-0", "skipped", f"{CELL}/x=1")] for name in ("base", "cand")]
        found = self.compared(*lines)
        self.assertEqual((len(found.verdicts), found.skipped), (1, 1))

    def test_one_failure_or_timeout_of_the_candidate_is_enough(self) -> None:
        for status in ("failed", "timeout"):
            lines = [*side("cand", {CELL: US}), launch("cand-9"), fault("cand-9", status)]
            found = self.compared(BASE, lines).verdicts[0]
            self.assertEqual(
                (found.state, found.reason), (State.NOT_COMPARABLE, f"{status} in 1 launch of the candidate: made to fail")
            )

    def test_a_failure_of_the_baseline_leaves_its_other_launches(self) -> None:
        self.assertEqual(
            self.compared([*BASE, launch("base-9"), fault("base-9", "failed")], side("cand", {CELL: US})).verdicts[0].state,
            State.SAME,
        )

    def test_wrong_payload_on_either_side_is_invalid_and_the_candidates_is_known(self) -> None:
        good, wrong = side("cand", {CELL: US}), [launch("wrong-0"), fault("wrong-0", "invalid")]
        for baseline, candidate, is_the_candidates in ((BASE + wrong, good, False), (BASE, good + wrong, True)):
            found = self.compared(baseline, candidate)
            self.assertEqual((found.verdicts[0].state, found.candidate_is_wrong), (State.INVALID, is_the_candidates))
        new = self.compared(BASE, [*good, fault("cand-0", "invalid", f"{CELL}/x=1")])
        self.assertTrue(new.candidate_is_wrong)


class FilesTest(WithFolder):
    def test_a_folder_is_all_its_files(self) -> None:
        for index in range(3):
            self.file(f"run-{index}", [launch(f"base-{index}"), cell(f"base-{index}", 100)])
        campaign = read_campaign("baseline", self.folder, METRICS["time"])
        self.assertEqual((len(campaign.launches), campaign.counts().tolist()), (3, [3]))
        self.assertEqual(len(campaign.remarks), 3, "none has an end line")

    def test_a_killed_launch_gives_its_finished_cells_and_a_remark(self) -> None:
        path = self.file("killed", BASE[:2])
        path.write_text(path.read_text() + json.dumps(cell("base-0", 5, f"{CELL}/x=1"))[:90])
        campaign = read_campaign("baseline", path, METRICS["time"])
        self.assertEqual([each.id for each in campaign.cells], [CELL])
        self.assertIn("cut off", campaign.remarks[0])
        self.assertIn("no end line", campaign.remarks[1])

    def test_a_launch_counts_once(self) -> None:
        self.file("one", BASE)
        self.file("two", BASE)
        with self.assertRaisesRegex(ResultError, "would count twice"):
            read_campaign("baseline", self.folder, METRICS["time"])
        with self.assertRaisesRegex(UsageError, "launch base-0 is on both sides"):
            self.compared(BASE, BASE)

    def test_a_cell_that_is_twice_in_a_launch_counts_once(self) -> None:
        path = self.file("twice", [launch("a"), cell("a", 1), cell("a", 2)])
        campaign = read_campaign("baseline", path, METRICS["time"])
        self.assertEqual(campaign.numbers["time"].tolist(), [2000])

    def test_a_line_without_a_field_is_named(self) -> None:
        for number, fields in enumerate((("campaign_id", "environment", "test_double", "calibration"),
                                         ("pattern", "definition", "validation", "cache", "fill", "shared_gpu", "below_floor", "rank_medians_ns",
                                          "iterations_per_sample")), 1):
            for name in fields:
                lines = [launch("a"), cell("a", 1)]
                del lines[number - 1][name]
                with self.assertRaisesRegex(ResultError, f"broken.jsonl:{number}: .*{name}"):
                    read_campaign("baseline", self.file("broken", lines), METRICS["time"])


if __name__ == "__main__":
    unittest.main()
