# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The schedule of a plan as a Gantt chart: what each rank does when, and how much of it is bubble."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Rows, Span, left_out
from dlmb_plotting.simulation import Activity, Machine, simulate

MOST_RANKS = 16
MOST_SPANS = 4000
LEAST_SHARE = 0.005  # of the time; a lane in which less happens is left out
COMPUTE = "compute"
LANES = {COMPUTE: COMPUTE, "send": "send", "recv": "wait"}  # of a rank, by operation
COLLECTIVE = "collective"  # of all other operations
RECORDED = "recorded"  # when the steps ran in the run that a plan was made of


def plots(plans: dict[str, dict[str, Any]], machine: Machine, limits: Limits) -> list[Plot]:
    by_pattern: dict[str, list[Rows]] = {}
    for document in plans.values():
        if len(document["plans"]) < document["world"]["ranks"]:
            continue  # a part of the ranks would wait for ever
        by_pattern.setdefault(document["pattern"], []).append(chart(document, machine))
    caption = (f"Simulated from the plan, not measured: a message takes {machine.latency_us:g} µs + bytes / {machine.bandwidth_gb_per_s:g} GB/s, a rank "
               "computes one step and sends one message at a time, exchanges and collectives start when their last rank is ready. "
               "A receive lasts from where it is waited for until the message is there. Bubble: share of the time in which a rank does not compute. "
               f"Lanes in which less than {LEAST_SHARE:.1%} of the time is spent are left out. Recorded: when the steps ran in the recorded run, "
               "from the begin of the iteration on the clock of each rank.")
    return [Plot(f"{pattern}.timeline", f"{pattern}: simulated timeline of one iteration", caption, charts[: limits.charts],
                 left_out(min(len(charts), limits.charts), len(charts), "plans"), palette=f"steps of {pattern}") for pattern, charts in by_pattern.items()]


def kind(activity: Activity) -> str:
    """Labels without their suffix, and what is done."""
    label = str(activity.step["label"])
    if label.startswith(COMPUTE):
        return ".".join(label.split(".")[:2])
    return label.split(".")[0] + {"send": ", sent", "recv": ", waited for"}.get(activity.step["operation"], ", collective")


def text(activity: Activity, unit: str, size: float) -> str:
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


def lane(activity: Activity) -> str:
    return LANES.get(activity.step["operation"], COLLECTIVE)


def recorded(document: dict[str, Any]) -> list[Activity]:
    return [Activity(plan["rank"], step["recorded_ns"][0], sum(step["recorded_ns"]), step) for plan in document["plans"] for step in plan["steps"]
            if "recorded_ns" in step]


def chart(document: dict[str, Any], machine: Machine) -> Rows:
    """A row for each lane of a rank in which something is to be seen."""
    activities = [(activity, lane(activity)) for activity in simulate(document["plans"], machine)]
    ranks = sorted(plan["rank"] for plan in document["plans"])[:MOST_RANKS]
    end = max((activity.end_ns for activity, _ in activities), default=0.0)
    activities += [(activity, RECORDED) for activity in recorded(document)]
    unit, size = style.time_unit(end)
    shown = [(activity, name) for activity, name in activities if activity.rank in ranks and activity.end_ns > activity.start_ns]
    shown.sort(key=lambda each: each[0].start_ns)
    busy_ns: Counter[tuple[int, str]] = Counter()
    for activity, name in shown:
        busy_ns[activity.rank, name] += activity.end_ns - activity.start_ns
    lanes = [(rank, name) for rank in ranks for name in (*LANES.values(), COLLECTIVE, RECORDED)]
    row_of = {each: index for index, each in enumerate(each for each in lanes if busy_ns[each] > LEAST_SHARE * end)}
    parameters = document["parameters"]
    title = ", ".join([document["preset"] or "no preset", *([str(parameters["schedule"])] if "schedule" in parameters else []),
                       f"{document['world']['ranks']} ranks", *left_out_here(ranks, shown, document)])
    rows = Rows(title, [f"rank {rank} {name}" for rank, name in row_of], Axis(f"{'' if any(name == RECORDED for _, name in shown) else 'simulated '}time ({unit})"))
    for activity, name in shown[:MOST_SPANS]:
        row = row_of.get((activity.rank, name))
        if row is not None:
            rows.spans.append(Span(row, activity.start_ns / size, (activity.end_ns - activity.start_ns) / size, kind(activity), text(activity, unit, size)))
    for (rank, name), row in row_of.items():
        if name == COMPUTE:
            rows.ends[row] = f"bubble {1 - busy_ns[rank, name] / end:.0%}"
    return rows


def left_out_here(ranks: list[int], shown: list[tuple[Activity, str]], document: dict[str, Any]) -> list[str]:
    texts = [f"ranks 0 to {ranks[-1]} shown"] if len(ranks) < len(document["plans"]) else []
    return [*texts, f"first {MOST_SPANS} of {len(shown)} steps shown"] if len(shown) > MOST_SPANS else texts
