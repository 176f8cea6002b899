# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Plans of traces: the bytes of the summary, proved to fit together, and nothing of the trace's names."""

import collections
import json
import os
import unittest
from pathlib import Path

from program import TraceTest, kineto, plan_of, run

PLAN = Path(__file__).parents[2] / "results-schema" / "examples" / "plan.jsonl"
FOLDER = os.environ.get("DLMB_TRACES", "")
GOAL = "num_ranks 2\nrank 0 {\nsend 10b to 1 tag 3\nrecv 20b from 1 tag 4\n}\nrank 1 {\nsend 20b to 0 tag 4\nrecv 10b from 0 tag 3\n}\n"


def sent(step, rank):
    """Payload that a rank sends by a step of a plan document, by the table of docs/traces.md."""
    operation, bytes_, ranks = step["operation"], step.get("bytes"), len(step["group"])
    if operation in ("exchange", "send"):
        return sum(block["bytes"] for block in step["send"])
    if operation == "allgather":
        return bytes_ // ranks
    if operation == "broadcast":
        return bytes_ if step["root"] == rank else 0
    return bytes_ if operation in ("allreduce", "reduce_scatter", "reduce") else 0


class Imports(TraceTest):
    def plans(self, *arguments):
        done = run("import", *arguments, "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = plan_of(done.stdout)
        self.assertEqual((document["schema"], document["pattern"]), ("dlmb.plan/2.0", "trace"))
        self.assertEqual([plan["rank"] for plan in document["plans"]], list(range(document["world"]["ranks"])))
        return document

    def same_bytes(self, *arguments):
        """Of each rank, operation and group size, in the plans and in the summary."""
        planned, told = collections.Counter(), collections.Counter()
        for plan in self.plans(*arguments)["plans"]:
            for step in plan["steps"]:
                if step["operation"] == "compute":
                    continue
                planned[plan["rank"], step["operation"], len(step["group"]), "calls"] += 1
                planned[plan["rank"], step["operation"], len(step["group"]), "bytes"] += sent(step, plan["rank"])
        for rank, operation, size, _dtype, count, bytes_ in self.entries(self.summary(*arguments)):
            told[rank, operation, size, "calls"] += count
            told[rank, operation, size, "bytes"] += bytes_
        self.assertEqual(planned, told)

    def refused_import(self, arguments, *texts):
        done = run("import", *arguments, "-o", self.folder / "plan.jsonl")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
        self.assertFalse((self.folder / "plan.jsonl").exists())
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_plans_have_the_bytes_of_the_trace_and_none_of_its_names(self):
        splits = [{"In split size": "[1, 2]", "Out split size": "[1, 3]"}, {"In split size": "[3, 4]", "Out split size": "[2, 4]"}]
        secret = {"Process Group Name": "secret", "Process Group Description": "secret"}
        files = [self.file(f"secret-{rank}.json", kineto(rank, 2, [
            ("all_to_allv", 3 + 4 * rank, 4 + 2 * rank, "Int", {**splits[rank], **secret}), ("_allgather_base", 8, 16, "Float", secret),
            ("_reduce_scatter_base", 16, 8, "BFloat16", secret), ("allreduce", 5, 5, "Half", secret), ("broadcast", 7, 7, "Long", secret),
            ("barrier", 0, 0, "Byte", secret)], traceName="/secret/path")) for rank in (0, 1)]
        self.refused_import(files, "--assume root=N")
        document = self.plans(*files, "--assume", "root=1")
        self.assertEqual(document["parameters"], {"format": "kineto", "assume-root": 1})
        self.assertNotIn("secret", json.dumps(document))
        steps = document["plans"][0]["steps"]
        self.assertEqual([step["operation"] for step in steps], ["exchange", "allgather", "reduce_scatter", "allreduce", "broadcast", "barrier"])
        self.assertEqual([step["after"] for step in steps], [[], [0], [1], [2], [3], [4]])
        self.assertEqual([(block["peer"], block["bytes"]) for block in steps[0]["send"]], [(0, 4), (1, 8)])
        self.assertEqual([(step["bytes"], step["element"]) for step in steps[1:5]], [(64, "fp32"), (32, "bf16"), (10, "fp16"), (56, "int64")])

    def test_messages_that_follow_each_other_are_in_flight_together(self):
        document = self.plans(self.file("a.goal", GOAL))
        for plan in document["plans"]:
            self.assertEqual([step["after"] for step in plan["steps"]], [[], []])
        self.same_bytes(self.file("a.goal", GOAL))

    def test_a_sequence_that_all_ranks_repeat_becomes_iterations_and_is_told(self):
        def entries(rank, sizes):
            call = {"dtype": "float", "world_size": 2, "pg_id": 0}
            yield {"comms": "broadcast", "in_msg_size": 9, "out_msg_size": 9, "root": 0, **call}
            for size in sizes:  # each rank sends `size` elements to rank 0 and one more to rank 1
                yield {"comms": "all_to_allv", "in_msg_size": 2 * size + 1, "out_msg_size": 2 * (size + rank), "in_split": [size, size + 1],
                       "out_split": [size + rank] * 2, **call}
                yield {"comms": "all_reduce", "in_msg_size": 5, "out_msg_size": 5, **call}
            yield {"comms": "barrier", **call}
        for sizes, text in (((1, 4, 7), "3 repetitions of 2 operations (rank 0, sizes differ), 4 outside of them"),
                            ((4, 4, 4), "3 repetitions of 2 operations (rank 0, of the same sizes), 4 outside of them")):
            files = [self.file(f"{rank}.json", json.dumps(list(entries(rank, sizes)))) for rank in (0, 1)]
            folder = self.folder / f"plans.{sizes[0]}"
            done = run("import", *files, "-o", f"{folder}/")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertIn(text, run("summary", *files).stdout)
            plans = [plan_of(path.read_text()) for path in sorted(folder.iterdir())]
            self.assertEqual([sum(block["bytes"] for block in plan["plans"][0]["steps"][0]["send"]) for plan in plans], [4 * (2 * size + 1) for size in sizes])
            self.assertEqual({plan["parameters"]["iterations"] for plan in plans}, {"repetition"})
        self.assertNotIn("repetitions", run("summary", self.file("m.txt", "1 2\n3 0\n")).stdout)

    def test_the_summary_of_plans_is_that_of_their_trace(self):
        calls = [("_allgather_base", 8, 16, "Float", {}), ("_reduce_scatter_base", 16, 8, "BFloat16", {}), ("allreduce", 5, 5, "Half", {}), ("barrier", 0, 0, "Byte", {})]
        for files in ([self.file(f"{rank}.json", kineto(rank, 2, calls)) for rank in (0, 1)], [self.file("a.goal", GOAL)]):
            plans = self.folder / "plans.jsonl.d" / "plan.jsonl"
            self.assertEqual(run("import", *files, "-o", f"{plans.parent}/", "--assume", "iterations=1").returncode, 0)
            self.assertEqual(self.summary(*plans.parent.iterdir()), {**self.summary(*files), "format": "plan"})
            text = run("summary", *plans.parent.iterdir()).stdout
            self.assertTrue(text.startswith("format plan, 2 ranks, 1 iteration marked\ncomplete\n"), text)
            for file in plans.parent.iterdir():
                file.unlink()

    def test_the_summary_of_a_plan_has_every_operation(self):
        entries = self.entries(self.summary(PLAN))
        told = {(rank, operation, dtype): bytes_ for rank, operation, _size, dtype, _count, bytes_ in entries}
        self.assertEqual(told, {
            (1, "exchange", "byte"): 512, (1, "send", "byte"): 64, (1, "allreduce", "fp32"): 512, (1, "reduce", "int8"): 256,
            (1, "reduce_scatter", "bf16"): 1024, (1, "allgather", "fp8"): 1024, (1, "gather", "byte"): 64, (1, "scatter", "int32"): 512,
            (1, "broadcast", "byte"): 0, (1, "barrier", "byte"): 0, (1, "wait_signal", "byte"): 0, (1, "offer", "byte"): 64,
            (3, "exchange", "byte"): 512, (3, "recv", "byte"): 0, (3, "allreduce", "fp32"): 512, (3, "reduce", "int8"): 256,
            (3, "reduce_scatter", "bf16"): 1024, (3, "allgather", "fp8"): 1024, (3, "gather", "byte"): 128, (3, "scatter", "int32"): 0,
            (3, "broadcast", "byte"): 128, (3, "barrier", "byte"): 0, (3, "put", "byte"): 64, (3, "get", "byte"): 0})
        twice = self.file("twice.jsonl", PLAN.read_text() * 2)
        self.assertEqual([entry[4:] for entry in self.entries(self.summary(twice))], [(2 * count, 2 * bytes_) for *_, count, bytes_ in entries])
        self.assertIn("4 ranks, 2 iterations marked", run("summary", twice).stdout)
        self.assertRegex(run("summary", PLAN).stdout, r"left out\n  compute step \(\d+\)")
        self.refused_import([PLAN], "plans already")
        self.refused([self.file("cut.jsonl", PLAN.read_text()[:-300])], "cut.jsonl: line ")

    def test_plans_keep_when_steps_ran(self):
        files = [self.file(f"{rank}.json", kineto(rank, 2, [("allreduce", 8, 8, "Float", {}), ("allreduce", 8, 8, "Float", {})])) for rank in (0, 1)]
        steps = self.plans(*files)["plans"][0]["steps"]
        self.assertEqual([step["recorded_ns"] for step in steps], [[0, 5000], [1000, 5000]])  # kernels at 3 and 4 us, 5 us each

    def test_tags_that_are_no_channels_of_plans_are_left_out(self):
        for tag, channel in ((2**29, 2**29), (2**29 + 1, 0)):
            trace = self.file(f"{tag}.goal", GOAL.replace("tag 3", f"tag {tag}"))
            plans = self.file(f"{tag}.jsonl", run("import", trace, "-o", "-").stdout)
            self.assertEqual(plan_of(plans.read_text())["plans"][0]["steps"][0]["channel"], channel)
            self.assertEqual(run("summary", plans).returncode, 0, tag)

    def test_what_does_not_fit_together_is_refused(self):
        self.refused_import([self.file("b.goal", GOAL.replace("recv 10b", "recv 11b"))], "not complete", "sends 10 bytes")
        self.refused_import([self.file("c.goal", GOAL.replace("recv 20b from 1 tag 4", "recv 20b from 1 tag 5"))], "do not fit together")
        self.refused_import([self.file("0.json", kineto(0, 2, [("allreduce", 5, 5, "Half", {})]))], "ranks missing")

    def pmpi(self, name, *calls):
        """A folder with these calls of each rank, of doubles."""
        folder = self.folder / name
        folder.mkdir()
        for rank, lines in enumerate(calls):
            lines = [line.replace("DOUBLE", "11,8,8") for line in ("MPI_Init:-:1:2:100", *lines, "MPI_Finalize:2000000:2000010")]
            (folder / f"pmpi-trace-rank-{rank}.txt").write_text("\n".join(lines) + "\n")
        return folder

    def incomplete(self, file, *texts):
        summary = self.summary(file)
        self.assertFalse(summary["complete"])
        for text in texts:
            self.assertTrue(any(text in reason for reason in summary["why_not"]), summary["why_not"])
        self.refused_import([file], "not complete")

    def test_a_group_of_one_rank_is_the_rank_alone(self):
        calls = ["MPI_Allreduce:110:1:2:4:DOUBLE:3:95,0,1:120", "MPI_Reduce_scatter_block:121:1:2:0:DOUBLE:3:95,0,1:122"]
        folder = self.pmpi("self", *[[*calls, f"MPI_Barrier:130:94,{rank},2:140"] for rank in (0, 1)])
        self.assertEqual([[step["group"] for step in plan["steps"] if step["operation"] != "compute"] for plan in self.plans(folder)["plans"]],
                         [[[rank], [rank], [0, 1]] for rank in (0, 1)])

    def test_waiting_is_no_computation(self):
        # Between the calls are 1 us, 1 us and, behind the barrier, 5 us; the rest of the second is waiting.
        calls = [[f"MPI_{call}:140:1:3:DOUBLE:{1 - rank}:0:94,{rank},2:77:141", "MPI_Waitall:142:1:9:9:1000142",
                  f"MPI_Barrier:1000143:94,{rank},2:1000144", f"MPI_Barrier:1000149:94,{rank},2:1000150"] for rank, call in enumerate(("Isend", "Irecv"))]
        sender, receiver = ([step["busy_ns"] for step in plan["steps"] if step["operation"] == "compute"] for plan in self.plans(self.pmpi("wait", *calls))["plans"])
        self.assertEqual((sender, receiver), ([2000, 5000], [1000, 1000, 5000]))

    def steps_of(self, folder, rank):
        """Operations of a rank's plan, those that a computation waits for by their names, with its time in us."""
        steps = self.plans(folder)["plans"][rank]["steps"]
        return [(step["busy_ns"] // 1000, [steps[before]["operation"] for before in step["after"]]) if step["operation"] == "compute" else step["operation"]
                for step in steps]

    def receiving(self, name, *waits, receive="MPI_Irecv:100:1:3:DOUBLE:{message}:80:101"):
        """Steps of rank 0, which receives, computes 49 us, sends, computes 49 us, waits for 10 us per call, computes 30 us and synchronizes; of computations
        what they wait for. Requests are at 80 and 88."""
        ranks = []
        for rank in (0, 1):
            message, begin = f"{1 - rank}:0:94,{rank},2", 200
            lines = [receive.format(message=message), f"MPI_Isend:150:1:3:DOUBLE:{message}:88:151"]
            for wait in waits:
                lines.append(f"MPI_{wait.format(begin=begin)}:{begin + 10}")
                begin += 10
            lines.append(f"MPI_Barrier:{begin + 30}:94,{rank},2:{begin + 31}")
            ranks.append(lines if rank == 0 else [lines[1], lines[0].replace(":100:", ":152:").replace(":101", ":153"), *lines[2:]])
        folder = self.pmpi(name, *ranks)
        steps = self.plans(folder)["plans"][0]["steps"]
        found = [(step["busy_ns"] // 1000, [steps[before]["operation"] for before in step["after"]]) if step["operation"] == "compute" else step["operation"]
                 for step in steps]
        return found, [note["count"] for note in self.summary(folder)["notes"] if note["text"].startswith("receives that no computation waits for")]

    def test_a_computation_waits_for_the_receives_that_the_rank_waited_for(self):
        halves = [(49, ["compute"]), (30, ["compute", "recv"])]
        for name, waits in (("all", ["Waitall:{begin}:2:80:0"]), ("one", ["Wait:{begin}:80:0"]), ("copied", ["Waitall:{begin}:2:640:0"]),
                            ("any", ["Waitany:{begin}:2:80:0:0"] * 2), ("narrow", ["Wait:{begin}:88:0", "Waitall:{begin}:1:80:0"]),
                            ("some", ["Waitsome:{begin}:2:80:0:0:0"]), ("test", ["Test:{begin}:80:0:0"] * 3), ("tests", ["Testall:{begin}:2:80:0:0"] * 2),
                            ("progress", ["Test:{begin}:80:0:0", "Wait:{begin}:80:0"])):
            self.assertEqual(self.receiving(name, *waits), (["recv", (49, []), "send", *halves, "barrier"], []), name)
        unknown = ["recv", (49, []), "send", (79, ["compute"]), "barrier"]
        for name, wait in (("cancelled", "Test_cancelled:{begin}:80:0"), ("other", "Wait:{begin}:88:0"), ("far", "Wait:{begin}:640:0")):
            self.assertEqual(self.receiving(name, wait), (unknown, [2]), name)
        self.assertEqual(self.receiving("of 4 bytes", "Waitall:{begin}:1:80:0", receive="MPI_Irecv:100:1:3:DOUBLE:{message}:84:101"), (unknown, [2]))
        self.assertEqual(self.receiving("blocking", receive="MPI_Recv:100:1:3:DOUBLE:{message}:0:101"), (["recv", (49, ["recv"]), "send", (79, ["compute"]), "barrier"], []))

    def after_of(self, folder, rank):
        """Operations of a rank's plan but the computations, and what they wait for."""
        steps = self.plans(folder)["plans"][rank]["steps"]
        return [(step["operation"], [steps[before]["operation"] for before in step["after"]]) for step in steps if step["operation"] != "compute"]

    def test_what_is_waited_for_behind_a_collective_does_not_hold_it_back(self):
        message, barrier, wait = "MPI_{}:100:1:3:DOUBLE:{}:0:94,{},2:80:100", "MPI_Barrier:100:94,{},2:100", "MPI_Wait:100:80:0:100"
        for receive, send, waits in (("Irecv", "Send", wait), ("Irecv", "Isend", "MPI_Waitall:100:1:80:0:100"), ("Irecv", "Isend", "MPI_Test:100:80:0:0:100")):
            waits = [waits] * send.startswith("I")
            receiver = [message.format(receive, 1, 0), barrier.format(0), wait, barrier.format(0)]
            sender = [barrier.format(1), message.format(send, 0, 1), *waits, barrier.format(1)]
            folder = self.pmpi(f"{send}{waits}", receiver, sender)
            self.assertEqual(self.after_of(folder, 0), [("recv", []), ("barrier", []), ("barrier", ["recv", "barrier"])])
            self.assertEqual(self.after_of(folder, 1), [("barrier", []), ("send", ["barrier"]), ("barrier", ["send"])])
        late = [message.format("Recv", 1, 0), barrier.format(0)]
        folder = self.pmpi("send", [barrier.format(0), *late], [message.format("Isend", 0, 1), barrier.format(1), wait, barrier.format(1)])
        self.assertEqual(self.after_of(folder, 1), [("send", []), ("barrier", []), ("barrier", ["send", "barrier"])])
        self.assertEqual(self.after_of(folder, 0), [("barrier", []), ("recv", ["barrier"]), ("barrier", ["recv"])])

    def test_a_send_may_be_complete_before_it_is_received(self):
        message, barrier = "MPI_{}:100:1:3:DOUBLE:{}:0:94,{},2:80:100", "MPI_Barrier:100:94,{},2:100"
        folder = self.pmpi("eager", [message.format("Send", 1, 0), barrier.format(0)], [barrier.format(1), message.format("Recv", 0, 1)])
        self.assertEqual(self.after_of(folder, 0), [("send", []), ("barrier", [])])
        note = "note: {} that later steps do not wait for, since ranks would wait for each other then ({})\n"
        self.assertIn(note.format("sends", 1), run("import", folder, "-o", "-").stderr)
        size = {"in_msg_size": 4, "out_msg_size": 4, "dtype": "Float", "world_size": 2}
        barrier, files = {"comms": "barrier", "world_size": 2}, []
        for rank, calls in enumerate(([{"comms": "recv", "src_rank": 1, **size}, barrier], [barrier, {"comms": "send", "dst_rank": 0, **size}])):
            files.append(self.file(f"{rank}.json", json.dumps(calls)))
        done = run("import", *files, "-o", "-")
        self.assertEqual(([step["after"] for step in plan_of(done.stdout)["plans"][0]["steps"]], done.stderr), ([[], []], note.format("messages", 2)))

    def test_a_computation_waits_for_its_receive_beside_a_send_that_nothing_waits_for(self):
        message, barrier = "MPI_{}:{time}:1:3:DOUBLE:{}:0:94,{},2:{time}", "MPI_Barrier:{time}:94,{},2:{time}"
        folder = self.pmpi("beside", [message.format("Send", 1, 0, time=100), barrier.format(0, time=100), message.format("Recv", 1, 0, time=100), barrier.format(0, time=150)],
                           [barrier.format(1, time=100), message.format("Recv", 0, 1, time=100), message.format("Send", 0, 1, time=100), barrier.format(1, time=150)])
        self.assertEqual(self.steps_of(folder, 0), ["send", "barrier", "recv", (50, ["barrier", "recv"]), "barrier"])
        self.assertEqual([self.after_of(folder, rank)[-1] for rank in (0, 1)], [("barrier", ["recv", "compute"]), ("barrier", ["recv", "compute"])])
        self.assertIn("note: sends that later steps do not wait for, since ranks would wait for each other then (2)\n", run("import", folder, "-o", "-").stderr)

    def test_as_many_calls_of_waitany_as_requests_complete_them(self):
        receive, send, barrier = "MPI_Irecv:{1}:1:3:DOUBLE:1:0:94,0,2:{0}:{1}", "MPI_Send:{0}:1:3:DOUBLE:0:0:94,1,2:{0}", "MPI_Barrier:{1}:94,{0},2:{1}"
        for name, waits in (("null", []), ("left", ["MPI_Waitany:150:1:80:0:0:150"])):
            begin = [receive.format(80, 100), "MPI_Waitany:100:1:80:0:0:100", *waits, barrier.format(0, 150)]
            folder = self.pmpi(name, [*begin, receive.format(88, 150), "MPI_Waitall:150:2:80:0:150", barrier.format(0, 200)],
                               [send.format(100), barrier.format(1, 150), send.format(150), barrier.format(1, 200)])
            self.assertEqual(self.steps_of(folder, 0), ["recv", (50, ["recv"]), "barrier", "recv", (50, ["barrier", "recv"]), "barrier"], name)
        # Time between calls is computed before their wait; copies are as many as all requests.
        for name, array in (("own", 80), ("copied", 640)):
            waits = [f"MPI_Waitany:{time}:2:{array}:0:0:{time}" for time in (110, 150, 190)]
            folder = self.pmpi(name, [receive.format(80, 100), receive.format(88, 100), *waits, barrier.format(0, 200)], [send.format(100), send.format(100), barrier.format(1, 200)])
            self.assertEqual(self.steps_of(folder, 0), ["recv", "recv", (50, []), (50, ["compute", "recv", "recv"]), "barrier"], name)

    def test_collectives_do_not_wait_again_for_what_complete_ones_waited_for(self):
        calls = "MPI_Iallreduce:100:1:2:4:DOUBLE:3:94,{},2:80:100", "MPI_Wait:100:80:0:100"
        plan = self.plans(self.pmpi("many", *[[call.format(rank) for call in calls] * 1000 for rank in (0, 1)]))["plans"][1]
        self.assertEqual(max(len(step["after"]) for step in plan["steps"]), 1)

    def test_a_collective_that_does_not_block_is_in_flight_until_its_wait(self):
        reduce, barrier = "MPI_Iallreduce:100:1:2:4:DOUBLE:3:94,{0},2:80:100", "MPI_Barrier:{1}:94,{0},2:{1}"
        calls = [[reduce, barrier.format("{0}", 150), "MPI_Wait:200:80:0:210", barrier.format("{0}", 260)], [reduce, "MPI_Wait:100:80:0:110", barrier.format("{0}", 160)],
                 [reduce, "MPI_Wait:150:80:0:160", barrier.format("{0}", 200)]]
        for name, lines, expected in (("late", calls[0], ["allreduce", (50, []), "barrier", (50, ["barrier"]), (50, ["compute", "allreduce"]), "barrier"]),
                                      ("early", calls[1], ["allreduce", (50, ["allreduce"]), "barrier"]),
                                      ("overlap", calls[2], ["allreduce", (50, []), (40, ["compute", "allreduce"]), "barrier"])):
            self.assertEqual(self.steps_of(self.pmpi(name, *[[line.format(rank) for line in lines] for rank in (0, 1)]), 0), expected)
        message = "MPI_Sendrecv:110:1:3:DOUBLE:{1}:0:2:3:DOUBLE:{1}:0:94,{0},2:0:110"
        folder = self.pmpi("order", *[[line.format(rank, 1 - rank) for line in (reduce, "MPI_Wait:100:80:0:110", message)] * 2 for rank in (0, 1)])
        self.assertEqual([step["after"] for step in self.plans(folder)["plans"][0]["steps"]], [[], [0], [0], [0, 1, 2], [3], [3]])

    def test_receives_that_no_computation_can_wait_for_are_told(self):
        messages = "num_ranks 2\nrank 0 {\nrecv 8b from 1\ncalc 5\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\ncalc 5\nsend 8b to 0\n}\n"
        done = run("import", self.file("a.goal", messages), "-o", "-")
        self.assertEqual([step["after"] for step in plan_of(done.stdout)["plans"][0]["steps"]], [[], [], [1]])
        self.assertEqual(done.stderr, "note: messages that later steps do not wait for, since ranks would wait for each other then (4)\n")

    def iterations(self, folder, *options):
        done = run("import", folder, "-o", f"{folder}.plans/", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [plan_of(path.read_text())["plans"] for path in sorted(Path(f"{folder}.plans").iterdir())], done.stderr

    def test_an_iteration_begins_with_what_is_computed_behind_the_one_before(self):
        for name, options, warm_up in (("found", [], 0), ("assumed", ["--assume", "iterations=3"], 0), ("behind", [], 1)):
            calls = [[f"MPI_Barrier:200:94,{rank},2:300"] * warm_up for rank in (0, 1)]
            for rank, lines in enumerate(calls):
                for begin in (1000, 2000, 3000):
                    lines += [f"MPI_Allreduce:{begin}:1:2:4:DOUBLE:3:94,{rank},2:{begin + 100}", f"MPI_Bcast:{begin + 300}:1:4:DOUBLE:0:94,{rank},2:{begin + 310}"]
            plans, _ = self.iterations(self.pmpi(name, *calls), *options)
            self.assertEqual([[step.get("busy_ns", 0) for step in plan[1]["steps"]] for plan in plans], [[700000] * warm_up + [0, 200000, 0], *[[690000, 0, 200000, 0]] * 2])
            self.assertEqual([step["recorded_ns"] for step in plans[1][1]["steps"]], [[0, 690000], [690000, 100000], [790000, 200000], [990000, 10000]])

    def test_ranks_may_repeat_on_their_own_more_often_than_all(self):
        # Rank 1 receives and sends twice in an iteration; tags are counters.
        calls = [[], []]
        for iteration in range(3):
            for rank, order in enumerate((("Irecv", "Isend", "Send", "Recv"), ("Irecv", "Isend", "Recv", "Send"))):
                for place, call in enumerate(order):
                    begin, tag = 1000 * iteration + 100 * place + 100, 2 * iteration + place // 2
                    calls[rank].append(f"MPI_{call}:{begin}:1:3:DOUBLE:{1 - rank}:{tag}:94,{rank},2:{80 + 8 * place}:{begin + 10}")
        plans, found = self.iterations(self.pmpi("own", *calls))
        self.assertIn("3 repetitions of 4 operations (rank 0, of the same sizes), 0 outside of them", found)
        self.assertEqual([[[step["operation"] for step in rank["steps"] if step["operation"] != "compute"] for rank in plan] for plan in plans],
                         [[["recv", "send", "send", "recv"], ["recv", "send", "recv", "send"]]] * 3)

    def test_negative_ranks_are_those_of_the_mpi_library(self):
        for handle, null, anybody in (("94123433336480", -2, -1), ("0", -2, -1), ("1140850688", -1, -2), ("18446744071629176832", -1, -2), ("-2080374784", -1, -2)):
            def folder(name, peer):
                call = "MPI_Sendrecv:100:1:3:DOUBLE:{}:0:2:3:DOUBLE:{}:0:{},{},2:0:110"
                return self.pmpi(f"{name}{handle}", [call.format(1, peer, handle, 0)], [call.format(null, 0, handle, 1)])
            plans = self.plans(folder("null", null))["plans"]
            self.assertEqual([[step["operation"] for step in plan["steps"]] for plan in plans], [["send"], ["recv"]])
            self.incomplete(folder("anybody", anybody), "recv: the trace does not say which rank the peer is")

    def test_reasons_name_groups_without_a_name(self):
        part = self.pmpi("part", *[[f"MPI_Allreduce:110:1:2:4:DOUBLE:3:95,{rank},2:120"] * (rank < 2) + [f"MPI_Barrier:130:94,{rank},3:140"] for rank in range(3)])
        self.assertEqual(self.summary(part)["why_not"], ["the trace does not say which 2 of the 3 ranks are in a group"])
        roots = self.pmpi("roots", *[[f"MPI_Bcast:110:1:4:DOUBLE:{rank}:95,{rank},2:120"] for rank in range(2)])
        self.assertEqual(self.summary(roots)["why_not"], ["broadcast 0 of group of all ranks has root 1 on rank 1, 0 on rank 0"])

    def test_local_work_is_computation(self):
        calls = [[f"MPI_Barrier:110:94,{rank},2:120", "MPI_Reduce_local:121:1:2:3:4:5:1121", f"MPI_Barrier:1122:94,{rank},2:1123"] for rank in (0, 1)]
        for plan in self.plans(self.pmpi("local", *calls))["plans"]:
            self.assertEqual([step["busy_ns"] for step in plan["steps"] if step["operation"] == "compute"], [1002000])

    def test_a_receive_gets_tag_and_bytes_of_its_send(self):
        send = ["MPI_Send:140:1:3:DOUBLE:1:5:94,0,2:150", "MPI_Send:151:1:2:DOUBLE:1:6:94,0,2:152", "MPI_Send:153:1:1:DOUBLE:1:6:94,0,2:154"]
        recv = [f"MPI_Recv:{140 + tag}:1:9:DOUBLE:0:{tag}:94,1,2:77:{140 + tag}" for tag in (6, -1, 6)]  # of 16, 24 and 8 bytes
        sender, receiver = (plan["steps"] for plan in self.plans(self.pmpi("room", send, recv))["plans"])
        self.assertEqual([(step["recv"][0]["bytes"], step["channel"]) for step in receiver if step["operation"] == "recv"], [(16, 6), (24, 5), (8, 6)])
        self.assertEqual([(step["send"][0]["bytes"], step["channel"]) for step in sender if step["operation"] == "send"], [(24, 5), (16, 6), (8, 6)])
        self.incomplete(self.pmpi("tags", send[:1], recv[:1]), "ranks 0 and 1 do not fit together: 1 of rank 1's receives have tags without a send")
        self.assertEqual(self.plans(self.file("any.goal", GOAL.replace("from 1 tag 4", "from 1 tag -1")))["plans"][0]["steps"][1]["channel"], 4)

    def test_a_trace_of_which_no_plan_can_be_made_is_not_complete(self):
        call = "{}:110:1:4:DOUBLE:{}95,{},2:120"
        self.incomplete(self.pmpi("other", *[[call.format("MPI_Bcast", "0:", 1 - rank)] for rank in (0, 1)]), "has its ranks in another order")
        self.incomplete(self.pmpi("any", ["MPI_Send:140:1:3:DOUBLE:1:0:94,0,2:150"], ["MPI_Recv:140:1:3:DOUBLE:-1:0:94,1,2:77:150"]), "which rank the peer is")
        self.incomplete(self.file("any.goal", GOAL.replace("from 1", "from -1")), "which rank the peer is")
        self.incomplete(self.file("tag.goal", GOAL.replace("from 1 tag 4", "from 1")), "have tags without a send")
        row = "CommType.{},CommGroup.tp_group,2,65,forward,None,None,,None,None,None,1\n"
        head = "[rank0 ~ rank1]\ncomm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
        self.incomplete(self.file("split.csv", head + row.format("all_to_all")), "how much goes to which rank")
        self.incomplete(self.file("part.csv", head + row.format("all_gather")), "65 bytes are not 2 parts of 32")
        simai = "HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 1 pp: 1 all_gpus: 10\n1\nl -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1\n"
        self.incomplete(self.file("far.txt", simai.replace("NONE 0", "ALLREDUCE 64", 1)), "rank 8 has rank 11, which is not among the 10 ranks")
        broadcast = self.file("root-0.json", kineto(0, 1, [("broadcast", 8, 8, "Float", {"Rank": 0}), ("allreduce", 2, 2, "Half", {})]))
        self.assertEqual(self.summary("--assume", "root=0", broadcast)["complete"], True)
        halves = self.file("odd.csv", head + row.format("all_reduce"))
        self.assertTrue(self.summary(halves)["complete"])
        self.refused_import([halves, "--assume", "dtype=fp32"], "allreduce: 65 bytes are no whole number of fp32")

    def test_a_reduction_that_no_backend_has_is_not_complete(self):
        self.incomplete(self.file("bool-0.json", kineto(0, 1, [("allreduce", 5, 5, "Bool", {})])), "allreduce: no backend reduces bool")
        self.same_bytes(self.file("moved-0.json", kineto(0, 1, [("_allgather_base", 5, 5, "Bool", {})])))

    def test_messages_are_matched_in_their_communicator(self):
        # The same tag in two communicators, received in the other order; tag 6 is taken.
        send = [f"MPI_Isend:{140 + count}:1:{count}:DOUBLE:1:{tag}:{handle},0,2:77:{141 + count}" for count, tag, handle in ((1, 5, 94), (2, 6, 94), (3, 5, 97))]
        recv = [[f"MPI_Recv:{140 + place}:1:9:DOUBLE:0:{tag}:{handle},1,2:77:{141 + place}" for place, (tag, handle) in enumerate(((5, first), (-1, second), (6, second)))]
                for first, second in ((97, 94), (11, 12))]
        sender, receiver = (plan["steps"] for plan in self.plans(self.pmpi("two", send, recv[0]))["plans"])
        sent = {step["send"][0]["bytes"]: step["channel"] for step in sender if step["operation"] == "send"}
        received = [(step["recv"][0]["bytes"], step["channel"]) for step in receiver if step["operation"] == "recv"]
        self.assertEqual(received, [(bytes_, sent[bytes_]) for bytes_ in (24, 8, 16)])
        self.assertEqual(len(set(sent.values())), 3)
        self.assertIn({"text": "messages in several communicators, which two ranks name differently, are matched by tag alone", "count": 3},
                      self.summary(self.pmpi("pointers", send, recv[1]))["notes"])

    def test_a_receive_without_a_send_has_no_size(self):
        send, recv = "MPI_Send:140:1:3:DOUBLE:1:{}:94,0,2:150", "MPI_Recv:140:1:9:DOUBLE:{}:5:94,1,2:77:150"
        folder = self.pmpi("tag", [send.format(4)], [recv.format(0)])
        self.assertEqual(self.summary(folder)["why_not"], ["messages of ranks 0 and 1 do not fit together: 1 of rank 1's receives have tags without a send"])
        for room in (folder, self.pmpi("anybody", [send.format(5)], [recv.format(-1)])):
            self.assertRegex(run("summary", room).stdout, r"\nrecv .* -\n", "no bandwidth of the room that it has")

    def test_computations_of_hours_are_kept_and_pauses_are_told(self):
        hours = 7_200_000_000_000
        document = self.plans(self.file("long.goal", f"num_ranks 1\nrank 0 {{\ncalc {hours}\n}}\n"))
        self.assertEqual([step["busy_ns"] for step in document["plans"][0]["steps"]], [hours])
        folder = self.pmpi("clock", ["MPI_Barrier:110:94,0,1:120", "MPI_Barrier:121:94,0,1:122", "MPI_Barrier:7200000000:94,0,1:7200000001", "MPI_Barrier:7200000002:94,0,1:7200000003"])
        self.assertEqual([step.get("busy_ns") for step in self.plans(folder)["plans"][0]["steps"]], [None, 1000, None, None, 1000, None])
        self.assertIn({"text": "pauses of more than an hour, as of a clock that was set; they are no computation", "count": 1}, self.summary(folder)["notes"])
        message = ":1:3:DOUBLE:0:0:94,0,1"
        folder = self.pmpi("wait", [f"MPI_Irecv:110{message}:80:120", f"MPI_Isend:121{message}:88:122", "MPI_Waitall:7200000000:2:80:0:7200000001", "MPI_Barrier:7200000003:94,0,1:7200000004"])
        self.assertEqual([step["busy_ns"] for step in self.plans(folder)["plans"][0]["steps"] if step["operation"] == "compute"], [1000])

    def test_what_is_left_out_is_told(self):
        folder = self.pmpi("left", ["MPI_Barrier:110:94,0,1:120", "MPI_Comm_free:121:1:122"])
        self.assertIn({"text": "left out: MPI_Comm_free", "count": 1}, self.summary(folder)["notes"])
        self.assertIn("note: left out: MPI_Comm_free (1)\n", run("import", folder, "-o", "-").stderr)

    def test_a_rank_may_have_no_message(self):
        document = self.plans(self.file("a.goal", "num_ranks 3\nrank 0 {\nsend 8b to 2\n}\nrank 1 {\ncalc 100\n}\nrank 2 {\nrecv 8b from 0\n}\n"))
        self.assertEqual([[step["operation"] for step in plan["steps"]] for plan in document["plans"]], [["send"], ["compute"], ["recv"]])
        plans = self.file("plans.jsonl", run("import", self.folder / "a.goal", "-o", "-").stdout)
        self.assertEqual(run("rescale", "truncate", plans, "--ranks", "3").returncode, 0)

    def test_the_last_iteration_computes_to_its_end(self):
        send, recv = "send 8b to 1\n", "recv 8b from 0\n"
        trace = self.file("a.goal", f"num_ranks 2\nrank 0 {{\n{send}calc 1\n{send}calc 2\n{send}calc 3\n}}\nrank 1 {{\n{recv * 3}}}\n")
        self.assertEqual(run("import", trace, "-o", f"{self.folder}/plans/").returncode, 0)
        plans = [plan_of(path.read_text()) for path in sorted((self.folder / "plans").iterdir())]
        self.assertEqual([[step.get("busy_ns") for step in plan["plans"][0]["steps"]] for plan in plans], [[None], [1, None], [2, None, 3]])

    def test_a_folder_with_files_is_refused(self):
        files = [self.file("a.goal", GOAL), "--assume", "iterations=1"]
        folder = self.folder / "plans"
        self.assertEqual(run("import", *files, "-o", f"{folder}/").returncode, 0)
        again = run("import", *files, "-o", folder)
        self.assertEqual(again.returncode, 64)
        self.assertIn("there are files in it; give a new folder", again.stderr)

    def test_a_matrix_becomes_an_exchange(self):
        self.same_bytes(self.file("m.txt", "1 2\n3 0\n"))

    @unittest.skipUnless(FOLDER, "DLMB_TRACES names no folder")
    def test_traces_of_others(self):
        found = 0
        for pattern in ("param-dlrm*gz", "aicb-gpt*.csv", "aicb-llama*.csv", "simai-*.txt"):
            for file in Path(FOLDER).glob(pattern):
                found += 1
                with self.subTest(file.name):
                    self.same_bytes(file)
        chakra = sorted(Path(FOLDER).glob("astra-sim-*.et"))
        if chakra:
            self.same_bytes(*chakra)
        if not found:
            self.skipTest("none of the files is there")


if __name__ == "__main__":
    unittest.main()
