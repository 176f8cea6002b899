# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The report of what is planned before anything is launched, and of what came out: a page in Markdown, and a summary for the terminal that says
the same in a few lines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dlmb_launch.autotune.observations import ERROR_RATE, Key, Standing
from dlmb_launch.autotune.outcome import HELD, NO_TIME, UNSEEN, WRONG, Exported, reserve_s
from dlmb_launch.autotune.plain_program import SizeGain
from dlmb_launch.autotune.planning import SEARCH_LAUNCHES, Candidate, Cost, cell_limit, launches_to_decide, racing
from dlmb_launch.autotune.points import OPERATIONS, shown_sizes
from dlmb_launch.autotune.request import Request
from dlmb_launch.sweep.driver import duration
from dlmb_launch.sweep.launchers import Launcher
from dlmb_statistics.margins import SHARE, SHARE_IF_SHORT, SHORT_NS
from dlmb_statistics.robust import detectable_gain, geometric_mean

_STARTUP_S = 1.0
_CELL_S = 0.05  # beside the time that it measures
_USUAL_METHODS = 6  # of an operation, where dlmb_info does not list them


def describe(request: Request, info: dict[str, Any], launcher: Launcher) -> list[str]:
    lines = [f"launches by {' '.join(launcher.command(request.machine, request.world))} PROGRAM"]
    candidates = []
    for key, weight in sorted(request.weights.items()):
        count = _methods(request, info, key[0], key[1].operation)
        candidates.append(Candidate(key, tuple(map(str, range(count))), count, 0, weight))
    for consumer in request.consumers:
        for operation in request.operations(consumer.backend):
            sizes = [point.size for backend, point in sorted(request.weights) if (backend, point.operation) == (consumer.backend, operation)]
            count = _methods(request, info, consumer.backend, operation)
            lines.append(f"{consumer.name}: {operation}, {shown_sizes(sizes)}, about {count} methods beside the library's own choice")
    operations = {(backend, point.operation) for backend, point in request.weights}
    reserve = reserve_s(len(operations), request.budget_s, _STARTUP_S)
    left = request.budget_s - reserve
    limit = cell_limit(candidates, Cost(_STARTUP_S, _CELL_S, 0.0), left)
    cost = Cost(_STARTUP_S, _CELL_S + limit, limit)
    fitting = racing(candidates, cost, left)
    cells = sum(candidate.cells_to_decide() for candidate in fitting)
    measuring = launches_to_decide(fitting) * cost.startup_s + cells * cost.cell_s
    lines.append(f"search and confirmation: about {launches_to_decide(fitting):.0f} launches, {cells:.0f} cells of {limit:g} s, {duration(measuring)}")
    lines.append(f"verification and gain in a plain program: about {duration(reserve)}")
    if len(fitting) < len(candidates):
        left_out = f"{len(candidates) - len(fitting)} of {len(candidates)} points cannot be decided in {duration(request.budget_s)}"
        lines.append(f"{left_out}: give more, or fewer --operations or --sizes")
    lines.append(f"{SEARCH_LAUNCHES} launches decide a point; how small a gain can be seen is said when the noise is known")
    return lines


def _methods(request: Request, info: dict[str, Any], backend: str, operation: str) -> int:
    consumer = request.consumer_of(backend)
    if consumer.methods:
        return len(consumer.methods)
    knobs = [
        method["knobs"]
        for each in info["backends"]
        if each["name"] == backend
        for method in each.get("methods", [])
        if method["name"] == "algorithm"
    ]
    found = re.search(rf"\b{OPERATIONS[operation][1]}=([^,]*)", ", ".join(knobs))
    return found[1].count("|") + 1 if found else _USUAL_METHODS


_VERIFIED = {
    HELD: "verified: every trial ran what the table says",
    WRONG: "WRONG: not all that the table says runs; the files are not in env.sh",
    UNSEEN: "not all of it could be seen to act",
    NO_TIME: "not verified: there was no time left; run its verify.sh",
}


@dataclass
class Findings:
    request: Request
    cautions: list[str]
    noise: float | None
    standings: dict[Key, Standing]
    undecided: list[str]  # as `dlmb_tune build` says them
    skipped: int  # points that no launch has measured
    outcomes: list[Exported]
    rules: dict[str, list[dict]] = field(default_factory=dict)  # by consumer: those that leave the default
    spent_s: float = 0.0


def summary(found: Findings) -> list[str]:
    lines = [f"dlmb_autotune: {found.request.ranks} ranks, {duration(found.spent_s)} of {duration(found.request.budget_s)} used"]
    lines += [f"  note: {caution}" for caution in found.cautions]
    lines.append(f"  {'noise: not known, too little was measured' if found.noise is None else noise_text(found.noise)}")
    for one in found.outcomes:
        lines += [f"  {line}" for line in _outcome(one, found)]
    lines += [f"  {line}" for line in _open(found)]
    if any(one.in_effect for one in found.outcomes):
        lines.append(f"  to use it:  . {found.request.output / 'env.sh'}")
    lines.append(f"  report:     {found.request.output / 'report.md'}")
    return lines


def noise_text(noise: float) -> str:
    """noise: by how much the ratio of two methods changes from launch to launch."""
    gain = detectable_gain(SEARCH_LAUNCHES, noise)
    seen = f"below {100 * gain:.2g} % cannot be seen on a machine this noisy"
    if gain < SHARE:
        seen = f"below {100 * SHARE:.2g} % are not chosen, of calls below {SHORT_NS / 1000:.0f} us below {100 * SHARE_IF_SHORT:.2g} %"
    return f"noise {100 * noise:.2g} % from launch to launch: gains {seen}"


def _outcome(one: Exported, found: Findings) -> list[str]:
    name = one.consumer.name
    lines = _withdrawn(one)
    if not one.folder:
        return [*lines, f"{name}: nothing that its files can hold was shown to be faster than the library's own choice, so nothing is exported"]
    rules = found.rules[name]
    operations = Counter(rule["when"]["operation"] for rule in rules)
    lines.append(f"{name}: {len(rules)} rules ({', '.join(f'{count} of {operation}' for operation, count in sorted(operations.items()))}) in {one.folder}")
    lines.append(f"{name}: {_VERIFIED.get(one.verified, f'the verification returned {one.verified}; the files are not in env.sh')}")
    for collective, gains in one.gains.items():
        kept = [gain for gain in gains if gain.exported]
        if kept:
            speedups = [gain.speedup.value for gain in kept]
            text = f"plain {collective}: {geometric_mean(speedups):.2f} times as fast at the {len(kept)} sizes that the files change"
            lines.append(f"{text}, {min(speedups):.2f} to {max(speedups):.2f}; control {geometric_mean([gain.control.value for gain in kept]):.2f}")
    return lines


def _withdrawn(one: Exported) -> list[str]:
    name, lines = one.consumer.name, []
    for why in sorted({why for why, _ in one.withdrawn}):
        choices = "; ".join(f"{method} at {shown_sizes(sorted(sizes))}" for (reason, method), sizes in sorted(one.withdrawn.items()) if reason == why)
        if why:
            lines.append(f"{name}: not exported: {choices} ({why})")
        else:
            lines.append(f"{name}: withdrawn, because a plain program is not faster with it: {choices}")
    return lines


def _open(found: Findings) -> list[str]:
    lines = []
    if found.undecided:
        lines.append(f"undecided: {len(found.undecided)} sizes where a method looks faster; a larger --budget goes on from here")
    if found.skipped:
        lines.append(f"not measured: {found.skipped} of {len(found.request.weights)} points, for which there was no time")
    return lines


def page(found: Findings) -> str:
    request = found.request
    text = ["# Tuning for " + ", ".join(one.consumer.name for one in found.outcomes), ""]
    text += [f"- {line.strip()}" for line in summary(found)[1:-1]]
    text += ["", "## Before and after", ""]
    shown = False
    for one in found.outcomes:
        for collective, gains in one.gains.items():
            text += _gain_table(one, collective, gains)
            shown = True
    if not shown:
        text += ["No plain program was measured with files.", ""]
    text += ["## What the files say", ""]
    for name, rules in found.rules.items():
        text += _rule_table(name, rules)
    text += ["## Points", "", "Each operation and size, as `dlmb_collective --message-size` counts it. *Left* is what can still win.", ""]
    text += ["| operation | size | launches | best method | gain | at most | left |", "|---|--:|--:|---|--:|--:|--:|"]
    text += [_point_row(key, found.standings.get(key)) for key in sorted(request.weights)]
    text += ["", "## Undecided", ""]
    text += [f"- {line}" for line in found.undecided] or ["Nothing that looks faster is left open."]
    text += ["", *_how()]
    return "\n".join(text) + "\n"


def _gain_table(one: Exported, collective: str, gains: list[SizeGain]) -> list[str]:
    lines = [f"`dlmb_plain_mpi {collective}` for {one.consumer.name}, {one.gain_rounds[collective]} rounds. Before / after above 1: the files make it faster.", ""]
    lines += ["| bytes | before us | after us | before / after | 95 % interval | control | exported |", "|--:|--:|--:|--:|--:|--:|---|"]
    for gain in gains:
        interval = f"{gain.speedup.low:.2f} to {gain.speedup.high:.2f}"
        times = f"{gain.default_ns / 1000:.2f} | {gain.file_ns / 1000:.2f}"
        lines.append(f"| {gain.bytes} | {times} | {gain.speedup.value:.2f} | {interval} | {gain.control.value:.2f} | {'yes' if gain.exported else 'no'} |")
    return [*lines, ""]


def _rule_table(name: str, rules: list[dict]) -> list[str]:
    if not rules:
        return [f"Nothing for {name}.", ""]
    lines = [f"For {name}:", "", "| operation | bytes | method | gain | 95 % interval | launches |", "|---|--:|---|--:|--:|--:|"]
    for rule in rules:
        when, evidence = rule["when"], rule["evidence"]
        low, high = evidence["ci"]
        lines.append(
            f"| {when['operation']} | {when['bytes']['min']} to {when['bytes']['max']} | {rule['choose']['method']} | {100 * evidence['gain']:.0f} % "
            f"| {100 * low:.0f} to {100 * high:.0f} % | {evidence['launches']} + {evidence['confirmed']} |"
        )
    return [*lines, ""]


def _point_row(key: Key, standing: Standing | None) -> str:
    _, point = key
    begin = f"| {point.operation} | {point.size} |"
    if standing is None:
        return f"{begin} 0 | not measured | | | |"
    if not standing.alive:
        return f"{begin} {standing.launches} | the library's own | | | |"
    gains = f"{100 * standing.gain:.0f} % | {100 * standing.gain_possible:.0f} %"
    return f"{begin} {standing.launches} | {standing.best} | {gains} | {len(standing.alive)} |"


def _how() -> list[str]:
    return [
        "## How it was decided",
        "",
        f"A method was dropped at a size when it could no longer win; the fastest one is lost with a probability of at most {100 * ERROR_RATE:.0f} % per",
        "size. Where the time was too short for all, the slower half of the methods was set aside after each launch, which has no such bound.",
        "What remained was tested by `dlmb_tune build`: the false discovery rate over all sizes is held at 5 %, and fresh launches, whose",
        "number does not depend on what they show, have to show each winner again (5 % per size). At last a plain program had to be faster.",
    ]
