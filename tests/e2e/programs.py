# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the end-to-end tests start programs and read what they leave."""

import json
import os
import pathlib
import subprocess

BIN = pathlib.Path(os.environ["DLMB_BIN"])
SOURCE = pathlib.Path(os.environ["DLMB_SOURCE"])
MPIEXEC = os.environ.get("DLMB_MPIEXEC", "")
HAVE_UCX = os.environ.get("DLMB_HAVE_UCX") == "ON"
MOE = str(BIN / "dlmb_moe_alltoall")
COLLECTIVE = str(BIN / "dlmb_collective")


def small(hidden="64", experts="16", top_k="2", tokens="128"):
    """Traffic small enough for milliseconds and ragged enough to matter; a list as value is a sweep."""
    return ["--hidden", hidden, "--experts", experts, "--top-k", top_k, "--tokens", tokens, "-i", "6", "-x", "2"]


SMALL = small()


def run(command, timeout=120, **keywords):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **keywords)


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
