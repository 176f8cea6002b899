# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The program as it is started: what it writes, and that bad input is one line with file, line and what to do."""

from __future__ import annotations

import json
import subprocess
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

    def assert_refused(self, expected: str, text: str, *options: str) -> None:
        with self.subTest(expected):
            self.assertIn(expected, self.refusal(text, *options))

    def test_what_a_file_does_not_say_is_asked_for(self) -> None:
        for text, options, expected in (
            (outputs.OSU_ALLREDUCE, (), "output.txt:2: osu_allreduce does not print its number of ranks; say it by --ranks N"),
            (outputs.UCC_ALLREDUCE, (), "output.txt:13: ucc_perftest does not print its number of ranks; say it by --ranks N"),
            (outputs.UCC_ALLREDUCE.replace("Allreduce", "Alltoall"), ("--ranks", "4"), "--ucc-count source (1.8: of all blocks) or --ucc-count block"),
            (outputs.NCCL_ALLREDUCE.replace("all_reduce_perf", "my_perf"), (), "say it by --operation NAME"),
            ("\n".join(line for line in outputs.NCCL_ALLREDUCE.splitlines() if "Rank" not in line), (), "it lists no devices, so its number of ranks is not known; say it by --ranks N"),
        ):
            self.assert_refused(expected, text, *options)

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
            self.assert_refused(expected, text, *options)

    def test_numbers_that_contradict_each_other_are_refused_with_both(self) -> None:
        alltoall = outputs.UCC_ALLTOALL.format(count=256, size=1024)
        pairs = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 4 ] [ window size: 64 ]\n# Size                  MB/s        Messages/s\n"
        for text, options, expected in (
            (outputs.NCCL_ALLREDUCE.replace("1024           256", "1025           256"), (), "output.txt:14: a size of 1025 B is not 256 elements of float (4 B each)"),
            (outputs.NCCL_ALLGATHER.replace("2048           128", "2048           130"), (), "a size of 2048 B is not 130 elements of float"),
            (outputs.NCCL_ALLREDUCE.replace("20.50    0.05", "20.50    5.05"), (), "output.txt:14: algbw 5.05 GB/s is not that of 1024 B in 20.50 us by allreduce of 4 ranks"),
            (outputs.NCCL_ALLREDUCE.replace("0.05    0.07", "0.05    0.70"), (), "output.txt:14: busbw 0.70 GB/s is not that of 1024 B"),
            (outputs.NCCL_ALLREDUCE.replace("all_reduce", "broadcast").replace("0.05    0.07", "0.05    0.09"), (), "by broadcast of 4 ranks"),
            (alltoall.replace("0.19", "0.91"), ("--ranks", "4"), "output.txt:15: a bandwidth of 0.91 GB/s is not that of 1024 B in 4.00 us by alltoall of 4 ranks"),
            (alltoall, ("--ranks", "4", "--ucc-count", "block"), "the printed bandwidth, 0.19 GB/s, is not that of --ucc-count block"),
            (outputs.UCC_ALLREDUCE.replace("        512 ", "        516 "), ("--ranks", "4"), "output.txt:15: a size of 516 B is not 128 elements of float32"),
            (outputs.UCC_ALLREDUCE.replace("3.40", "3.04"), ("--ranks", "4"), "output.txt:15: 'avg' is 3.25, above 'max', 3.04"),
            (outputs.OSU_FULL.replace("4.10", "4.41"), ("--ranks", "2"), "output.txt:5: 'Min Latency' is 4.41, above 'Avg Latency', 4.34"),
            (pairs + "1024                 8000.00        9812500.00\n", (), "output.txt:4: 9812500.00 messages of 1024 B per second are not 8000.00 MB/s"),
            (outputs.PICO.replace("12.5,12.0", "12.5,12.9"), (), "output.txt:3: 'p10_us' is 12.9, above 'median_us', 12.5"),
        ):
            self.assert_refused(expected, text, *options)

    def test_what_no_program_measures_is_refused(self) -> None:
        document = outputs.NCCL_DOCUMENT["results"][0]
        for text, options, expected in (
            (outputs.NCCL_ALLREDUCE.replace("20.50", "  NaN"), (), "output.txt:14: NaN in column 'time' cannot be"),
            (outputs.NCCL_ALLREDUCE.replace("20.50", " 0.00"), (), "output.txt:14: 0.00 in column 'time' is nothing that was measured"),
            (outputs.NCCL_ALLREDUCE.replace("20.50", "  N/A"), (), "output.txt:14: 'N/A' in column 'time' is no number"),
            (outputs.NCCL_ALLREDUCE.replace("0.07       0    20.10", "0.07      -1    20.10"), (), "output.txt:14: -1 in column '#wrong' cannot be"),
            (outputs.NCCL_ALLREDUCE.replace("        1024 ", "       -1024 "), (), "output.txt:14: '-1024' in column 'size' is no whole number"),
            (outputs.NCCL_ALLREDUCE.replace("        1024 ", "      1024.5 "), (), "output.txt:14: '1024.5' in column 'size' is no whole number"),
            (outputs.NCCL_ALLREDUCE.replace("sum      -1    20", "sum      -1x   20"), (), "'sum -1x' is no reduction and root"),
            (outputs.OSU_ALLREDUCE.replace("1.98", "0.00"), ("--ranks", "4"), "output.txt:4: 0.00 in column 'Avg Latency' is nothing that was measured"),
            (outputs.OSU_ALLREDUCE.replace("\n4 ", "\n-4"), ("--ranks", "4"), "output.txt:4: '-4' in column 'Size' is no whole number"),
            (outputs.OSU_ALLREDUCE.replace("1.98", "inf"), ("--ranks", "4"), "output.txt:4: inf in column 'Avg Latency' cannot be"),
            (outputs.UCC_ALLREDUCE.replace("3.25", "0.00"), ("--ranks", "4"), "0.00 in column 'avg' is nothing that was measured"),
            *((json.dumps(outputs.NCCL_DOCUMENT | {"results": [document | changed]}), (), expected) for changed, expected in (
                ({"size": -64}, "results[0].size is -64, which is no whole number"), ({"size": 64.7}, "results[0].size is 64.7"), ({"count": 255}, "is not 255 elements of float"),
                ({"out_of_place": document["out_of_place"] | {"bus_bw": -1}}, "results[0].out_of_place.bus_bw is -1, which is no time or rate"),
                ({"out_of_place": document["out_of_place"] | {"bus_bw": 99.0}}, "busbw 99.0 GB/s is not that of 4096 B in 31.25 us by alltoall of 4 ranks"),
                ({"out_of_place": document["out_of_place"] | {"time": 0.0}}, "results[0].out_of_place.time is 0, which is nothing"),
                ({"out_of_place": document["out_of_place"] | {"nwrong": -2}}, "results[0].out_of_place.nwrong is -2"),
            )),
        ):
            self.assert_refused(expected, text, *options)

    def test_a_number_that_may_be_cut_off_is_refused(self) -> None:
        # killed while it printed 104.30
        for text, options in ((outputs.OSU_ALLREDUCE[:-4], ("--ranks", "4")), (outputs.UCC_ALLREDUCE.partition("\nTotal")[0][:-1], ("--ranks", "4")), (outputs.PICO[:-1], ()),
                              (outputs.NCCL_ALLREDUCE.partition("\n# Out")[0], ())):
            self.assert_refused("the last line has no end, so its last number may be cut off", text, *options)

    def test_a_comms_dict_of_several_methods_is_refused(self) -> None:
        results = self.converted(outputs.PICO, name="measurements.csv").read_text(encoding="utf-8")
        self.assert_refused("its message-size is no number", results.replace('"message-size":1024', '"message-size":"x"'), "--to", "comms_logger")
        self.assert_refused("all_reduce of 1024 B was measured by 16 ranks over mpi default_ompi in device memory and by 16 ranks over mpi ring_ompi", results, "--to", "comms_logger")

    def test_a_cell_that_is_there_twice_is_refused(self) -> None:
        row = outputs.NCCL_ALLREDUCE.splitlines()[13] + "\n"
        for text, expected in ((outputs.NCCL_ALLREDUCE.replace("# Out", row + "# Out"), "output.txt:16: allreduce of 1024 B is there already, in line 14"),
                               (outputs.OSU_ALLREDUCE + "4       2.00\n", "output.txt:6: allreduce of 4 B is there already, in line 4")):
            self.assert_refused(expected, text, "--ranks", "4")

    def test_what_is_known_and_not_read_is_named(self) -> None:
        rows = "\n".join(outputs.NCCL_ALLREDUCE.splitlines()[13:15])
        for text, expected in (
            (rows, "rows as nccl-tests prints them, but no header"),
            ("msg,iterations,typical_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n8,100,0.1,0.1,0.1,1.0,1.0,9,9\n", "output of ucx_perftest"),
            ("iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n", "output of ucx_perftest"),
            ("# Benchmarking Bcast \n# #processes = 4 \n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n            8         1000         1.50         1.59         1.55\n", "Intel MPI Benchmarks (IMB)"),
            (" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536      5000             11000.5            11000.1              0.17\n", "output of perftest (ib_write_bw"),
            ("\n".join(outputs.OSU_ALLREDUCE.splitlines()[2:]) + "\n", "columns of OSU Micro-Benchmarks, but no title"),
            ('{"version": "2.9", "nccl_version": "2.27.5", "pg_config": {}, "pg_status": {}, "entries": []}', "a dump of PyTorch's flight recorder, which has no results; dlmb_plan summary reads it"),
            ('{"traceEvents": []}', "a profile of PyTorch"),
            ("a:1:2 [0] NCCL INFO Bootstrap: Using eth0\n", "a log of NCCL without a table"),
            (outputs.UCC_ALLREDUCE.replace("Time, us", "Latency"), "a part of the output of ucc_perftest"),
        ):
            self.assert_refused(expected, text, "--ranks", "4")

    def test_wrong_usage(self) -> None:
        for arguments, expected in ((("--ranks", "0"), "'0' is no whole number above 0"), (("--from", "imb"), "invalid choice"), (("--ranks", "2", "--ranks-per-node", "4"), "more than --ranks"), (("--only", "x"), "not COLUMN=VALUE")):
            self.assert_refused(expected, outputs.OSU_ALLREDUCE, *arguments)
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

    def test_a_dash_is_standard_input(self) -> None:
        done = subprocess.run([outputs.PROGRAM, "-", "--ranks", "4"], input=outputs.OSU_ALLREDUCE, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["kind"] for line in done.stdout.splitlines()], ["launch", "cell", "cell", "end"])

    def test_converting_again_gives_the_same_lines(self) -> None:
        one, other = self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4"), self.lines(outputs.OSU_ALLREDUCE, "--ranks", "4")
        self.assertEqual(one, other)


if __name__ == "__main__":
    unittest.main()
