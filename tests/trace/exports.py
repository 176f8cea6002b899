# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Plans for other programs: strict readers of their formats, what is lost, and nothing of the run's names."""

import json
import re
import shutil
import subprocess
import unittest

from plan_files import plan_text
from program import TraceTest, kineto, run

FORMATS = {"goal": False, "chakra": True}
LARGE = (1 << 31) + 5
# Some names are valid messages of protobuf, too, and --decode_raw prints them so: this is "is_cpu_op" as a field 13 of 8 bytes.
IS_CPU_OP = "1 {\n    13: 0x706f5f7570635f73\n  }"
NODE = {"allreduce": 0, "allgather": 2, "exchange": 6}


def plan_document(label="secret-host"):
    """Two ranks: an uneven and an even exchange, an allreduce, a window of two messages, one of 0 bytes and one of more than 2^31."""
    def plan(rank):
        both, peer = [0, 1], 1 - rank
        uneven = [8, 24]

        def step(operation, after, **fields):
            return {"operation": operation, "label": f"{label}.x", "after": after, "group": both, **fields}

        def message(after, bytes_, times=1, channel=0):
            side = "recv" if rank else "send"
            return step(side, after, channel=channel, batch=-1, **{side: [{"peer": peer, "bytes": bytes_}] * times})
        steps = [
            step("exchange", [], send=[{"peer": peer, "bytes": uneven[rank]}], recv=[{"peer": peer, "bytes": uneven[peer]}]),
            step("exchange", [0], **{side: [{"peer": at, "bytes": 64} for at in both] for side in ("send", "recv")}),
            step("allreduce", [0, 1], bytes=40, element="bf16", reduction="max"),
            {"operation": "compute", "label": "layer", "after": [2], "busy_ns": 1600},
            message([3], 16, times=2, channel=7), message([3], 0), message([4, 5], LARGE),
            step("allgather", [6], bytes=24, element="fp32", shares=[4, 20]),
        ]
        return {"rank": rank, "steps": [{"id": number, **each} for number, each in enumerate(steps)]}
    return {"pattern": label, "preset": label, "parameters": {"path": f"/home/{label}"},
            "world": {"ranks": 2, "ranks_per_node": 2}, "draw": {"seed": 1, "index": 0}, "statistics": {}, "plans": [plan(0), plan(1)]}


def records(data):
    while data:
        length = shift = 0
        while True:
            byte, data = data[0], data[1:]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[:length]
        data = data[length:]


class Exports(TraceTest):
    def plan(self, document=None):
        return self.file("plan.jsonl", plan_text(document or plan_document()))

    def export(self, name, *more, plan=None):
        output = self.folder / f"out.{name}"
        done = run("export", "--to", name, plan or self.plan(), "-o", output, *more)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        losses = json.loads((self.folder / f"out.{name}.losses.json").read_text())
        self.assertEqual((list(losses), losses["format"]), (["format", "losses"], name))
        return output, {loss["what"]: loss["steps"] for loss in losses["losses"]}

    def refused_export(self, arguments, *texts):
        done = run("export", *arguments)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (64, 1), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_no_file_holds_a_name_of_the_run(self):
        trace = [self.file(f"secret-host-{rank}.json", kineto(rank, 2, [("allreduce", 4, 4, "Float", {"Process Group Name": "secret"})])) for rank in range(2)]
        imported = self.folder / "imported.jsonl"
        self.assertEqual(run("import", *trace, "-o", imported).returncode, 0)
        for plan in (self.plan(), imported):
            for name, is_folder in FORMATS.items():
                output, _ = self.export(name, plan=plan)
                files = [*(output.iterdir() if is_folder else [output]), output.with_name(output.name + ".losses.json")]
                for file in files:
                    self.assertNotIn(b"secret", file.read_bytes(), file)
                    self.assertNotIn(b"/home", file.read_bytes(), file)
                    self.assertNotIn("secret", file.name)
                shutil.rmtree(output) if is_folder else output.unlink()

    @unittest.skipUnless(shutil.which("protoc"), "protoc (Debian: protobuf-compiler) is missing")
    def test_chakra_has_the_fields_that_its_feeder_reads(self):
        output, losses = self.export("chakra")
        self.assertEqual(json.loads((output / "comm_group.json").read_text()), {"0": [0, 1]})
        decoded, raw = [], list(records((output / "plan.0.et").read_bytes()))
        for record in raw:
            done = subprocess.run(["protoc", "--decode_raw"], input=record, capture_output=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            decoded.append(done.stdout.decode().replace(IS_CPU_OP, '1: "is_cpu_op"'))
        self.assertEqual(decoded[0], '1: "0.0.4"\n')
        nodes = []
        for number, text in enumerate(decoded[1:], 1):
            self.assertEqual(re.match(r"1: (\d+)\n", text)[1], str(number), "ids count from 1")
            attributes = {name: (int(alternative), value.strip('"')) for name, alternative, value in re.findall(r'10 {\n  1: "(\w+)"\n  (\d+): (.*)\n}', text)}
            name = raw[number][4:4 + raw[number][3]].decode()
            nodes.append((name, int(re.search(r"^3: (\d+)", text, re.M)[1]), attributes, text))
        self.assertEqual([name for name, *_ in nodes],
                         ["recv", "send", "compute", "exchange", "allreduce", "compute", "send", "send", "compute", "send", "send", "recv", "send", "compute"])
        for name, kind, attributes, _text in nodes:
            self.assertEqual(attributes["is_cpu_op"], (27, "0"))
            self.assertEqual(kind, {"compute": 4, "send": 5, "recv": 6}.get(name, 7))
            if kind == 7:
                self.assertEqual(attributes["comm_type"], (9, str(NODE[name])))
                self.assertEqual(attributes["pg_name"], (29, "0"))
            if kind in (5, 6):
                self.assertEqual(attributes["comm_dst" if kind == 5 else "comm_src"], (7, "1"))
                self.assertEqual((attributes["comm_size"][0], attributes["comm_tag"][0]), (9, 7))
        self.assertEqual(nodes[3][2]["comm_size"], (9, "128"))
        self.assertIn("7: 2\n", nodes[5][3], "1600 ns are rounded to 2 us")
        tags = [attributes["comm_tag"] for name, _, attributes, _ in nodes if name == "send"]
        self.assertEqual(len(tags), len(set(tags)))
        self.assertEqual(losses["kind and group of a collective: an exchange of unequal parts is messages"], 2)
        self.assertEqual(losses["kind of reduction"], 2)
        self.assertEqual(losses["a message of 0 bytes: it has 1"], 2)

    def test_operations_of_a_product_are_at_most_what_the_field_holds(self):
        edge = 2**24
        step = {"id": 0, "operation": "compute", "label": "c", "after": [], "busy_ns": 0, "product": {"rows": edge, "columns": edge, "inner": edge}}
        document = {"world": {"ranks": 1, "ranks_per_node": 1}, "plans": [{"rank": 0, "steps": [step]}]}
        output, _ = self.export("chakra", plan=self.plan(document))
        self.assertIn(b"num_ops\x48" + b"\xff" * 8 + b"\x7f", (output / "plan.0.et").read_bytes())  # 2^63 - 1

    def test_one_phase_has_its_messages_alone(self):
        document = plan_document()
        for plan in document["plans"]:
            plan["steps"][0]["label"] = "first"
        output, _ = self.export("goal", "--phase", "first", plan=self.plan(document))
        self.assertEqual(re.findall(r"(send|recv) (\d+)b", output.read_text()), [("recv", "24"), ("send", "8"), ("recv", "8"), ("send", "24")])

    def test_goal_is_that_of_the_patterns_and_goes_to_standard_output(self):
        done = run("export", "--to", "goal", self.plan(), "-o", "-")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("num_ranks 2\n\nrank 0 {\n"))
        self.assertEqual(json.loads(done.stderr)["format"], "goal")

    def test_what_is_refused(self):
        plan = self.plan()
        self.refused_export(["--to", "gaol", plan, "-o", "x"], "nearest: goal")
        self.refused_export(["--to", "goal", plan, "-o", "x", "--phase", "z"], "--phase: unknown phase 'z'")
        self.refused_export(["--to", "chakra", plan, "-o", self.folder], "give a new folder")
        self.refused_export(["--to", "chakra", plan, "-o", "-"], "give a folder")
        self.refused_export(["--to", "goal", self.file("x.jsonl", "[1]"), "-o", "x"], "x.jsonl")
        one = plan_document()
        del one["plans"][0]["steps"][5:]
        self.refused_export(["--to", "goal", self.plan(one), "-o", "x"], "fit together")


if __name__ == "__main__":
    unittest.main()
