# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading in several processes gives what reading in one does."""

from __future__ import annotations

import os
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

from made import CELL, WithFolder, cell, fault, launch, side

from dlmb_launch.compare import reading
from dlmb_launch.compare.campaign import METRICS
from dlmb_results import lines
from dlmb_results.lines import ResultError

TWO_CORES = mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1})
OTHER = f"{CELL}/x=1"


def process_and_files(paths: list[Path]) -> tuple[int, list[Path]]:
    return os.getpid(), paths


class EqualPartsTest(WithFolder):
    def files(self, *sizes: int) -> list[Path]:
        paths = [self.folder / str(index) for index in range(len(sizes))]
        for path, size in zip(paths, sizes):
            path.write_bytes(b"x" * size)
        return paths

    def test_neighbours_stay_together_and_bytes_are_about_equal(self) -> None:
        for sizes, expected in (((5, 5, 5, 5), (2, 2)), ((90, 5, 5), (1, 2)), ((5, 5, 90), (2, 1)), ((7,), (1,)), ((0, 0), (2,))):
            paths = self.files(*sizes)
            found = lines.equal_parts(paths, 2)
            self.assertEqual(tuple(map(len, found)), expected, sizes)
            self.assertEqual([path for part in found for path in part], paths)

    @TWO_CORES
    def test_large_parts_are_read_by_other_processes(self) -> None:
        paths = self.files(5, 5)
        (one, first), (two, second) = lines.read_in_processes(process_and_files, paths, least_bytes=5)
        self.assertEqual((first, second), (paths[:1], paths[1:]))
        self.assertNotIn(os.getpid(), (one, two))

    @TWO_CORES
    def test_little_is_read_by_the_process_itself(self) -> None:
        paths = self.files(5, 5)
        self.assertEqual(lines.read_in_processes(process_and_files, paths, least_bytes=6), [(os.getpid(), paths)])


@TWO_CORES
class CampaignTest(WithFolder):
    def read_in(self, processes: int) -> tuple:
        """All of the campaign, in the order of its fields."""
        least_bytes = 1 if processes > 1 else 1 << 40
        with mock.patch.object(reading, "read_in_processes", partial(lines.read_in_processes, least_bytes=least_bytes)):
            return tuple(vars(reading.read_campaign("made", self.folder, METRICS["time"])).values())

    def test_a_campaign_is_the_same_in_one_process_and_in_two(self) -> None:
        first = [*side("a", {CELL: [1.0, 2.0], OTHER: [3.0]}), launch("cut")]
        second = [launch("b", time="2026-01-31T11:00:00Z"), cell("b", 4.0, OTHER, fill="zeros"), fault("b", "failed"), cell("b", 5.0, f"{CELL}/y=1")]
        self.file("1", [launch("z"), fault("z", "skipped", f"{CELL}/y=1"), *first])
        self.file("2", second)
        alone = self.read_in(1)
        self.assertEqual(repr(self.read_in(2)), repr(alone))
        self.assertIn({2: "fill differs: 'random' and 'zeros'"}, alone)

    def test_a_launch_in_two_files_is_refused_wherever_they_are_read(self) -> None:
        self.file("1", side("a", {CELL: [1.0]}))
        self.file("2", side("a", {CELL: [1.0]}))
        for processes in (1, 2):
            with self.assertRaisesRegex(ResultError, "launch a-0 is in .*1.jsonl and in .*2.jsonl"):
                self.read_in(processes)

    def test_what_is_wrong_with_a_file_is_said_as_ever(self) -> None:
        self.file("1", side("a", {CELL: [1.0]}))
        self.file("2", [{"kind": "launch", "schema": "other/1.0", "launch_id": "b"}])
        with self.assertRaisesRegex(ResultError, "2.jsonl:1: schema 'other/1.0'"):
            self.read_in(2)


if __name__ == "__main__":
    unittest.main()
