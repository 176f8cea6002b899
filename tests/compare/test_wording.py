# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Words and numbers for people."""

from __future__ import annotations

import unittest

from dlmb_launch.compare.metrics import METRICS
from dlmb_launch.compare.terminal import shortened
from dlmb_launch.compare.wording import quantity, short_names


class WordingTest(unittest.TestCase):
    def test_numbers_have_three_digits_and_no_power_of_ten(self) -> None:
        times = [quantity(value, METRICS["time"]) for value in (0.5, 999, 1234, 45.6e3, 789e6, 2e9)]
        self.assertEqual(times, ["0.500 ns", "999 ns", "1.23 us", "45.6 us", "789 ms", "2.00 s"])
        bandwidths = [quantity(value, METRICS["busbw"]) for value in (0.0123, 4.567, 12345.6)]
        self.assertEqual(bandwidths, ["0.012 GB/s", "4.57 GB/s", "12346 GB/s"])

    def test_a_cell_is_named_by_what_tells_it_apart(self) -> None:
        keys, names = short_names(["backend=mpi/ranks=2/seed=1", "backend=ucx/p.size=8/ranks=2/seed=1"])
        self.assertEqual((keys, list(names.values())), ("backend/p.size", ["mpi/-", "ucx/8"]))

    def test_a_cell_alone_has_a_name(self) -> None:
        self.assertEqual(short_names(["backend=mpi/ranks=2"])[1], {"backend=mpi/ranks=2": "mpi"})

    def test_a_long_name_keeps_both_ends(self) -> None:
        self.assertEqual(shortened("abcdefghij", 7), "ab...ij")
        self.assertEqual(shortened("abcdefg", 7), "abcdefg")


if __name__ == "__main__":
    unittest.main()
