# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""When each step of a plan would run on a simple machine: a model to look at a schedule, not a measurement.

Every rank computes one step at a time and sends one message at a time, in the order in which steps become ready. A message takes
latency + bytes / bandwidth, and a receive is done when it has arrived; receives cost nothing else. An exchange or a collective
starts when its last rank is ready and takes latency + bytes of its busiest rank / bandwidth; for collectives these are
the factors of results-schema (2 (n - 1) / n for an allreduce, (n - 1) / n for its halves, 1 for a broadcast).
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any, NamedTuple

from dlmb_results.lines import ResultError


class Machine(NamedTuple):
    latency_us: float = 5.0
    bandwidth_gb_per_s: float = 10.0  # 10^9 bytes per second, one direction of one rank

    def transfer_ns(self, count: float) -> float:
        return self.latency_us * 1e3 + count / self.bandwidth_gb_per_s


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
        self.arrived: dict[Any, deque[float]] = {}  # messages on their way, by source, destination, channel
        self.posted: dict[Any, deque[tuple[int, int, float]]] = {}  # receives without a message
        self.meetings: dict[Any, list[tuple[int, int, float]]] = {}
        self.visits: dict[Any, int] = {}  # how often a rank came to meetings of one group
        self.activities: list[Activity] = []

    def run(self) -> list[Activity]:
        while self.queue:
            ready, rank, identifier = heapq.heappop(self.queue)
            step = self.steps[rank, identifier]
            operation = step["operation"]
            if operation == "compute":
                self.occupy(rank, identifier, "processor", ready, step.get("busy_ns", 0))
            elif operation == "send":
                self.send(rank, identifier, ready)
            elif operation == "recv":
                self.receive(rank, identifier, ready)
            else:
                self.meet(rank, identifier, ready)
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

    def send(self, rank: int, identifier: int, ready: float) -> None:
        step = self.steps[rank, identifier]
        count = sum(block["bytes"] for block in step["send"])
        end = self.occupy(rank, identifier, "sender", ready, self.machine.transfer_ns(count))
        route = (rank, step["send"][0]["peer"], step.get("channel", 0))
        if self.posted.get(route):
            self.done(*self.received(*self.posted[route].popleft(), end))
        else:
            self.arrived.setdefault(route, deque()).append(end)

    def receive(self, rank: int, identifier: int, ready: float) -> None:
        step = self.steps[rank, identifier]
        route = (step["recv"][0]["peer"], rank, step.get("channel", 0))
        if self.arrived.get(route):
            self.done(*self.received(rank, identifier, ready, self.arrived[route].popleft()))
        else:
            self.posted.setdefault(route, deque()).append((rank, identifier, ready))

    @staticmethod
    def received(rank: int, identifier: int, ready: float, arrival: float) -> tuple[int, int, float, float]:
        return rank, identifier, ready, max(ready, arrival)

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
