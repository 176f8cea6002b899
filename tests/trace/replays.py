# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_replay: imported traces measured and validated over backends, at other numbers of ranks, and plans that are none."""

import gzip
import json
import os
import subprocess
import unittest
from pathlib import Path

from plan_files import plan_text
from program import TraceTest, kineto, plan_of, run

REPLAY = os.environ["DLMB_REPLAY"]
MPIEXEC = os.environ.get("DLMB_MPIEXEC", "")
FOLDER = os.environ.get("DLMB_TRACES", "")
FEW = ["-i", "4", "-x", "1", "--cache", "warm", "--calibration", "off"]


def elements(source, target):
    return (source + 2 * target) % 5


class Replays(TraceTest):
    def plan(self, world, name="plan.jsonl"):
        """An uneven all-to-all, an allreduce with a computation before it, and an allgather."""
        files = []
        for rank in range(world):
            sent, got = [elements(rank, peer) for peer in range(world)], [elements(peer, rank) for peer in range(world)]
            text = json.loads(kineto(rank, world, [("all_to_allv", sum(sent), sum(got), "Float", {"In split size": str(sent), "Out split size": str(got)}),
                                                   ("allreduce", 1000, 1000, "BFloat16", {}), ("_allgather_base", 10, 10 * world, "Float", {})]))
            for event in text["traceEvents"][3:]:
                event["ts"] += 100  # behind the first kernel, which ends at 7 us
            files.append(self.file(f"trace.{rank}.json", json.dumps(text)))
        plan = self.folder / name
        done = run("import", *files, "-o", plan, "--ranks-per-node", world)
        self.assertEqual(done.returncode, 0, done.stderr)
        return plan

    def replay(self, plan, *options, processes=0):
        results = self.folder / "results.jsonl"
        results.unlink(missing_ok=True)
        command = [MPIEXEC, "-np", str(processes)] if processes else []
        done = subprocess.run([*command, REPLAY, "--plan", str(plan), *FEW, "--results", str(results), *map(str, options)], capture_output=True, text=True,
                              timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        found = [line for line in map(json.loads, results.read_text().splitlines()) if line["kind"] == "cell" and line["status"] != "skipped"]
        self.assertTrue(found)
        for cell in found:
            self.assertEqual((cell["status"], cell["validation"]["verdict"]), ("ok", "passed"))
        return found

    def rescaled(self, how, plan, ranks):
        other = self.folder / "rescaled.jsonl"
        done = run("rescale", how, plan, "--ranks", ranks, "-o", other)
        self.assertEqual(done.returncode, 0, done.stderr)
        return other

    def refused(self, plan, *options, text):
        done = subprocess.run([REPLAY, "--plan", str(plan), *FEW, "--backend", "in_process", *options], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr[-2000:])
        self.assertIn(text, done.stderr)

    @staticmethod
    def payload(world, exchanged):
        return 4 * exchanged + world * 2000 + world * 40 * world

    def test_traces_of_2_and_8_ranks_run_and_are_validated(self):
        for world in (2, 8):
            plan = self.plan(world)
            exchanged = sum(elements(source, target) for source in range(world) for target in range(world))
            cells = self.replay(plan, "--ranks", world, "--backend", "in_process", "--compute", "none,recorded,0.5")
            if MPIEXEC:
                cells += self.replay(plan, "--backend", "mpi,ucx", "--compute", "none", processes=world)
            for cell in cells:
                self.assertEqual(cell["traffic"]["payload_bytes"], self.payload(world, exchanged))
                self.assertEqual(cell["statistics"]["recorded_ranks"], world)
            # 96 us from the end of the first kernel to the start of the second, as kineto() has them
            self.assertEqual({cell["parameters"]["compute"]: round(cell["statistics"].get("compute_us", 0), 3) for cell in cells},
                             {"none": 0, "recorded": 96, 0.5: 48})

    def test_other_numbers_of_ranks_only_as_asked_for(self):
        plan = self.plan(4)
        self.refused(plan, "--ranks", "2", text="make plans for 2 with dlmb_plan rescale")
        for how, ranks, text in (("uniform", 6, "no multiple of the 4"), ("truncate", 8, "truncate")):
            done = run("rescale", how, plan, "--ranks", ranks)
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertIn(text, done.stderr)
        matrix = [[elements(source, target) for target in range(4)] for source in range(4)]
        whole = 4 * sum(map(sum, matrix))
        sizes = {}
        for ranks in (2, 8):
            for how in ("preserve-skew", "uniform", "truncate")[:2 if ranks > 4 else 3]:
                cell = self.replay(self.rescaled(how, plan, ranks), "--ranks", ranks, "--backend", "in_process", "--compute", "none")[0]
                phases = {label: phase["traffic"]["payload_bytes"] for label, phase in cell["phases"].items()}
                self.assertEqual(phases["allreduce"], ranks * 2000)
                self.assertEqual(phases["allgather"], ranks * (40 * ranks if how == "truncate" else 160))
                sizes[ranks, how] = phases["exchange"]
        self.assertEqual(sizes[2, "truncate"], 4 * (matrix[0][0] + matrix[0][1] + matrix[1][0] + matrix[1][1]))
        for ranks in (2, 8):  # the mean over ranks stays, blocks are whole bytes
            for how in ("preserve-skew", "uniform"):
                self.assertLessEqual(abs(sizes[ranks, how] - whole * ranks / 4), ranks * ranks / 2, (ranks, how))

    def test_equal_parts_that_are_listed_are_rescaled_and_uneven_ones_refused(self):
        plan = plan_of(self.plan(2).read_text())
        size = 0
        for shares, text in (([20, 20], ""), ([16, 24], "uneven parts")):
            for rank in plan["plans"]:
                step = next(step for step in rank["steps"] if step["operation"] == "allgather")
                size = step["bytes"]
                step["shares"] = [size * share // 40 for share in shares]
            listed = self.file("listed.jsonl", plan_text(plan))
            if text:
                self.assertIn(text, run("rescale", "uniform", listed, "--ranks", 4).stderr)
            else:
                cell = self.replay(self.rescaled("uniform", listed, 4), "--ranks", 4, "--backend", "in_process", "--compute", "none")[0]
                self.assertEqual(cell["phases"]["allgather"]["traffic"]["payload_bytes"], 4 * size)

    def test_equal_blocks_that_lie_apart_run_by_default_as_ragged_ones(self):
        header = json.loads(self.plan(2).read_text().splitlines()[0])
        blocks = [{"peer": peer, "bytes": 64, "offset": 128 * peer} for peer in (0, 1)]
        step = {"id": 0, "operation": "exchange", "label": "x", "after": [], "group": 0, "send": blocks, "recv": blocks, "recv_buffer": 1}
        ranks = [{"rank": rank, "groups": [0], "buffers": [{"name": name, "bytes": 192} for name in "sr"], "step_count": 1, "steps": [step]} for rank in (0, 1)]
        plan = self.file("apart.jsonl", "".join(json.dumps(line) + "\n" for line in [header, {"group": 0, "members": [0, 1]}, *ranks]))
        self.assertTrue(self.replay(plan, "--ranks", "2", "--backend", "in_process"))
        if MPIEXEC:
            self.assertEqual([cell["method"] for cell in self.replay(plan, "--backend", "mpi", processes=2)], ["alltoallv"])

    def test_plans_that_are_none_are_refused_in_one_line(self):
        good = self.plan(2).read_text()
        self.refused(self.folder / "absent.jsonl", "--ranks", "2", text="absent.jsonl")
        self.refused(Path("/dev/zero"), "--ranks", "2", text="without a file")
        packed = self.folder / "plan.jsonl.gz"
        packed.write_bytes(gzip.compress(good.encode()))
        self.assertTrue(self.replay(packed, "--ranks", "2", "--backend", "in_process"))
        older = '{"schema":"dlmb.plan/1.1","pattern":"trace","plans":[\n{"rank":0,"steps":[]}]}\n'
        for name, old, new, text in [
                ("cut", good, good[:-200], "unexpected end of input"), ("older", good, older, "write it again with --plan jsonl"), ("schema", "dlmb.plan/2.0", "dlmb.plan/3.0", "dlmb.plan/2.x"),
                ("kind", '"allreduce"', '"allreduse"', "nearest: allreduce"), ("bytes", '"bytes":2000', '"bytes":-1', "steps["), ("large", '"bytes":2000', '"bytes":9223372036854775808', "2^62"),
                ("odd", '"bytes":2000', '"bytes":2001', "whole number of bf16"), ("later", '"after":[0]', '"after":[9]', "not an earlier one"),
                ("stranger", '"members":[0,1]', '"members":[0,7]', "rank 7"), ("order", '"rank":1', '"rank":3', "order of ranks"),
                ("unequal", '"bytes":2000,"element":"bf16"', '"bytes":1000,"element":"bf16"', "do not fit together"),
                ("world", '"ranks":2', '"ranks":3', "world.ranks is 3"), ("empty", good, "{}", "no schema"), ("list", good, "[]", "no schema"),
                ("deep", good, '{"schema":' + "[" * 1000000, "nested brackets")]:
            bad = self.file(f"{name}.jsonl", good.replace(old, new, 1))
            self.refused(bad, "--ranks", "2", text=text)
        self.refused(self.file("good.jsonl", good), "--ranks", "2", "--compute", "much", text="recorded, none")

    def test_a_trace_of_others_runs(self):
        files = sorted(Path(FOLDER).glob("param-dlrm*tar.gz")) if FOLDER else []
        if not files:
            self.skipTest("no param-dlrm*tar.gz in DLMB_TRACES")
        plan = self.folder / "dlrm.jsonl"
        done = run("import", *files, "-o", plan, "--ranks-per-node", 8, "--assume", "root=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.replay(plan, "--ranks", 8, "--backend", "in_process")
        if MPIEXEC:
            self.replay(plan, "--backend", "mpi,ucx", processes=8)


if __name__ == "__main__":
    unittest.main()
