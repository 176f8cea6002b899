# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a plan does in one iteration: who sends how much to whom, how many messages of which size, and when each step would run.

The schedule is that of a simple machine: a model to look at it, not a measurement. Every rank computes one step at a time and sends one
message at a time, in the order in which steps become ready. A message takes latency + bytes / bandwidth, and a receive is done when it has
arrived; receives cost nothing else. An exchange or a collective starts when its last rank is ready and takes latency + bytes of its busiest
rank / bandwidth; for collectives these are the factors of results-schema (2 (n - 1) / n for an allreduce, (n - 1) / n for its halves, 1 for
a broadcast).
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Chart, Heat, Limits, Plot, Rows, Span, left_out
from dlmb_results.lines import ResultError

MOST_ROWS = 64
MATRIX_CAPTION = ("Bytes of exchanges and of single messages from the plan, blocks to the rank itself included. Collectives (allreduce and the like) are "
           "not drawn: who sends what in them is the library's choice.")
Matrix = list[list[float]]


def by_pattern(plans: dict[str, dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, document in plans.items():
        found.setdefault(document["pattern"], {})[name] = document
    return found


def headline(document: dict[str, Any], *more: str) -> str:
    return ", ".join([document["preset"] or "no preset", *more, f"{document['world']['ranks']} ranks"])


def plot_of(name: str, title: str, caption: str, charts: Sequence[Chart], limits: Limits, what: str, palette: str = "methods") -> Plot:
    """what: each chart is."""
    shown = charts[: limits.charts]
    return Plot(name, title, caption, list(shown), left_out(len(shown), len(charts), what), palette=palette)


def matrix_plots(plans: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    """One plot per plan. The last one of a pattern says how many are missing."""
    found = []
    for pattern, documents in by_pattern(plans).items():
        shown = list(documents.items())[: limits.charts]
        for name, document in shown:
            title = f"{pattern}, {headline(document)}: traffic of one iteration"
            found.append(plot_of(f"{pattern}.matrix" if len(documents) == 1 else f"{pattern}.{name}.matrix", title, MATRIX_CAPTION, heats(document), limits, "matrices"))
        if len(shown) < len(documents):
            missing = [found[-1].left_out, left_out(len(shown), len(documents), "plans")]
            found[-1] = replace(found[-1], left_out="; ".join(filter(None, missing)))
    return found


def heats(document: dict[str, Any]) -> list[Heat]:
    """More than 64 ranks are summed in blocks of neighbours."""
    ranks = document["world"]["ranks"]
    block = -(-ranks // MOST_ROWS)
    rows = range(0, ranks, block)
    phases: dict[str, Matrix] = {}
    for plan in document["plans"]:
        for step in plan["steps"]:
            for part in step.get("send", ()):
                phase = step["label"].split(".")[0]
                matrix = phases.setdefault(phase, [[0.0] * len(rows) for _ in rows])
                matrix[plan["rank"] // block][part["peer"] // block] += part["bytes"]
    if len(phases) > 1:
        whole = [[sum(matrix[i][j] for matrix in phases.values()) for j in range(len(rows))] for i in range(len(rows))]
        phases = {"all phases": whole, **phases}
    names = [str(first) if block == 1 else f"{first}-{min(first + block, ranks) - 1}" for first in rows]
    return [heat(phase + (f", summed in blocks of {block} ranks" if block > 1 else ""), names, matrix) for phase, matrix in phases.items()]


def heat(title: str, names: list[str], matrix: Matrix) -> Heat:
    unit, size = style.byte_unit(max(map(max, matrix)))
    return Heat(f"{title} ({unit})", names, names, "source rank", "destination rank", [[value / size for value in row] for row in matrix], unit)


MESSAGES_CAPTION = ("Messages of one iteration over all ranks, in bins that begin at a power of two. A message is a block to another rank; of a collective "
           "each rank's call counts as one, of its whole vector. Bins without a message are left out. At the right: bytes of the bin.")
NOT_SENT = ("compute", "recv", "wait_signal", "get", "barrier")  # nothing is sent, or it is the other end of a send


def message_plots(plans: dict[str, dict[str, Any]], limits: Limits) -> list[Plot]:
    charts = {pattern: [chart for chart in map(message_chart, documents.values()) if chart.spans] for pattern, documents in by_pattern(plans).items()}
    return [plot_of(f"{pattern}.messages", f"{pattern}: messages of one iteration by size", MESSAGES_CAPTION, of_pattern, limits, "plans", "operations")
            for pattern, of_pattern in charts.items()]


def sizes_of(step: dict[str, Any], rank: int) -> list[int]:
    if "send" in step:
        return [block["bytes"] for block in step["send"] if block["peer"] != rank]
    return [step["bytes"]]


def message_chart(document: dict[str, Any]) -> Rows:
    """A row for each bin that has a message, from the smallest to the largest."""
    counts: Counter[tuple[int, str]] = Counter()  # by bits of the size, and operation
    totals: Counter[int] = Counter()
    for plan in document["plans"]:
        for step in plan["steps"]:
            if step["operation"] not in NOT_SENT:
                for size in sizes_of(step, plan["rank"]):
                    counts[size.bit_length(), step["operation"]] += 1
                    totals[size.bit_length()] += size
    bins = sorted({bits for bits, _ in counts})
    rows = Rows(headline(document), [style.byte_text(1 << bits >> 1) + " .." if bits else "0 B" for bits in bins], Axis("messages"))
    operations = sorted({operation for _, operation in counts})
    for row, bits in enumerate(bins):
        start = 0
        for operation in operations:
            count = counts[bits, operation]
            if count:
                rows.spans.append(Span(row, start, count, operation, f"{count} of {operation}, {rows.rows[row]}"))
                start += count
        if totals[bits]:
            rows.ends[row] = style.byte_text(totals[bits])
    return rows


SIGNAL = "signal"  # in place of a channel


class Machine(NamedTuple):
    latency_us: float = 5.0
    bandwidth_gb_per_s: float = 10.0  # 10^9 bytes per second, one direction of one rank

    def transfer_ns(self, count: float) -> float:
        return self.latency_us * 1e3 + count / self.bandwidth_gb_per_s


SENDING, RECEIVING = ("send", "put", "offer"), ("recv", "wait_signal", "get")


class Activity(NamedTuple):
    rank: int
    start_ns: float
    end_ns: float
    step: dict[str, Any]


def bytes_of_busiest(steps: list[tuple[int, dict[str, Any]]]) -> float:
    """Of one exchange or collective: rank and step of all its members."""
    operation, members = steps[0][1]["operation"], len(steps)
    if operation == "exchange":
        return max(max(sum(block["bytes"] for block in step.get(way, ()) if block["peer"] != rank) for way in ("send", "recv")) for rank, step in steps)
    factor = {"allreduce": 2 * (members - 1) / members, "broadcast": 1.0 if members > 1 else 0.0}.get(operation, (members - 1) / members)
    return factor * steps[0][1].get("bytes", 0)


class Simulation:
    def __init__(self, plans: list[dict[str, Any]], machine: Machine) -> None:
        self.machine = machine
        self.steps = {(plan["rank"], step["id"]): step for plan in plans for step in plan["steps"]}
        self.waiting = {key: len(set(step["after"])) for key, step in self.steps.items()}
        self.next: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (rank, identifier), step in self.steps.items():
            for earlier in set(step["after"]):
                self.next.setdefault((rank, earlier), []).append((rank, identifier))
        self.ready_ns = dict.fromkeys(self.steps, 0.0)
        self.queue = [(0.0, rank, identifier) for (rank, identifier), count in self.waiting.items() if count == 0]
        heapq.heapify(self.queue)
        self.free_ns: dict[tuple[int, str], float] = {}  # when a rank's processor or sender is free
        self.arrived: dict[Any, deque[float]] = {}  # messages and signals on their way, by source, destination, channel
        self.posted: dict[Any, deque[tuple[int, int, float]]] = {}  # steps that wait for one
        self.meetings: dict[Any, list[tuple[int, int, float]]] = {}
        self.lacking: dict[tuple[int, int], tuple[int, float]] = {}  # of steps that wait: how many lack, and when the last one came
        self.visits: dict[Any, int] = {}  # how often a rank came to meetings of one group
        self.activities: list[Activity] = []

    def run(self) -> list[Activity]:
        begin = {"compute": self.compute} | dict.fromkeys(SENDING, self.send) | dict.fromkeys(RECEIVING, self.receive)
        while self.queue:
            ready, rank, identifier = heapq.heappop(self.queue)
            begin.get(self.steps[rank, identifier]["operation"], self.meet)(rank, identifier, ready)
        if len(self.activities) != len(self.steps):
            raise ResultError(f"a plan cannot finish: {len(self.steps) - len(self.activities)} steps wait for each other")
        return sorted(self.activities, key=lambda activity: (activity.start_ns, activity.rank))

    def done(self, rank: int, identifier: int, start: float, end: float) -> None:
        self.activities.append(Activity(rank, start, end, self.steps[rank, identifier]))
        for key in self.next.get((rank, identifier), ()):
            self.ready_ns[key] = max(self.ready_ns[key], end)
            self.waiting[key] -= 1
            if self.waiting[key] == 0:
                heapq.heappush(self.queue, (self.ready_ns[key], *key))

    def occupy(self, rank: int, identifier: int, what: str, ready: float, duration: float) -> float:
        start = max(ready, self.free_ns.get((rank, what), 0.0))
        self.free_ns[rank, what] = start + duration
        self.done(rank, identifier, start, start + duration)
        return start + duration

    def compute(self, rank: int, identifier: int, ready: float) -> None:
        self.occupy(rank, identifier, "processor", ready, self.steps[rank, identifier].get("busy_ns", 0))

    def routes(self, rank: int, step: dict[str, Any]) -> list[tuple[int, int, Any]]:
        """What a step gives or waits for: one message on a channel, or a put's signals, which arrive together behind all of its data."""
        sides = step["signals"] if "signals" in step else (step.get("send") or step["recv"])[:1]
        name = SIGNAL if "signals" in step else step.get("channel", 0)
        return [(rank, side["peer"], name) if step["operation"] in SENDING else (side["peer"], rank, name) for side in sides]

    def send(self, rank: int, identifier: int, ready: float) -> None:
        step = self.steps[rank, identifier]
        count = sum(block["bytes"] for block in step["send"] if block["peer"] != rank)
        end = self.occupy(rank, identifier, "sender", ready, self.machine.transfer_ns(count))
        for route in self.routes(rank, step):
            if self.posted.get(route):
                self.take(*self.posted[route].popleft(), end)
            else:
                self.arrived.setdefault(route, deque()).append(end)

    def receive(self, rank: int, identifier: int, ready: float) -> None:
        routes = self.routes(rank, self.steps[rank, identifier])
        self.lacking[rank, identifier] = (len(routes), ready)
        if not routes:
            self.done(rank, identifier, ready, ready)
        for route in routes:
            if self.arrived.get(route):
                self.take(rank, identifier, ready, self.arrived[route].popleft())
            else:
                self.posted.setdefault(route, deque()).append((rank, identifier, ready))

    def take(self, rank: int, identifier: int, ready: float, arrival: float) -> None:
        count, last = self.lacking[rank, identifier]
        self.lacking[rank, identifier] = (count - 1, max(last, arrival))
        if count == 1:
            self.done(rank, identifier, ready, max(last, arrival))

    def meet(self, rank: int, identifier: int, ready: float) -> None:
        step = self.steps[rank, identifier]
        group = tuple(step["group"])
        visit = self.visits[rank, group] = self.visits.get((rank, group), 0) + 1
        met = self.meetings.setdefault((group, visit), [])
        met.append((rank, identifier, ready))
        if len(met) == len(group):
            start = max(time for _, _, time in met)
            members = [(each, self.steps[each, number]) for each, number, _ in met]
            end = start + self.machine.transfer_ns(bytes_of_busiest(members))
            for each, number, _ in met:
                self.done(each, number, start, end)


def simulate(plans: list[dict[str, Any]], machine: Machine) -> list[Activity]:
    return Simulation(plans, machine).run()


MOST_RANKS = 16
MOST_SPANS = 4000
LEAST_SHARE = 0.005  # of the time; a lane in which less happens is left out
COMPUTE = "compute"
LANES = {COMPUTE: COMPUTE} | dict.fromkeys(SENDING, "send") | dict.fromkeys(RECEIVING, "wait")  # of a rank, by operation
COLLECTIVE = "collective"  # of all other operations
RECORDED = "recorded"  # when the steps ran in the run that a plan was made of


def timeline_plots(plans: dict[str, dict[str, Any]], machine: Machine, limits: Limits) -> list[Plot]:
    """None of a plan of a part of the ranks, which would wait for ever."""
    whole = {name: document for name, document in plans.items() if len(document["plans"]) >= document["world"]["ranks"]}
    caption = (f"Simulated from the plan, not measured: a message takes {machine.latency_us:g} µs + bytes / {machine.bandwidth_gb_per_s:g} GB/s, a rank "
               "computes one step and sends one message at a time, exchanges and collectives start when their last rank is ready. "
               "A receive lasts from where it is waited for until the message is there. Bubble: share of the time in which a rank does not compute. "
               f"Lanes in which less than {LEAST_SHARE:.1%} of the time is spent are left out. Recorded: when the steps ran in the recorded run, "
               "from the begin of the iteration on the clock of each rank.")
    return [plot_of(f"{pattern}.timeline", f"{pattern}: simulated timeline of one iteration", caption,
                    [timeline_chart(document, machine) for document in documents.values()], limits, "plans", f"steps of {pattern}")
            for pattern, documents in by_pattern(whole).items()]


def span_kind(activity: Activity) -> str:
    """Labels without their suffix, and what is done."""
    label = str(activity.step["label"])
    if label.startswith(COMPUTE):
        return ".".join(label.split(".")[:2])
    return label.split(".")[0] + (dict.fromkeys(SENDING, ", sent") | dict.fromkeys(RECEIVING, ", waited for")).get(activity.step["operation"], ", collective")


def span_text(activity: Activity, unit: str, size: float) -> str:
    step = activity.step
    parts = [f"rank {activity.rank} {step['operation']} {step['label']}"]
    if "microbatch" in step:
        parts.append(f"micro-batch {step['microbatch']}")
    for way, word in (("send", "to"), ("recv", "from")):
        blocks = step.get(way, ())
        if len(blocks) == 1:
            parts.append(f"{word} rank {blocks[0]['peer']}, {style.byte_text(blocks[0]['bytes'])}")
    parts.append(f"{style.number(activity.start_ns / size)} to {style.number(activity.end_ns / size)} {unit}")
    return ", ".join(parts)


def recorded(document: dict[str, Any]) -> list[Activity]:
    return [Activity(plan["rank"], step["recorded_ns"][0], sum(step["recorded_ns"]), step) for plan in document["plans"] for step in plan["steps"]
            if "recorded_ns" in step]


def timeline_chart(document: dict[str, Any], machine: Machine) -> Rows:
    """A row for each lane of a rank in which something is to be seen."""
    activities = [(activity, LANES.get(activity.step["operation"], COLLECTIVE)) for activity in simulate(document["plans"], machine)]
    ranks = sorted(plan["rank"] for plan in document["plans"])[:MOST_RANKS]
    end = max((activity.end_ns for activity, _ in activities), default=0.0)
    activities += [(activity, RECORDED) for activity in recorded(document)]
    unit, size = style.time_unit(end)
    shown = [(activity, name) for activity, name in activities if activity.rank in ranks and activity.end_ns > activity.start_ns]
    shown.sort(key=lambda each: each[0].start_ns)
    busy_ns: dict[tuple[int, str], float] = defaultdict(float)
    for activity, name in shown:
        busy_ns[activity.rank, name] += activity.end_ns - activity.start_ns
    lanes = [(rank, name) for rank in ranks for name in (*dict.fromkeys(LANES.values()), COLLECTIVE, RECORDED)]
    row_of = {each: index for index, each in enumerate(each for each in lanes if busy_ns[each] > LEAST_SHARE * end)}
    parameters = document["parameters"]
    title = ", ".join([headline(document, *([str(parameters["schedule"])] if "schedule" in parameters else [])), *left_out_here(ranks, shown, document)])
    rows = Rows(title, [f"rank {rank} {name}" for rank, name in row_of], Axis(f"{'' if any(name == RECORDED for _, name in shown) else 'simulated '}time ({unit})"))
    for activity, name in shown[:MOST_SPANS]:
        row = row_of.get((activity.rank, name))
        if row is not None:
            rows.spans.append(Span(row, activity.start_ns / size, (activity.end_ns - activity.start_ns) / size, span_kind(activity), span_text(activity, unit, size)))
    for (rank, name), row in row_of.items():
        if name == COMPUTE:
            rows.ends[row] = f"bubble {1 - busy_ns[rank, name] / end:.0%}"
    return rows


def left_out_here(ranks: list[int], shown: list[tuple[Activity, str]], document: dict[str, Any]) -> list[str]:
    texts = [f"ranks 0 to {ranks[-1]} shown"] if len(ranks) < len(document["plans"]) else []
    return [*texts, f"first {MOST_SPANS} of {len(shown)} steps shown"] if len(shown) > MOST_SPANS else texts
