# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs as launchers, logs and NCCL leave them are the same outputs."""

from __future__ import annotations

import unittest

import outputs
from outputs import WithFolder

TEXTS = ((outputs.OSU_ALLREDUCE, ("--ranks", "4")), (outputs.NCCL_ALLREDUCE, ()), (outputs.UCC_ALLREDUCE, ("--ranks", "4")))
PREFIXES = (
    "[1,0]<stdout>:", "Fri Jan 30 09:05:01 2026[1,0]<stdout>:", "Fri Jan 30 09:05:01 2026<stdout>:",  # Open MPI 4
    "[prterun-node-a-4242@1,0]<stdout>: ", "[prterun-node-a-4242@1,0][node-a:4250]<stdout>: ", "2026-01-30T09:05:01.123456+0100 [prterun-node-a-4242@1,0]<stdout>: ",
    "0: ", " 0: ", "00: ", "node-a 0: ", "node-a: 0: ",  # srun, Flux, PALS
    "[0] ", "[rank0]:", "[rank0]: ", "[default0]:",  # MPICH, Intel MPI, torchrun
    "2026-01-30 09:05:01 ", "[2026-01-30 09:05:01,123] ", "2026-01-30T09:05:01.123456789Z ", "Jan 30 09:05:01 ", "[09:05:01] ", "09:05:01.123 ", "1769763901.123456 ", "26/01/30 09:05:01 ",
    "[0] 2026-01-30 09:05:01 ", "09:05:01 0: ", "node-a: ", "bench-0  | ", "[pod/bench-0/main] ",
)
INFO = "node-b:4242:4250 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f01 count 256 datatype 7 op 0 root 0 comm 0xa [nranks=4] stream 0xb"


def cell_names(cells: list[dict]) -> list[tuple]:
    return [(cell["cell_id"], cell["status"], cell["time_ns"] and cell["time_ns"]["mean"]) for cell in cells]


class LaunchersTest(WithFolder):
    def test_what_stands_in_front_of_each_line_is_no_part_of_it(self) -> None:
        for text, options in TEXTS:
            expected = cell_names(self.cells(text, *options))
            for prefix in PREFIXES:
                with self.subTest(prefix):
                    self.assertEqual(cell_names(self.cells("".join(f"{prefix}{line}\n" for line in text.splitlines()), *options)), expected)

    def test_time_stamps_that_go_on_are_no_part_of_lines(self) -> None:
        for text, options in TEXTS:
            for stamp in ("Fri Jan 30 09:05:{:02} 2026[1,0]<stdout>:", "{:010}.5 ", "[09:05:{:02}] 0: "):
                stamped = "".join(f"{stamp.format(second)}{line}\n" for second, line in enumerate(text.splitlines()))
                self.assertEqual(cell_names(self.cells(stamped, *options)), cell_names(self.cells(text, *options)))

    def test_lines_of_other_ranks_and_of_the_launcher_are_passed_over(self) -> None:
        for text, options in TEXTS:
            mixed = "mpirun: 2 ranks\n" + "".join(f"[1,1]<stdout>:12 warnings\n[1,0]<stdout>:{line}\n3 more processes have sent a message\n" for line in text.splitlines())
            self.assertEqual(cell_names(self.cells(mixed, *options)), cell_names(self.cells(text, *options)))

    def test_tables_of_several_ranks_are_programs_that_ran_alone(self) -> None:
        both = "".join(f"{rank}: {line}\n" for line in outputs.NCCL_ALLREDUCE.splitlines() for rank in (0, 1))
        code, _, error = outputs.main([str(self.file("both.txt", both))])
        self.assertEqual((code, error.count("\n")), (64, 1), error)
        self.assertIn("rank 0 and rank 1 each have a table: several programs ran at once, as nccl-tests without MPI=1 do", error)

    def test_messages_of_nccl_are_taken_out_of_rows(self) -> None:
        expected = cell_names(self.cells(outputs.NCCL_ALLREDUCE))
        rows = [line for line in outputs.NCCL_ALLREDUCE.splitlines() if line.startswith("     ")]
        for broken in (lambda row: f"{row}\n{INFO}", lambda row: f"{row[:50]}{INFO}\n{INFO}{INFO}\n{row[50:]}", lambda row: f"{row[:50]}{INFO}\n{row[50:80]}{INFO}\n{row[80:]}",
                       lambda row: f"{row}{INFO}\n", lambda row: f"{row[:50]}[2026-01-30 09:05:01] {INFO}\n{row[50:]}"):
            text = outputs.NCCL_ALLREDUCE
            for row in rows:
                text = text.replace(row, broken(row))
            for prefix in ("", "[1,0]<stdout>:"):
                self.assertEqual(cell_names(self.cells("".join(f"{prefix}{line}\n" for line in text.splitlines()))), expected)

    def test_a_row_that_another_program_wrote_into_is_refused(self) -> None:
        for text, options in TEXTS:
            rows = [line for line in text.splitlines() if line.strip()[:1].isdigit()]
            code, _, error = outputs.main([str(self.file("mixed.txt", text.replace(rows[0], rows[0] + "[node-b:7] a warning"))), *options])
            self.assertEqual(code, 64)
            self.assertRegex(error, r"mixed\.txt:\d+: ")

    def test_places_are_those_of_the_file(self) -> None:
        text = outputs.OSU_ALLREDUCE.replace("1.98", f"1.98{INFO}\n{INFO}\n")
        self.assertEqual([cell["origin"]["line"] for cell in self.cells(text, "--ranks", "4")], [4, 7])


if __name__ == "__main__":
    unittest.main()
