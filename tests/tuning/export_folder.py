# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_tune export writes a folder that can be used and verified by itself, and says what it could not hold."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from exports import InFolder, refusal, rule, tune, write_table

RING = rule("r0", "mpi", "allreduce", (65536, 524288), algorithm="ring", family="open_mpi.tuned")
UNKNOWN = rule("r1", "mpi", "allgather", (0, 100), algorithm="magic", family="open_mpi.tuned")


class ExportFolder(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.table = write_table(self.folder / "table.json", [RING, UNKNOWN])

    def export(self, output, *arguments):
        return tune("export", "--to", "openmpi", "--commutative", self.table, "-o", self.folder / output, *arguments)

    def test_holds_files_environment_losses_and_the_table(self) -> None:
        done = self.export("it's here")
        self.assertEqual(done.returncode, 0, done.stderr)
        output = self.folder / "it's here"
        self.assertEqual({file.name for file in output.iterdir()},
                         {"dlmb_rules.conf", "env.sh", "lost.json", "table.json", "verify.sh"})
        lost = json.loads((output / "lost.json").read_text(encoding="utf-8"))
        self.assertEqual([(one["rule"], one["why"]) for one in lost], [("r1", "unknown_algorithm")])
        variable = subprocess.run(["sh", "-c", '. ./env.sh; printf %s "$OMPI_MCA_coll_tuned_dynamic_rules_filename"'],
                                  cwd=output, capture_output=True, text=True, check=True).stdout
        self.assertEqual(pathlib.Path(variable), output / "dlmb_rules.conf")

    def test_is_verified_as_it_was_made(self) -> None:
        self.export("made", "--library-version", "5.0.8", "--nodes", "2")
        script = (self.folder / "made" / "verify.sh").read_text(encoding="utf-8")
        self.assertIn(" verify --to 'openmpi' --nodes '2' --library-version '5.0.8' --commutative --files", script)

    def test_files_of_another_folder_are_not_verified_for_those_of_this_one(self) -> None:
        self.export("made")
        shutil.copytree(self.folder / "made", self.folder / "copied")
        said = refusal("verify", "--to", "openmpi", "--commutative", self.table, "--files", self.folder / "copied")
        self.assertIn(f"copied/env.sh: OMPI_MCA_coll_tuned_dynamic_rules_filename is {self.folder}/made/dlmb_rules.conf", said)

    def test_rings_of_open_mpi_need_operations_that_commute(self) -> None:
        arguments = ("export", "--to", "openmpi", self.table, "-o", self.folder / "made")
        done = tune(*arguments)
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("r0 is lost (unknown_algorithm): ring is wrong for operations that do not commute; give --commutative", done.stderr)
        self.assertIn("--commutative: no export to ucc depends on it", refusal("export", "--to", "ucc", "--commutative", self.table, "-o", self.folder / "made"))

    def test_says_where_calls_differ_from_those_that_were_measured(self) -> None:
        family = {"algorithm": "bruck", "family": "open_mpi.tuned"}
        gather = rule("r0", "mpi", "allgather", (0, 100), in_place=False, nodes={"min": 1, "max": 1}, **family)
        self.table = write_table(self.folder / "table.json", [gather])
        said = self.export("made").stderr
        for note in ("calls in place follow the rules of calls out of place where no note says otherwise", "allgathers in place are looked up by their send count: without one",
                     "the rules act on any number of nodes, in every communicator of their number of ranks"):
            self.assertIn(f"note: {note}", said)

    def test_is_the_same_every_time(self) -> None:
        self.export("same")
        first = {file.name: file.read_bytes() for file in (self.folder / "same").iterdir()}
        self.export("same")
        self.assertEqual(first, {file.name: file.read_bytes() for file in (self.folder / "same").iterdir()})

    def test_strict_fails_on_a_loss(self) -> None:
        self.assertEqual(self.export("strict", "--strict").returncode, 1)

    def test_a_table_that_leaves_nothing_to_the_other_program_writes_nothing_and_says_why(self) -> None:
        stays = {"choose": {"backend": "mpi", "method": "default"}}
        rules = [RING | stays | {"status": "tie"}, UNKNOWN | stays | {"status": "no_gain"}]
        lost = "r1 is lost (unknown_algorithm): coll/tuned"
        for table, lines, reason in ((rules, 1, "no rule of scope mpi leaves the library's own choice (1 no_gain, 1 tie)\n"), ([], 1, "the table has no rule of scope mpi\n"),
                                     ([UNKNOWN], 2, "it can hold no choice of scope mpi, for the reasons above\n")):
            self.table = write_table(self.folder / "table.json", table)
            done = self.export("nothing")
            self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
            self.assertEqual(done.stderr.count("\n"), lines, done.stderr)
            self.assertTrue(done.stderr.endswith(f"dlmb_tune: nothing to export to openmpi, so nothing is written: {reason}"), done.stderr)
            self.assertEqual(lost in done.stderr, lines > 1)
            self.assertFalse((self.folder / "nothing").exists())

    def test_what_another_backend_does_is_said_and_an_earlier_export_too(self) -> None:
        self.assertEqual(self.export("kept").returncode, 0)
        self.table = write_table(self.folder / "table.json", [rule("r9", "select", "allreduce", (16, 32)) | {"choose": {"backend": "ucx", "method": "default"}}])
        done = self.export("kept", "--strict")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("r9 is lost (other_backend)", done.stderr)
        self.assertTrue(done.stderr.endswith("kept still holds an earlier export\n"), done.stderr)

    def test_every_consumer_says_so(self) -> None:
        table = write_table(self.folder / "table.json", [])
        for consumer in ("openmpi", "ucc", "nccl", "ucx"):
            version = ("--library-version", "4.1.4")
            export = ("export", "--to", consumer, table, "-o", self.folder / "nothing")
            if consumer in ("ucc", "nccl"):
                self.assertIn(f"--library-version: no export to {consumer} depends on it", tune(*export, *version).stderr)
            done = tune(*export, *(version if consumer in ("openmpi", "ucx") else ()))
            self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
            self.assertIn(f"nothing to export to {consumer}", done.stderr)
            self.assertFalse((self.folder / "nothing").exists())

    def test_mpich_of_a_version_that_nobody_says_is_refused_and_loses_nothing_where_the_table_says_it(self) -> None:
        """From 4.1 on MPICH does not obey its tree in every collective."""
        leaf = "algorithm=MPIR_Allreduce_intra_recursive_doubling"
        tree = {"collective=allreduce": {"comm_type=intra": {leaf: {}}}, "collective=ibcast": {}}
        library = self.folder / "libmpich.so"
        library.write_bytes(b"\0" + json.dumps(tree, separators=(",", ":")).encode() + b"\0" + leaf.encode() + b"\0")
        chosen = rule("r0", "mpi", "allreduce", (1024, 2048), algorithm="recursive_doubling", family="mpich")
        path = write_table(self.folder / "table.json", [chosen], mpi="")
        export = ("export", "--to", "mpich", "--library", library, "--strict", "-o", self.folder / "mpich", path)
        self.assertIn("--library-version", refusal(*export))
        table = json.loads(path.read_text(encoding="utf-8"))
        table["stack"]["mpi"] = {"name": "MPICH", "version": "4.0.2"}
        path.write_text(json.dumps(table), encoding="utf-8")
        self.assertEqual(tune(*export).returncode, 0)
        self.assertIn("comm_size<=4", (self.folder / "mpich" / "dlmb_collectives.json").read_text(encoding="utf-8"))

    def test_wrong_use_is_one_clear_line(self) -> None:
        for arguments, code, part in ((["--to", "openmpi", "--memory", "hosst"], 64, "nearest: host"),
                                      (["--to", "openmpi", "--element", "float"], 64, "--element: "),
                                      (["--to", "openmpj"], 64, "openmpi"), (["--to", "mpich", "--library", "/dev/null"], 64, "selection tree"),
                                      (["--to", "openmpi", "--commutative", "-o", "/dev/null/x"], 74, "/dev/null/x")):
            done = tune("export", self.table, "-o", self.folder / "x", *arguments) if "-o" not in arguments else tune(
                "export", self.table, *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_what_a_rules_file_says_in_a_comment_is_one_line_of_it(self) -> None:
        table = json.loads(self.table.read_text(encoding="utf-8"))
        table["policy"]["beside"] = "traffic:\necho obeyed #"
        self.table.write_text(json.dumps(table), encoding="utf-8")
        self.assertEqual(self.export("made").returncode, 0)
        script = self.folder / "made" / "env.sh"
        self.assertEqual(subprocess.run(["sh", script], capture_output=True, text=True, check=True).stdout, "")
        self.assertIn("\\x0aecho obeyed", (self.folder / "made" / "dlmb_rules.conf").read_text(encoding="utf-8"))


# As a launcher that runs NCCL with the plugin: the log of a call of so many bytes in all, of none without any.
NCCL = """
import csv, pathlib, sys
words = sys.argv[1:]
variables = dict(word.split("=", 1) for word in words if "=" in word)
assert words[:2] == ["--of-launcher", "-n"]
ranks, operation, size = int(words[2]), words[words.index("--operation") + 1], int(words[words.index("-m") + 1].split(":")[0])
name = {"allreduce": "AllReduce", "allgather": "AllGather", "reduce_scatter_block": "ReduceScatter"}[operation]
size *= ranks if operation == "allgather" else 1
taken = ["ring", "simple"]
print(f"# dlmb_collective collective: {ranks} ranks, {ranks} per node; launch 0")
for row in csv.reader(pathlib.Path(variables["DLMB_NCCL_TABLE"]).read_text().splitlines()):
    if row[0] == name.lower() and int(row[1]) <= size <= int(row[2]) and row[6] in ("-1", "1") and row[7] in ("-1", str(ranks)):
        taken = row[3:5]
print("NCCL INFO TUNER/Plugin: Using DLMB (v5)")
print(f"NCCL INFO {name}: {size} Bytes -> Algo {taken[0].upper()} proto {taken[1].upper()}" if size else "")
"""


class VerifyUcx(InFolder):
    def test_refuses_a_number_of_ranks(self) -> None:
        table = write_table(self.folder / "table.json", [])
        self.assertIn("--ranks: UCX is tried with two ranks", refusal("verify", "--to", "ucx", "--library-version", "1.13.1", table, "--ranks", "4"))


class VerifyNccl(InFolder):
    def verify(self, rules: list[dict]) -> subprocess.CompletedProcess:
        for each in rules:
            each["choose"]["params"] = {"protocol": "ll"}
        launcher = self.folder / "mpiexec"
        launcher.write_text(f"#!{sys.executable}\n{NCCL}", encoding="utf-8")
        launcher.chmod(0o755)
        return tune("verify", "--to", "nccl", write_table(self.folder / "table.json", rules), "--mpiexec", launcher, "--mpiexec=--of-launcher")

    def test_tries_each_exported_rule_at_a_size_of_its_own(self) -> None:
        done = self.verify([rule("r0", "nccl", "allreduce", (0, 65536), algorithm="tree", family="nccl"),
                            rule("r1", "nccl", "allgather", (4096, 8191), algorithm="tree", family="nccl"),
                            rule("r2", "nccl", "reduce_scatter", (4096, 8191), algorithm="tree", family="nccl"),
                            rule("r3", "nccl", "broadcast", (4096, 8191), algorithm="tree", family="nccl", in_place=True),
                            rule("r4", "nccl", "allreduce", (65537, 65538), algorithm="tree", family="nccl")])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("3 checks, 0 wrong\n"), done.stdout)

    def test_what_the_folder_lacks_is_wrong_also_where_nothing_can_be_tried(self) -> None:
        chosen = rule("r0", "nccl", "allreduce", (0, 65536), algorithm="tree", family="nccl")
        chosen["choose"]["params"] = {"protocol": "ll"}
        table = write_table(self.folder / "table.json", [chosen])
        made, launcher = self.folder / "made", self.folder / "mpiexec"
        self.assertEqual(tune("export", "--to", "nccl", table, "-o", made).returncode, 0)
        lines = (made / "env.sh").read_text(encoding="utf-8").splitlines(keepends=True)
        (made / "env.sh").write_text("".join(line for line in lines if not line.startswith("export ")), encoding="utf-8")
        (made / "dlmb_nccl.csv").unlink()
        launcher.write_text("#!/bin/sh\nexit 77\n", encoding="utf-8")
        launcher.chmod(0o755)
        done = tune("verify", "--to", "nccl", table, "--files", made, "--mpiexec", launcher)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["WRONG  env.sh: does not set DLMB_NCCL_TABLE", "WRONG  env.sh: does not set NCCL_TUNER_PLUGIN", "WRONG  dlmb_nccl.csv: is missing",
                                                    "note  not tried: NCCL cannot run here; it needs a GPU", "3 checks, 3 wrong"])

    def test_of_a_rule_for_more_nodes_than_there_are_nothing_is_seen(self) -> None:
        done = self.verify([rule("r0", "nccl", "allreduce", (4096, 8192), algorithm="tree", family="nccl", nodes={"min": 2, "max": 2})])
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("unseen allreduce of 4096 bytes, 4 ranks: ran on 1 nodes, r0 is for 2 to 2\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
