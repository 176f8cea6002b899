# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which launches are planned: what goes together, what comes first, and what there is no time for."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from plan_files import plan_text

from dlmb_launch.autotune import points, request
from dlmb_launch.autotune.planning import (
    LONGEST_CELL_S,
    SHORTEST_CELL_S,
    Candidate,
    Cost,
    cell_limit,
    fitted,
    fitting,
    grouped,
    launches_to_decide,
    racing,
    value_near,
)
from dlmb_launch.autotune.points import Point
from dlmb_results.program import UsageError

CHEAP_START, DEAR_START = Cost(0.001, 0.1, 0.05), Cost(100.0, 0.1, 0.05)


def key(operation: str, size: int):
    return ("mpi", Point(operation, size))


def candidate(size: int, value: float, methods: tuple[str, ...] = ("a", "b"), launches: int = 0, operation: str = "allreduce") -> Candidate:
    return Candidate(key(operation, size), methods, len(methods), launches, value)


class Grouping(unittest.TestCase):
    WANTED = {key("allreduce", 8): ("default", "a"), key("allreduce", 16): ("default", "a"), key("allreduce", 32): ("default", "b")}

    def test_sizes_with_the_same_methods_share_a_launch(self) -> None:
        works = grouped(self.WANTED, CHEAP_START)
        self.assertEqual([(work.sizes, work.methods) for work in works], [((8, 16), ("default", "a")), ((32,), ("default", "b"))])

    def test_where_a_launch_is_dear_more_cells_are_measured_than_wanted(self) -> None:
        (work,) = grouped(self.WANTED, DEAR_START)
        self.assertEqual((work.sizes, work.methods), ((8, 16, 32), ("default", "a", "b")))

    def test_operations_and_what_methods_are_compared_with_stay_apart(self) -> None:
        works = grouped({key("allreduce", 8): ("default", "a"), key("alltoall", 8): ("alltoall", "b")}, DEAR_START)
        self.assertEqual(len(works), 2)

    def test_nothing_that_is_wanted_is_forgotten(self) -> None:
        wanted = {key("allreduce", 2**size): ("default", *"abc"[: size % 3 + 1]) for size in range(3, 20)}
        for cost in (CHEAP_START, Cost(0.5, 0.1, 0.05), DEAR_START):
            works = grouped(wanted, cost)
            for (_, point), methods in wanted.items():
                self.assertEqual(sum(set(methods) <= set(work.methods) and point.size in work.sizes for work in works), 1)


class Racing(unittest.TestCase):
    COST = Cost(1.0, 0.1, 0.05)

    def test_all_points_race_where_there_is_time(self) -> None:
        candidates = [candidate(2**n, 0.1) for n in range(3, 20)]
        self.assertEqual(len(racing(candidates, self.COST, 1e6)), len(candidates))

    def test_without_time_those_race_that_may_gain_most_for_their_cost(self) -> None:
        candidates = [candidate(8, 0.1), candidate(16, 0.9), candidate(32, 0.5)]
        self.assertEqual([each.key[1].size for each in racing(candidates, self.COST, 25.0)], [16])
        self.assertEqual(racing(candidates, self.COST, 1.0), [])

    def test_without_time_the_slower_half_of_the_methods_is_left_out_after_each_launch(self) -> None:
        methods = tuple("abcdefghij")
        candidates = [candidate(2**n, 0.1, methods, launches=2) for n in range(3, 20)]
        taken = racing(candidates, self.COST, 150.0)
        self.assertEqual({each.methods for each in taken}, {("a", "b", "c")})  # 10 / 2^2, rounded up

    def test_a_point_that_was_launched_more_often_costs_less(self) -> None:
        self.assertLess(candidate(8, 1, launches=6).cells_to_decide(), candidate(8, 1, launches=2).cells_to_decide())
        self.assertLess(launches_to_decide([candidate(8, 1, launches=7)]), launches_to_decide([candidate(8, 1)]))

    def test_cells_are_as_long_as_the_time_allows_within_limits(self) -> None:
        candidates = [candidate(2**n, 0.1) for n in range(3, 20)]
        self.assertEqual(cell_limit(candidates, self.COST, 1.0), SHORTEST_CELL_S)
        self.assertEqual(cell_limit(candidates, self.COST, 1e6), LONGEST_CELL_S)
        self.assertTrue(SHORTEST_CELL_S < cell_limit(candidates, self.COST, 160.0) < LONGEST_CELL_S)

    def test_what_fits_in_the_time_is_taken_by_its_gain(self) -> None:
        wanted = {key("allreduce", size): ("default", "a") for size in (8, 16, 32)}
        values = {key("allreduce", 16): 0.5, key("allreduce", 8): 0.1}
        self.assertEqual(list(fitting(wanted, values, 8, self.COST, 8 * 1.25)), [key("allreduce", 16)])
        self.assertEqual(fitting(wanted, values, 8, self.COST, 1e6), wanted)

    def test_a_point_between_two_is_worth_what_the_better_one_is(self) -> None:
        values = {key("allreduce", 256): 0.0, key("allreduce", 512): 0.4, key("allreduce", 1024): 0.6, key("allgather", 400): 0.9}
        self.assertEqual(value_near(key("allreduce", 362), values), 0.4)
        self.assertEqual(value_near(key("allreduce", 1024), values), 0.6)
        self.assertEqual(value_near(key("broadcast", 362), values), 0.0)
        wanted = {key("allreduce", size): ("default", "a") for size in (128, 362)}
        self.assertEqual(list(fitting(wanted, values, 8, self.COST, 8 * 1.25)), [key("allreduce", 362)])


class Costs(unittest.TestCase):
    GUESS = Cost(0.5, 0.1, 0.05)

    def test_before_any_launch_it_is_a_guess(self) -> None:
        self.assertEqual(fitted([], [], 0.05, self.GUESS), self.GUESS)

    def test_launches_of_different_size_tell_the_start_from_the_cells(self) -> None:
        cost = fitted([10, 20, 40, 80], [2 + 0.03 * cells for cells in (10, 20, 40, 80)], 0.02, self.GUESS)
        self.assertAlmostEqual(cost.startup_s, 2)
        self.assertAlmostEqual(cost.cell_s, 0.05)

    def test_launches_of_one_size_leave_the_start_as_it_was_guessed(self) -> None:
        cost = fitted([10] * 5, [2.5] * 5, 0.02, self.GUESS)
        self.assertEqual(cost.startup_s, 0.5)
        self.assertAlmostEqual(cost.cell_s, 0.22)

    def test_no_launch_is_faster_than_one_that_does_nothing(self) -> None:
        cost = fitted([10, 20, 30, 40], [0.1, 2.0, 4.0, 6.0], 0.02, self.GUESS)
        self.assertEqual(cost.startup_s, 0.5)
        self.assertGreater(cost.cell_s, 0.02)


class Words(unittest.TestCase):
    def test_sizes_double_and_join(self) -> None:
        self.assertEqual(points.parse_sizes("8:32,1K"), [8, 16, 32, 1024])
        for wrong in ("", "8:4", "x", "0", "1T", "2G", "-8"):
            with self.subTest(wrong), self.assertRaises(UsageError):
                points.parse_sizes(wrong)

    def test_operations_have_the_names_of_other_programs_too(self) -> None:
        self.assertEqual(points.parse_operations("bcast,reduce_scatter,broadcast"), ["broadcast", "reduce_scatter_block"])

    def test_budgets(self) -> None:
        self.assertEqual([request.parse(text) for text in ("90s", "20m", "1h30m")], [90, 1200, 5400])
        for wrong in ("", "20", "5s", "m", "1d", "-3m"):
            with self.subTest(wrong), self.assertRaises(UsageError):
                request.parse(wrong)

    def test_tables_count_all_parts_of_an_allgather(self) -> None:
        self.assertEqual(Point("allgather", 1024).table_bytes(4), 4096)
        self.assertEqual(points.from_table_bytes("allgather", 4096, 4), Point("allgather", 1024))
        self.assertEqual(Point("allreduce", 1024).table_bytes(4), 1024)

    def test_a_reduce_scatter_is_of_whole_elements_for_each_rank(self) -> None:
        self.assertEqual(Point("reduce_scatter_block", 64).table_bytes(3), 72)
        self.assertEqual(Point("reduce_scatter_block", 64).whole(3), Point("reduce_scatter_block", 72))
        self.assertEqual([Point("allgather", 64).whole(3), Point("allreduce", 64).whole(3)], [Point("allgather", 64), Point("allreduce", 64)])
        weights = request.points((points.CONSUMERS["openmpi"],), ["reduce_scatter_block"], [8, 16], None, 4)
        self.assertEqual(weights, {("mpi", Point("reduce_scatter_block", 16)): 1.0})


class Workload(unittest.TestCase):
    def use(self, steps: list[dict], ranks: int = 4):
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder) / "plan.jsonl"
            plan.write_text(plan_text({"world": {"ranks": 4}, "plans": [{"rank": rank, "steps": steps} for rank in range(4)]}), encoding="utf-8")
            use = points.use_of(str(plan), ranks, Path(folder))
            (Path(folder) / "other.jsonl").write_bytes(plan.read_bytes())
            self.assertEqual(points.use_of(folder, ranks, Path(folder)), use)  # the mean over the iterations in a folder
            return use

    def step(self, operation: str, size: int, group: int = 4, **more) -> dict:
        return {"operation": operation, "bytes": size, "group": list(range(group)), **more}

    def test_calls_are_counted_at_the_sizes_around_them(self) -> None:
        use = self.use([self.step("allreduce", 4096), self.step("allreduce", 4096), self.step("allgather", 6000 * 4), self.step("compute", 0)])
        self.assertEqual(use, {Point("allreduce", 4096): 2.0, Point("allgather", 4096): 1.0, Point("allgather", 8192): 1.0})

    def test_parts_of_the_ranks_and_unequal_exchanges_are_left_out(self) -> None:
        equal, uneven = [{"peer": 0, "bytes": 64}] * 4, [{"peer": 0, "bytes": 64}, {"peer": 1, "bytes": 65}]
        exchange = {"operation": "exchange", "group": [0, 1, 2, 3]}
        use = self.use([self.step("allreduce", 8, group=2), {**exchange, "send": uneven}, {**exchange, "send": equal}])
        self.assertEqual(use, {Point("alltoall", 64): 1.0})

    def test_calls_with_shares_are_other_calls(self) -> None:
        use = self.use([self.step("allgather", 4096, shares=[1024, 1024, 1024, 1024]), self.step("reduce_scatter", 4096, shares=[4096, 0, 0, 0]), self.step("allgather", 4096)])
        self.assertEqual(use, {Point("allgather", 1024): 1.0})

    def test_a_plan_of_other_ranks_is_refused(self) -> None:
        with self.assertRaisesRegex(UsageError, "give --ranks 4"):
            self.use([], ranks=2)


if __name__ == "__main__":
    unittest.main()
