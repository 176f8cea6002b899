# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Words and numbers for people."""

from __future__ import annotations

import unittest

from dlmb_launch.compare.campaign import METRICS, Cell
from dlmb_launch.compare.tables import shortened
from dlmb_launch.compare.wording import quantity, short_names
from dlmb_results.names import named


def made(cell_id: str, **parameters: object) -> Cell:
    return Cell(cell_id, "collective", "mpi", "host", "isolated", 1, 1, False, 1, "random", "", named(cell_id, "collective", parameters))


class WordingTest(unittest.TestCase):
    def test_numbers_have_three_digits_and_no_power_of_ten(self) -> None:
        times = [quantity(value, METRICS["time"]) for value in (0.5, 999, 1234, 45.6e3, 789e6, 2e9)]
        self.assertEqual(times, ["0.500 ns", "999 ns", "1.23 us", "45.6 us", "789 ms", "2.00 s"])
        bandwidths = [quantity(value, METRICS["busbw"]) for value in (0.0123, 4.567, 12345.6)]
        self.assertEqual(bandwidths, ["0.012 GB/s", "4.57 GB/s", "12346 GB/s"])

    def test_a_cell_is_named_by_what_tells_it_apart(self) -> None:
        keys, names = short_names([made("backend=mpi/ranks=2/seed=1"), made("backend=ucx/p.size=8/ranks=2/seed=1")])
        self.assertEqual((keys, list(names.values())), ("backend/p.size", ["mpi/-", "ucx/8"]))

    def test_a_cell_alone_has_a_name(self) -> None:
        self.assertEqual(short_names([made("backend=mpi/ranks=2")])[1], {"backend=mpi/ranks=2": "mpi"})

    def test_the_operation_is_named_also_where_it_is_the_default_and_the_same(self) -> None:
        cells = [made(f"method=blocking/p.message-size={size}/pattern=collective", operation="allreduce") for size in (8, 16)]
        self.assertEqual(short_names(cells), ("p.message-size/p.operation", {cells[0].id: "8/allreduce", cells[1].id: "16/allreduce"}))

    def test_windows_are_named_where_an_operation_has_them(self) -> None:
        facts = {"window": 64, "pairs": "all"}
        one, two = made("a=1/p.operation=bandwidth/p.window=4", operation="bandwidth", **facts), made("a=1/p.operation=bandwidth", operation="bandwidth", **facts)
        self.assertEqual(list(short_names([one, two])[1].values()), ["bandwidth/4", "bandwidth/64"])
        self.assertEqual(two.name, "a=1/p.operation=bandwidth/p.pairs=all/p.window=64")
        self.assertEqual(made("a=1", operation="allreduce", **facts).name, "a=1/p.operation=allreduce")

    def test_other_patterns_keep_their_ids(self) -> None:
        self.assertEqual(named("a=1", "moe_alltoall", {"operation": "x"}), "a=1")

    def test_a_long_name_keeps_both_ends(self) -> None:
        self.assertEqual(shortened("abcdefghij", 7), "ab...ij")
        self.assertEqual(shortened("abcdefg", 7), "abcdefg")


if __name__ == "__main__":
    unittest.main()
