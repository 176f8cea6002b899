# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was found, in sentences: which method is fastest, by how much, where, and how sure that is.

Two methods are compared by the ratio of their times in the same launch, where they took turns (dlmb_statistics/student.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import mean
from typing import Any, NamedTuple

from dlmb_plotting import style
from dlmb_plotting.inputs import Inputs, refusing
from dlmb_plotting.plots.curves import SIZE_PARAMETERS, per_rank
from dlmb_plotting.plots.documents import choice, condition, sides
from dlmb_plotting.results import Cell, Group, Results, grouped, setting, short_names
from dlmb_results.cells import LEAST_SAMPLES, by_key
from dlmb_results.names import plural
from dlmb_statistics.robust import Ratio, geometric_mean
from dlmb_statistics.student import Median, of_independent, of_two_medians, over_launches

MOST_LINES = 10  # of a pattern
MOST_RANGES = 4  # of sizes in a line


@dataclass
class Finding:
    title: str
    summary: str
    lines: list[tuple[str, str]] = field(default_factory=list)  # where, and what was found there


class Contest(NamedTuple):
    """A setting in which two methods or more ran."""

    cells: list[Cell]  # the fastest first
    lead: Ratio  # time of the second over that of the first
    equals: list[Cell]  # those whose interval does not say that they are slower than the first, and itself

    @property
    def decided(self) -> bool:
        return len(self.equals) == 1 and "too short" not in self.cells[0].doubts

    @property
    def winner(self) -> str:
        return self.cells[0].method_name


class Judge:
    def __init__(self, results: Results) -> None:
        self.visits = {identifier: dict(visits) for identifier, visits in results.visits.items()}

    def logarithms(self, slow: Cell, fast: Cell) -> dict[str, float]:
        """By launch that both ran in: of the ratio of their times."""
        one, other = self.visits[slow.id], self.visits[fast.id]
        return {launch: math.log(one[launch] / other[launch]) for launch in one if launch in other}

    def ratio(self, slow: Cell, fast: Cell) -> Ratio:
        of_launch = list(self.logarithms(slow, fast).values())
        return over_launches(of_launch) if len(of_launch) > 1 else of_two_medians(median_of(slow), median_of(fast))

    def time_ns(self, cell: Cell) -> float:
        """Geometric mean over launches."""
        return geometric_mean(self.visits[cell.id].values())

    def contests(self, cells: list[Cell]) -> list[Contest]:
        timed = (cell for cell in cells if cell.ok and not cell.suite and cell.median_ns > 0)
        found = []
        for members in by_key(timed, setting).values():
            if len(members) > 1:
                members.sort(key=self.time_ns)
                ratios = [self.ratio(other, members[0]) for other in members[1:]]
                equals = [members[0], *(other for other, ratio in zip(members[1:], ratios) if ratio.low <= 1)]
                found.append(Contest(members, ratios[0], equals))
        return found

    def mean_ratio(self, pairs: list[tuple[Cell, Cell]]) -> Ratio:
        """Geometric mean over settings: of whole launches if two or more ran all of them, else of settings as if they were independent."""
        by_launch = [self.logarithms(slow, fast) for slow, fast in pairs]
        launches = set.intersection(*map(set, by_launch))
        if len(launches) > 1:
            return over_launches([mean(each[launch] for each in by_launch) for launch in launches])
        return of_independent(self.ratio(slow, fast) for slow, fast in pairs)


def median_of(cell: Cell) -> Median:
    return Median(cell.median_ns, (cell.low_ns, cell.high_ns) if cell.interval else None)


def findings(inputs: Inputs) -> list[Finding]:
    judge = Judge(inputs.results)
    found = [of_pattern(pattern, cells, judge) for pattern, cells in inputs.results.patterns().items()]
    with refusing("findings"):
        found += [of_comparison(name, document) for name, document in inputs.comparisons.items()]
        found += [of_table(name, document) for name, document in inputs.tables.items()]
    return found


def listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1] if texts else ""


def of_pattern(pattern: str, cells: list[Cell], judge: Judge) -> Finding:
    ran = [cell for cell in cells if cell.ok and not cell.suite]
    converted = sorted({cell.suite for cell in cells if cell.ok and cell.suite})
    if not ran and converted:
        return Finding(pattern, f"Results of {listed(converted)}, without intervals, so no method is called the fastest.")
    if not ran:
        return Finding(pattern, f"Nothing ran: {listed(sorted({cell.reason or cell.status for cell in cells})[:3])}.")
    contests = judge.contests(ran)
    groups = grouped(ran, SIZE_PARAMETERS)
    shared, titles = shared_and_rest(groups)
    heading = f"{pattern}: {shared}" if shared else pattern
    if not contests:
        methods = sorted({cell.method_name for cell in ran})
        return Finding(heading, f"Nothing to compare: {listed(methods)} ran, one method in each of {plural(len({setting(cell) for cell in ran}), 'setting')}.",
                       [(title, alone(group.cells)) for title, group in zip(titles, groups)][:MOST_LINES])
    of_setting = {setting(contest.cells[0]): contest for contest in contests}
    lines: list[tuple[float, str, str]] = []
    for title, group in zip(titles, groups):
        here = {setting(cell): of_setting[setting(cell)] for cell in group.cells if setting(cell) in of_setting}
        lines += along_sizes(title, sorted(here.values(), key=lambda contest: per_rank(contest.cells[0])))
    summary = wins(contests) + overall(contests, judge)
    if len(lines) > MOST_LINES:
        summary += f" The {MOST_LINES} widest leads of {len(lines)}:"
        least = sorted((lead for lead, _, _ in lines), reverse=True)[MOST_LINES - 1]
        lines = [line for line in lines if line[0] >= least]
    return Finding(heading, summary, [(where, text) for _, where, text in lines][:MOST_LINES])


def alone(cells: list[Cell]) -> str:
    def text(cell: Cell) -> str:
        bracket = f" ({interval(cell.low_ns, cell.high_ns)})" if cell.interval else ""
        return f"{duration(cell.median_ns)}{bracket} at {style.byte_text(per_rank(cell))}"

    ordered = sorted(cells, key=per_rank)
    return f"{ordered[0].method_name}, {text(ordered[0])}" + (f" to {text(ordered[-1])}" if len(ordered) > 1 else "") + " per rank"


def wins(contests: list[Contest]) -> str:
    count = Counter(contest.winner for contest in contests if contest.decided)
    still_open = len(contests) - sum(count.values())
    if len(contests) == 1:
        return ""
    if not count:
        return f"All {len(contests)} settings are open. "
    (first, most), *others = count.most_common()
    text = f"{first} is the fastest in {most if most < len(contests) else 'all'} of {len(contests)} settings"
    text += "".join(f", {method} in {won}" for method, won in others)
    return text + (f"; {still_open} {'is' if still_open == 1 else 'are'} open. " if still_open else ". ")


def overall(contests: list[Contest], judge: Judge) -> str:
    """What it means to take one method for all settings."""
    if len(contests) < 2:
        return ""
    by_method = [{cell.method_name: cell for cell in contest.cells} for contest in contests]
    everywhere = [method for method in by_method[0] if all(method in cells for cells in by_method)]
    if len(everywhere) < 2:
        return ""
    ordered = sorted(everywhere, key=lambda method: mean(math.log(judge.time_ns(cells[method])) for cells in by_method))
    best, second = ordered[:2]
    lead = judge.mean_ratio([(cells[second], cells[best]) for cells in by_method])
    if lead.low <= 1:
        if not lead.known:
            return f"As one choice for all of them: {best} takes least time, {second} {lead} times as much, in the geometric mean, without an interval."
        return f"As one choice for all of them none is better by more than its interval: {best} leads {second} by {lead} times in the geometric mean."
    loss, worst = max(((judge.time_ns(cells[best]) / judge.time_ns(contest.cells[0]), contest) for cells, contest in zip(by_method, contests)), key=lambda pair: pair[0])
    text = f"As one choice for all of them {best} is {lead} times as fast as {second}, the next, in the geometric mean"
    if loss > 1.01:
        text += f"; at worst it takes {loss:.3g} times as long as the fastest ({worst.winner}: {' '.join(filter(None, (worst.cells[0].preset, size_text(worst))))})"
    return text + "."


def size_text(contest: Contest) -> str:
    return f"{style.byte_text(per_rank(contest.cells[0]))} per rank"


def along_sizes(title: str, contests: list[Contest]) -> list[tuple[float, str, str]]:
    """The widest lead, where, and what: for each winner, and for the sizes that are open."""
    of_winner = by_key(range(len(contests)), lambda number: contests[number].winner if contests[number].decided else "")
    found = []
    for _, numbers in sorted(of_winner.items(), key=lambda item: (not item[0], -len(item[1]))):
        where = ", ".join(filter(None, (title, sizes(numbers, contests) if len(contests) > 1 else "")))
        here = [contests[number] for number in numbers]
        found.append((max(contest.lead.value for contest in here), where, sentence(here)))
    return found


def sizes(numbers: list[int], contests: list[Contest]) -> str:
    """Neighbours as a range."""
    texts = [style.byte_text(per_rank(contest.cells[0])) for contest in contests]
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    if len(runs) > MOST_RANGES:
        return f"{len(numbers)} of the {len(contests)} sizes from {texts[numbers[0]]} to {texts[numbers[-1]]} per rank"
    return listed([texts[run[0]] if texts[run[0]] == texts[run[-1]] else f"{texts[run[0]]} to {texts[run[-1]]}" for run in runs]) + " per rank"


def shared_and_rest(groups: list[Group]) -> tuple[str, list[str]]:
    """What the titles of all groups have in common, and the rest of each."""
    parts = [group.title.split(", ") for group in groups]
    shared = [part for part in parts[0] if all(part in each for each in parts)]
    return ", ".join(shared), [", ".join(part for part in each if part not in shared) for each in parts]


def sentence(run: list[Contest]) -> str:
    first, leads = run[0], [contest.lead for contest in run]
    seconds = sorted({contest.cells[1].method_name for contest in run})
    second = seconds[0] if len(seconds) == 1 else "the next"
    least, most = min(lead.value for lead in leads), max(lead.value for lead in leads)
    times_as_fast = f"{most:.3g}" if f"{least:.3g}" == f"{most:.3g}" else f"{least:.3g} to {most:.3g}"
    known = all(lead.known for lead in leads)
    inside = f"(intervals from {min(lead.low for lead in leads):.3g} to {max(lead.high for lead in leads):.3g})"
    if not first.decided:
        if any("too short" in contest.cells[0].doubts for contest in run):
            return "open: too short for the clock"
        if not known:
            ahead = f"{first.winner} took least time, {second}" if len({contest.winner for contest in run}) == 1 else "the fastest took least time, the next"
            return f"open: fewer than {LEAST_SAMPLES} samples, so there is no interval; {ahead} {times_as_fast} times as much"
        names = sorted({cell.method_name for contest in run for cell in contest.equals})
        who = " or ".join(names) if len(names) <= 3 else f"{len(names)} of {max(len(contest.cells) for contest in run)} methods"
        if len(run) == 1:
            return f"open: {who} may be the fastest; {first.winner} leads {second} by {first.lead} times with {duration(first.cells[0].median_ns)}"
        return f"open: {who} may be the fastest; the lead is at most {most:.3g} times {inside}"
    if len(run) > 1:
        return f"{first.winner} is {times_as_fast} times as fast as {second} {inside}"
    times = [duration(cell.median_ns) for cell in first.cells[:2]]
    return f"{first.winner} is {first.lead} times as fast as {second}: {times[0]} instead of {times[1]}"


def duration(time_ns: float) -> str:
    unit, size = style.time_unit(time_ns)
    return f"{style.number(time_ns / size)} {unit}"


def interval(low_ns: float, high_ns: float) -> str:
    unit, size = style.time_unit(high_ns)
    return f"{style.number(low_ns / size)} to {style.number(high_ns / size)} {unit}"


def how_sure(results: Results) -> str:
    """What the brackets mean, and how far they reach."""
    count = Counter(contest.lead.launches > 1 for cells in results.patterns().values() for contest in Judge(results).contests(cells))
    parts = ["Brackets are 95 % intervals. A method is called the fastest where the whole interval of its lead over every other is above 1; "
             f"else the setting is open, also where a method has fewer than {LEAST_SAMPLES} samples and one launch. "
             "One in 20 equal pairs is called different by chance."]
    if count[True]:
        parts.append(f"{plural(count[True], 'setting')}: over the launches that ran both methods.")
    if count[False]:
        parts.append(f"{plural(count[False], 'setting')}: from one launch, so the interval is of its samples; another launch may differ by more. "
                     "Ten launches and dlmb_compare decide.")
    return " ".join(parts) if count else ""


def of_comparison(name: str, document: dict[str, Any]) -> Finding:
    counts = [f"{count} {state}" for state, count in document["counts"].items() if count]
    above, below = sides(document)
    verb = "takes" if above == "candidate" else "has"
    lines = [(summary["pattern"], f"the {above} {verb} {summary['ratio']:.3g} times the {below} in the geometric mean of {plural(summary['cells'], 'cell')}"
              + (f" ({summary['low']:.3g} to {summary['high']:.3g})" if summary.get("low") else "")) for summary in document["patterns"]]
    judged = sorted((cell for cell in document["cells"] if cell["state"] in ("REGRESSED", "IMPROVED")), key=lambda cell: -abs(math.log(cell["evidence"]["ratio"])))
    names = short_names({cell["cell_id"]: cell.get("name", cell["cell_id"]) for cell in judged})
    lines += [(names[cell["cell_id"]], "{} {ratio:.3g} ({low:.3g} to {high:.3g})".format(cell["state"], **cell["evidence"])) for cell in judged[: max(0, MOST_LINES - len(lines))]]
    return Finding(f"comparison {name}", f"Of {plural(len(document['cells']), 'cell')} {listed(counts) or 'none is judged'}; ratios are {above} over {below}, above 1 is worse.", lines)


def of_table(name: str, table: dict[str, Any]) -> Finding:
    rules = table["rules"]
    chosen = [rule for rule in rules if rule["status"] == "chosen"]
    measured = sorted((rule for rule in chosen if rule.get("evidence")), key=lambda rule: -rule["evidence"]["gain"])

    def line(rule: dict[str, Any]) -> tuple[str, str]:
        size, evidence = rule["when"]["bytes"], rule["evidence"]  # what was measured has both ends
        where = f"{condition(rule)}, {style.byte_text(size['min'] or 1)} to {style.byte_text(size['max'])}"
        interval = " ({:.0%} to {:.0%})".format(*evidence["ci"]) if evidence.get("ci") else ""
        return where, f"{choice(rule)} saves {evidence['gain']:.0%} of the default's time{interval}"

    return Finding(f"tuning table {name}", f"{len(chosen)} of {plural(len(rules), 'rule')} choose something; elsewhere the default stays.", [line(rule) for rule in measured[:MOST_LINES]])
