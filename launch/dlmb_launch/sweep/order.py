# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which launches a sweep consists of, and in which order they run.

Every replicate visits all jobs in an order of its own. The sides of a job follow each other directly, first one way
round and in the next replicate the other (ABBA), so that drift of the machine hits both alike.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from dlmb_launch.sweep.sweep_file import Environment, Program, Side, Sweep, World


@dataclass(frozen=True)
class Launch:
    program: Program
    world: World
    environment: Environment
    side: Side
    replicate: int  # from 1

    @property
    def job(self) -> str:
        """What is measured, without the side and the replicate."""
        return ".".join(filter(None, (self.program.name, self.world.name, self.environment.name)))

    @property
    def name(self) -> str:
        """Unique in a sweep; the path of its results below the sweep's folder, without the ending."""
        return f"{self.side.name}/{self.job}.{self.replicate:03d}"


def launches(sweep: Sweep) -> list[Launch]:
    jobs = [(p, w, e) for p in sweep.programs for w in sweep.worlds for e in sweep.environments]
    shuffle = random.Random(sweep.seed).shuffle
    ordered = []
    for replicate in range(1, sweep.launches + 1):
        shuffle(jobs)
        sides = sweep.sides if replicate % 2 == 1 else sweep.sides[::-1]
        ordered += [Launch(*job, side, replicate) for job in jobs for side in sides]
    return ordered
