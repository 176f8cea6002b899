# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_tune show and lookup as a person or a script runs them.

usage: tune_program_test.py DLMB_TUNE TABLE
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, TABLE = Path(sys.argv[1]), Path(sys.argv[2])
RING = "--operation allreduce --ranks 4 --nodes 1 --memory host --element float --reduction sum --backend mpi --bytes".split()


def tune(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in (PROGRAM, *arguments)], stderr=subprocess.PIPE, text=True, check=False, **settings)


def output_of(*arguments: object) -> str:
    done = tune(*arguments, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Show(unittest.TestCase):
    def test_says_who_wins_where_by_how_much_and_how_that_is_known(self) -> None:
        text = output_of("show", TABLE)
        (ring,) = [line for line in text.splitlines() if line.endswith(" r002")]
        for part in ("allreduce", "64 K to 512 K", "host fp32 sum", "blocking, ring", "23.0 % [19.0, 26.0]", "8 + 8 launches", "chosen"):
            self.assertIn(part, ring)
        self.assertLess(text.index("which backend"), text.index("which method of mpi"))
        self.assertIn("Example GPU, compute capability 9.0", text)

    def test_fails_when_its_output_cannot_be_written(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(tune("show", TABLE, stdout=full).returncode, 74)


    def test_help_that_cannot_be_written_is_no_success(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(tune("--help", stdout=full).returncode, 74)


class Lookup(unittest.TestCase):
    def test_gives_the_choice_up_to_the_last_byte_of_its_range(self) -> None:
        for size in ("64K", "512K"):
            self.assertIn("blocking, ring (open_mpi.tuned 4)", output_of("lookup", TABLE, *RING, size))
        for size in ("65535", "524289", str(2**32), str(2**64 - 1)):
            self.assertIn("method   default\nrule     none matches\n", output_of("lookup", TABLE, *RING, size))

    def test_names_both_rules_where_the_table_selects_the_backend(self) -> None:
        text = output_of("lookup", TABLE, *"--operation allreduce --bytes 1K --ranks 4 --nodes 1 --memory host".split())
        self.assertIn("backend  ucx\n", text)
        self.assertIn("r003 (backend selected by r001)", text)

    def test_names_the_baseline_without_a_rule(self) -> None:
        text = output_of("lookup", TABLE, *"--operation broadcast --bytes 1K --memory cuda".split())
        self.assertEqual(text, "backend  nccl\nmethod   default\nrule     none matches\nnearest  no rule here is of broadcast in scope select\n")

    def test_answers_by_the_rules_of_the_baseline_where_none_selects_a_backend(self) -> None:
        text = output_of("lookup", TABLE, *(word for word in RING if word not in ("--backend", "mpi")), "64K")
        self.assertIn("backend  mpi\nmethod   blocking, ring", text)
        self.assertIn("rule     r002\n", text)
        text = output_of("lookup", TABLE, *"--operation reduce_scatter --bytes 1K --memory host".split())
        self.assertIn("nearest  r006 asks for reduction user, which is not given\n", text)

    def test_names_the_nearest_rule_and_what_it_asks_for_where_none_matches(self) -> None:
        question = "--operation allreduce --backend mpi --ranks 5 --nodes 1 --memory host --element float --bytes 64K".split()
        self.assertIn("nearest  r002 asks for ranks 4, not 5; reduction sum, which is not given\n", output_of("lookup", TABLE, *question))
        self.assertIn("nearest  r002 asks for bytes 65536 to 524288, not 1\n", output_of("lookup", TABLE, *RING, "1"))


class BadUsage(unittest.TestCase):
    def refusal(self, *arguments: object) -> str:
        done = tune(*arguments, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("dlmb_tune: error: "), done.stderr)
        return done.stderr

    def test_is_one_line_that_says_what_to_do(self) -> None:
        self.assertIn("subcommand", self.refusal())
        self.assertIn("--operation", self.refusal("lookup", TABLE, "--bytes", "1"))
        self.assertIn("nearest: allreduce", self.refusal("lookup", TABLE, "--operation", "alreduce", "--bytes", "1"))
        self.assertIn("64K", self.refusal("lookup", TABLE, *RING, "1MB"))
        self.assertIn("nearest: mpi", self.refusal("lookup", TABLE, "--operation", "exchange", "--bytes", "1", "--backend", "mpii"))
        self.assertIn("nearest: host", self.refusal("lookup", TABLE, "--operation", "exchange", "--bytes", "1", "--memory", "hots"))
        self.assertIn("Value inf not in range", self.refusal("lookup", TABLE, *RING, "64K", "--imbalance", "inf"))
        self.assertIn("Value nan not in range", self.refusal("build", "none.jsonl", "-o", "none.json", "--min-gain", "nan"))
        self.assertIn("'-1' is no whole number", self.refusal("verify", "--to", "openmpi", TABLE, "--ranks", "-1"))
        self.assertIn("none.json", self.refusal("show", "none.json"))
        self.assertIn("mpii not in {mpi,", self.refusal("build", "none.jsonl", "-o", "none.json", "--baseline", "mpii"))
        self.assertIn("quik not in {oversubscribed,", self.refusal("build", "none.jsonl", "-o", "none.json", "--accept", "unconfirmed,quik"))
        results = TABLE.with_name("results.jsonl")
        self.assertIn("is among RESULTS, too", self.refusal("build", results, "-o", "none.json", "--confirm", results))

    def test_of_a_broken_table_names_file_and_place(self) -> None:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        table["rules"][0]["when"]["bytes"]["basis"] = "total"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "broken.json"
            path.write_text(json.dumps(table), encoding="utf-8")
            self.assertIn("broken.json: rules[0].when.bytes.basis: 'total' is not the basis of allreduce", self.refusal("show", path))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
