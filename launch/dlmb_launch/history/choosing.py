# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which campaigns of a history are meant. An environment is its env_key, the hash of its identity: only launches of the same
one can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from dlmb_launch.history.index import Entry

Chosen = tuple[Entry, Set[str]]  # a campaign, and of which environments its launches count


def last(entries: Sequence[Entry], environments: Iterable[str], count: int, without: Set[str] = frozenset()) -> list[Chosen]:
    """Of each environment the last `count` campaigns; none that holds one of the launches `without`."""
    chosen: dict[str, set[str]] = {}
    others = [entry for entry in entries if not entry.launch_ids() & without]
    for environment in environments:
        for entry in [entry for entry in others if environment in entry.launches][-count:]:
            chosen.setdefault(entry.name, set()).add(environment)
    return [(entry, chosen[entry.name]) for entry in others if entry.name in chosen]


def everything(entries: Sequence[Entry]) -> list[Chosen]:
    return [(entry, set(entry.launches)) for entry in entries]


def beyond(entries: Sequence[Entry], keep: int) -> list[Entry]:
    """Those that are among the last `keep` of none of their environments."""
    kept = {entry.name for entry, _ in last(entries, {key for entry in entries for key in entry.launches}, keep)}
    return [entry for entry in entries if entry.name not in kept]
