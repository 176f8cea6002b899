# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What recorders, clocks and writers get wrong in traces, and dumps of runs that hung: it is told, with its place."""

import json
import struct
import subprocess
import unittest

import program
from program import TraceTest, attribute, field, kineto, plan_of, records, run, varint


def fixed(number, wire, data):
    return varint(number << 3 | wire) + data


def comm_size(number, wire, data):
    return field(10, field(1, "comm_size") + fixed(number, wire, data))


class Json(TraceTest):
    def broken(self, old, new, name="0.json", calls=2):
        text = kineto(0, 2, [("allreduce", 8, 8, "Float", {})] * calls)
        self.assertIn(old, text)
        return self.file(name, text.replace(old, new, 1))

    def test_what_is_no_json_is_told_with_line_column_and_field(self):
        quote = '{"traceEvents":[{"ph":"X","name":"a "b(12): run","pid":1},\n' + '{"ph":"X","name":"c"}]}'
        self.refused([self.file("quote.0.json", quote)], "quote.0.json: line 1, column 38: traceEvents[0].name: no JSON: ")
        lines = '{\n "traceEvents": [\n  {"name": "x"},\n  {"name": "y" "ts": 1, "tid": "record_param_comms"}\n ]\n}'
        self.refused([self.file("comma.0.json", lines)], "comma.0.json: line 4, column 19: traceEvents[1].name: no JSON: ")
        self.refused([self.file("between.0.json", lines.replace('"x"},', '"x"}'))], "line 4, column 3: traceEvents[1]: no JSON: syntax error while parsing array - unexpected '{'")
        self.refused([self.broken('"External id": 1,', '"External id": 1')], "line 1, column ", "traceEvents[1].args.External id: no JSON: ")
        self.refused([self.broken('"dur": 5', '"dur": NaN')], "traceEvents[2].dur: no JSON: ")
        self.refused([self.file("member.0.json", '{"traceName": "a "b", "traceEvents": []}')], "line 1, column 19: traceName: no JSON: ")
        self.refused([self.file("bracket.0.json", '{"traceEvents": [{"args": [1, 2}]}')], "traceEvents[0].args[2]: no JSON: ")
        self.refused([self.file("behind.0.json", '{"traceEvents": []}\n{}')], "behind.0.json: line 2, column 1: no JSON: ")
        self.refused(["--format", "kineto", self.file("scalar.0.json", "5")], "no JSON: a document is an object or a list")
        self.refused([self.file("deep.0.json", '{"traceEvents": [' + '{"a":' * 2000)], "traceEvents[0].a.a", "more than 1000 nested brackets")

    def test_names_that_are_no_text_do_not_hide_the_calls(self):
        text = kineto(0, 1, [("allreduce", 8, 8, "Float", {})])
        whole = self.summary(self.file("0.json", text))
        for name in (b"\xff\x80\x01(0): \xe4", "torch \u6f22".encode() + b"\xe6\xbc" * 200000, b"\x7f" + 100000 * "\u6f22".encode()):
            event = b'"traceEvents": [{"ph": "X", "cat": "python_function", "name": "' + name + b'"}, '
            self.assertIn(b'"traceEvents": [', text.encode())
            self.assertEqual(self.summary(self.file("0.json", text.encode().replace(b'"traceEvents": [', event, 1))), whole)

    def test_characters_between_two_blocks_of_the_file_are_whole(self):
        block, type_ = 1 << 18, "\u6f22" * 20
        text = kineto(0, 1, [("allreduce", 8, 8, type_, {})]).replace("\\u6f22", "\u6f22").encode()
        for shift in range(3):
            filler = b'"traceEvents": ["' + b"x" * (block - text.index("\u6f22".encode()) - 30 + shift) + b'", '
            self.refused([self.file("0.json", text.replace(b'"traceEvents": [', filler, 1))], f"dtype '{type_}' is unknown")

    def test_values_are_told_with_line_and_field(self):
        text = json.dumps(json.loads(kineto(0, 2, [("allreduce", 8, -1, "Float", {})])), indent=1)
        line = text[: text.index('"traceEvents"')].count("\n") + 1
        self.refused([self.file("0.json", text)], f"0.json: line {line + 8}: traceEvents[1].args.Out msg nelems must be a whole number")


class Kineto(TraceTest):
    def test_wrong_times_are_counted_and_left_out(self):
        files = []
        for rank in (0, 1):
            profile = json.loads(kineto(rank, 2, [("allreduce", 250, 250, "Float", {})] * 4))
            for number, (start, duration) in enumerate(((100, -1), (200, 500), (300, 50), (2000, 100))):
                kernel = profile["traceEvents"][2 + 2 * number]
                kernel.update(ts=start, dur=duration, tid=7, pid=rank)
            profile["traceEvents"].append(dict(kernel, ts=2010, tid=8, args={**kernel["args"], "External id": 99}))  # of another stream
            files.append(self.file(f"{rank}.json", json.dumps(profile)))
        self.assertTrue(json.loads(run("summary", "--json", *files).stdout)["complete"])
        notes = {note["text"]: note["count"] for note in json.loads(run("summary", "--json", *files).stdout)["notes"]}
        self.assertEqual(notes, {"calls with a negative duration; their times are left out": 2, "calls that overlap with another one of their stream; their times are left out": 4})
        text = run("summary", *files).stdout
        self.assertIn("calls with a negative duration; their times are left out (2)", text)
        self.assertRegex(text, r"allreduce .* 100\.0 % +0\.01\n")  # 1000 B in 100 us
        done = run("import", *files, "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("note: calls with a negative duration; their times are left out (2)", done.stderr)
        for plan in plan_of(done.stdout)["plans"]:
            self.assertEqual([step["operation"] for step in plan["steps"]], ["allreduce"] * 4)
            self.assertEqual([step.get("recorded_ns") for step in plan["steps"]], [None, None, None, [0, 100000]])

    def test_iterations_that_end_before_they_begin_are_not_used(self):
        profile = json.loads(kineto(0, 1, [("allreduce", 8, 8, "Float", {})]))
        profile["traceEvents"][0]["dur"] = -9
        text = run("summary", self.file("0.json", json.dumps(profile))).stdout
        self.assertIn("iterations that end before they begin; no mark of an iteration is used (1)", text)
        self.assertNotIn("iterations marked", text.splitlines()[0])

    def test_summary_and_import_say_the_same_of_groups(self):
        for arguments, reason in (({"Process Group Ranks": "[2, 3]"}, "rank 0 has calls in group '0', which has ranks 2, 3"),
                                  ({"Process Group Ranks": "[0, 1, 1]", "Group size": 3}, "group '0' has a rank twice: 0, 1, 1"),
                                  ({"Group size": 8}, "traceEvents[1]: group '0' has 8 ranks, but lists 2"),
                                  ({"Collective name": "broadcast", "Rank": 7}, "has root 7, but the group has 2 ranks"),
                                  ({"Collective name": "send", "Dst Rank": 9}, "rank 0: send with rank 9, which is not among the")):
            files = [self.file(f"{rank}.json", kineto(rank, 4 if "[2, 3]" in str(arguments) else 2, [("allreduce", 8, 8, "Float", arguments)])) for rank in (0, 1)]
            reasons = self.summary(*files)["why_not"]
            self.assertTrue(any(reason in each for each in reasons), reasons)
            done = run("import", *files, "-o", "-")
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertIn("not complete", done.stderr)

    def test_a_call_without_a_process_group_is_not_that_of_all_ranks(self):
        files = []
        for rank in (0, 1):
            profile = json.loads(kineto(rank, 2, [("allreduce", 8, 8, "Float", {})] * 2))
            for event in profile["traceEvents"][3:5]:
                del event["args"]["Process Group Name"], event["args"]["Process Group Ranks"]
            files.append(self.file(f"{rank}.json", json.dumps(profile)))
        self.assertEqual(self.summary(*files)["why_not"], [f"rank {rank}: allreduce names no process group, so which ranks take part is not known" for rank in (0, 1)])

    def test_sizes_of_rows_that_the_trace_does_not_tell_are_noted(self):
        # 12 elements in 3 rows; 13 elements are no multiple
        for elements, note in ((12, "are elements over rows"), (13, "are guessed to be one element")):
            splits = {"In split size": "[1, 2]", "Out split size": "[1, 2]"}
            done = run("summary", "--json", self.file("0.json", kineto(0, 2, [("all_to_allv", elements, elements, "Float", splits)])))
            self.assertEqual(len(notes := json.loads(done.stdout)["notes"]), 1)
            self.assertIn(note, notes[0]["text"])


class Chakra(TraceTest):
    def trace(self, name, *nodes, ranks=2):
        """`nodes`: (id, nodes that it waits for, type, bytes); packed on rank 0, alone on rank 1."""
        files = []
        for rank in range(ranks):
            made = []
            for number, waits, kind, size in nodes:
                waiting = field(5, b"".join(map(varint, waits))) if rank == 0 and waits else b"".join(field(4, other) for other in waits)
                made.append(field(1, number) + field(2, f"n{number}") + field(3, 7) + waiting + attribute("comm_type", 9, kind) + attribute("comm_size", 9, size))
            files.append(self.file(f"{name}.{rank}.et", records(field(1, "0.0.4"), *(made if rank == 0 else made[::-1]))))
        return files

    def test_attributes_are_read_by_their_type(self):
        for number, wire, data in ((3, 1, struct.pack("<d", 1024)), (5, 5, struct.pack("<f", 1024)), (7, 0, varint(1024)), (9, 0, varint(1024)), (11, 0, varint(1024)),
                                   (13, 0, varint(1024)), (15, 0, varint(2048)), (17, 0, varint(2048)), (19, 5, struct.pack("<I", 1024)), (21, 1, struct.pack("<Q", 1024)),
                                   (23, 5, struct.pack("<i", 1024)), (25, 1, struct.pack("<q", 1024)), (29, 2, varint(4) + b"1024")):
            node = field(1, 1) + field(2, "r") + field(3, 7) + attribute("comm_type", 9, 0) + comm_size(number, wire, data)
            files = [self.file(f"t.{rank}.et", records(field(1, "0.0.4"), node)) for rank in (0, 1)]
            self.assertEqual(self.entries(self.summary(*files))[0], (0, "allreduce", 2, "byte", 1, 1024), number)

    def test_sizes_that_are_no_whole_number_are_refused(self):
        for number, wire, data, text in ((3, 1, struct.pack("<d", 64.5), "comm_size is 64.5"), (3, 1, struct.pack("<d", float("nan")), "comm_size is nan"), (5, 5, struct.pack("<f", -8), "negative"),
                                         (17, 0, varint(15), "comm_size is -8, which is negative"), (25, 1, struct.pack("<q", -8), "comm_size is -8"), (3, 1, struct.pack("<d", 1e300), "comm_size is 1e+300"),
                                         (29, 2, varint(3) + b"64k", "comm_size is 64k")):
            node = field(1, 1) + field(2, "r") + field(3, 7) + attribute("comm_type", 9, 0) + comm_size(number, wire, data)
            self.refused([self.file("t.0.et", records(field(1, "0.0.4"), node))], "record 1 ('r'): ", text)

    def test_the_order_is_that_of_dependencies_and_not_that_of_the_file(self):
        files = self.trace("order", (1, [], 0, 64), (3, [1], 2, 8), (2, [3], 6, 16))
        self.assertEqual(self.summary(*files)["why_not"], [])
        document = plan_of(run("import", "--assume", "dtype=fp32", *files, "-o", "-").stdout)
        for plan in document["plans"]:
            self.assertEqual([step["operation"] for step in plan["steps"]], ["allreduce", "allgather", "exchange"])

    def test_nodes_that_cannot_begin_make_a_trace_incomplete(self):
        for nodes, reason in ((((1, [2], 0, 64), (2, [1], 2, 8)), "record 1 ('n1') and record 2 ('n2') wait for each other, so neither can begin"),
                              (((1, [9], 0, 64),), "record 1 ('n1') waits for node 9, which is not in the file"),
                              (((1, [], 0, 64), (1, [], 0, 64)), "record 1 ('n1') and record 2 ('n1') have the same id, 1"),
                              (((4, [4], 0, 64),), "wait for each other")):
            files = self.trace("broken", *nodes)
            summary = self.summary(*files)
            self.assertTrue(any(reason in each for each in summary["why_not"]), summary["why_not"])
            done = run("import", *files, "-o", "-")
            self.assertEqual((done.returncode, done.stdout), (64, ""))


def entry(record, call, state="completed", **more):
    return {"record_id": record, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": record + 1, "p2p_seq_id": 0, "op_id": record + 1,
            "profiling_name": f"nccl:{call}", "time_created_ns": 10**18 + record, "input_sizes": [[3, 4]], "input_dtypes": ["Float"], "output_sizes": [[3, 4]],
            "output_dtypes": ["Float"], "state": state, "retired": state == "completed", "timeout_ms": 600000, "is_p2p": False, **more}


def dump(rank, entries, enqueued, completed, ranks="[0, 1]", **more):
    return json.dumps({"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}},
                       "pg_status": {"0": {"last_enqueued_collective": str(enqueued), "last_started_collective": -1, "last_completed_collective": completed}}, "rank": rank, "entries": entries, **more})


class FlightRecorder(TraceTest):
    def told(self, *files):
        done = run("summary", "--json", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_calls_that_completed_are_a_trace(self):
        calls = [[entry(0, "all_reduce", duration_ms=0.5), entry(1, "_all_gather_base", output_sizes=[[6, 4]]), entry(2, "send 0->1" if rank == 0 else "recv 1<-0", is_p2p=True, collective_seq_id=2),
                  entry(3, "coalesced", input_sizes=[], output_sizes=[], collective_seq_id=2), entry(4, "all_to_all", input_sizes=[[2], [3]], output_sizes=[[2], [2]] if rank == 0 else [[3], [3]], collective_seq_id=3)]
                 for rank in (0, 1)]
        calls[1][4]["input_sizes"] = [[2], [3]]
        files = [self.file(f"nccl_trace_rank_{rank}", dump(rank, calls[rank], 3, 3)) for rank in (0, 1)]
        told = self.told(*files)
        self.assertEqual((told["format"], told["ranks"], told["complete"]), ("flight-recorder", 2, True), told["why_not"])
        self.assertEqual(self.entries(told), [
            (0, "exchange", 2, "fp32", 1, 20), (0, "send", 2, "fp32", 1, 48), (0, "allreduce", 2, "fp32", 1, 48), (0, "allgather", 2, "fp32", 1, 48),
            (1, "exchange", 2, "fp32", 1, 20), (1, "recv", 2, "fp32", 1, 0), (1, "allreduce", 2, "fp32", 1, 48), (1, "allgather", 2, "fp32", 1, 48)])
        self.assertEqual(told["progress"][0], {"rank": 0, "group": "0", "last_enqueued": 3, "last_started": None, "last_completed": 3, "open": []})
        self.assertIn("nothing hung: every call in the dumps completed", run("summary", *files).stdout)
        self.assertEqual(run("import", *files, "-o", "-").returncode, 0)

    def test_what_hung_is_told(self):
        first = [entry(0, "all_reduce"), entry(1, "broadcast", "started"), entry(2, "all_reduce", "scheduled")]
        files = [self.file("0.json", dump(0, first, 3, 1)), self.file("1.json", dump(1, [entry(0, "all_reduce"), entry(1, "all_reduce", "started")], 2, 1))]
        text = run("summary", *files).stdout
        self.assertIn("rank 0: broadcast 2 of group '0' is started, last completed 1; 1 more calls are open", text)
        self.assertIn("rank 1: all_reduce 2 of group '0' is started, last completed 1", text)
        self.assertIn("group '0': rank 1 did not call collective 3, which others wait in", text)
        told = self.told(*files)
        self.assertIn("rank 0: broadcast 2 of group '0' did not complete, it is started", told["why_not"])
        self.assertTrue(any("is allreduce on rank 1, broadcast on rank 0" in each or "collectives of group" in each for each in told["why_not"]), told["why_not"])
        self.assertEqual(told["progress"][0]["open"], [{"number": 2, "call": "broadcast", "state": "started"}, {"number": 3, "call": "all_reduce", "state": "scheduled"}])
        self.assertEqual(run("import", *files, "-o", "-").returncode, 64)
        self.assertIn("group '0': no dump of rank 1", run("summary", files[0]).stdout)

    def test_calls_up_to_the_last_one_that_completed_did_not_hang(self):
        calls = [entry(0, "all_reduce", "scheduled"), entry(1, "send 0->1", "scheduled", collective_seq_id=1), entry(2, "all_reduce", "scheduled", collective_seq_id=2)]
        text = run("summary", self.file("0.json", dump(0, calls, 2, 1))).stdout
        self.assertIn("rank 0: send 1 of group '0' is scheduled, last completed 1; 1 more calls are open", text)
        self.assertIn("nothing hung", run("summary", self.file("0.json", dump(0, calls[:1], 1, 1))).stdout)

    def test_ranks_that_forgot_different_calls_are_compared_by_what_both_hold(self):
        files = [self.file(f"{rank}.json", dump(rank, [entry(number, "broadcast" if number == 4 else "all_reduce") for number in range(2 + 2 * rank, 6)], 6, 6)) for rank in (0, 1)]
        told = self.told(*files)
        self.assertEqual([each for each in told["why_not"] if "kept the last" not in each], [])
        self.assertIn("the recorder kept the last 4 calls; the 2 before them are not in the dump", " ".join(told["why_not"]))
        self.assertEqual([each[4] for each in self.entries(told)], [1, 1, 1, 1])

    def test_without_a_status_the_calls_tell_who_is_behind(self):
        files = []
        for rank, calls in enumerate(([entry(0, "all_reduce"), entry(1, "all_reduce", "started")], [entry(0, "all_reduce")])):
            document = json.loads(dump(rank, calls, 0, 0))
            del document["pg_status"]
            files.append(self.file(f"nccl_trace_rank_{rank}", json.dumps(document)))
        self.assertEqual([[each[f"last_{state}"] for state in ("enqueued", "started", "completed")] for each in self.told(*files)["progress"]], [[2, 2, 1], [1, 1, 1]])
        self.assertIn("rank 1 did not call collective 2", run("summary", *files).stdout)

    def test_a_rank_that_hung_before_its_first_call_is_behind(self):
        calls = [entry(0, "all_reduce", "started")]
        waits = self.file("0.json", dump(0, calls, 1, -1))
        bare = json.loads(dump(1, [], -1, -1))
        del bare["pg_status"]
        for name, hung in (("status", dump(1, [], -1, -1)), ("bare", json.dumps(bare))):
            text = run("summary", waits, self.file(f"{name}.1.json", hung)).stdout
            self.assertIn("group '0': rank 1 did not call collective 1, which others wait in", text, name)
            self.assertNotIn("no dump of rank", text)
        self.assertIn("group '0': no dump of rank 1", run("summary", waits).stdout)

    def test_the_name_of_a_call_says_whether_it_is_a_message(self):
        told = self.told(self.file("a.0.json", dump(0, [entry(0, "all_reduce", is_p2p=True)], 1, 1)))
        self.assertEqual([each[:2] for each in self.entries(told)], [(0, "allreduce")])

    def test_what_a_dump_lacks_is_said(self):
        single = entry(0, "all_to_all", input_sizes=[[8]], output_sizes=[[8]])
        self.assertIn("does not keep how all_to_all is split", " ".join(self.told(self.file("a.0.json", dump(0, [single], 1, 1)))["why_not"]))
        self.assertIn("pg_status says that collective 5 of group '0' was enqueued, but the last one in the dump is 1",
                      " ".join(self.told(self.file("b.0.json", dump(0, [entry(0, "all_reduce")], 5, 5)))["why_not"]))
        other = entry(0, "all_reduce", process_group=["7", "other"])
        self.assertIn("names no process group", " ".join(self.told(self.file("c.0.json", dump(0, [other], 1, 1)))["why_not"]))
        for changed, text in (({"input_dtypes": [], "output_dtypes": []}, "entries[0]: no input_dtypes"), ({"profiling_name": "nccl:send 0"}, "does not name the ranks of a message"),
                              ({"input_sizes": True}, "entries[0].input_sizes must be a list of sizes"), ({"input_sizes": [[-3]]}, "entries[0].input_sizes[0] must be a whole number"), ({"state": 5}, "entries[0].state must be a text"), ({"record_id": 1.5}, "entries[0].record_id")):
            self.refused([self.file("0.json", dump(0, [entry(0, "all_reduce", **changed)], 1, 1))], text)
        self.assertIn("1 calls between the first and the last one are not in the dump", " ".join(self.told(self.file("d.0.json", dump(0, [entry(0, "all_reduce"), entry(2, "all_reduce")], 3, 3)))["why_not"]))
        self.refused([self.file("0.json", dump(0, [], 0, 0))], "no call in it", "TORCH_FR_BUFFER_SIZE")
        self.refused([self.file("0.json", dump(0, [entry(0, "all_reduce")] * 2, 1, 1))], "have the same record_id, 0")

    def test_a_pickle_is_refused_with_how_to_make_json(self):
        import pickle
        for protocol in (2, 4):
            self.refused([self.file("nccl_trace_rank_0", pickle.dumps(json.loads(dump(0, [], 0, 0)), protocol))], "is a pickle", "json.dump(pickle.load(sys.stdin.buffer), sys.stdout)")


class Logs(TraceTest):
    def test_two_messages_on_one_line_are_two(self):
        lines = [f"node{rank}:{rank}1:{rank}2 [{rank}] NCCL INFO ncclCommInitRank comm 0xa rank {rank} nranks 2 cudaDev 0 commId 0x9 - Init COMPLETE" for rank in (0, 1)]
        calls = [f"node{rank}:{rank}1:{rank}2 [{rank}] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 5 datatype 7 op 0 root 0 comm 0xa [nranks=2] stream 0xda0" for rank in (0, 1)]
        expected = [(rank, "allreduce", 2, "fp32", 1, 20) for rank in (0, 1)]
        for text in ("\n".join([*lines, *calls]), "\n".join([*lines, calls[0] + calls[1]]), "\n".join([*lines, calls[1] + calls[0]]), "\n".join("[1,0]<stdout>:" + line for line in [*lines, calls[0] + calls[1]])):
            summary = self.summary(self.file("a.log", text + "\n"))
            self.assertEqual((self.entries(summary), summary["complete"]), (expected, True), summary["why_not"])
        self.refused([self.file("b.log", lines[0] + lines[1] + "\n")], "line 1: two messages on one line", "NCCL_DEBUG_FILE")


class Input(TraceTest):
    def test_a_dash_is_standard_input(self):
        done = subprocess.run([program.PROGRAM, "summary", "--json", "-"], input="num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 10b from 0\n}\n", capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["complete"])


if __name__ == "__main__":
    unittest.main()
