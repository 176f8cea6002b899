# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that are kept, and comparing with the last of them."""

from __future__ import annotations

import csv
import json
import math
import unittest
from pathlib import Path
from typing import Any

from dlmb_results.lines import read_lines
from made import CELL, WithFolder, cell, fault, launch, side
from running import SCHEMAS, validated
from test_exit_codes import SLOW, US, run


class WithHistory(WithFolder):
    def setUp(self) -> None:
        super().setUp()
        self.history = self.folder / "history"

    def campaign(self, name: str, medians: list[float], day: int = 1, **fields: str) -> Path:
        """Every campaign says that it is the same one, as those of one sweep do."""
        lines = side(name, {CELL: medians}, **fields)
        for line in lines:
            if line["kind"] == "launch":
                line |= {"time": line["time"].replace("-31T", f"-{day:02}T"), "campaign_id": "nightly"}
        return self.file(name, lines)

    def append(self, path: Path) -> tuple[int, str, str]:
        return run("--history", self.history, "--append", path)

    def held(self) -> list[str]:
        """By campaign, the first word of its launches' ids."""
        lines = run("--history", self.history, "--list")[1].splitlines()
        files = [self.history / "campaigns" / f"{line.split()[0]}.jsonl" for line in lines]
        return [next(read_lines(file, []))[1]["launch_id"].split("-")[0] for file in files]


class CompareTest(WithHistory):
    def test_the_last_campaigns_are_the_baseline(self) -> None:
        for day, (name, medians) in enumerate((("oldest", [1.1 * us for us in US]), ("old", US), ("recent", US)), 1):
            self.assertEqual(self.append(self.campaign(name, medians, day))[0], 0)
        slow = self.campaign("cand", SLOW, 4)
        for options, launches in (((), 24), (("--last", 2), 16), (("--last", 1), 8)):
            code, output, _ = run("--history", self.history, slow, "--json", *options)
            found = json.loads(output)["cells"][0]["launches"]
            self.assertEqual((code, found), (1, {"baseline": launches, "candidate": 8}))

    def nights(self, levels: list[float], **fields: str) -> None:
        for day, level in enumerate(levels, 1):
            self.assertEqual(self.append(self.campaign(f"night{day}", [level * value for value in US], day, **fields))[0], 0)

    def tonight(self, level: float, day: int = 20, **fields: str) -> tuple[int, dict[str, Any]]:
        path = self.campaign(f"tonight{day}x{level}", [level * value for value in US], day, **fields)
        code, output, _ = run("--history", self.history, path, "--json")
        return code, json.loads(output)["cells"][0]

    def test_a_slow_first_night_is_not_the_level_after_a_few_more(self) -> None:
        self.nights([2, 1, 1, 1])
        self.assertEqual(self.tonight(2)[0], 1)

    def test_nights_that_differ_make_no_night_slower_and_calm_nights_do(self) -> None:
        """By hand: the first eight nights have a mean logarithm of 0 and a sum of squares of 8 * 0.03^2. With the usual 2 * 0.04^2 and 9
        degrees of freedom s = 0.03399 or, calm, 0.01886; times sqrt((4^2 + 2^2 + 1) / 7^2 + 1/8) and t(0.95, 9) = 1.833 it is 0.04636 or
        0.02572. That is (4 * tonight - 2 * 0.03 + 0.03) / 7 or 4 * tonight / 7. The interval shown is that of tonight alone: with ten nights
        and 11 degrees of freedom it is 0.0628 or 0.0322 on either side."""
        for restless, slowest, half in ((0.03, 0.0886, 0.0628), (0.0, 0.0450, 0.0322)):
            self.history = self.folder / f"history{restless}"
            self.nights([math.exp(sign * restless) for sign in [1, -1] * 5])
            for slower, expected in ((slowest - 0.001, 0), (slowest + 0.001, 1)):
                code, found = self.tonight(math.exp(slower))
                self.assertEqual((code, found["evidence"]["test"], found["evidence"]["confidence"]), (expected, "nights", 0.9), found)
                self.assertAlmostEqual(math.log(found["evidence"]["low"]), slower - half, places=3)

    def test_a_slowdown_that_lasts_is_found_though_each_night_of_it_passes(self) -> None:
        """By hand: the nine nights before the last three have a mean of 0.00333, and (4 * 0.07 + 2 * 0.06 - 0.03) / 7 is 0.05286. Tonight alone
        is not clear: 0.07 - 0.06 / 11 = 0.0645 against 0.0654."""
        self.nights([math.exp(sign * 0.03) for sign in [1, -1] * 5])
        first = self.campaign("first", [math.exp(0.06) * value for value in US], 11)
        self.assertEqual(run("--history", self.history, first)[0], 0)
        self.append(first)
        code, found = self.tonight(math.exp(0.07), 12)
        self.assertEqual(code, 1, found)
        self.assertAlmostEqual(math.log(found["evidence"]["ratio"]), 0.05286 - 0.00333, places=4)
        self.assertGreater(found["evidence"]["low"], 1)

    def test_a_night_of_which_the_history_has_one_is_slower_only_by_much(self) -> None:
        self.nights([1.0])
        self.assertEqual([self.tonight(level)[0] for level in (1.1, 2.0)], [0, 1])
        self.assertEqual(self.tonight(1.1)[1]["reason"], "nights_differ")

    def test_a_slowdown_that_was_accepted_is_the_level_from_then_on(self) -> None:
        self.nights([1, 1.01, 0.99, 1, 1.01, 0.99, 1, 1.3, 1.31, 1.29])
        self.assertEqual([self.tonight(level)[0] for level in (1.3, 1.5)], [0, 1])
        self.assertAlmostEqual(self.tonight(1.3)[1]["evidence"]["ratio"], 1, places=3)

    def test_one_fast_night_is_not_the_level_and_a_few_are(self) -> None:
        usual = [1, 1.02, 0.98, 1.01, 0.99] * 2
        for fast, expected in ((1, 0), (3, 1)):
            self.history = self.folder / f"history{fast}"
            self.nights(usual + [0.75, 0.74, 0.76][:fast])
            self.assertEqual(self.tonight(1.01)[0], expected)

    def test_after_a_setting_or_the_traffic_changed_older_nights_do_not_count(self) -> None:
        self.nights([1, 1, 1])
        changed = {"variables": {"UCX_TLS": "tcp"}}
        self.assertEqual(self.tonight(1, 10, **changed)[0], 3)
        self.append(self.campaign("accepted", US, 10, **changed))
        code, found = self.tonight(1, 11, **changed)
        self.assertEqual((code, found["launches"]["baseline"]), (0, 8))
        path = self.campaign("more", US, 12, **changed)
        path.write_text(path.read_text().replace('"wire_bytes": 1000000', '"wire_bytes": 7'))
        self.assertEqual(run("--history", self.history, path)[0], 3)
        self.append(path)
        later = self.campaign("later", US, 13, **changed)
        later.write_text(later.read_text().replace('"wire_bytes": 1000000', '"wire_bytes": 7'))
        code, output, errors = run("--history", self.history, later)
        self.assertEqual(code, 0, output)
        self.assertIn("24 launches of older nights left out", errors)
        self.assertIn("8 numbers of older nights left out", errors)
        self.assertIn("8 launches, against 16 of 2 nights of the history", output)

    def test_cells_that_a_night_was_accepted_without_are_not_asked_for_again(self) -> None:
        """As where a sweep was given [[environment]]: its cells have other names from then on."""
        changed = f"{CELL}/environment=plain"
        for day, names in ((1, (CELL,)), (2, (CELL,)), (3, (changed,)), (4, (changed,))):
            tonight = self.file(f"night{day}", side(f"night{day}", {name: US for name in names}))
            tonight.write_text(tonight.read_text().replace("-31T", f"-{day:02}T"))
            code, output, errors = run("--history", self.history, tonight)
            self.assertEqual(code, 3 if day in (1, 3) else 0, output + errors)
            self.assertEqual("only in the baseline" in output, day == 3)
            self.append(tonight)
        self.assertIn("1 cells of older nights left out: the last night does not have them", errors)

    def test_a_cell_that_failed_in_the_last_night_is_compared_with_the_nights_before(self) -> None:
        self.append(self.campaign("base", US))
        lines = [line if line["kind"] != "cell" else fault(line["launch_id"], "failed") for line in side("bad", {CELL: US})]
        self.append(self.file("bad", lines))
        code, output, _ = run("--history", self.history, self.campaign("slow", SLOW, 2))
        self.assertEqual((code, "REGRESSED" in output), (1, True), output)

    def test_only_campaigns_of_the_same_environment_count(self) -> None:
        self.append(self.campaign("other", SLOW, 2, env_key="other"))
        code, _, errors = run("--history", self.history, self.campaign("cand", US))
        self.assertEqual((code, errors.count("\n")), (3, 1))
        self.assertIn("no other campaign of this environment (made)", errors)
        self.append(self.campaign("base", US))
        self.assertEqual(run("--history", self.history, self.folder / "cand.jsonl")[0], 0)

    def test_of_a_campaign_of_several_environments_each_finds_its_own(self) -> None:
        both = side("one", {CELL: US}) + side("two", {f"{CELL}/x=1": US}, env_key="other")
        self.append(self.file("both", both))
        found = json.loads(run("--history", self.history, self.campaign("cand", US), "--json")[1])["cells"]
        self.assertEqual([each["cell_id"] for each in found], [CELL])

    def test_a_campaign_is_not_compared_with_itself(self) -> None:
        self.append(self.campaign("base", SLOW))
        candidate = self.campaign("cand", US, 2)
        self.append(candidate)
        self.assertIn("1 IMPROVED", run("--history", self.history, candidate)[1])


class KeepTest(WithHistory):
    def test_lines_are_kept_without_samples(self) -> None:
        ran, not_ok = cell("a", 1), fault("a", "skipped") | {"samples_ns": []}
        self.append(self.file("one", [launch("a"), ran, not_ok]))
        kept = next((self.history / "campaigns").iterdir()).read_text().splitlines()
        self.assertEqual([json.loads(line) for line in kept[1:]], [ran | {"samples_ns": [], "samples_left_out": True}, not_ok])

    def test_every_file_is_as_the_schemas_say(self) -> None:
        self.append(SCHEMAS / "examples" / "results.jsonl")
        done = validated("--strict", *(self.history / "campaigns").iterdir())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_campaign_is_described_by_its_first_launch(self) -> None:
        lines = [*side("late", {CELL: US}, env_key="other"), *side("early", {CELL: US[:3]})]
        lines[0]["environment"]["informational"] = {"version": "9", "git_revision": "late"}
        for line in lines[-13:]:
            line |= {"time": "2026-01-30T12:00:00Z"} if line["kind"] == "launch" else {}
        self.append(self.file("both", lines))
        said = run("--history", self.history, "--list")[1]
        self.assertRegex(said, r"\A2026-01-30T120000Z-[0-9a-f]{8}  version 0\.1\.0 \(ab12cd3\), 11 cells; 3 launches of made, 8 launches of other\n\Z")

    def test_what_was_converted_is_refused_and_nothing_is_kept(self) -> None:
        converted = launch("a") | {"time": None, "origin": {"suite": "OSU Micro-Benchmarks", "program": "osu_allreduce", "file": "osu.txt"}}
        code, _, errors = self.append(self.file("osu", [converted, cell("a", 1)]))
        self.assertEqual((code, errors.count("\n"), self.held()), (64, 1, []))
        self.assertIn("osu.jsonl: was converted from output of another program", errors)

    def test_no_launch_is_added_twice(self) -> None:
        self.append(self.campaign("base", US))
        code, _, errors = self.append(self.folder / "base.jsonl")
        self.assertEqual((code, len(self.held())), (64, 1))
        self.assertIn("launch base-0 is in the history already", errors)
        self.assertEqual(sorted(path.name for path in self.history.iterdir()), ["campaigns", "lock"], "nothing is left of the copy")

    def test_a_history_that_cannot_be_read_is_not_called_one_that_cannot_be_written(self) -> None:
        file = self.campaign("base", US)
        code, _, errors = run("--history", file, file)
        self.assertEqual(code, 64)
        self.assertIn(f"{file}/campaigns: Not a directory", errors)

    def test_the_campaigns_that_hold_some_launches_are_listed(self) -> None:
        first, second = self.campaign("one", US), self.campaign("two", US, 2)
        self.append(first)
        self.assertEqual(run("--history", self.history, "--list", second)[:2], (0, ""))
        self.append(second)
        everything = run("--history", self.history, "--list")[1]
        self.assertEqual(run("--history", self.history, "--list", second)[:2], (0, everything.splitlines(keepends=True)[1]))

    def test_cells_of_nights_that_are_not_compared_with_are_counted_and_not_read_again(self) -> None:
        self.append(self.campaign("old", US))
        (stored,) = (self.history / "campaigns").iterdir()
        stored.write_text(stored.read_text().replace('{"kind":"cell",', '{"kind":"cell",damaged'))
        lines = side("base", {CELL: US})
        self.append(self.file("base", [dict(sorted(line.items())) for line in lines]))
        said = run("--history", self.history, "--list")
        self.assertEqual((said[0], said[1].count(" 8 cells; 8 launches of made")), (0, 2), said)
        self.assertEqual(run("--history", self.history, self.campaign("cand", US), "--last", 1)[0], 0)
        self.assertEqual(run("--history", self.history, self.folder / "cand.jsonl")[0], 64)

    def test_pruning_keeps_the_last_of_each_environment(self) -> None:
        for day, name in enumerate(("a", "b", "c"), 1):
            self.append(self.campaign(name, US, day))
        self.append(self.campaign("old", US, 1, env_key="other"))
        self.assertEqual(run("--history", self.history, "--prune", 2)[1].count("removed"), 1)
        self.assertEqual(sorted(self.held()), ["b", "c", "old"])
        self.assertEqual(len(list((self.history / "campaigns").iterdir())), 3)

    def test_otava_is_given_a_row_per_addition(self) -> None:
        for day, name in enumerate(("a", "b", "c"), 1):
            self.append(self.campaign(name, US, day))
        self.assertEqual(run("--history", self.history, "--export", "otava", self.folder / "otava.yaml")[0], 0)
        rows = list(csv.reader((self.folder / "dlmb.moe_alltoall.mpi.host.made.csv").open()))
        self.assertEqual([row[0][:10] for row in rows[1:]], ["2026-01-01", "2026-01-02", "2026-01-03"])

    def test_bad_usage_is_one_line(self) -> None:
        path = self.campaign("base", US)
        for arguments, said in (
            (("--append", path), "--history"),
            (("--history", self.history), "CANDIDATE"),
            (("--history", self.history, path, path), "CANDIDATE"),
            (("--history", self.history, path, "--list"), "CANDIDATE"),
            (("--history", self.history, "--list", "--export", "json", self.folder / "out.json"), "--export otava alone"),
            (("--history", self.history, "--append", path, "--rerun", self.folder / "rerun.json"), "--append"),
            (("--history", self.history, "--list", "--json"), "--list"),
            (("--history", self.history, path, "--paired"), "no pairs"),
            (("--history", self.history, path, "--confirm", path), "not fresh"),
            (("--history", self.history, "--prune", "0"), "--prune"),
        ):
            code, output, errors = run(*arguments)
            self.assertEqual((code, output, errors.count("\n")), (64, "", 1), errors)
            self.assertIn(said, errors)

    def test_a_history_that_is_not_there_is_no_empty_one(self) -> None:
        for action in (("--list",), ("--prune", 3), ("--export", "otava", self.folder / "otava.yaml")):
            code, _, errors = run("--history", self.history, *action)
            self.assertEqual((code, errors.count("\n"), self.history.exists()), (64, 1, False), errors)
            self.assertIn("no history here", errors)

    def test_what_is_in_the_key_of_the_environment_cannot_differ_from_the_past(self) -> None:
        self.append(self.campaign("base", US))
        candidate = self.campaign("cand", US, 2)
        for option in ("--factor", "--allow-env-diff"):
            code, _, errors = run("--history", self.history, candidate, option, "cpu_model")
            self.assertEqual((code, errors.count("\n")), (64, 1), errors)
            self.assertIn("cpu_model with --history", errors)

    def test_a_folder_that_cannot_be_written_is_said(self) -> None:
        path = self.campaign("base", US)
        self.assertEqual(run("--history", path, "--append", path)[0], 74)


if __name__ == "__main__":
    unittest.main()
