# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which part of a sweep measures a list of cells again."""

import json
import tempfile
import unittest
from pathlib import Path

from test_sweep_file import read

from dlmb_launch.sweep import command
from dlmb_results.program import UsageError

SWEEP = """
launches = 8
[[world]]
ranks = 2
[[world]]
ranks = 4
[[program]]
program = "moe_alltoall"
preset = ["mixtral-8x7b", "deepseek-v3"]
backend = "mpi,ucx"
[[program]]
program = "collective"
"""
MOE = "backend=ucx/memory=host/method=auto/pattern=moe_alltoall/preset=mixtral-8x7b/ranks=4"


class Again(unittest.TestCase):
    def only(self, cells, schema="dlmb.rerun/1.0", sweep=SWEEP):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rerun.json"
            listed = [{"cell_id": cell, "pattern": pattern, "state": "REGRESSED"} for pattern, cell in cells]
            file.write_text(json.dumps({"schema": schema, "metric": "time", "launches": [], "cells": listed}), encoding="utf-8")
            return command.only(read(sweep), file)

    def test_programs_and_worlds_of_the_list_alone_with_its_backends_and_presets(self):
        sweep = self.only([("moe_alltoall", MOE)])
        self.assertEqual([program.program for program in sweep.programs], ["moe_alltoall"])
        self.assertEqual(
            sweep.programs[0].arguments, ("--preset", "mixtral-8x7b", "--backend", "ucx", "--memory", "host")
        )
        self.assertEqual(([world.ranks for world in sweep.worlds], sweep.launches), ([4], 8))

    def test_all_that_the_cells_of_a_program_need(self):
        sweep = self.only([("moe_alltoall", MOE), ("moe_alltoall", MOE.replace("ucx", "mpi").replace("=4", "=2"))])
        self.assertIn("mpi,ucx", sweep.programs[0].arguments)
        self.assertEqual([world.ranks for world in sweep.worlds], [2, 4])

    def test_environments_of_the_list_alone(self):
        environments = '[[environment]]\nname = "tcp"\n[[environment]]\nname = "sm"\n'
        self.assertEqual([each.name for each in self.only([("moe_alltoall", f"{MOE}/environment=sm")], sweep=SWEEP + environments).environments], ["sm"])
        self.assertEqual([each.name for each in self.only([("moe_alltoall", MOE)], sweep=SWEEP + environments).environments], ["tcp", "sm"])

    def test_a_cell_without_a_preset_leaves_presets_as_they_are(self):
        sweep = self.only([("moe_alltoall", MOE), ("moe_alltoall", MOE.replace("preset=mixtral-8x7b/", ""))])
        self.assertIn("mixtral-8x7b,deepseek-v3", sweep.programs[0].arguments)

    def test_a_cell_id_that_was_cut_may_be_of_any_world(self):
        sweep = self.only([("moe_alltoall", "backend=mpi/memory=host/p.file=a.b.c+2f1234")])
        self.assertEqual([world.ranks for world in sweep.worlds], [2, 4])

    def test_a_list_of_another_sweep_or_none_is_refused(self):
        for cells, schema in (
            ([("pipeline_p2p", "pattern=pipeline_p2p/ranks=4")], "dlmb.rerun/1.0"),
            ([("moe_alltoall", MOE.replace("=4", "=3"))], "dlmb.rerun/1.0"),
            ([("moe_alltoall", f"{MOE}/environment=tcp")], "dlmb.rerun/1.0"),
            ([], "dlmb.rerun/1.0"),
            ([("moe_alltoall", MOE)], "dlmb.rerun/2.0"),
            ([("moe_alltoall", MOE)], "dlmb.rerun/10.0"),
        ):
            with self.assertRaises(UsageError):
                self.only(cells, schema)


if __name__ == "__main__":
    unittest.main()
