# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What fuzzing gives to each reader in Python: a function of bytes per reader. A reader reads them or raises its documented refusal, of
which the programs make one line and exit code 64 or 74. Every other exception is a finding.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import dlmb_tuning
from dlmb_launch.convert import formats
from dlmb_launch.convert.lines import lines_of
from dlmb_launch.convert.measured import Given
from dlmb_launch.sweep import launchers, sweep_file
from dlmb_launch.sweep.state import Folder, settle
from dlmb_plotting import findings, inputs, results
from dlmb_plotting.charts import Limits
from dlmb_plotting.plots import plots
from dlmb_plotting.plots.plans import Machine
from dlmb_results import rerun
from dlmb_results.lines import read_lines
from dlmb_results.program import ProgramError, one_line

try:
    from dlmb_launch.compare import reading
    from dlmb_launch.compare.campaign import METRICS
except ModuleNotFoundError:  # NumPy
    reading = None

REFUSALS = (ProgramError, dlmb_tuning.TableError)
MOST_CHARACTERS = 1000  # of a message; one_line() shows 900 of a longer one

file = os.memfd_create("fuzz")
PATH = Path(f"/proc/self/fd/{file}")


def hold(content: bytes) -> Path:
    os.ftruncate(file, 0)
    os.pwrite(file, content, 0)
    return PATH


def refused(read: Callable[[], object]) -> bool:
    try:
        read()
    except REFUSALS as error:
        text = one_line(str(error))
        assert text.isprintable() and 0 < len(text) <= MOST_CHARACTERS, "a message is not one short line"
        return True
    return False


def draw(read: inputs.Inputs) -> None:
    plots(read, Machine(), Limits(charts=12))
    findings.findings(read)


def result_file(content: bytes) -> None:
    path = hold(content)
    refused(lambda: list(read_lines(path, [])))
    found: list[results.Results] = []
    if not refused(lambda: found.append(results.read([path]))):
        found[0].warnings()
        assert not any(math.isinf(cell.median_ns) for cell in found[0].cells)
        draw(inputs.Inputs(found[0]))
    if reading:
        for metric in METRICS.values():
            campaign = reading.Reader("fuzz", metric)
            if not refused(lambda: campaign.read(path)):  # noqa: B023
                campaign.finish()


def document(content: bytes) -> None:
    """Plans, tuning tables and comparisons of dlmb_plot."""
    path = hold(content)
    for found in (False, True):
        taken = inputs.Inputs()
        if not refused(lambda: inputs.take_document(path, inputs.read_json(path), taken, found)):  # noqa: B023
            refused(lambda: draw(taken))  # noqa: B023
    taken = inputs.Inputs()
    if not refused(lambda: inputs.take_plans(path, taken)):
        refused(lambda: draw(taken))


def tuning_table(content: bytes) -> None:
    path = hold(content)

    def ask() -> None:
        table = dlmb_tuning.open_table(path)
        for rule in table.rules:
            table.lookup("allreduce", bytes=1024, backend=None if rule.scope == "select" else rule.scope, ranks=4)

    refused(ask)


def foreign_result(content: bytes) -> None:
    """The first byte chooses what the user says of the file."""
    choice, text = content[:1] or b"\0", content[1:].decode("utf-8", errors="replace")
    given = Given(ranks=4 if choice[0] & 1 else None, operation="all_reduce" if choice[0] & 2 else "", ucc_count="block" if choice[0] & 4 else "")
    for name in ("", *formats.FORMATS):

        def convert() -> None:
            for table in formats.read(Path("output.txt"), text, name, given):  # noqa: B023
                for line in lines_of(table, "output.txt", "0" * 16, "", given):
                    json.dumps(line, allow_nan=False)

        refused(convert)


def sweep(content: bytes) -> None:
    """Sweep files and machine files."""
    path = hold(content)

    def read() -> None:
        read_sweep = sweep_file.read(path)
        for launch in sweep_file.launches(read_sweep)[:4]:
            assert launch.name

    refused(read)
    refused(lambda: launchers.read_machine(path))


def cell_list(content: bytes) -> None:
    """Lists of cells to measure again."""
    path = hold(content)
    refused(lambda: rerun.read(path))


class OneFile(Folder):
    """Of a launch, the state is the file in memory."""

    def _status_file(self, launch: object) -> Path:
        return PATH


SCRATCH = tempfile.TemporaryDirectory(prefix="dlmb-fuzz-")


def sweep_state(content: bytes) -> None:
    """What a sweep's folder holds of a launch: its state, and results that are settled before it is repeated."""
    hold(content)
    refused(lambda: OneFile(Path("/nonexistent")).finished(None))  # type: ignore[arg-type]
    lines = Path(SCRATCH.name) / "launch.jsonl"
    aside = Path(SCRATCH.name) / "launch.jsonl.superseded"
    lines.write_bytes(content)
    aside.unlink(missing_ok=True)
    settle(lines)
    after = lines.read_bytes() + (aside.read_bytes() if aside.exists() else b"")
    assert sorted(after.splitlines()) == sorted(content.splitlines()), "settling a result file lost or changed a line"


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (cell_list, document, foreign_result, result_file, sweep, sweep_state, tuning_table)
}
