# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a table to files that act: export, verification, and the gain in a plain program."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from dlmb_launch.autotune.before_after import FEWEST_ROUNDS, VISITS, Measurement, Plain, SizeGain, run_rounds
from dlmb_launch.autotune.budget import EXCESS_S, Clock
from dlmb_launch.autotune.campaign import Campaign
from dlmb_launch.autotune.consumers import Consumer
from dlmb_launch.autotune.observations import Key, Measured
from dlmb_launch.autotune.plain_program import Visits, settings_of
from dlmb_launch.autotune.points import OPERATIONS
from dlmb_launch.autotune.request import Request
from dlmb_launch.autotune.tune_program import TuneProgram, chosen_rules
from dlmb_launch.sweep.faults import OutputError
from dlmb_launch.sweep.process import Interrupts, Process
from dlmb_results.fields import load_json
from dlmb_results.output import write_output

HELD, WRONG, UNSEEN = 0, 1, 77  # exit codes of `dlmb_tune verify`
NO_TIME = -1
_LAUNCH_S = 1.0  # of the plain program, beside its start
_FEWEST_CALLS, _MOST_CALLS = 5, 500
_TIMEOUT_S = 120.0
_DECIDING_ROUNDS = 6  # fewer give no interval that could withdraw a rule


@dataclass
class Exported:
    """What came of one consumer."""

    consumer: Consumer
    folder: Path | None = None  # nothing: no rule leaves the default
    verified: int = NO_TIME
    verify_lines: list[str] = field(default_factory=list)
    gains: dict[str, list[SizeGain]] = field(default_factory=dict)  # by the collective of plain programs
    gain_rounds: int = 0
    gain_problem: str = ""
    withdrawn: list[dict] = field(default_factory=list)  # rules that the plain program showed to be slower


class Finisher:
    def __init__(self, request: Request, campaign: Campaign, clock: Clock, tune: TuneProgram, plain: Plain, interrupts: Interrupts):
        self._request = request
        self._campaign = campaign
        self._clock = clock
        self._tune = tune
        self._plain = plain
        self._interrupts = interrupts

    def run(self, table: Path, measured: dict[Key, Measured]) -> tuple[Path, list[Exported]]:
        """And the table that was exported: without the rules that made the plain program slower."""
        everything = self._exported_and_verified(table)
        for one in everything:
            if one.folder and one.consumer.library and one.verified != WRONG:
                self._measure(one, table, measured)
                one.withdrawn = [rule for rule in chosen_rules(table, one.consumer.backend) if _is_slower(rule, one)]
        withdrawn = {rule["id"] for one in everything for rule in one.withdrawn}
        if withdrawn:
            kept = table.with_name("table-kept.json")
            value = load_json(table.read_bytes())
            value["rules"] = [rule for rule in value["rules"] if rule["id"] not in withdrawn]
            write_output(kept, json.dumps(value, indent=1) + "\n")
            table = kept
            for one, again in zip(everything, self._exported_and_verified(kept)):
                one.folder, one.verified, one.verify_lines = again.folder, again.verified, again.verify_lines
        self._write_environment(everything)
        return table, everything

    def _exported_and_verified(self, table: Path) -> list[Exported]:
        everything = [self._export(consumer, table) for consumer in self._request.consumers]
        for one in everything:
            if one.folder:
                self._verify(one)
        return everything

    def _export(self, consumer: Consumer, table: Path) -> Exported:
        folder = self._request.output / consumer.name
        if not chosen_rules(table, consumer.backend):
            if (folder / "table.json").is_file():  # of an earlier run
                shutil.rmtree(folder)
            return Exported(consumer)
        self._tune.export(consumer.name, table, folder.resolve())
        return Exported(consumer, folder.resolve())

    def _verify(self, one: Exported) -> None:
        """What was seen of these very files is not looked at again."""
        digest = _digest(one.folder)
        file = self._request.campaign / "verify" / f"{one.consumer.name}-{digest[:12]}.json"
        before = _known(file)
        if before.get("files") == digest:
            one.verified, one.verify_lines = before["code"], before["lines"]
            return
        seconds = max(self._clock.left_s, 0.0) + EXCESS_S
        self._clock.say(f"verifying the files for {one.consumer.name}")
        log = file.with_suffix(".part")
        try:
            log.unlink(missing_ok=True)
            command = self._tune.verify_command(one.consumer.name, one.folder, self._request.ranks)
            outcome = Process(command, self._plain.variables, log).wait(seconds, self._interrupts)
            self._campaign.stop_if_asked()
            one.verify_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            log.unlink()
        except OSError as error:
            raise OutputError(f"{log}: {error.strerror}") from None
        self._clock.keep()
        if not outcome.timed_out:
            one.verified = outcome.exit_code
            write_output(file, json.dumps({"files": digest, "code": one.verified, "lines": one.verify_lines}, indent=1) + "\n")

    def _write_environment(self, everything: list[Exported]) -> None:
        """Only files that are not known to be wrong are put into effect."""
        path = self._request.output / "env.sh"
        good = [one for one in everything if one.folder and one.verified != WRONG]
        if not good:
            path.unlink(missing_ok=True)
            return
        lines = ["# Made by dlmb_autotune; to be sourced before the programs start."]
        lines += [f". {_quoted(str(one.folder / 'env.sh'))}" for one in good]
        write_output(path, "\n".join(lines) + "\n")

    def _measure(self, one: Exported, table: Path, measured: dict[Key, Measured]) -> None:
        collectives = {rule["when"]["operation"] for rule in chosen_rules(table, one.consumer.backend)}
        folder = self._request.campaign / "plain" / f"{one.consumer.name}-{_digest(one.folder)[:12]}"
        of_file = settings_of(one.folder)
        measurements = []
        for operation, (in_table, collective) in OPERATIONS.items():
            sizes = self._plain_sizes(one.consumer.backend, operation, measured)
            if in_table in collectives and collective and sizes:
                visits = Visits(collective, tuple(sizes), _calls(sizes), VISITS)
                measurements.append(Measurement(folder, visits, self._plain, of_file))

        def has_time(took: float) -> bool:
            return self._clock.left_s > took

        def launch(measurement: Measurement, number: int) -> str:
            self._clock.say(f"plain {measurement.what.collective}, round {number}: with the files, without them, and the control")
            reason = measurement.run(number, _TIMEOUT_S, self._interrupts)
            self._campaign.stop_if_asked()
            self._clock.keep()
            return reason

        one.gain_rounds, one.gain_problem = run_rounds(measurements, has_time, launch)
        if one.gain_rounds >= FEWEST_ROUNDS:
            one.gains = {measurement.what.collective: measurement.gains() for measurement in measurements}

    def _plain_sizes(self, backend: str, operation: str, measured: dict[Key, Measured]) -> dict[int, float]:
        """What was measured, in bytes as plain programs count, and what a call takes in ns; each rank's share is a whole element."""
        ranks = self._request.ranks
        sizes = {}
        for (other, point), each in measured.items():
            size = point.table_bytes(ranks)
            whole = operation in ("allreduce", "broadcast") or size % (4 * ranks) == 0
            if other == backend and point.operation == operation and each.launches and whole:
                sizes[size] = sorted(each.default_ns)[len(each.default_ns) // 2]
        return dict(sorted(sizes.items()))


def _is_slower(rule: dict, one: Exported) -> bool:
    """Whether the plain program is slower at a size of the rule, beyond the interval of enough rounds."""
    collective = next(plain for in_table, plain in OPERATIONS.values() if in_table == rule["when"]["operation"])
    sizes = rule["when"]["bytes"]
    inside = [gain for gain in one.gains.get(collective, []) if sizes["min"] <= gain.bytes <= sizes["max"]]
    return one.gain_rounds >= _DECIDING_ROUNDS and any(gain.speedup.high < 1 for gain in inside)


def reserve_s(operations: int, budget_s: float, startup_s: float) -> float:
    """Of the budget, for what comes after the measuring: not more than a third. A trial of `verify` is up to three launches, at about
    six places of a rule; two rules per operation are usual."""
    verify = operations * 2 * 6 * 3 * startup_s / 2  # most of them are shared by neighbours
    gain = operations * (FEWEST_ROUNDS + 2) * 3 * (startup_s + _LAUNCH_S)
    return min(verify + gain, budget_s / 3)


def _calls(sizes: dict[int, float]) -> int:
    """So many that a launch takes about a second beside its start."""
    one_call_each_ns = sum(sizes.values()) * VISITS
    return int(min(max(_LAUNCH_S * 1e9 / one_call_each_ns, _FEWEST_CALLS), _MOST_CALLS))


def _digest(folder: Path) -> str:
    """Of what the consumer reads. The table names its time, and the rest is for people."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.name not in ("table.json", "lost.json", "verify.sh"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _known(file: Path) -> dict:
    try:
        value = load_json(file.read_text(encoding="utf-8"))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
