# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The schedule of a plan as a Gantt chart: what each rank does when, and how much of it is bubble."""

from __future__ import annotations

from typing import Any

from dlmb_plotting import style
from dlmb_plotting.charts import Axis, Limits, Plot, Rows, Span, left_out
from dlmb_plotting.simulation import Activity, Machine, simulate

MOST_RANKS = 16
MOST_SPANS = 4000
COMPUTE = "compute"


def plots(plans: dict[str, dict[str, Any]], machine: Machine, limits: Limits) -> list[Plot]:
    by_pattern: dict[str, list[Rows]] = {}
    for document in plans.values():
        if len(document["plans"]) < document["world"]["ranks"]:
            continue  # a part of the ranks would wait for ever
        by_pattern.setdefault(document["pattern"], []).append(chart(document, machine))
    caption = (f"Simulated from the plan, not measured: a message takes {machine.latency_us:g} µs + bytes / {machine.bandwidth_gb_per_s:g} GB/s, a rank "
               "computes one step and sends one message at a time, exchanges and collectives start when their last rank is ready. "
               "A receive lasts from where it is waited for until the message is there. Bubble: share of the time in which a rank does not compute.")
    return [Plot(f"{pattern}.timeline", f"{pattern}: simulated timeline of one iteration", caption, charts[: limits.charts],
                 left_out(min(len(charts), limits.charts), len(charts), "plans"), measured=False) for pattern, charts in by_pattern.items()]


def kind(activity: Activity) -> str:
    """Labels without their suffix, and what is done."""
    label = str(activity.step["label"])
    if label.startswith(COMPUTE):
        return ".".join(label.split(".")[:2])
    return label.split(".")[0] + {"send": ", sent", "recv": ", waited for"}.get(activity.step["operation"], ", together")


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


def chart(document: dict[str, Any], machine: Machine) -> Rows:
    activities = simulate(document["plans"], machine)
    ranks = sorted(plan["rank"] for plan in document["plans"])[:MOST_RANKS]
    end = max((activity.end_ns for activity in activities), default=0.0)
    unit, size = style.time_unit(end)
    computes = any(activity.step["operation"] == COMPUTE for activity in activities)
    lanes = [("compute", (COMPUTE,))] if computes else []
    lanes += [(name, operations) for name, operations in (("send", ("send",)), ("wait", ("recv",))) if any(a.step["operation"] in operations for a in activities)]
    together = {a.step["operation"] for a in activities} - {COMPUTE, "send", "recv"}
    lanes += [("together", tuple(together))] if together else []
    row_of = {(rank, lane): index for index, (rank, lane) in enumerate((rank, lane) for rank in ranks for lane, _ in lanes)}
    lane_of = {operation: lane for lane, operations in lanes for operation in operations}
    shown = [activity for activity in activities if activity.rank in ranks and activity.end_ns > activity.start_ns]
    parameters = document["parameters"]
    title = ", ".join([document["preset"] or "no preset", *([str(parameters["schedule"])] if "schedule" in parameters else []),
                       f"{document['world']['ranks']} ranks", *left_out_here(ranks, shown, document)])
    rows = Rows(title, [f"rank {rank} {lane}" for rank, lane in row_of], Axis(f"simulated time ({unit})"))
    for activity in shown[:MOST_SPANS]:
        row = row_of[activity.rank, lane_of[activity.step["operation"]]]
        rows.spans.append(Span(row, activity.start_ns / size, (activity.end_ns - activity.start_ns) / size, kind(activity), text(activity, unit, size)))
    if computes and end > 0:
        for rank in ranks:
            busy = sum(a.end_ns - a.start_ns for a in activities if a.rank == rank and a.step["operation"] == COMPUTE)
            rows.ends[row_of[rank, "compute"]] = f"bubble {1 - busy / end:.0%}"
    return rows


def left_out_here(ranks: list[int], shown: list[Activity], document: dict[str, Any]) -> list[str]:
    texts = [f"ranks 0 to {ranks[-1]} shown"] if len(ranks) < len(document["plans"]) else []
    return [*texts, f"first {MOST_SPANS} of {len(shown)} steps shown"] if len(shown) > MOST_SPANS else texts
