# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a table leaves open becomes points to measure, and nothing else does."""

from __future__ import annotations

import unittest

from dlmb_launch.autotune.open_points import CONFIRM, REFINE, REPEAT, open_points

RANKS = 4


def rule(status: str, method: str, *sizes: int, operation: str = "allreduce", scope: str = "mpi", **when) -> dict:
    """Where the default stands, `method` is the candidate of an open rule."""
    stays = status != "chosen"
    found = {
        "scope": scope,
        "when": {"operation": operation, "bytes": {"min": sizes[0], "max": sizes[-1]}, "memory": "host", **when},
        "choose": {"backend": "mpi", "method": "default" if stays else method},
        "status": status,
        "evidence": {"sizes": list(sizes)},
    }
    return {**found, "candidate": {"choose": {"backend": "mpi", "method": method}}} if status in ("undecided", "unconfirmed") else found


def asked(*rules: dict, cut: float = 1.25) -> dict:
    def standard(key) -> str:
        return "alltoall" if key[1].operation == "alltoall" else "default"

    found = open_points({"policy": {"cut": cut}, "rules": list(rules)}, RANKS, standard)
    return {kind: {(point.operation, point.size): methods for (_, point), methods in wanted.items()} for kind, wanted in found.items() if wanted}


class Candidates(unittest.TestCase):
    def test_what_is_undecided_is_repeated_and_what_is_unconfirmed_is_confirmed(self) -> None:
        found = asked(rule("undecided", "ring", 8, 16), rule("unconfirmed", "linear", 32), rule("tie", "", 64))
        self.assertEqual(found[REPEAT], {("allreduce", 8): ("default", "ring"), ("allreduce", 16): ("default", "ring")})
        self.assertEqual(found[CONFIRM], {("allreduce", 32): ("default", "linear")})
        self.assertNotIn(REFINE, found)

    def test_what_is_settled_is_not_measured_again(self) -> None:
        self.assertEqual(asked(rule("chosen", "ring", 8, 16), rule("no_gain", "", 17)), {})

    def test_which_backend_is_faster_is_nothing_that_is_tuned(self) -> None:
        self.assertEqual(asked(rule("undecided", "default", 8, scope="select")), {})

    def test_sizes_are_those_of_the_command_line_and_the_standard_comes_first(self) -> None:
        found = asked(rule("unconfirmed", "algorithm:alltoall=linear", 4096, operation="exchange", uniform=True))
        self.assertEqual(found, {CONFIRM: {("alltoall", 1024): ("alltoall", "algorithm:alltoall=linear")}})
        self.assertEqual(asked(rule("unconfirmed", "ring", 4096, operation="reduce_scatter")), {CONFIRM: {("reduce_scatter_block", 4096): ("default", "ring")}})


class Cuts(unittest.TestCase):
    def refined(self, *rules: dict, **policy) -> dict:
        return asked(*rules, **policy).get(REFINE, {})

    def test_lie_in_the_geometric_middle_and_are_measured_by_all_methods_beside_them(self) -> None:
        found = self.refined(rule("chosen", "b", 1024, 2048), rule("chosen", "a", 256, 512), rule("unconfirmed", "c", 4096))
        self.assertEqual(found, {("allreduce", 720): ("default", "a", "b", "c"), ("allreduce", 2896): ("default", "a", "b", "c")})

    def test_are_fine_enough_at_last(self) -> None:
        self.assertEqual(self.refined(rule("chosen", "a", 1024), rule("chosen", "b", 1280)), {})
        self.assertEqual(list(self.refined(rule("chosen", "a", 1024), rule("chosen", "b", 1288))), [("allreduce", 1144)])

    def test_end_where_no_element_is_between_two_sizes(self) -> None:
        self.assertEqual(self.refined(rule("no_gain", "", 8), rule("chosen", "ring", 16)), {})

    def test_are_whole_elements_and_whole_blocks_of_long_messages(self) -> None:
        sizes = self.refined(rule("chosen", "a", 4 * 8192, operation="allgather"), rule("chosen", "b", 4 * 16384, operation="allgather"))
        self.assertEqual(list(sizes), [("allgather", 11584)])  # of 11585
        scattered = self.refined(rule("chosen", "a", 64, operation="reduce_scatter"), rule("chosen", "b", 176, operation="reduce_scatter"))
        self.assertEqual(list(scattered), [("reduce_scatter_block", 112)])  # of 104

    def test_where_the_default_holds_on_both_sides_there_is_none(self) -> None:
        self.assertEqual(self.refined(rule("no_gain", "", 8), rule("undecided", "a", 1024), rule("tie", "", 4096)), {})

    def test_a_gap_between_equal_choices_is_measured(self) -> None:
        self.assertEqual(list(self.refined(rule("chosen", "a", 4096, 8192), rule("chosen", "a", 16392), cut=4.0)), [("allreduce", 11584)])
        self.assertEqual(self.refined(rule("chosen", "a", 4096, 8192), rule("chosen", "a", 16384), cut=4.0), {})

    def test_rules_under_other_conditions_are_no_neighbours(self) -> None:
        self.assertEqual(self.refined(rule("chosen", "a", 8), rule("no_gain", "", 1024, in_place=True)), {})


if __name__ == "__main__":
    unittest.main()
