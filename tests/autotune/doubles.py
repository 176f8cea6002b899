# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Test doubles: programs that measure nothing and say what a machine would on which `ring` takes three quarters of the time of Open MPI's
own choice from 4 KiB on. dlmb_tune is the real one, but for `verify`.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

SOURCE = Path(os.environ["DLMB_SOURCE"])
METHODS = ("blocking", "algorithm:allreduce=ring", "algorithm:allreduce=basic_linear", "algorithm:allreduce=broken", "persistent")
PLANTED = {"ring": 0.75, "basic_linear": 1.6}  # of the default's time

_INFO = """#!/bin/sh
cat <<'END'
{"machine": {"mpi_library": "Open MPI v4.1.4"}, "backends": [{"name": "mpi", "built": true, "usable": true, "methods": [
 {"name": "algorithm", "knobs": "allreduce=basic_linear|ring|broken, alltoall=linear"}]}, {"name": "ucx", "usable": false, "reason": "no UCX in this double"}]}
END
"""

_MPIRUN = """#!/bin/sh
[ "$1" = --version ] && { echo "Open MPI (a test double)"; exit 0; }
while [ $# -gt 0 ]; do case $1 in -np | --bind-to) shift 2 ;; -*) shift ;; *) break ;; esac; done
exec "$@"
"""

_PLAIN = """#!/bin/sh
[ $# -gt 0 ] || exit 1
mean=1000
[ -z "$OMPI_MCA_coll_tuned_dynamic_rules_filename" ] || mean=${DOUBLE_PLAIN:-750}
echo "beside ${4:-none}"
IFS=,
for size in $2; do echo "bytes $size median_ns 1000 mean_ns $mean"; done
"""

_TUNE = """#!/bin/sh
[ "$1" = verify ] && { echo "verified by a double $*"; exit ${DOUBLE_VERIFY:-0}; }
exec REAL "$@"
"""

_REPLAY = """#!/bin/sh
[ "$DOUBLE_TRAFFIC" = fail ] && { echo "dlmb_replay: error: it is of 4 ranks" >&2; exit 64; }
echo "$*"
while [ "$1" != --results ]; do shift; done
echo $$ > "$2"
exec sleep ${DOUBLE_TRAFFIC:-600}
"""

_COLLECTIVE = """#!PYTHON -IS
import json, os, random, sys, time
arguments = sys.argv[1:]
def option(name):
    return arguments[arguments.index("--" + name) + 1]
launch, cell = (json.loads(line) for line in open(HERE + "/lines.jsonl"))
launch["launch_id"] = launch["campaign_id"] = cell["launch_id"] = "%016x" % random.getrandbits(64)
behaviour = os.environ.get("DOUBLE_BEHAVIOUR", "")
if behaviour == "fail":
    print("the last words of a double")
    sys.exit(1)
draw, planted = random.Random(), (PLANTED if behaviour != "equal" else {})
os.makedirs(os.path.dirname(option("results")), exist_ok=True)
with open(option("results"), "a") as file:
    def say(entry):
        file.write(json.dumps(entry, separators=(",", ":")) + "\\n")
        file.flush()
    say(launch)
    for operation in option("operation").split(","):
        methods = METHODS if option("method") == "all" else option("method").replace("default", "blocking").split(",")
        for size in (int(part.split(":")[0]) for part in option("message-size").split(",")):
            for method in methods:
                name = method.split("=")[-1]
                own = planted.get(name, 1) if size >= 4096 or name != "ring" else 1.3
                if behaviour == "linear" and name == "basic_linear" and size < 4096:
                    own = 0.75
                took = 1000 * own * (1 + size / 4096) * draw.lognormvariate(0, 0.02)
                cell.update(backend=option("backend"), method=method, mode=option("timing"), is_default=method == "blocking",
                            status="failed" if name == "broken" else "ok")
                if "--beside" in arguments:
                    cell["beside"] = option("beside")
                cell["parameters"].update({"operation": operation, "message-size": size})
                cell["cell_id"] = "pattern=collective/operation=%s/size=%d/method=%s" % (operation, size, method)
                chosen = {"mpi_algorithm_family": "open_mpi.tuned", "mpi_algorithm.allreduce": name, "mpi_algorithm_id.allreduce": "4" if name == "ring" else "1"}
                cell["backend_facts"] = {"mpi_library": "Open MPI v4.1.4", **(chosen if "=" in method else {})}
                cell["time_ns"]["median"] = cell["rounds"]["median_of_rounds_ns"] = took
                cell["rounds"]["medians_ns"] = [took] * 6
                say(cell)
        time.sleep(float(os.environ.get("DOUBLE_SECONDS", "0")))
    say({"kind": "end", "launch_id": launch["launch_id"], "status": "done", "cells": {"ok": 1}, "self_comparison": None})
print("DLMB_RESULT: PASS")
"""


def make(folder: Path, tune: Path) -> Path:
    """bin/ with the programs, and a PATH entry with mpirun; returns `folder`."""
    _script(folder / "path" / "mpirun", _MPIRUN)
    programs = folder / "bin"
    _script(programs / "dlmb_info", _INFO)
    _script(programs / "dlmb_plain_mpi", _PLAIN)
    _script(programs / "dlmb_replay", _REPLAY)
    _script(programs / "dlmb_tune", _TUNE.replace("REAL", str(tune)))
    _script(programs / "dlmb_collective", _COLLECTIVE.replace("HERE", repr(str(programs))).replace("PLANTED", repr(PLANTED)).replace("METHODS", repr(METHODS)).replace("PYTHON", sys.executable))
    (programs / "lines.jsonl").write_text("\n".join(map(json.dumps, _lines())) + "\n", encoding="utf-8")
    return folder


def _lines() -> list[dict]:
    """A launch and a cell of the schema's example, as dlmb_collective would say them."""
    entries = [json.loads(line) for line in (SOURCE / "results-schema" / "examples" / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    launch = next(entry for entry in entries if entry["kind"] == "launch")
    cell = next(entry for entry in entries if entry["kind"] == "cell" and entry["status"] == "ok")
    world = {"ranks": 2, "ranks_per_node": 2}
    launch.update(program="dlmb_collective", world=world)
    launch["environment"]["identity"].update(nodes="1", ranks="2", processing_units="64")
    launch["environment"]["variables"] = {}
    cell.update(pattern="collective", preset="", world=world, memory="host", phases={})
    cell["parameters"] = {"element": "fp32", "reduction": "sum", "in-place": "off", "skew": "balanced"}
    return [launch, cell]


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
