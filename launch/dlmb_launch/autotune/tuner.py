# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The measuring of a tuning: what can be tuned here, the search, and then what the table asks for, until nothing is left or the time is
used up. All that it knows is in the campaign's files, so a run that was killed goes on by asking them.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dlmb_launch.autotune import campaign as steps
from dlmb_launch.autotune import observations, planning, report
from dlmb_launch.autotune.campaign import Campaign, Step, cells_of, keys_of, sizes_of
from dlmb_launch.autotune.observations import Key, Measured, Standing
from dlmb_launch.autotune.open_points import CONFIRM, KINDS, REFINE, REPEAT, open_points
from dlmb_launch.autotune.planning import Candidate, Cost, Wanted, Work
from dlmb_launch.autotune.points import shown_sizes
from dlmb_launch.autotune.request import Clock, Request
from dlmb_launch.autotune.tune_program import TuneProgram, chosen_rules
from dlmb_launch.sweep import sweep_file
from dlmb_launch.sweep.sweep_file import Launch
from dlmb_results.files import read_json

_SURVEY_SIZE = 64 << 10
_UNKNOWN_GAIN = 1.0  # what may be possible where nothing has been measured: the most
_OVERHEAD_S = 0.1  # of a cell, until launches say it
_MOST_TRIES = 2  # further launches of a point whose launches bring no time
_MOST_STEPS = {CONFIRM: 2, REPEAT: 2, REFINE: 1}  # of a point
_SLOWEST = 6.0  # times what a launch was expected to take, until it is ended
_SHORTEST_TIMEOUT_S = 60


class Tuner:
    def __init__(self, request: Request, campaign: Campaign, clock: Clock, tune: TuneProgram, startup_s: float):
        self.request = request
        self.campaign = campaign
        self._clock = clock
        self._tune = tune
        self._startup_s = startup_s
        self.table = request.campaign / "table.json"
        self.printed = ""  # by the last build
        self._said_noise = False

    # Knowledge

    def competitors(self) -> dict[tuple[str, str], list[str]]:
        """The methods of each backend and operation that exist here and that a consumer's file can say."""
        found: dict[tuple[str, str], list[str]] = {}
        for consumer in self.request.consumers:
            for operation in self.request.operations(consumer.backend):
                found[consumer.backend, operation] = list(consumer.methods)
        for backend, operation, method in observations.methods_in(self.campaign.files(steps.SURVEY)):
            taker = next((each for each in self.request.consumers if each.backend == backend and each.competes(operation, method)), None)
            known = found.get((backend, operation))
            if taker and known is not None and method not in (*known, taker.standard(operation)):
                known.append(method)
        return found

    def measured(self) -> dict[Key, Measured]:
        return observations.read(self.campaign.files(steps.SEARCH, REPEAT, REFINE))

    def standings(self, measured: dict[Key, Measured]) -> dict[Key, Standing]:
        competitors = self.competitors()
        found = {}
        for key, weight in self.request.weights.items():
            if weight and key in measured and measured[key].launches:
                found[key] = observations.standing(measured[key], competitors[key[0], key[1].operation])
        return found

    def cost(self, limit_s: float) -> Cost:
        """From the launches so far: what a launch takes without its cells, and a cell beside the time that it measures."""
        cells: list[int] = []
        seconds: list[float] = []
        for step in self.campaign.steps():
            if step.kind == steps.SURVEY:
                continue
            for launch in sweep_file.launches(step.sweep):
                took = step.folder.status(launch).get("seconds")
                if took is not None:
                    cells.append(cells_of(launch.program))
                    seconds.append(took - cells[-1] * _limit(step))
        return planning.fitted(cells, seconds, limit_s, Cost(self._startup_s, _OVERHEAD_S + limit_s, limit_s))

    # The order of things

    def run(self, reserve_s: Callable[[int], float]) -> None:
        """reserve_s: of the budget, for what comes after, by the number of operations that files are made for. Raises LaunchFailed, Stopped,
        TuneFailed."""
        self._reserve_s = reserve_s(len(self._operations()))
        for step in self.campaign.steps():
            if self.campaign.left(step):
                self._run(step)
        self._survey()
        self._decide()
        # The time kept for operations without a faster method is left for those that are open.
        self._reserve_s = reserve_s(min(self._chosen_operations() + 1, len(self._operations())))
        self._decide()

    def _decide(self) -> None:
        while (step := self._next_search() or self._next_of_table()) and self._run(step):
            pass

    def _operations(self) -> set[tuple[str, str]]:
        return {(backend, point.operation) for backend, point in self.request.weights}

    def _chosen_operations(self) -> int:
        if not self.table.is_file():
            return 0
        rules = [rule for consumer in self.request.consumers for rule in chosen_rules(self.table, consumer.backend)]
        return len({(rule["scope"], rule["when"]["operation"]) for rule in rules})

    def _time_left(self) -> float:
        return self._clock.left_s - self._reserve_s

    def _survey(self) -> None:
        for consumer in self.request.consumers:
            operations = self.request.operations(consumer.backend)
            done = any(consumer.backend == step.sweep.programs[0].option("--backend") for step in self.campaign.steps() if step.kind == steps.SURVEY)
            if consumer.methods or done or not operations:
                continue
            work = Work(consumer.backend, ",".join(operations), (_SURVEY_SIZE,), ("all",))
            options = {"iterations": "1", "warmup": "0", "validation": "off", "calibration": "off"}
            self._run(self.campaign.add(steps.SURVEY, [work], 1, options, _SHORTEST_TIMEOUT_S * 2))

    def candidates(self, measured: dict[Key, Measured]) -> list[Candidate]:
        """The points that are not decided yet."""
        competitors, standings, tried = self.competitors(), self.standings(measured), self._launches_of_points(steps.SEARCH)
        found = []
        for key, weight in sorted(self.request.weights.items()):
            standing = standings.get(key)
            methods = standing.alive if standing else tuple(competitors[key[0], key[1].operation])
            launches = max(measured[key].launches if standing else 0, tried[key] - _MOST_TRIES)
            if not methods or launches >= planning.SEARCH_LAUNCHES:
                continue
            if self.request.weighted:  # seconds per iteration of the workload
                weight *= statistics.median(measured[key].default_ns) / 1e9 if standing else 1.0
            value = planning.value_of(standing, weight) if standing else weight * _UNKNOWN_GAIN
            found.append(Candidate(key, methods, len(competitors[key[0], key[1].operation]), launches, value))
        return found

    def least_budget_s(self) -> float:
        """With which one point can be decided, by what is known of launches here."""
        cost = self.cost(planning.SHORTEST_CELL_S)
        candidates = self.candidates(self.measured())
        needed = [planning.launches_to_decide([each]) * cost.startup_s + each.cells_to_decide() * cost.cell_s for each in candidates]
        return self._clock.spent_s + self._reserve_s + min(needed, default=0.0)

    def _launches_of_points(self, kind: str) -> Counter[Key]:
        count: Counter[Key] = Counter()
        for step in self.campaign.steps():
            if step.kind == kind:
                for key in keys_of(step.sweep):
                    count[key] += step.sweep.launches
        return count

    def _next_search(self) -> Step | None:
        """One launch of each group of points that race."""
        self.campaign.stop_if_asked()
        measured = self.measured()
        candidates = self.candidates(measured)
        if not candidates:
            return None
        limit_s = planning.cell_limit(candidates, self.cost(self._last_limit()), self._time_left())
        cost = self.cost(limit_s)
        racing = planning.racing(candidates, cost, self._time_left())
        if not racing:
            return None
        self._say_noise(measured, len(candidates), len(racing))
        wanted = {each.key: (self._standard(each.key), *each.methods) for each in racing}
        return self._add(steps.SEARCH, wanted, 1, cost)

    def _say_noise(self, measured: dict[Key, Measured], left: int, in_time: int) -> None:
        noise = observations.noise(measured)
        if noise is None or self._said_noise:
            return
        self._said_noise = True
        self._clock.say(f"{report.noise_text(noise)}; {left} points are open, {in_time} of them can be decided in time")

    def _standard(self, key: Key) -> str:
        return self.request.consumer_of(key[0]).standard(key[1].operation)

    def _last_limit(self) -> float:
        limits = [_limit(step) for step in self.campaign.steps() if step.kind != steps.SURVEY]
        return limits[-1] if limits else planning.SHORTEST_CELL_S

    def _next_of_table(self) -> Step | None:
        """Builds the table, and measures what it asks for, as far as there is time."""
        self.campaign.stop_if_asked()
        if not self.build():
            return None
        measured = self.measured()
        values = {key: self._value(key, standing, measured) for key, standing in self.standings(measured).items()}
        cost = self.cost(self._last_limit())
        asked = {kind: self._untried(kind, wanted) for kind, wanted in open_points(read_json(self.table), self.request.ranks, self._standard).items()}
        most = {kind: max((planning.value_near(key, values) for key in keys), default=0.0) for kind, keys in asked.items()}
        for kind in sorted(KINDS, key=lambda kind: (kind != CONFIRM, -most[kind])):
            counts = (planning.CONFIRM_LAUNCHES, planning.FEWEST_CONFIRM_LAUNCHES) if kind == CONFIRM else (planning.SEARCH_LAUNCHES,)
            # A choice that is found has to be confirmed, too, in as many launches of two methods.
            later = 0 if kind == CONFIRM else planning.CONFIRM_LAUNCHES
            for launches in counts:
                wanted = planning.fitting(asked[kind], values, launches + later, cost, self._time_left())
                if len(wanted) == len(asked[kind]):
                    break
            if wanted:
                return self._add(kind, wanted, launches, cost)
        return None

    def _untried(self, kind: str, wanted: Wanted) -> Wanted:
        """The part of `wanted` that was not tried often enough."""
        tried = Counter(key for step in self.campaign.steps() if step.kind == kind for key in keys_of(step.sweep))
        return {key: methods for key, methods in wanted.items() if tried[key] < _MOST_STEPS[kind]}

    def _value(self, key: Key, standing: Standing, measured: dict[Key, Measured]) -> float:
        weight = self.request.weights[key]
        if self.request.weighted:
            weight *= statistics.median(measured[key].default_ns) / 1e9
        return weight * max(standing.gain, 0.0)

    # Steps

    def build(self) -> bool:
        """Writes the table. False: there are no results yet."""
        search, measured = self.campaign.files(steps.SEARCH, REPEAT, REFINE), self.measured()
        if not any(each.launches for each in measured.values()):
            return False
        methods = sorted({method.split(":")[0] for each in measured.values() for method in each.logs})
        self.printed = self._tune.build(search, self._whole_confirmations(), self.table, self.request.timing, methods, self.request.accept)
        return True

    def _whole_confirmations(self) -> list[Path]:
        """Fewer launches could not confirm anything, and a table would take that for a tie."""
        files = []
        for step in self.campaign.steps():
            if step.kind != CONFIRM:
                continue
            by_job: dict[str, list[Path]] = {}
            for launch in sweep_file.launches(step.sweep):
                if step.folder.results(launch).is_file():
                    by_job.setdefault(launch.job, []).append(step.folder.results(launch))
            files += [file for each in by_job.values() if len(each) >= min(planning.FEWEST_CONFIRM_LAUNCHES, step.sweep.launches) for file in each]
        return files

    def _add(self, kind: str, wanted: Wanted, launches: int, cost: Cost) -> Step:
        works = planning.grouped(wanted, cost)
        options = {"time-limit": f"{cost.limit_s:g}"}
        slowest = max(cost.of(work) for work in works)
        return self.campaign.add(kind, works, launches, options, math.ceil(max(_SLOWEST * slowest, _SHORTEST_TIMEOUT_S)))

    def _run(self, step: Step) -> bool:
        """False: there is no time for all of it."""
        cost = self.cost(_limit(step))

        def begin(_: Step, launch: Launch) -> bool:
            expected = self._startup_s if step.kind == steps.SURVEY else cost.startup_s + cells_of(launch.program) * cost.cell_s
            if self._time_left() < expected:
                return False
            self._clock.say(f"{step.path.stem} {_launch_text(step, launch)}")
            return True

        def end(_: Step, launch: Launch, word: str, seconds: float) -> None:
            self._clock.keep()
            if word not in ("done", "nothing"):
                print(f"    {launch.job}: {word} after {seconds:.1f} s; {step.folder.log(launch)} says why", flush=True)

        return self.campaign.run(step, begin, end)


def _launch_text(step: Step, launch: Launch) -> str:
    operation, methods = launch.program.option("--operation"), launch.program.option("--method").split(",")
    if step.kind == steps.SURVEY:
        return f"which methods there are for {operation}"
    number = f", launch {launch.replicate} of {step.sweep.launches}" if step.sweep.launches > 1 else ""
    return f"{operation}: {shown_sizes(sizes_of(launch.program))}, {len(methods)} methods{number}"


def _limit(step: Step) -> float:
    return float(step.sweep.programs[0].option("--time-limit", "0"))

