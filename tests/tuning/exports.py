# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hand-written tables, and dlmb_tune run on them. The environment names the programs, see CMakeLists.txt."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TUNE = os.environ["DLMB_TUNE"]
SOURCE = pathlib.Path(os.environ["DLMB_SOURCE"])


def rule(name, scope, operation, sizes, ranks=4, algorithm="", family="", **when):
    """A rule of a person, without evidence. `sizes`: first and last byte count."""
    chosen = {"backend": scope, "method": "blocking", "algorithm": {"family": family, "name": algorithm}}
    basis = {"allreduce": "buffer", "broadcast": "buffer", "exchange": "rank_send", "sendrecv": "message"}
    return {
        "id": name,
        "scope": scope,
        "when": {
            "operation": operation,
            "bytes": {"basis": basis.get(operation, "total"), "min": sizes[0], "max": sizes[1]},
            "ranks": {"min": ranks, "max": ranks},
            "memory": "host",
            **when,
        },
        "choose": chosen,
        "status": "chosen",
    }


def write_table(path, rules, mpi="Open MPI"):
    table = json.loads((SOURCE / "results-schema" / "examples" / "tuning-table.json").read_text(encoding="utf-8"))
    table["inputs"] = []
    table["rules"] = rules
    if mpi != "Open MPI":
        del table["stack"]["mpi"]
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


def tune(*arguments, timeout=570, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([TUNE, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, env=environment, check=False)


def ok(*arguments):
    done = tune(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refusal(*arguments):
    done = tune(*arguments)
    assert (done.returncode, done.stderr.count("\n")) == (64, 1), done.stdout + done.stderr
    return done.stderr


class InFolder(unittest.TestCase):
    """Has a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
