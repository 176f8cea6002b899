# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the end-to-end tests start programs and read what they leave."""

import json
import os
import pathlib
import subprocess
import tempfile

BIN = pathlib.Path(os.environ["DLMB_BIN"])
SOURCE = pathlib.Path(os.environ["DLMB_SOURCE"])
MPIEXEC = os.environ.get("DLMB_MPIEXEC", "")
HAVE_UCX = os.environ.get("DLMB_HAVE_UCX") == "ON"
MOE = str(BIN / "dlmb_moe_alltoall")
COLLECTIVE = str(BIN / "dlmb_collective")
PLAN = str(BIN / "dlmb_plan")
REPLAY = str(BIN / "dlmb_replay")


def traffic(hidden="64", experts="16", top_k="2", tokens="128"):
    """Small enough for milliseconds and ragged enough to matter; a list as value is a sweep."""
    return ["--hidden", hidden, "--experts", experts, "--top-k", top_k, "--tokens", tokens]


def small(**changed):
    return [*traffic(**changed), "-i", "6", "-x", "2", "--calibration", "off"]


SMALL = small()


def run(command, timeout=120, **keywords):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **keywords)


def overlay(folder, ranks):
    """Files of an MoE iteration, of an allreduce, and of both at the same time, in a new folder."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    moe, reduced, both = (place / f"{name}.jsonl" for name in ("moe", "sum", "both"))
    for path, command in ((moe, [MOE, *traffic()]), (reduced, [COLLECTIVE, "--operation", "allreduce", "-m", "256K:256K"])):
        path.write_text(run([*command, "--ranks", str(ranks), "--plan", "jsonl"]).stdout, encoding="utf-8")
    done = run([PLAN, "overlay", str(moe), str(reduced), "-o", str(both)])
    assert done.returncode == 0, done.stderr
    return [str(moe), str(reduced), str(both)]


def mpirun(ranks, *arguments):
    return [MPIEXEC, "-n", str(ranks), *arguments]


def lines(path):
    """Every line of a result file; fails on a line that is not whole."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n"), "the last line is broken"
    return [json.loads(line) for line in text.splitlines()]


def cells(path, status=None):
    found = [line for line in lines(path) if line["kind"] == "cell"]
    return found if status is None else [cell for cell in found if cell["status"] == status]


def validate(path):
    return run(["python3", "-B", str(SOURCE / "results-schema" / "validate.py"), str(path)])
