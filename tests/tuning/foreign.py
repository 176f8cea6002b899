# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A table of another program's numbers: dlmb_convert, dlmb_tune build, show, lookup, export, and what refuses it."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import dlmb_tuning
from exports import SOURCE, TUNE, InFolder, ok, refusal

# In the columns of PICO, with made-up numbers. Gains: 1 - 8 / 10, 1 - 75 / 100, and none.
PICO = """system,nodes,ranks_per_node,mpi,mpi_version,gpu,collective,algorithm,bytes,iterations,median_us,p10_us,p90_us,campaign,test
alps,4,1,OMPI,4.1.6,no,allreduce,default_ompi,1024,200,10,9,11,night,0
alps,4,1,OMPI,4.1.6,no,allreduce,ring_ompi,1024,200,8,7,9,night,0
alps,4,1,OMPI,4.1.6,no,allreduce,default_ompi,8192,200,100,90,110,night,0
alps,4,1,OMPI,4.1.6,no,allreduce,ring_ompi,8192,200,75,70,80,night,0
alps,4,1,OMPI,4.1.6,no,allreduce,default_ompi,65536,200,200,190,210,night,0
alps,4,1,OMPI,4.1.6,no,allreduce,ring_ompi,65536,200,300,290,310,night,0
alps,4,1,OMPI,4.1.6,no,gather,default_ompi,1024,200,10,9,11,night,0
"""
QUESTION = "--operation allreduce --ranks 4 --nodes 4 --memory host --backend mpi --bytes".split()


def convert(folder: pathlib.Path, text: str) -> None:
    (folder / "pico.csv").write_text(text, encoding="utf-8")
    subprocess.run([SOURCE / "launch" / "dlmb_convert", folder / "pico.csv", "-o", folder / "pico.jsonl"], check=True, capture_output=True)


class Foreign(InFolder):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = pathlib.Path(folder.name)
        convert(cls.made, PICO)
        cls.built = ok("build", cls.made / "pico.jsonl", "-o", cls.made / "table.json")

    def setUp(self) -> None:
        super().setUp()
        shutil.copytree(self.made, self.folder, dirs_exist_ok=True)
        self.results, self.table = self.folder / "pico.jsonl", self.folder / "table.json"

    def test_build_says_what_it_leaves_out_and_that_nothing_is_confirmed(self) -> None:
        self.assertIn("cells     6 of 7 used\n  1 not: is of gather", self.built)
        self.assertIn("2 where foreign numbers are better than the default's, which nothing confirms", self.built)

    def test_show_and_lookup_say_that_the_evidence_is_foreign(self) -> None:
        text = ok("show", self.table)
        self.assertIn("system    alps, processor not known", text)
        self.assertIn("evidence  foreign: numbers of pico", text)
        (row,) = [line for line in text.splitlines() if " 8 K to 8 K " in line]
        for part in ("ring (open_mpi.tuned)", "25.0 % [not known]", "foreign: 100.0 -> 75.00 us, 1 sizes, medians of pico, 1 launches"):
            self.assertIn(part, row)
        self.assertIn("evidence foreign: 100", ok("lookup", self.table, *QUESTION, "8K"))
        self.assertIn("none matches", ok("lookup", self.table, *QUESTION, "4K"), "nobody measured between 1 K and 8 K")

    def test_the_python_reader_tells_it_with_the_choice(self) -> None:
        choice = dlmb_tuning.open_table(self.table).lookup("allreduce", bytes=8192, ranks=4, nodes=4, memory="host", backend="mpi")
        self.assertEqual((choice.algorithm, choice.status, choice.evidence), ("ring", "chosen", "foreign"))

    def test_an_export_has_to_be_asked_for_and_says_so_in_its_files(self) -> None:
        arguments = ("export", "--to", "openmpi", self.table, "-o", self.folder / "made")
        self.assertIn("table.json: rests on foreign evidence (pico), which DLMB has neither measured nor confirmed; --accept foreign", refusal(*arguments))
        self.assertFalse((self.folder / "made").exists())
        ok(*arguments, "--accept", "foreign", "--commutative")
        lines = (self.folder / "made" / "dlmb_rules.conf").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[1], "# This rests on foreign evidence (pico), which DLMB has neither measured nor confirmed.")
        self.assertIn("  8192 4 0 0", lines, "ring is 4")
        self.assertIn("foreign evidence (pico)", (self.folder / "made" / "env.sh").read_text(encoding="utf-8"))
        self.assertIn("--accept 'foreign'", (self.folder / "made" / "verify.sh").read_text(encoding="utf-8"))

    def test_what_needs_launches_of_dlmb_refuses_it(self) -> None:
        measured = SOURCE / "results-schema" / "examples" / "results.jsonl"
        self.assertIn("--confirm is for launches of DLMB", refusal("build", self.results, "-o", self.table, "--confirm", measured))
        self.assertIn(":1: converted from the output of another program", refusal("build", self.results, "-o", self.table, "--confirm", self.results))

    def test_a_table_is_written_to_standard_output_alone(self) -> None:
        self.assertEqual(json.loads(ok("build", self.results, "-o", "-"))["schema"], "dlmb.tuning-table/1.0")

    def test_backend_tuned_does_not_run_by_it(self) -> None:
        program = pathlib.Path(TUNE).with_name("dlmb_collective")
        command = [program, "--operation", "allreduce", "-m", "8", "--ranks", "2", "--backend", "tuned", "--use-table", self.table]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 64, done.stdout + done.stderr)
        self.assertIn("rests on foreign evidence (pico)", done.stderr)

    def test_several_systems_make_no_table(self) -> None:
        convert(self.folder, PICO + PICO.splitlines()[1].replace("alps", "piz") + "\n")
        self.assertIn("piz, Open MPI 4.1.6 beside alps, Open MPI 4.1.6", refusal("build", self.results, "-o", self.table))

    def test_the_definition_of_the_times_is_that_of_the_origin(self) -> None:
        policy = json.loads(self.table.read_text(encoding="utf-8"))["policy"]
        self.assertIn("pico: each iteration lasts as long as its slowest rank", policy["metric"])
        self.assertEqual((policy["launches"], policy["confirm_launches"], policy["fdr_q"]), (1, 0, 1))


if __name__ == "__main__":
    unittest.main()
