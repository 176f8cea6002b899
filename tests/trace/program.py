# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_plan, and small traces for it."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from dlmb_results.plans import one_plan as plan_of  # noqa: F401

PROGRAM = os.environ["DLMB_PLAN"]


def run(*arguments, limit_bytes=None):
    """`limit_bytes`: of address space."""
    limit = [] if limit_bytes is None else ["prlimit", f"--as={limit_bytes}"]
    return subprocess.run([*limit, PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


class TraceTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def summary(self, *arguments):
        done = run("summary", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual(list(summary)[:5], ["format", "ranks", "complete", "why_not", "operations"])
        self.assertLessEqual(set(list(summary)[5:]), {"notes", "progress"})
        for entry in summary["operations"]:
            self.assertEqual(list(entry), ["rank", "operation", "group_size", "dtype", "count", "bytes"])
        return summary

    def entries(self, summary):
        return [tuple(entry.values()) for entry in summary["operations"]]

    def refused(self, arguments, *texts):
        done = run("summary", *arguments)
        self.assertEqual(done.returncode, 64, f"{arguments}: {done.stdout[:500]}{done.stderr[:500]}")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr[:2000])
        self.assertTrue(done.stderr.startswith("dlmb_plan: error: "), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)


def kineto(rank, world, calls, **more):
    """`calls`: (name, elements in, elements out, dtype, more arguments)."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 9}]
    for index, (name, elements_in, elements_out, dtype, arguments) in enumerate(calls):
        full = {"External id": index + 1, "Collective name": name, "In msg nelems": elements_in, "Out msg nelems": elements_out,
                "In split size": "[]", "Out split size": "[]", "dtype": dtype, "Group size": world, "Process Group Name": "0",
                "Process Group Ranks": str(list(range(world))), **arguments}
        events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": index + 1, "dur": 1, "args": full})
        events.append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": index + 2, "dur": 5, "args": full})
    return json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events, **more})


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def records(*messages):
    return b"".join(varint(len(message)) + message for message in messages)


def attribute(name, alternative, value):
    return field(10, field(1, name) + field(alternative, value))
