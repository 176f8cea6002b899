# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_plan transform, overlay and rescale: plans in, plans out, through files and pipes."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from plan_files import plan_text
from program import PROGRAM, TraceTest, plan_of, run

BIN = Path(os.environ["DLMB_PLAN"]).parent
REPLAY = str(BIN / "dlmb_replay")


def planned(pattern, ranks, *options):
    """The text of a pattern's plans."""
    done = subprocess.run([BIN / f"dlmb_{pattern}", "--ranks", str(ranks), *options, "--plan", "jsonl"], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def moe(ranks, *options):
    return planned("moe_alltoall", ranks, "--hidden", "64", "--experts", "16", "--top-k", "2", "--tokens", "64", *options)


def reduced(ranks):
    return planned("collective", ranks, "--operation", "allreduce", "-m", "4K:4K")


def messages(ranks):
    return planned("pipeline_p2p", ranks, "--preset", "quick", "--sequence", "8", "--hidden", "64")


def labels(plan):
    return [step["label"] for step in plan["steps"]]


class Changes(TraceTest):
    def plan(self, name, text):
        return self.file(f"{name}.jsonl", text)

    def made(self, *arguments, stdin=None):
        done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused_change(self, arguments, *texts):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (64, "", 1), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def replayed(self, text, ranks, *options):
        results = self.folder / "results.jsonl"
        results.unlink(missing_ok=True)
        command = [REPLAY, "--plan", "-", "--ranks", str(ranks), "--backend", "in_process", "-i", "4", "-x", "1", "--cache", "warm", "--calibration", "off"]
        done = subprocess.run([*command, "--results", str(results), *options], input=text, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (cell,) = [line for line in map(json.loads, results.read_text().splitlines()) if line["kind"] == "cell"]
        self.assertEqual((cell["status"], cell["validation"]["verdict"]), ("ok", "passed"))
        return cell

    def test_an_overlay_runs_both_and_names_each(self):
        both = self.made("overlay", "-", self.plan("sum", reduced(4)), stdin=moe(4))
        document = plan_of(both)
        self.assertEqual((document["pattern"], document["parameters"]["beside.pattern"]), ("moe_alltoall", "collective"))
        for plan in document["plans"]:
            self.assertEqual(labels(plan), ["beside.allreduce", "count_exchange", "dispatch", "combine"])
            self.assertEqual([step["after"] for step in plan["steps"]], [[], [], [1], [2]])
        cell = self.replayed(both, 4)
        self.assertEqual(set(cell["phases"]), {"beside", "count_exchange", "dispatch", "combine"})
        alone = self.replayed(moe(4), 4)
        self.assertEqual(cell["traffic"]["payload_bytes"], alone["traffic"]["payload_bytes"] + 4 * 4096)
        self.assertEqual(cell["phases"]["dispatch"]["traffic"], alone["phases"]["dispatch"]["traffic"])

    def test_iterations_of_the_second_begin_anew_and_what_is_beyond_the_first_is_told(self):
        one, two = self.plan("one", reduced(2)), self.plan("two", reduced(2) + reduced(2))
        done = run("overlay", two, one)
        self.assertEqual((done.returncode, done.stderr, done.stdout.count('"label":"beside.allreduce"')), (0, "", 4))
        done = run("overlay", one, two)
        self.assertEqual((done.returncode, done.stdout.count('"label":"beside.allreduce"')), (0, 2))
        self.assertIn("two.jsonl has 2 iterations and ", done.stderr)

    def test_messages_of_one_plan_are_none_of_the_other(self):
        pipe = self.plan("pipe", messages(4))
        document = plan_of(self.made("overlay", pipe, pipe, "--label", "second"))
        channels = {"second": set(), "first": set()}
        for plan in document["plans"]:
            for step in plan["steps"]:
                if "channel" in step:
                    channels["second" if step["label"].startswith("second.") else "first"].add(step["channel"])
        self.assertFalse(channels["second"] & channels["first"], channels)
        self.replayed(self.made("overlay", pipe, pipe, "--label", "second"), 4)

    def test_an_offset_puts_plans_on_other_ranks(self):
        self.refused_change(["overlay", self.plan("four", moe(4)), self.plan("two", moe(2))], "has 4 ranks", "has 2", "--offset")
        for offset, ranks in ((4, 6), (2, 4), (5, 7)):
            text = self.made("overlay", self.plan("four", moe(4)), self.plan("two", moe(2)), "--offset", offset)
            document = plan_of(text)
            self.assertEqual(document["world"]["ranks"], ranks)
            has_both = [sum(label.startswith("beside.") for label in labels(plan)) > 0 for plan in document["plans"]]
            self.assertEqual(has_both, [offset <= rank < offset + 2 for rank in range(ranks)])
            self.replayed(text, ranks)

    def test_transformed_plans_move_the_same_bytes(self):
        text = moe(4, "--quantize", "mxfp8")
        before = self.replayed(text, 4)
        after = self.replayed(self.made("transform", "split:2,overlap", "-", stdin=text), 4)
        self.assertEqual(after["traffic"]["payload_bytes"], before["traffic"]["payload_bytes"])
        twice = plan_of(self.made("transform", "overlap", self.plan("once", self.made("transform", "split:2", "-", stdin=text))))
        self.assertEqual(twice["parameters"]["transform"], "split:2,overlap")
        self.assertEqual(twice["plans"], plan_of(self.made("transform", "split:2,overlap", "-", stdin=text))["plans"])

    def test_a_request_arrives_once_in_plans_that_are_overlapped(self):
        text = planned("kv_transfer", 2, "--layers", "2", "--kv-heads", "1", "--head-dim", "8", "--tokens", "64", "--requests", "2", "--arrivals", "poisson:1")
        arrivals = [[(step["label"], step.get("busy_ns")) for step in plan["steps"] if step["label"].startswith("arrival")] for plan in plan_of(text)["plans"]]
        self.assertTrue(any(busy_ns for rank in arrivals for _label, busy_ns in rank))
        overlapped = plan_of(self.made("transform", "overlap", "-", stdin=text))["plans"]
        self.assertEqual([[(step["label"], step.get("busy_ns")) for step in plan["steps"] if step["label"].startswith("arrival")] for plan in overlapped], arrivals)

    def test_parts_of_a_batch_that_wait_alike_are_a_batch(self):
        def plan(rank):
            side = "recv" if rank else "send"
            return {"rank": rank, "steps": [{"id": 0, "operation": "compute", "label": "c", "after": [], "busy_ns": 1000},
                                            *[{"id": number, "operation": side, "label": "m", "after": [0], "group": [0, 1], side: [{"peer": 1 - rank, "bytes": bytes_}],
                                               "channel": number, "batch": 2**29} for number, bytes_ in ((1, 8), (2, 1 << 20), (3, 1 << 20))]]}
        text = plan_text({"pattern": "made", "world": {"ranks": 2, "ranks_per_node": 2}, "plans": [plan(0), plan(1)]})
        overlapped = self.made("transform", "overlap", "-", stdin=text)
        for each in plan_of(overlapped)["plans"]:  # the first message has no parts, and waits for both of the computation
            self.assertEqual([step["batch"] for step in each["steps"] if "batch" in step], [0, 1, 1, 2, 2])
        self.replayed(overlapped, 2, "--compute", "recorded")

    def test_a_plan_that_is_not_valid_is_not_written(self):
        steps = [{"id": number, "operation": "send", "label": "m", "after": after, "group": [0, 1], "send": [{"peer": 1, "bytes": 8}], "channel": 0, "batch": 0}
                 for number, after in ((0, []), (1, [0]))]
        text = plan_text({"pattern": "made", "world": {"ranks": 2, "ranks_per_node": 2}, "plans": [{"rank": 0, "steps": steps}, {"rank": 1, "steps": []}]})
        self.refused_change(["transform", "split:2", self.plan("batch", text)], "batch.jsonl", "after the transformation", "does not wait for the same steps")

    def test_two_sided_plans_become_puts_with_the_same_bytes(self):
        rows = ["--hidden", "64", "--experts", "16", "--top-k", "2", "--tokens", "64"]
        relayed = planned("moe_alltoall", 4, *rows, "--ranks-per-node", "2", "--wire", "node_dedup", "--draws", "1")
        for text in (relayed, messages(4), moe(3, "--wire", "rank_dedup")):
            puts = self.made("transform", "puts", "-", stdin=text)
            ranks = plan_of(puts)["world"]["ranks"]
            operations = {step["operation"] for plan in plan_of(puts)["plans"] for step in plan["steps"]}
            self.assertLessEqual({"put", "wait_signal"}, operations)
            self.assertFalse(operations & {"exchange", "send", "recv"})
            before, after = self.replayed(text, ranks), self.replayed(puts, ranks)
            self.assertEqual(after["traffic"]["payload_bytes"], before["traffic"]["payload_bytes"])
        self.refused_change(["transform", "puts", self.plan("sum", reduced(4))], "needs exchanges or messages", "have none")
        self.refused_change(["transform", "puts", self.plan("packed", moe(2, "--quantize", "mxfp8"))], "pack.dispatch", "packs or moves rows")

    def test_steps_that_not_all_ranks_could_join_are_refused(self):
        def reduce(number, after):
            return {"id": number, "operation": "allreduce", "label": "a", "after": after, "group": [0, 1], "bytes": 64, "element": "fp32", "reduction": "sum"}
        # On rank 0 a computation stands between the two, so that they cannot become one.
        compute = {"id": 1, "operation": "compute", "label": "c", "after": [0], "busy_ns": 1000}
        plans = [{"rank": 0, "steps": [reduce(0, []), compute, reduce(2, [1])]}, {"rank": 1, "steps": [reduce(0, []), reduce(1, [0])]}]
        file = self.plan("made", plan_text({"pattern": "made", "world": {"ranks": 2, "ranks_per_node": 2}, "plans": plans}))
        for change in ("fuse", "bucket:1M", "fuse,overlap"):
            self.refused_change(["transform", change, file], "made.jsonl", "do not fit together after the transformation", "collective steps on group [0 1]")
        self.replayed(self.made("transform", "split:2", file), 2)

    def test_an_overlay_has_no_more_channels_than_plans_may_have(self):
        send, recv = ({"id": 0, "operation": kind, "label": "m", "after": [], "group": [0, 1], side: [{"peer": 1 - rank, "bytes": 8}], "channel": 2**29, "batch": -1}
                      for rank, (kind, side) in enumerate((("send", "send"), ("recv", "recv"))))
        text = plan_text({"pattern": "made", "world": {"ranks": 2, "ranks_per_node": 2}, "plans": [{"rank": 0, "steps": [send]}, {"rank": 1, "steps": [recv]}]})
        file = self.plan("high", text)
        self.refused_change(["overlay", file, file, "-o", self.folder / "never.jsonl"], "more than 536870913 channels", "lower")

    def test_what_a_transformation_cannot_do_is_refused_before_anything_is_written(self):
        self.refused_change(["transform", "bucket:1M", self.plan("pipe", messages(4))], "these plans have none")
        self.refused_change(["transform", "split:2,reorder", self.plan("moe", moe(2))], "these plans have no computations")
        self.refused_change(["transform", "fuse,merge", self.plan("moe", moe(2))], "expected none, or some of")
        self.refused_change(["transform", "split:2", self.plan("rows", moe(2, "--pack", "host"))], "can only be reordered")
        output = self.folder / "never.jsonl"
        self.refused_change(["overlay", "-", "-", "-o", output], "give one of them as a file")
        both = self.plan("both", self.made("overlay", self.plan("moe", moe(2)), self.plan("sum", reduced(2))))
        self.refused_change(["overlay", both, self.plan("sum", reduced(2)), "-o", output], "both.jsonl has a phase 'beside' already", "--label")
        self.assertFalse(output.exists())
        plan = self.plan("self", moe(2))
        self.made("transform", "split:2", plan, "-o", plan)
        self.assertEqual(plan.read_text(), self.made("transform", "split:2", "-", stdin=moe(2)))

    def test_packed_and_moved_rows_are_replayed_with_their_bytes(self):
        for options in (["--quantize", "int4:32:fp32"], ["--pack", "host"], ["--pack", "host", "--quantize", "mxfp8"], ["--quantize", "mxfp8", "--wire", "rank_dedup"]):
            text = moe(4, *options)
            self.assertIn("pack.dispatch", labels(plan_of(text)["plans"][0]))
            self.replayed(text, 4)
        self.refused_change(["rescale", "uniform", self.plan("rows", moe(4, "--pack", "host")), "--ranks", "2"], "packs or moves rows")

    def test_every_iteration_is_rescaled(self):
        one, two = (moe(4, "--seed", seed, "--skew", "zipf:1") for seed in ("1", "2"))
        halves = self.made("rescale", "preserve-skew", "-", "--ranks", 2, stdin=one + two)
        self.assertEqual(halves.count('"rescaled-from":4'), 2)
        self.assertEqual(halves, "".join(self.made("rescale", "preserve-skew", "-", "--ranks", 2, stdin=text) for text in (one, two)))
        self.replayed(self.made("rescale", "preserve-skew", "-", "--ranks", 2, stdin=one), 2)

    def test_plans_of_another_program_need_no_buffers(self):
        steps = [{"id": 0, "operation": "allreduce", "label": "a", "after": [], "group": [0, 1], "bytes": 64, "element": "fp32", "reduction": "sum"}]
        text = plan_text({"pattern": "made", "world": {"ranks": 2, "ranks_per_node": 2}, "plans": [{"rank": rank, "steps": steps} for rank in (0, 1)]})
        self.assertEqual(self.replayed(text, 2)["traffic"]["payload_bytes"], 128)
        both = self.made("overlay", "-", self.plan("other", text), stdin=text)
        self.assertEqual(self.replayed(both, 2)["traffic"]["payload_bytes"], 256)

    def test_iterations_meet_in_turn(self):
        one, two = (moe(2, "--seed", seed, "--skew", "zipf:1") for seed in ("1", "2"))
        text = self.made("overlay", self.plan("two", one + two), self.plan("sum", reduced(2)))
        self.assertEqual(text.count('"schema"'), 2)
        results = self.folder / "r.jsonl"
        done = subprocess.run([REPLAY, "--plan", "-", "--ranks", "2", "--backend", "in_process", "-i", "4", "-x", "1", "--results", str(results)],
                              input=text, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('"recorded_iterations":2', results.read_text())

    def test_other_plans_from_a_pipe_are_another_cell(self):
        ids = [self.replayed(text, 2)["cell_id"] for text in (moe(2), moe(2, "--seed", "2"), moe(2))]
        self.assertEqual(ids[0], ids[2])
        self.assertNotEqual(ids[0], ids[1])


if __name__ == "__main__":
    unittest.main()
