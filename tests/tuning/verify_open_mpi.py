# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI runs what an exported table says, and dlmb_tune verify notices where it does not."""

from __future__ import annotations

import unittest

from exports import InFolder, ok, refusal, rule, tune, write_table

FAMILY = "open_mpi.tuned"
RING = rule("r0", "mpi", "allreduce", (65536, 524288), algorithm="ring", family=FAMILY)
ONE_SIZE = rule("r0", "mpi", "allreduce", (65536, 65536), algorithm="ring", family=FAMILY)


def verify(table, *arguments, **variables):
    return tune("verify", "--to", "openmpi", "--commutative", table, *arguments, **variables)


class Tables(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.table = write_table(self.folder / "table.json", [ONE_SIZE])


class OpenMpi(Tables):
    def export(self):
        output = self.folder / "export"
        ok("export", "--to", "openmpi", "--commutative", "--strict", self.table, "-o", output)
        return output

    def test_a_rule_acts_where_it_holds_and_nowhere_else(self) -> None:
        done = verify(write_table(self.table, [RING]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for size in (65536, 524288):
            self.assertIn(f"ok     allreduce of {size} bytes, 4 ranks: ring: ompi_coll_base_allreduce_intra_ring\n",
                          done.stdout)
        for place in ("65520 bytes, 4", "524304 bytes, 4", "65536 bytes, 2", "65532 bytes, 3", "65520 bytes, 5"):
            self.assertIn(f"allreduce of {place} ranks: default: ", done.stdout)

    def test_the_smallest_sizes_are_tried_with_a_byte_or_more(self) -> None:
        """Of no bytes the library runs nothing, so nothing would be seen."""
        done = verify(write_table(self.table, [rule("r0", "mpi", "allreduce", (8, 64), ranks=2, algorithm="ring", family=FAMILY)]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("allreduce of 12 bytes, 3 ranks: default: ", done.stdout)
        self.assertNotIn(" of 0 bytes", done.stdout)

    def test_what_cannot_be_seen_is_not_ok(self) -> None:
        """The library takes this algorithm by itself there, so that an export without effect looks the same."""
        table = write_table(self.table, [rule("r0", "mpi", "allreduce", (524304, 524304), algorithm="rabenseifner", family=FAMILY)])
        done = verify(table, "--ranks", "4")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("unseen allreduce of 524304 bytes, 4 ranks: rabenseifner: ", done.stdout)

    def test_settings_of_the_user_that_beat_the_files_are_named(self) -> None:
        home = self.folder / "home"
        (home / ".openmpi").mkdir(parents=True)
        (home / ".openmpi" / "mca-params.conf").write_text("# mine\ncoll_tuned_allreduce_algorithm = 2\n", encoding="utf-8")
        done = verify(self.table, "--ranks", "4", HOME=str(home), OMPI_MCA_coll_tuned_allreduce_algorithm="2")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("note  OMPI_MCA_coll_tuned_allreduce_algorithm=2: ", done.stdout)
        self.assertIn("note  coll_tuned_allreduce_algorithm = 2 in ", done.stdout)

    def test_launches_that_fail_prove_nothing(self) -> None:
        done = verify(self.table, "--ranks", "4", "--mpiexec", "false")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertNotIn("ok ", done.stdout)

    def test_nothing_left_to_try_is_not_ok(self) -> None:
        """Everything is as without the export, because the export holds no rule."""
        lost = rule("r0", "mpi", "allreduce", (65536, 65536), algorithm="of another version", family=FAMILY)
        done = verify(write_table(self.table, [lost]), "--ranks", "4")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("skipped: no rule of the table that could be exported", done.stdout)

    def test_a_script_that_cannot_be_sourced_is_told(self) -> None:
        output = self.export()
        (output / "env.sh").write_text("export VARIABLE='cut o", encoding="utf-8")
        self.assertIn("env.sh: cannot be sourced", refusal("verify", "--to", "openmpi", output / "table.json", "--files", output))

    def test_a_file_that_does_nothing_and_one_that_does_too_much_are_noticed(self) -> None:
        output = self.export()
        for name, content, seen in (
            ("of another version", "rule-file-version-2\n1\n2 1\n4 1\n0 4 0 0\n", "65536 bytes, 4 ranks: ring: "),
            ("without fences", "1\n2 1\n4 2\n0 0 0 0\n65536 4 0 0\n", "65552 bytes, 4 ranks: default: "),
        ):
            with self.subTest(name):
                (output / "dlmb_rules.conf").write_text(content, encoding="utf-8")
                done = verify(output / "table.json", "--files", output, "--ranks", "4")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(f"WRONG  allreduce of {seen}", done.stdout)

    def test_what_the_file_says_beside_the_rules_is_noticed(self) -> None:
        """Another collective, and a segment size, at which nothing is tried and nothing to see."""
        output = self.export()
        rules = (output / "dlmb_rules.conf").read_text(encoding="utf-8")
        for changed, seen in ((rules.replace("1  # collectives", "2  # collectives") + "7 1\n0 1\n0 1 0 0\n", "dlmb_rules.conf: holds '2', the table says '1'"),
                              (rules.replace("65536 4 0 0", "65536 4 0 1024"), "holds '65536 4 0 1024', the table says '65536 4 0 0'")):
            (output / "dlmb_rules.conf").write_text(changed, encoding="utf-8")
            done = verify(output / "table.json", "--files", output, "--ranks", "4")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(seen, done.stdout)
            self.assertIn(" 1 wrong", done.stdout)


class OtherCollectives(Tables):
    """The long form."""

    def test_their_rules_act(self) -> None:
        rules = [
            rule("r1", "mpi", "allgather", (65536, 65536), algorithm="linear", family=FAMILY),
            rule("r2", "mpi", "broadcast", (65536, 65536), algorithm="chain", family=FAMILY),
            rule("r3", "mpi", "exchange", (65536, 65536), algorithm="modified_bruck", family=FAMILY, uniform=True),
            rule("r4", "mpi", "reduce_scatter", (65536, 65536), algorithm="basic_linear", family=FAMILY),
        ]
        done = verify(write_table(self.table, rules), "--ranks", "4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_one_choice_for_uneven_exchanges_acts(self) -> None:
        uneven = rule("r1", "mpi", "exchange", (1024, 4096), algorithm="pairwise", family=FAMILY, uniform=False, imbalance={"min": 1.0, "max": 1.41})
        done = verify(write_table(self.table, [uneven]), "--ranks", "4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok     alltoallv of 4096 bytes, 4 ranks: pairwise: ", done.stdout)


if __name__ == "__main__":
    unittest.main(defaultTest="OpenMpi")
