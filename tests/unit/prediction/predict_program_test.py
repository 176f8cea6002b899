# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_predict fit, points and time."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import shutil
import subprocess

import program

EXAMPLE = program.VALIDATE.parent / "examples" / "results.jsonl"
HEADER = "system,nodes,ranks_per_node,mpi,mpi_version,gpu,collective,algorithm,bytes,iterations,median_us,p10_us,p90_us,campaign,test"


def time_us(algorithm: str, nodes: int, size: int) -> float:
    """A machine of alpha and beta: 3 us per round, 10 GB/s."""
    rounds, share = {
        "ring_ompi": (2 * (nodes - 1), 2 * (nodes - 1) / nodes),
        "recursive_doubling_ompi": (math.log2(nodes), math.log2(nodes)),
        "rabenseifner_ompi": (2 * math.log2(nodes), 2 * (nodes - 1) / nodes),
    }[algorithm]
    return 3 * rounds + size * share / 10_000


def lines(nodes: list[int], system: str = "made") -> list[str]:
    return [
        f"{system},{count},1,OMPI,4.1,no,allreduce,{algorithm},{size},100,{time_us(algorithm, count, size):.3f},1,9,c,1"
        for count in nodes
        for algorithm in ("ring_ompi", "recursive_doubling_ompi", "rabenseifner_ompi")
        for size in (1024, 4096, 65536, 1 << 20, 1 << 24)
    ]


class Predict(program.Program):
    fits: dict[tuple[object, ...], tuple[subprocess.CompletedProcess[str], bytes]] = {}  # of the same table, by more options

    def setUp(self) -> None:
        super().setUp()
        self.table = self.write("table.csv", [HEADER, *lines([4, 8, 16, 32, 256])])
        self.model = self.folder / "model.json"

    def fit(self, *more: object) -> subprocess.CompletedProcess[str]:
        if more not in self.fits:
            done = self.call("fit", self.table, "--system", "made", "--max-nodes", 32, "-o", self.model, *more)
            self.fits[more] = done, self.model.read_bytes()
        done, model = self.fits[more]
        self.model.write_bytes(model)
        return done

    def points(self, content: list[str], *more: object, code: int = 0) -> list[dict[str, str]]:
        asked = self.write("points.csv", content)
        done = self.call("points", "--model", self.model, asked, "-o", "-", *more)
        self.assertEqual(done.returncode, code, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([line.rsplit(",", 5)[0] for line in done.stdout.splitlines()], content)
        return rows

    def test_a_model_says_what_it_was_made_from_and_what_it_predicts_holds(self) -> None:
        done = self.fit()
        self.assertEqual(done.returncode, 0, done.stderr)
        model = json.loads(self.model.read_text(encoding="utf-8"))
        self.assertEqual(model["input"]["sha256"], hashlib.sha256(self.table.read_bytes()).hexdigest())
        self.assertEqual(model["range"], {"fewest_nodes": 4, "most_nodes": 32, "fewest_bytes": 1024.0, "most_bytes": float(1 << 24)})
        self.assertEqual(model["error"]["held_out_above_nodes"], 4)
        for row in self.points([HEADER, *lines([256])]):
            self.assertEqual(row["status"], "ok (extrapolated)")
            self.assertLess(abs(float(row["predicted_us"]) / float(row["median_us"]) - 1), 0.3)
            self.assertLessEqual(float(row["low_us"]), float(row["predicted_us"]))
            self.assertGreaterEqual(float(row["high_us"]), float(row["predicted_us"]))

    def test_documents_follow_their_schemas(self) -> None:
        self.fit()
        by_model = self.answer("time", "collective", "--operation", "alltoall", "--message-size", "4K:4K", "--ranks", 8, "--ranks-per-node", 1, "--machine", self.model, "--topology", "torus:2x4")
        goal = self.write("one.goal", ["num_ranks 1", "rank 0 {", "c0: calc 100", "}"])
        by_goal = self.answer("time", "--goal", goal, "--latency", 5)
        self.follows_its_schema(self.model, self.write("model.time.json", [json.dumps(by_model)]), self.write("goal.time.json", [json.dumps(by_goal)]))

    def test_no_library_that_sends_messages_is_needed(self) -> None:
        if shutil.which("readelf") is None:
            self.skipTest("no readelf")
        lines = program.run(["readelf", "--dynamic", "--wide", program.PROGRAM]).stdout.splitlines()
        needed = [line.split("[")[-1].rstrip("]") for line in lines if "(NEEDED)" in line]
        self.assertTrue(any(name.startswith("libc.so") for name in needed), needed)
        self.assertEqual([name for name in needed if name.startswith(("libmpi", "libuc", "libnccl", "libcuda", "libfabric"))], [])

    def test_points_need_no_times_and_each_line_has_a_status(self) -> None:
        self.fit()
        rows = self.points(
            [
                "system,nodes,collective,algorithm,bytes",
                "made,32,allreduce,ring_ompi,0",
                "made,32,allreduce,ring_ompi,1024",
                "made,64,allreduce,default_ompi,1024",
                "other,64,allreduce,ring_ompi,1024",
                "made,8x8,allreduce,ring_ompi,1024",
                "made,63,allgather,neighbor_ompi,1024",
                "made,64,allgather,bruck_ompi,1024",
            ]
        )
        status = [row["status"] for row in rows]
        self.assertEqual(status[:3], ["ok (extrapolated)", "ok", "unknown algorithm"])
        self.assertEqual(status[3], "refused: the model is of made")
        self.assertTrue(status[4].startswith("refused: "))
        self.assertIn("even number of ranks", status[5])
        self.assertEqual(status[6], "ok (extrapolated)")
        self.assertEqual([bool(row["predicted_us"]) for row in rows], [True, True, False, False, False, False, True])

    def test_an_error_above_40_percent_is_refused_unless_forced(self) -> None:
        self.fit()
        model = json.loads(self.model.read_text(encoding="utf-8"))
        model["error"]["held_out"][0]["median"] = 0.7
        self.model.write_text(json.dumps(model), encoding="utf-8")
        asked = ["system,nodes,collective,algorithm,bytes", "made,64,allreduce,ring_ompi,1024"]
        (row,) = self.points(asked, code=69)
        self.assertEqual(row["status"], "refused: the held-out error of allreduce is 70 %")
        (row,) = self.points(asked, "--force")
        self.assertEqual(row["status"], "ok (forced)")
        self.assertEqual(row["chosen"], "", "one algorithm is no choice")
        far = ["system,nodes,collective,algorithm,bytes", "made,2048,allreduce,ring_ompi,1024"]
        self.fit()
        (row,) = self.points(far, code=69)
        self.assertEqual(row["status"], "refused: 2048 nodes are x64 those of the fit; and no error is known beyond x32")
        (row,) = self.points(far, "--force")
        self.assertEqual(row["status"], "ok (forced)")
        self.refused(69, "no error is known beyond x32", "search", "--layers", "64x64", "--tokens", 64, "--mesh", 2048, "--model", self.model)
        self.assertTrue(self.fit("--force").returncode == 0 and json.loads(self.model.read_text(encoding="utf-8"))["forced"])

    def test_an_algorithm_is_chosen_only_where_its_interval_is_apart(self) -> None:
        self.fit()
        model = json.loads(self.model.read_text(encoding="utf-8"))
        model.update(replicates=[], job_spread=0)  # width_inside alone makes the intervals
        names = ("recursive_doubling_ompi", "rabenseifner_ompi", "ring_ompi", "recursive_doubling_ompi")  # one twice
        asked = ["system,nodes,collective,algorithm,bytes", *(f"made,32,allreduce,{name},1024" for name in names)]
        for width, words, rules in ((0.05, ["yes", "no", "no"], True), (0.5, ["undecided"] * 3, False)):
            model["error"]["width_inside"] = width
            self.model.write_text(json.dumps(model), encoding="utf-8")
            first, second, third, again = self.points(asked)
            self.assertEqual(again, first)
            self.assertLess(1.2 * float(first["predicted_us"]), float(second["predicted_us"]), "the middle of the intervals would decide")
            self.assertEqual(float(first["high_us"]) < float(second["low_us"]), rules)
            self.assertEqual([row["chosen"] for row in (first, second, third)], words)
            done = self.call("table", "--model", self.model, "--nodes", 32, "--sizes", "1K:1K", "-o", self.folder / "chosen.json")
            self.assertEqual(done.returncode, 0 if rules else 69, done.stderr)
            self.assertEqual("allreduce on 32 nodes: undecided at 1 of 1 sizes, the library decides" in done.stderr, not rules)

    def test_what_is_damaged_is_refused_in_one_line(self) -> None:
        self.fit()
        good = self.write("good.csv", ["system,nodes,collective,algorithm,bytes", "made,64,allreduce,ring_ompi,1024"])
        binary = self.folder / "binary"
        binary.write_bytes(bytes(range(256)))
        for bad in (binary, self.write("short.csv", ["system,nodes", "made,4"]), self.write("empty.csv", []), self.folder / "missing"):
            self.refused(64, bad.name, "points", "--model", self.model, bad, "-o", "-")
            self.refused(64, bad.name, "points", "--model", bad, good, "-o", "-")
            self.refused(64, bad.name, "fit", bad, "--system", "made", "-o", "-")
        self.refused(64, "unknown system 'mad'; nearest: made", "fit", self.table, "--system", "mad", "-o", "-")
        self.refused(64, "too few", "fit", self.table, "--system", "made", "--max-nodes", 1, "-o", "-")
        self.refused(64, "--help", "fit", self.table)
        self.refused(74, "", "fit", self.table, "--system", "made", "--max-nodes", 8, "-o", self.folder / "no" / "model.json")

    def test_a_result_file_is_fitted_by_the_algorithms_that_its_methods_name(self) -> None:
        launch, cell = (json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()[:2])
        launch["environment"]["identity"]["mpi_library"] = "Open MPI v4.1.4"
        written = [json.dumps(launch)]
        for ranks in (2, 4):
            for operation, algorithm, method, skew, backend, beside in (
                ("allreduce", "ring_ompi", "algorithm:allreduce=ring", "balanced", "mpi", ""),
                ("allreduce", "recursive_doubling_ompi", "algorithm:allreduce=recursive_doubling", "balanced", "mpi", ""),
                ("allreduce", "ring_ompi", "blocking", "balanced", "mpi", ""),
                ("reduce_scatter", "ring_ompi", "algorithm:reduce_scatter=ring", "zipf:1", "mpi", ""),
                ("sendrecv", "ring_ompi", "default", "balanced", "ucx", ""),
                ("sendrecv", "ring_ompi", "threads", "balanced", "mpi", ""),
                ("allreduce", "ring_ompi", "algorithm:allreduce=ring", "balanced", "mpi", "memory"),
            ):
                for size in (1024, 65536, 1 << 20):
                    cell.update(backend=backend, beside=beside)
                    parameters = {"operation": operation, "message-size": size, "in-place": "off", "compute": "none", "route": "ring", "skew": skew}
                    cell.update(pattern="collective", method=method, parameters=parameters, world={"ranks": ranks, "ranks_per_node": 1})
                    cell["time_ns"]["median"] = 1000 * time_us(algorithm, ranks, size)
                    cell["cell_id"] = f"{operation}/{backend}/{beside}/{method}/{size}/{ranks}"
                    written.append(json.dumps(cell))
        results = self.write("results.jsonl", written)
        done = self.call("fit", results, "--system", "here", "-o", self.model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("30 lines were left out", done.stdout)
        self.assertIn("Held-out error: unknown; it needs 10 measurements", done.stdout)
        piped_in = program.run([program.PROGRAM, "fit", "/dev/stdin", "--system", "here", "-o", "-"], results.read_text(encoding="utf-8"))
        self.assertEqual((piped_in.returncode, piped_in.stdout.replace('"stdin"', '"results.jsonl"')), (0, self.model.read_text(encoding="utf-8")), piped_in.stderr)
        model = json.loads(self.model.read_text(encoding="utf-8"))
        self.assertEqual(model["input"]["points"], 12)
        self.assertEqual([row["algorithm"] for row in model["algorithms"]], ["recursive_doubling_ompi", "ring_ompi"])
        (row,) = self.points(["system,nodes,collective,algorithm,bytes", "here,8,allreduce,ring_ompi,1048576"])
        self.assertLess(abs(float(row["predicted_us"]) / time_us("ring_ompi", 8, 1 << 20) - 1), 0.3)
        for change in ({"mode": "stream"}, {"cache": cell["cache"] | {"mode": "warm"}}):
            other = json.loads(written[1]) | {"cell_id": "other"} | change
            self.refused(64, "fit cells of one kind", "fit", self.write("mixed.jsonl", [*written, json.dumps(other)]), "--system", "here", "-o", "-")

    def test_a_table_takes_each_number_of_nodes_once(self) -> None:
        self.fit()
        self.refused(64, "--nodes: '64' stands twice", "table", "--model", self.model, "--nodes", "32,64,64", "-o", "-")

    def test_points_say_how_far_they_are_from_what_was_fitted(self) -> None:
        self.fit()
        asked = self.write("points.csv", ["system,nodes,collective,algorithm,bytes", f"made,1024,allreduce,ring_ompi,{1 << 30}"])
        for output in (self.folder / "predicted.csv", "-"):
            done = self.call("points", "--model", self.model, asked, "-o", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            for part in ("from 32 to 1024 nodes, x32", "sizes of", "were predicted from fewer with a median error of"):
                self.assertIn(part, done.stderr)
                self.assertNotIn(part, done.stdout)
            self.assertIn("1 of 1 lines predicted", done.stderr if output == "-" else done.stdout)

    def test_what_a_table_has_beside_what_is_fitted_is_told(self) -> None:
        self.assertNotIn("left out", self.fit().stdout)
        content = self.table.read_text(encoding="utf-8").splitlines()
        # The library's decision names no messages, and a quarter of the time is too short for those of recursive doubling.
        for name in ("default_ompi", "recursive_doubling_over"):
            times = [(1 << size, time_us("recursive_doubling_ompi", 8, 1 << size) / 4) for size in range(20, 25)]
            content += [f"made,8,1,OMPI,4.1,no,allreduce,{name},{size},100,{us},1,9,other,1" for size, us in times]
        table = self.write("more.csv", content)
        done = self.call("fit", table, "-o", self.model, "--system", "made", "--max-nodes", 32)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 lines were left out, which are too fast for their algorithm: allreduce recursive_doubling_over", done.stdout)
        self.assertIn("5 lines were left out, whose messages are not known", done.stdout)

    def test_time_simulates_goal_text_to_the_nanosecond(self):
        goal = self.write("two.goal", ["num_ranks 2", "rank 0 {", "s0: send 10b to 1 tag 1", "}", "rank 1 {", "r0: recv 10b from 0 tag 1", "c0: calc 100", "c0 requires r0", "}"])
        machine = ("--latency", 2000, "--overhead", 1000, "--gap-per-byte", 1)
        answer = self.answer("time", "--goal", goal, *machine)
        self.assertEqual(answer["ends_ps"], [1_000_000, 4_109_000])
        split = answer["critical_path"]["split"]
        self.assertEqual(sum(split.values()), answer["time_ps"])
        self.assertEqual(split["latency_ps"], 2_000_000)
        self.assertIn("4.109 us", self.call("time", "--goal", goal, *machine).stdout)
        self.refused(64, "has no other end", "time", "--goal", self.write("bad.goal", goal.read_text().replace("tag 1", "tag 2", 1).splitlines()), *machine)
        self.refused(64, "line 2", "time", "--goal", self.write("bad.goal", ["num_ranks 2", "rank 1 {"]), *machine)
        self.refused(64, "say what messages cost", "time", "--goal", goal)
        self.refused(64, "--preset", "time", "--goal", goal, *machine, "--preset", "x")
        for option, value in (("--algorithm", "allreduce=ring"), ("--segment", 8), ("--outstanding", 2), ("--radix", 4)):
            self.refused(64, f"--goal excludes {option}", "time", "--goal", goal, *machine, option, value)
        self.refused(64, "--force requires --machine", "time", "--goal", goal, *machine, "--force")
        self.refused(64, "--placement-seed is of --placement random", "time", "--goal", goal, *machine, "--topology", "torus:2", "--placement-seed", 7)
        self.refused(64, "expected nanoseconds from 0 to 1e+12", "time", "--goal", goal, "--latency", 1e13)
        latin = self.folder / "latin.goal"
        latin.write_bytes(b"num_ranks 1\nrank 0 {\nc\xe9: calc 100\n}\n")
        self.assertEqual(self.answer("time", "--goal", latin, *machine)["critical_path"]["longest"][0]["step"], "c\ufffd")

    def test_time_simulates_the_plans_of_a_pattern(self):
        asked = ("time", "collective", "--operation", "allreduce", "--message-size", "4096:4096", "--ranks", 16, "--algorithm", "allreduce=recursive_doubling")
        machine = ("--latency", "node=500,system=2000", "--overhead", 300, "--gap-per-byte", 0.04, "--ranks-per-node", 4, "--json")
        first = self.call(*asked, *machine)
        self.assertEqual(first.returncode, 0, first.stderr)
        answer = json.loads(first.stdout)
        # Two rounds inside the node, two between nodes; 4095 further bytes of 0.04 ns in each.
        self.assertEqual(answer["time_ps"], 2 * 500_000 + 2 * 2_000_000 + 4 * (2 * 300_000 + 163_800))
        self.assertEqual(answer["messages"], 64)
        self.assertEqual(self.call(*asked, *machine).stdout, first.stdout)
        self.refused(64, "nearest: ring", *asked[:-1], "allreduce=rings", *machine)
        self.refused(64, "there is no file moe; plans of a pattern come from its program", "time", "moe", "--latency", 5)
        self.refused(64, "level", *asked, "--latency", "rack=5")
        self.refused(64, "takes one point", *asked[:5], "8:16", *asked[6:], *machine)
        self.refused(64, "expected nanoseconds", *asked, "--latency", -1)
        self.refused(64, "--hop requires --topology", *asked, *machine, "--hop", 5)
        self.refused(64, "level system stands twice", *asked, "--latency", "system=5,system=6")
        for option, value in (("--path", -1), ("--hop", "nan"), ("--rate-tolerance", "nan"), ("--placement-seed", -1)):
            self.refused(64, option, *asked, *machine, option, value)

    def test_time_takes_an_algorithm_of_every_collective(self):
        for operation, algorithm in (("broadcast", "chain"), ("scatter", "direct_parts"), ("gather", "direct_parts")):
            asked = ("time", "collective", "--operation", operation, "--message-size", "64:64", "--ranks", 4, "--latency", 2000)
            done = self.call(*asked, "--algorithm", f"{operation}={algorithm}")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(64, "unknown operation 'send'", *asked, "--algorithm", "send=chain")

    def test_time_takes_a_fitted_model_and_knows_where_it_was_measured(self):
        self.assertEqual(self.fit().returncode, 0)
        asked = ("time", "collective", "--operation", "allreduce", "--message-size", "1M:1M", "--ranks", 64, "--ranks-per-node", 1, "--machine", self.model)
        done = self.call(*asked, "--algorithm", "allreduce=ring")
        self.assertEqual(done.returncode, 0, done.stderr)
        note = "dlmb_predict: note: extrapolated from 32 to 64 nodes, x2; intervals are void beyond the first switch level or group that the measurements did not cross\n"
        self.assertEqual(done.stderr, note)
        self.assertIn(note, self.call("points", "--model", self.model, self.write("more.csv", [HEADER, *lines([64])]), "-o", "-").stderr)
        self.assertIn("90 % interval: ", done.stdout)
        larger = self.call(*asked[:5], "256M:256M", *asked[6:], "--algorithm", "allreduce=recursive_doubling")
        self.assertIn("note: messages have up to 268435456 bytes, vectors of up to 16777216 were fitted", larger.stderr)
        answer = self.answer(*asked, "--algorithm", "allreduce=ring")
        self.assertLess(answer["low_ps"], answer["time_ps"])
        self.assertGreater(answer["high_ps"], answer["time_ps"])
        time = answer["time_ps"] / 1e6
        self.assertLess(abs(math.log(time / time_us("ring_ompi", 64, 1 << 20))), 0.4)
        for links in ((), ("--topology", "torus:8")):
            answer = self.answer(*asked[:2], "--operation", "alltoall", "--message-size", "4K:4K", "--ranks", 8, "--ranks-per-node", 1, "--machine", self.model, "--force", *links)
            self.assertLess(answer["low_ps"], answer["time_ps"])
            self.assertGreater(answer["high_ps"], answer["time_ps"])
        tapered = json.loads(self.model.read_text())
        tapered["parameters"]["far_byte_us"]["value"] = 1e-4
        tapered.update(replicates=[], algorithms=[{**row, "latency_factor": 1, "bandwidth_factor": 1, "residuals": []} for row in tapered["algorithms"]])
        far = self.write("tapered.json", [json.dumps(tapered)])
        simulated = self.answer(*asked[:2], "--operation", "alltoall", "--message-size", "64K:64K", "--ranks", 32, "--ranks-per-node", 1, "--machine", far)
        priced = self.call("points", "--model", far, self.write("alltoall.csv", ["system,nodes,collective,algorithm,bytes", f"made,32,alltoall,linear,{32 << 16}"]), "-o", "-")
        row = next(csv.DictReader(io.StringIO(priced.stdout)))
        self.assertLess(abs(math.log(simulated["time_ps"] / 1e6 / float(row["predicted_us"]))), 0.1, "far_byte is three quarters of both")
        goal = self.write("two.goal", ["num_ranks 2", "rank 0 {", "s0: send 10b to 1 tag 1", "}", "rank 1 {", "r0: recv 10b from 0 tag 1", "}"])
        by_goal = self.answer("time", "--goal", goal, "--machine", self.model)
        self.assertLess(by_goal["low_ps"], by_goal["time_ps"])
        model = json.loads(self.model.read_text())
        changes = {"range": model["range"] | {"fewest_nodes": 1, "most_nodes": 1}, "error": model["error"] | {"octaves_left_out": 0}}
        few = self.write("few.json", [json.dumps(model | changes)])
        self.refused(69, "64 nodes are x64 those of the fit, and no error is known beyond x8", *asked[:-1], few)
        self.refused(69, "256 nodes are x256", "time", "--bound", "--uniform", "64K", "--topology", "torus:16x16", "--machine", few)
        for error in model["error"]["held_out"]:
            error["median"] = 0.5
        self.model.write_text(json.dumps(model))
        self.refused(69, "held-out error of allreduce is 50 %", *asked)
        model["error"]["held_out"].append({"collective": "sendrecv", "points": 9, "median": 0.6, "p90": 0.9})
        self.model.write_text(json.dumps(model))
        self.refused(69, "held-out error of sendrecv is 60 %", "time", "pipeline_p2p", "--preset", "quick", "--ranks", 4, "--machine", self.model)
        self.refused(69, "held-out error of sendrecv is 60 %", "time", "--goal", goal, "--machine", self.model)
        self.assertEqual(self.answer(*asked, "--force")["machine_model"], {"system": "made", "most_nodes": 32, "forced": True})
        self.refused(64, "--machine excludes --latency", *asked, "--latency", 5)
        self.refused(64, "--hop: the fitted model of a tree has latency by distance; leave it out", *asked, "--force", "--topology", "torus:64", "--hop", 5)
        self.refused(64, "--machine excludes --eager-limit", *asked, "--eager-limit", "4K")

    def test_the_bound_of_a_uniform_exchange_has_the_latency_of_its_messages(self):
        self.fit()
        model = json.loads(self.model.read_text())
        model.update(eager_bytes=4096)
        model["parameters"]["rendezvous_us"]["value"] = 50
        waiting = self.write("waiting.json", [json.dumps(model)])
        bound = self.answer("time", "--bound", "--uniform", "64K", "--topology", "torus:16x16", "--machine", waiting)
        self.assertLess(bound["latency_ps"], 50e6, "each of 255 messages has 257 bytes and waits for no receiver")


if __name__ == "__main__":
    program.main()
