# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The program as it is started: what it writes, and that bad input is one line with file, line and what to do."""

from __future__ import annotations

import json
import unittest

import outputs
from outputs import WithFolder


class RefusalTest(WithFolder):
    def refusal(self, text: str, *options: str, name: str = "output.txt") -> str:
        path = self.file(name, text)
        code, _, error = outputs.main([str(path), "-o", str(self.folder / "out.jsonl"), *options])
        self.assertEqual(code, 64, error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertFalse((self.folder / "out.jsonl").exists())
        return error.replace(str(path), name)

    def test_what_a_file_does_not_say_is_asked_for(self) -> None:
        for text, options, expected in (
            (outputs.OSU_ALLREDUCE, (), "output.txt:2: osu_allreduce does not print its number of ranks; say it by --ranks N"),
            (outputs.UCC_ALLREDUCE, (), "output.txt:13: ucc_perftest does not print its number of ranks; say it by --ranks N"),
            (outputs.UCC_ALLTOALL.format(count=256, size=1024).replace("0.19", "0.01"), ("--ranks", "4"), "--ucc-count source (1.8: of all blocks) or --ucc-count block"),
            (outputs.NCCL_ALLREDUCE.replace("all_reduce_perf", "my_perf"), (), "say it by --operation NAME"),
            ("\n".join(line for line in outputs.NCCL_ALLREDUCE.splitlines() if "Rank" not in line), (), "it lists no devices, so its number of ranks is not known; say it by --ranks N"),
        ):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal(text, *options))

    def test_broken_files_are_named_with_line_and_advice(self) -> None:
        csv = outputs.PICO_COLUMNS + "\n"
        for text, options, expected in (
            (outputs.OSU_FULL.replace("                 4.30                 9.10", ""), ("--ranks", "2"), "output.txt:5: 6 values for 8 columns"),
            (outputs.OSU_ALLREDUCE.replace("1.98", "1.x8"), ("--ranks", "4"), "output.txt:4: '1.x8' in column 'Avg Latency' is no number"),
            (outputs.OSU_ALLREDUCE.replace("1.98", "nan"), ("--ranks", "4"), "output.txt:4: nan in column 'Avg Latency' cannot be"),
            (outputs.OSU_ALLREDUCE.split("4  ")[0], ("--ranks", "4"), "output.txt:2: osu_allreduce printed no row"),
            (outputs.NCCL_ALLREDUCE.replace("0.08       0\n", "0.08\n"), (), "output.txt:14: 12 values do not fit"),
            (outputs.NCCL_ALLREDUCE.replace(" time ", "cputime "), (), "output.txt:12: the column is 'cputime' (-C)"),
            (outputs.NCCL_ALLREDUCE.replace("Rank  1", "Rank  0"), (), "output.txt:7: rank 0 is listed twice: nccl-tests without MPI=1"),
            (outputs.NCCL_ALLREDUCE.replace("Rank  1 Group  0", "Rank  1 Group  1"), (), "output.txt:7: the ranks are split into groups"),
            (json.dumps(outputs.NCCL_DOCUMENT)[:-40], (), "not a whole JSON document"),
            (json.dumps(outputs.NCCL_DOCUMENT).replace('"time"', '"cpu_time"'), (), "has 'cpu_time' (-C)"),
            (json.dumps(outputs.NCCL_DOCUMENT).replace('"results"', '"result"'), (), "not the JSON of nccl-tests -J"),
            (outputs.UCC_ALLREDUCE.replace("        3.40", ""), ("--ranks", "4"), "output.txt:15: 4 values for 5 columns"),
            (outputs.UCC_ALLREDUCE.replace("Allreduce", "Memcpy"), ("--ranks", "4"), "'Memcpy' is no communication"),
            (outputs.PICO.replace(",29.605", ""), (), "output.txt:2: 14 values for 15 columns"),
            (csv.replace(",p90_us", ""), (), "output.txt:1: no column 'p90_us'"),
            (outputs.PICO.replace("2x2x2", "2x0"), (), "output.txt:2: '2x0' in column 'nodes' is neither a count nor a shape"),
            (outputs.PICO, ("--only", "system=nowhere"), "no line is left with system=nowhere; system is fugaku or leonardo"),
            (outputs.PICO, ("--only", "machine=fugaku"), "--only machine: the table has no such column"),
            (outputs.OSU_ALLREDUCE, ("--ranks", "4", "--only", "system=a"), "--only chooses lines of a table"),
            (outputs.PICO, ("--ranks", "4"), "the table says its ranks"),
            (outputs.COMMS_LOGGER, (), "does not keep its number of ranks; say it by --ranks N"),
            (outputs.COMMS_LOGGER.replace("[2, [0.5", "[3, [0.5"), ("--ranks", "4"), "'all_reduce' of 4096 B says 3 calls and lists 2"),
            (outputs.COMMS_LOGGER.replace("0.25", "-1"), ("--ranks", "4"), "has the value -1, which is no time or rate"),
            (outputs.COMMS_LOGGER[:-10], ("--ranks", "4"), "not a whole JSON document"),
            (outputs.OSU_ALLREDUCE, ("--to", "comms_logger"), "not a line of a result file"),
            ("hello\n", (), "none of the known formats"),
            ("", (), "none of the known formats"),
            ('{"kind":"launch","schema":"dlmb.result/1.0"}\n', (), "output.txt:1: is a result file already"),
        ):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal(text, *options))

    def test_wrong_usage(self) -> None:
        for arguments, expected in ((("--ranks", "0"), "'0' is no whole number above 0"), (("--from", "imb"), "invalid choice"), (("--ranks", "2", "--ranks-per-node", "4"), "more than --ranks"), (("--only", "x"), "not COLUMN=VALUE")):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal(outputs.OSU_ALLREDUCE, *arguments))
        done = self.run_program()
        self.assertEqual((done.returncode, done.stderr.count("\n")), (64, 1))

    def test_files_that_cannot_be_read(self) -> None:
        missing, binary = self.folder / "missing.txt", self.folder / "binary.txt"
        binary.write_bytes(b"# a line\n\xff\xfe")
        for path, expected in ((missing, "missing.txt: No such file or directory"), (binary, "binary.txt:2: is not UTF-8 text"), (self.folder, "Is a directory")):
            done = self.run_program(path)
            self.assertEqual(done.returncode, 64)
            self.assertIn(expected, done.stderr)

    def test_the_same_output_twice_would_count_twice(self) -> None:
        one, other = self.file("one.txt", outputs.OSU_ALLREDUCE), self.file("other.txt", outputs.OSU_ALLREDUCE)
        done = self.run_program(one, other, "--ranks", "4")
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("is the same as", done.stderr)

    def test_an_output_that_cannot_be_written(self) -> None:
        done = self.run_program(self.file("o.txt", outputs.OSU_ALLREDUCE), "--ranks", "4", "-o", self.folder / "none" / "out.jsonl")
        self.assertEqual(done.returncode, 74)
        self.assertIn("is its folder there", done.stderr)


class OutputTest(WithFolder):
    def test_files_of_several_formats_go_into_one_file(self) -> None:
        files = [self.file("a.txt", outputs.OSU_ALLREDUCE), self.file("b.txt", outputs.NCCL_ALLREDUCE), self.file("c.csv", outputs.PICO.replace(",4,4,", ",4,2,"))]
        done = self.run_program(*files[:2], "-o", self.folder / "out.jsonl", "--ranks", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 launches, 6 cells", done.stdout)

    def test_without_an_output_the_lines_go_to_standard_output(self) -> None:
        done = self.run_program(self.file("a.txt", outputs.OSU_ALLREDUCE), "--ranks", "4", "--campaign", "before", "--system", "mine")
        launch, cell, _, end = map(json.loads, done.stdout.splitlines())
        self.assertEqual((launch["campaign_id"], launch["environment"]["identity"]["system"], cell["parameters"]["system"]), ("before", "mine", "mine"))
        self.assertEqual((end["status"], end["cells"]), ("ok", {"ok": 2}))

    def test_converting_again_gives_the_same_lines(self) -> None:
        one, other = self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4"), self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4")
        self.assertEqual(one, other)


if __name__ == "__main__":
    unittest.main()
