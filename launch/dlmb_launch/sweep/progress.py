# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One line per launch on standard output, with an estimate of the time that is left."""

from __future__ import annotations

import time


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Progress:
    """The estimate is the mean of what this run's launches of the same job took, or of all its launches."""

    def __init__(self, jobs: list[str]):
        self._waiting = list(jobs)  # of the launches that are left, in order
        self._total = len(jobs)
        self._took: dict[str, list[float]] = {}

    def begin(self, job: str, name: str) -> None:
        self._began = time.monotonic()
        self._job = job
        number = self._total - len(self._waiting) + 1
        left = self.seconds_left()
        print(f"[{number}/{self._total}] {name}{'' if left is None else f', about {duration(left)} left'}", flush=True)

    def end(self, word: str) -> None:
        took = time.monotonic() - self._began
        self._took.setdefault(self._job, []).append(took)
        self._waiting.pop(0)
        print(f"    {word}, {duration(took)}", flush=True)

    def seconds_left(self) -> float | None:
        everything = [took for each in self._took.values() for took in each]
        if not everything:
            return None
        mean = sum(everything) / len(everything)
        of_job = {job: sum(each) / len(each) for job, each in self._took.items()}
        return sum(of_job.get(job, mean) for job in self._waiting)
