# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one reader of plan files (dlmb.plan/2.x, JSON Lines).

Plans come as one dictionary per iteration: its header, and under "plans" by rank {"rank", "steps"}. Steps name what they communicate in one
way: "group" has world ranks, "send" and "recv" have a block per message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dlmb_results.fields import is_version, load_json
from dlmb_results.files import bounded_lines
from dlmb_results.program import UsageError

SCHEMA = "dlmb.plan/2"


def is_plan(path: Path) -> bool:
    """By the first bytes of a file; who reads it says what is wrong with one that cannot be opened."""
    try:
        with path.open("rb") as file:
            return b'"dlmb.plan/' in file.read(64)
    except OSError:
        return False


def read_plans(path: Path) -> list[dict[str, Any]]:
    """The iterations in a file. UsageError names it and the line."""
    try:
        with path.open("rb") as file:
            return list(plans_of(bounded_lines(file), str(path)))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def plans_of(lines: Iterable[bytes | str], name: str) -> Iterator[dict[str, Any]]:
    document: dict[str, Any] = {}
    groups: list[list[int]] = []
    number = 0
    try:
        for number, text in enumerate(lines, 1):
            line = load_json(text)
            if "schema" in line:
                if document:
                    yield whole(document, name)
                if not is_version(line["schema"], SCHEMA):
                    raise UsageError(f"{name}: schema '{line['schema']}', this program reads {SCHEMA}.x; write it again with --plan jsonl")
                document, groups = {**line, "plans": []}, []
            elif "members" in line:
                groups.append(line["members"])
            else:
                if "step_count" in line:
                    document["plans"].append({"rank": line["rank"], "step_count": line["step_count"], "steps": []})
                document["plans"][-1]["steps"].extend(plain(step, groups) for step in line["steps"])
        if not document:
            raise UsageError(f"{name}: has no plans")
        yield whole(document, name)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(f"{name}: line {number}: is no line of plans, as --plan jsonl prints them ({type(error).__name__}: {error})") from None


def one_plan(text: str) -> dict[str, Any]:
    """Of a text with one iteration, as programs print it."""
    (document,) = plans_of(text.splitlines(), "the text")
    return document


def whole(document: dict[str, Any], name: str) -> dict[str, Any]:
    plans = document["plans"]
    if len(plans) != document["world"]["ranks"] or any(len(plan["steps"]) != plan.pop("step_count") for plan in plans):
        raise UsageError(f"{name}: is cut off: not all plans of its {document['world']['ranks']} ranks are there")
    return document


def plain(step: dict[str, Any], groups: list[list[int]]) -> dict[str, Any]:
    """With the members of its group, and messages as the blocks of an exchange."""
    if "group" in step:
        step["group"] = groups[step["group"]]
    for end, side in (("to", "send"), ("from", "recv")):
        if end in step:
            step[side] = [step.pop(end)] * step.get("window", {}).get("messages", 1)
    return step
