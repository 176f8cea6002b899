# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged and hostile files: one line, exit code 64, and no more memory than a whole file takes."""

import gzip
import json
import unittest

from program import TraceTest, attribute, field, kineto, records, run

MOST_MEMORY = 512 << 20
GOAL = "num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 10b from 0\n}\n"
CHAKRA = records(field(1, "0.0.4"), field(1, 7) + field(2, "r") + field(3, 7) + attribute("comm_type", 9, 0) + attribute("comm_size", 9, 64))
PROFILE = kineto(0, 1, [("allreduce", 8, 8, "Float", {})])


class Damaged(TraceTest):
    def refused(self, arguments, *texts):
        done = run("summary", *arguments, limit_bytes=MOST_MEMORY)
        self.assertEqual(done.returncode, 64, f"{arguments}: {done.returncode} {done.stdout[:300]}{done.stderr[:500]}")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr[:2000])
        self.assertLess(len(done.stderr), 4096)
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_cut_off_files_are_refused(self):
        for name, whole, reason in (("0.json", PROFILE.encode(), "the file is cut off"), ("a.0.et", CHAKRA, ""), ("a.goal", GOAL.encode(), ""),
                                    ("0.json.gz", gzip.compress(PROFILE.encode()), "")):
            with self.subTest(name):
                self.assertEqual(run("summary", self.file(name, whole)).returncode, 0)
                for share in (0.3, 0.6, 0.9):
                    self.refused([self.file(name, whole[: int(len(whole) * share)])], reason)
        self.refused([self.file("empty.json", "")], "empty")
        self.refused([self.folder / "nowhere.json"], "cannot be read")
        self.refused(["/dev/zero"], "without a file")

    def test_nested_brackets_take_no_stack(self):
        for text in ("[" * 10**6, '{"traceEvents":[' + "[" * 10**6, '{"traceEvents":[{"name":"record_param_comms","args":' + '{"a":' * 10**6,
                     '{"schema":"1.0.1","nodes":' + "[" * 10**6, '[{"comms":' + "[" * 10**6, '{"header":' + "[" * 10**6 + ',"metadata":'):
            self.refused([self.file("0.json", text)])

    def test_numbers_out_of_range_are_refused_with_their_place(self):
        for number in ("-1", "9223372036854775808", "1e300", "null", '"x"', "[1]", "{}", "1.5"):
            with self.subTest(number):
                self.refused([self.file("0.json", PROFILE.replace('"In msg nelems": 8', f'"In msg nelems": {number}'))], "In msg nelems")
        self.refused([self.file("0.json", PROFILE.replace('"In msg nelems": 8', '"In msg nelems": 9223372036854775807'))], "2^63")
        self.refused([self.file("0.json", PROFILE.replace('"Group size": 1', '"Group size": 99999999999'))], "Group size")
        self.refused([self.file("a.goal", GOAL.replace("send 10b", "send 9223372036854775808b"))], "line 3")
        self.refused([self.file("a.goal", GOAL.replace("send 10b", "send -10b"))], "line 3")
        self.refused([self.file("m.txt", "1 9223372036854775808\n1 1\n")], "line 1")
        negative = records(field(1, "0.0.4"), field(1, 7) + field(2, "r") + field(3, 7) + attribute("comm_type", 9, 0) + attribute("comm_size", 9, 2**64 - 1))
        self.refused([self.file("b.0.et", negative)], "comm_size")
        self.refused([self.file("c.0.et", CHAKRA[:7] + b"\xff\xff\xff\xff\x7f")])
        aicb = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\nCommType.all_reduce,CommGroup.dp_group,{},{},x,None,None,,None,None,None,{}\n"
        for values in (("-2", "8", "1"), ("2", "-8", "1"), ("2", "9223372036854775808", "1"), ("2", "8", "99999999999999999999"), ("99999999999", "8", "1")):
            self.refused([self.file("w.csv", aicb.format(*values))], "line 2")

    def test_other_types_are_refused(self):
        for text in ('{"traceEvents": 5}', '{"traceEvents": {}}', '{"traceEvents": [5, "x", null]}', '{"traceEvents": [] } x', '{"traceEvents": [}',
                     '{"schema": 5, "nodes": []}', '{"schema": "2.0", "nodes": []}', '{"schema": "1.0.1", "nodes": [{"name": "record_param_comms"}]}',
                     '[{"comms": 5}]', '[{"comms": "all_reduce"}]', '[5, {"comms": "x"}]', '{"header": 5, "coll_perf": {}}', "\x00\x00", "hello", "{}", "[]"):
            with self.subTest(text):
                self.refused([self.file("0.json", text)])
        self.refused([self.file("binary.0.et", bytes(range(256)) * 4)])

    def test_bombs_are_refused(self):
        spaces = gzip.compress((b" " * 1023 + b"\n") * 1024)  # members of one file, which are read as one text
        self.refused([self.file("spaces.goal.gz", gzip.compress(b"num_ranks 2\n") + 300 * spaces)], "250 times")
        self.refused([self.file("spaces-0.json.gz", gzip.compress(b'{"traceEvents":[') + 70 * spaces)], "64 MiB")
        self.refused([self.file("zeros-0.json.gz", gzip.compress(b"\0" * (64 << 20), 9))])
        self.refused([self.file("text-0.json", '{"traceEvents":["' + "x" * (65 << 20))], "64 MiB")
        self.refused([self.file("line.goal", "num_ranks " + "1" * (2 << 20))], "1 MiB")

    def test_counts_and_ranks_in_a_short_file_take_no_time(self):
        header = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
        row = "CommType.{},CommGroup.{},{},64,x,None,None,{},None,None,None,{}\n"
        wide = "[rank0 ~ rank131071]\n" + header + 5000 * row.format("broadcast", "dp_group", 16384, "", 1)
        done = run("summary", self.file("wide.csv", wide), limit_bytes=MOST_MEMORY)
        self.assertEqual(done.returncode, 0, done.stderr)
        stages = [f"[ pp_stage{stage}: [rank{stage}] ]\n" + header + row.format(word, "pp_group", 1, direction, 4 * 10**9)
                  for stage, (word, direction) in enumerate((("isend", "send_next"), ("irecv", "recv_prev")))]
        entries = self.entries(self.summary(self.file("counts.csv", "".join(stages))))
        self.assertEqual(entries[0], (0, "send", 1, "byte", 4 * 10**9, 256 * 10**9))
        done = run("import", self.folder / "counts.csv", "-o", "-", limit_bytes=MOST_MEMORY)
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertIn("more than 1000000 calls", done.stderr)

    def test_groups_of_many_ranks_in_short_lines_take_no_memory(self):
        ranks, calls = 131072, 1500  # a number per rank and call would be gigabytes
        say = "n:1:2 [0] NCCL INFO "
        regular = {"Process Group Ranks": "[0, 1, ..., 131071]", "Global rank start": 0, "Global rank stride": 1}
        for name, text in (
                ("w.csv", "comm_type,comm_group,comm_group_size,msg_size\n" + calls * f"CommType.all_to_all,CommGroup.dp_group,{ranks},{ranks}\n"),
                ("w.txt", f"HYBRID model_parallel_NPU_group: {ranks} all_gpus: {ranks}\n{calls}\n".replace("HYBRID", "HYBRID_TRANSFORMER") + calls * f"l -1 1 ALLTOALL {ranks} 1 NONE 0 1 NONE 0 1\n"),
                ("n.log", f"{say}ncclCommInitRank comm 0xa rank 0 nranks {ranks} commId 0x9 - Init COMPLETE\n"
                 + calls * f"{say}AlltoAll: opCount 0 sendbuff 0x1 recvbuff 0x2 count 1 datatype 7 op 0 root 0 comm 0xa [nranks={ranks}]\n"),
                ("0.json", kineto(0, 2, [("all_to_all", ranks, ranks, "Float", {**regular, "Group size": ranks, "Record function id": call}) for call in range(calls)]))):
            done = run("summary", self.file(name, text), limit_bytes=MOST_MEMORY)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr[:500]}")
            done = run("import", self.folder / name, "-o", "-", limit_bytes=2 * MOST_MEMORY)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), f"{name}: {done.stderr[:500]}")
        rows = self.file("v.csv", "comm_type,comm_group,comm_group_size,msg_size\n" + f"CommType.all_reduce,CommGroup.dp_group,{ranks},8\n")
        done = run("import", rows, "-o", "-", limit_bytes=2 * MOST_MEMORY)
        self.assertEqual(done.returncode, 64)
        self.assertIn("more than 512 M of memory", done.stderr)

    def test_names_of_the_file_do_not_break_the_line(self):
        self.refused([self.file("a\nb.json", json.dumps({"traceEvents": []}))], "\\x0a")


if __name__ == "__main__":
    unittest.main()
