# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a table to files that act: the gain in a plain program, which says what is exported, export and verification."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from dlmb_launch.autotune.campaign import Campaign
from dlmb_launch.autotune.observations import Key, Measured
from dlmb_launch.autotune.plain_program import DECIDING_ROUNDS, VISITS, Measurement, Plain, SizeGain, Visits
from dlmb_launch.autotune.plain_program import gaining_sizes, narrowed, run_rounds, settings_of, why_not_shown
from dlmb_launch.autotune.points import FLOAT_BYTES, OPERATIONS, REDUCING, Consumer
from dlmb_launch.autotune.request import EXCESS_S, Clock, Request
from dlmb_launch.autotune.tune_program import TuneProgram, chosen_rules, lost_rules
from dlmb_launch.sweep.process import Interrupts, Process
from dlmb_results.files import kept_json, read_json, write_output
from dlmb_results.program import OutputError

HELD, WRONG, UNSEEN = 0, 1, 77  # exit codes of `dlmb_tune verify`
NO_TIME = -1
_LAUNCH_S = 1.0  # of the plain program, beside its start
_FEWEST_CALLS, _MOST_CALLS = 5, 500
_TIMEOUT_S = 120.0
_LOST_IN_PART = ("size_ignored", "range_limit")  # reasons of rules whose choice may be in the files all the same
_LAUNCHES_PER_RULE = 18  # of `verify`: a trial is up to three, at about six places, and neighbours share half of them


@dataclass
class Exported:
    """The files of one consumer and how they did."""

    consumer: Consumer
    folder: Path | None = None  # nothing: no rule leaves the default, or none that the consumer can hold
    verified: int = NO_TIME
    verify_lines: list[str] = field(default_factory=list)
    gains: dict[str, list[SizeGain]] = field(default_factory=dict)  # by the collective of plain programs
    gain_rounds: dict[str, int] = field(default_factory=dict)  # likewise
    #: By why (empty: it is no faster), and method: bytes at which a choice is not exported.
    withdrawn: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def in_effect(self) -> bool:
        """True: env.sh names its files; without any it sets nothing. False where a trial went wrong, or where the verification itself failed."""
        return self.folder is not None and self.verified in (HELD, UNSEEN, NO_TIME)


class Finisher:
    def __init__(self, request: Request, campaign: Campaign, clock: Clock, tune: TuneProgram, plain: Plain, interrupts: Interrupts, startup_s: float):
        self._request = request
        self._campaign = campaign
        self._clock = clock
        self._tune = tune
        self._plain = plain
        self._interrupts = interrupts
        self._startup_s = startup_s

    def run(self, table: Path, measured: dict[Key, Measured]) -> tuple[Path, list[Exported]]:
        """And the table that was exported: of the rules for an MPI library those, and there, that make the plain program faster."""
        everything = [Exported(consumer) for consumer in self._request.consumers]
        parts: dict[str, list[dict]] = {}  # by id: what is left of a rule
        for one in everything:
            rules = chosen_rules(table, one.consumer.backend)
            if one.consumer.library and rules:
                parts.update(self._borne_out(one, rules, table, measured))
        if any(one.withdrawn for one in everything):
            kept = table.with_name("table-kept.json")
            value = read_json(table)
            value["rules"] = [part for rule in value["rules"] for part in parts.get(rule["id"], [rule])]
            write_output(kept, json.dumps(value, indent=1) + "\n")
            table = kept
        for one in everything:
            one.folder = self._export(one.consumer, table)
            if one.folder:
                self._verify(one, one.folder)
        self._write_environment(everything)
        return table, everything

    def _export(self, consumer: Consumer, table: Path) -> Path | None:
        folder = self._request.output / consumer.name
        if chosen_rules(table, consumer.backend):
            written, printed = self._tune.export(consumer.name, table, folder.resolve())
            for rule, kind, reason in lost_rules(printed):
                print(f"{consumer.name}: {rule} is lost ({kind}): {reason}", flush=True)
            if written:
                return folder.resolve()
        if (folder / "table.json").is_file():  # of an earlier run
            shutil.rmtree(folder)
        return None

    def _verify(self, one: Exported, folder: Path) -> None:
        """Looks at the files, unless these very files were looked at before."""
        digest = _digest(folder)
        file = self._request.campaign / "verify" / f"{one.consumer.name}-{digest[:12]}.json"
        before = kept_json(file, "cannot be read; remove it, and the files are verified again") or {}
        if before.get("files") == digest:
            one.verified, one.verify_lines = before["code"], before["lines"]
            return
        seconds = max(self._clock.left_s, 0.0) + EXCESS_S
        self._clock.say(f"verifying the files for {one.consumer.name}")
        log = file.with_suffix(".part")
        try:
            log.unlink(missing_ok=True)
            command = self._tune.verify_command(one.consumer.name, folder, self._request.ranks)
            outcome = Process(command, self._plain.variables, log).wait(seconds, self._interrupts)
            self._campaign.stop_if_asked()
            one.verify_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            log.unlink()
        except OSError as error:
            raise OutputError(f"{log}: {error.strerror}") from None
        self._clock.keep()
        if not outcome.timed_out:
            one.verified = outcome.exit_code
        if one.verified in (HELD, WRONG):  # another time more may be seen
            write_output(file, json.dumps({"files": digest, "code": one.verified, "lines": one.verify_lines}, indent=1) + "\n")

    def _write_environment(self, everything: list[Exported]) -> None:
        path = self._request.output / "env.sh"
        good = [one for one in everything if one.in_effect]
        lines = ["# Made by dlmb_autotune; to be sourced before the programs start."]
        if not good:
            failed = any(one.folder for one in everything)
            why = "the files were not seen to act as the table says (report.md)" if failed else "nothing that files can hold was shown to be faster"
            lines += [f"# It sets nothing: {why}."]
        lines += [f". {shlex.quote(str(one.folder / 'env.sh'))}" for one in good]
        write_output(path, "\n".join(lines) + "\n")

    def _borne_out(self, one: Exported, rules: list[dict], table: Path, measured: dict[Key, Measured]) -> dict[str, list[dict]]:
        """The parts of each rule that the plain program bears out."""
        candidate = (self._request.campaign / "candidate" / one.consumer.name).resolve()
        written, printed = self._tune.export(one.consumer.name, table, candidate)
        lost = {rule: reason for rule, kind, reason in lost_rules(printed) if not written or kind not in _LOST_IN_PART}
        parts: dict[str, list[dict]] = {rule: [] for rule in lost}
        for rule in rules:
            if rule["id"] in lost:
                one.withdrawn.setdefault((lost[rule["id"]], rule["choose"]["method"]), []).extend(rule["evidence"]["sizes"])
        if not written:
            return parts
        rules = [rule for rule in rules if rule["id"] not in lost]
        measurements = self._measure(one, candidate, rules, measured)
        kept: dict[str, set[int]] = {operation: set() for operation in measurements}
        for rule in rules:
            measurement = measurements.get(rule["when"]["operation"])
            gaining = gaining_sizes(rule, measurement)
            for size in rule["evidence"]["sizes"]:
                if size not in gaining:
                    one.withdrawn.setdefault((why_not_shown(size, measurement), rule["choose"]["method"]), []).append(size)
            parts[rule["id"]] = narrowed(rule, gaining)
            kept.setdefault(rule["when"]["operation"], set()).update(gaining)
        for operation, each in measurements.items():
            made = len(each.rounds())
            if made >= DECIDING_ROUNDS:
                one.gain_rounds[each.what.collective] = made
                one.gains[each.what.collective] = each.gains(kept[operation])
        return parts

    def _measure(self, one: Exported, candidate: Path, rules: list[dict], measured: dict[Key, Measured]) -> dict[str, Measurement]:
        """By operation of the table."""
        folder = self._request.campaign / "plain" / f"{one.consumer.name}-{_digest(candidate)[:12]}"
        of_file = settings_of(candidate)
        measurements = {}
        for operation, (in_table, collective) in OPERATIONS.items():
            own = [rule["when"]["bytes"] for rule in rules if rule["when"]["operation"] == in_table]
            sizes = self._plain_sizes(one.consumer.backend, operation, own, measured)
            if collective and sizes:
                visits = Visits(collective, tuple(sizes), _calls(sizes), VISITS, self._request.beside)
                measurements[in_table] = Measurement(folder, visits, self._plain, of_file)

        def has_time(number: int, took: float) -> bool:
            later = _LAUNCHES_PER_RULE * len(rules) * self._startup_s if number > DECIDING_ROUNDS else 0.0
            return self._clock.left_s > took + later

        def launch(measurement: Measurement, number: int) -> str:
            self._clock.say(f"plain {measurement.what.collective}, round {number}: with the files, without them, and the control")
            reason = measurement.run(number, _TIMEOUT_S, self._interrupts)
            self._campaign.stop_if_asked()
            self._clock.keep()
            return reason

        run_rounds(list(measurements.values()), has_time, launch)
        return measurements

    def _plain_sizes(self, backend: str, operation: str, ranges: list[dict], measured: dict[Key, Measured]) -> dict[int, float]:
        """The sizes that were measured where the files act, in bytes as plain programs count, each with the ns that a call takes."""
        ranks = self._request.ranks
        sizes = {}
        for (other, point), each in measured.items():
            size = point.table_bytes(ranks)
            inside = any(limits["min"] <= size <= limits["max"] for limits in ranges)
            counted = point.size // (FLOAT_BYTES if point.operation in REDUCING else 1)
            fits = counted < 1 << 31  # an int of the call counts them: bytes, or floats
            if other == backend and point.operation == operation and each.launches and inside and fits:
                sizes[size] = statistics.median(each.default_ns)
        return dict(sorted(sizes.items()))


def reserve_s(operations: int, budget_s: float, startup_s: float) -> float:
    """The part of the budget for what comes after the measuring: not more than a third. Two rules per operation are usual."""
    verify = operations * 2 * _LAUNCHES_PER_RULE * startup_s
    gain = operations * (DECIDING_ROUNDS + 1) * 3 * (startup_s + _LAUNCH_S)
    return min(verify + gain, budget_s / 3)


def _calls(sizes: dict[int, float]) -> int:
    """So many that a launch takes about a second beside its start."""
    one_call_each_ns = sum(sizes.values()) * VISITS
    return int(min(max(_LAUNCH_S * 1e9 / one_call_each_ns, _FEWEST_CALLS), _MOST_CALLS))


def _digest(folder: Path) -> str:
    """A hash of the files that the consumer reads. The table names its time, and the rest is for people."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.name not in ("table.json", "lost.json", "verify.sh"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
