# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Test doubles of a launcher and of DLMB's programs: scripts that write result lines and measure nothing."""

import json
import sys
from pathlib import Path

CELLS = ("cell-a", "cell-b", "cell-c")

_INFO = """#!/bin/sh
echo '{"machine": {"mpi_library": "Open MPI v0.0 (a test double)"}}'
"""

_MPIRUN = """#!/bin/sh
[ "$1" = --version ] && { echo "Open MPI (a test double)"; exit 0; }
while [ $# -gt 0 ]; do case $1 in -np | --bind-to) shift 2 ;; *) break ;; esac; done
exec "$@"
"""

# Appends one line per cell; skips what is ok already; behaves as DOUBLE_BEHAVIOUR says. Needs only the standard library.
_PROGRAM = f"#!{sys.executable} -IS" + """
import json, os, sys, time
arguments = sys.argv[1:]
if "--version" in arguments:
    unknown = [word for word in arguments if word.startswith("--") and word[2:] in ("presett", "unknown")]
    if unknown:
        sys.exit("dlmb_collective: error: unknown option '%%s'; nearest: --preset" %% unknown[0])
    sys.exit(0)
results = arguments[arguments.index("--results") + 1]
os.makedirs(os.path.dirname(results), exist_ok=True)
behaviour = os.environ.get("DOUBLE_BEHAVIOUR", "")
done = set()
if os.path.exists(results):
    done = {e["cell_id"] for e in map(json.loads, open(results)) if e.get("kind") == "cell" and e["status"] == "ok"}
with open(results, "a") as file:
    def say(entry):
        file.write(json.dumps(entry) + "\\n")
        file.flush()
    say({"kind": "launch", "arguments": arguments})
    for cell in %s:
        if cell in done:
            continue
        if behaviour == "hang":
            time.sleep(60)
        if behaviour == "slow":
            time.sleep(1)
        failed = behaviour == "fail" and cell == "cell-b"
        say({"kind": "cell", "cell_id": cell, "status": "failed" if failed else "ok"})
    say({"kind": "end"})
print("the last words of a double")
sys.exit({"fail": 1, "nothing": 77}.get(behaviour, 0))
"""


def make(folder: Path) -> Path:
    """bin/ with the programs, and a PATH entry with mpirun; returns `folder`."""
    _script(folder / "path" / "mpirun", _MPIRUN)
    _script(folder / "bin" / "dlmb_info", _INFO)
    _script(folder / "bin" / "dlmb_collective", _PROGRAM % (CELLS,))
    _script(folder / "bin" / "dlmb_plan", "#!/bin/sh\n")  # measures nothing, so a sweep has no use for it
    return folder


def add_library(folder: Path, prefix: Path) -> None:
    """The programs of `folder` run with an MPI library that is installed in `prefix`, with its own launcher."""
    _script(prefix / "bin" / "mpirun", _MPIRUN)
    _script(folder / "bin" / "dlmb_plain_mpi", f"#!/bin/sh\necho {prefix}/lib/libmpi.so.0\necho Open MPI v0.0\n")


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def cells(file: Path) -> list[tuple[str, str]]:
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(entry["cell_id"], entry["status"]) for entry in entries if entry["kind"] == "cell"]
