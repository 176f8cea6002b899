# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sweep files: what they mean, and what is said about a wrong one."""

import tempfile
import unittest
from pathlib import Path

from dlmb_launch.sweep import sweep_file
from dlmb_launch.sweep.sweep_file import launches
from dlmb_results.program import UsageError

ROOT = Path(__file__).resolve().parents[2]
WHOLE = """
launches = 3
[options]
time-limit = 1
[[world]]
ranks = 2
[[program]]
program = "dlmb_collective"
operation = ["allreduce", "allgather"]
in-place = true
[[side]]
name = "before"
[[side]]
name = "after"
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "example.toml"
        file.write_text(text, encoding="utf-8")
        return sweep_file.read(file)


class Meaning(unittest.TestCase):
    def test_options_become_arguments(self):
        program = read(WHOLE).programs[0]
        self.assertEqual(program.program, "collective")
        self.assertEqual(program.arguments, ("--time-limit", "1", "--operation", "allreduce,allgather", "--in-place"))

    def test_variables_are_text_as_libraries_read_it(self):
        side = read(WHOLE + 'set = {A = true, B = false, C = 3, D = "x"}\n').sides[1]
        self.assertEqual(side.variables, (("A", "true"), ("B", "false"), ("C", "3"), ("D", "x")))
        side = read(WHOLE + 'set = {UCX_A = true, UCX_B = false}\n').sides[1]
        self.assertEqual(side.variables, (("UCX_A", "y"), ("UCX_B", "n")))

    def test_sides_of_a_job_are_neighbours_and_change_places_in_half_of_the_replicates(self):
        for count in (1, 2, 7, 8):
            made = launches(read(WHOLE.replace("launches = 3", f"launches = {count}")))
            pairs = list(zip(made[::2], made[1::2]))
            self.assertEqual([(one.replicate, other.replicate) for one, other in pairs], [(number, number) for number in range(1, count + 1)])
            self.assertEqual({frozenset((one.side.name, other.side.name)) for one, other in pairs}, {frozenset(("before", "after"))})
            self.assertEqual(sum(one.side.name == "before" for one, _ in pairs), (count + 1) // 2)

    def test_the_order_of_sides_is_random_for_each_job_and_repeatable(self):
        """In ABBA what comes back with every fourth launch would be a difference of the sides."""

        def orders(seed):
            made = launches(read(f"seed = {seed}\n" + WHOLE.replace("launches = 3", "launches = 8") + "[[world]]\nranks = 4\n"))
            return tuple("".join(launch.side.name[0] for launch in made if launch.world.ranks == ranks) for ranks in (2, 4))

        self.assertEqual(orders(1), orders(1))
        found = [order for seed in range(1, 11) for order in orders(seed)]
        self.assertGreater(len(set(found)), 10)
        self.assertLess(found.count("baab" * 4) + found.count("abba" * 4), 3)
        self.assertTrue(any(one != other for one, other in (orders(seed) for seed in range(1, 11))))

    def test_each_environment_has_a_folder_of_its_own(self):
        names = {launch.name for launch in launches(read("launches = 1\n" + WHOLE.replace("launches = 3", "") + '[[environment]]\nname = "tcp"\n'))}
        self.assertEqual(names, {"before/tcp/collective.2r.tcp.001", "after/tcp/collective.2r.tcp.001"})

    def test_the_order_of_jobs_is_random_and_repeatable(self):
        text = "launches = 4\n" + "".join(f"[[world]]\nranks = {n}\n" for n in range(1, 9)) + '[[program]]\nprogram = "info"\n'
        names = [launch.job for launch in launches(read(text))]
        self.assertEqual(names, [launch.job for launch in launches(read(text))])
        self.assertEqual(len(names), 32)
        replicates = [tuple(names[i : i + 8]) for i in range(0, 32, 8)]
        self.assertEqual({frozenset(each) for each in replicates}, {frozenset(replicates[0])})
        self.assertGreater(len(set(replicates)), 1)

    def test_the_shipped_files_are_right(self):
        for file in sorted((ROOT / "launch" / "sweeps").glob("*.toml")):
            with self.subTest(file.name):
                self.assertGreater(len(launches(sweep_file.read(file))), 0)


class Mistakes(unittest.TestCase):
    CASES = {
        "launches = 0\n" + WHOLE.replace("launches = 3", ""): "launches must be at least 1",
        WHOLE + "lunches = 3\n": "unknown key 'lunches'",
        WHOLE.replace("[[program]]", "[program]"): "program must be a list",
        WHOLE.replace("ranks = 2", "ranks = 3\nnodes = 2"): "do not divide",
        WHOLE.replace("ranks = 2", 'ranks = "2"'): "ranks must be a whole number",
        WHOLE.replace("in-place = true", 'results = "x"'): "'results' is set by the sweep itself",
        WHOLE.replace('name = "after"', 'name = "before"'): "'before' occurs twice",
        WHOLE.replace('name = "after"', 'name = "../after"'): "used in file names",
        "[[world]]\nranks = 2\n": "there is no [[program]]",
        WHOLE + 'set = {"A=B" = "1"}\n': "'A=B' in 'set' cannot be the name of a variable",
        WHOLE + 'set = {A = ["x"]}\n': "side 2: A must be text, a number, true or false, not ['x']",
        WHOLE + "set = {A = {B = 1}}\n": "side 2: A must be text, a number, true or false, not {'B': 1}",
        WHOLE.replace("= true", "= [[1], 2]"): "in-place must be text, a number, true or false, not [1]",
        WHOLE.replace("true", '"\\u0000"'): "a text holds a zero byte",
        "launches = \n": "not TOML",
        "launches = 1000000000000\n" + WHOLE.replace("launches = 3", ""): "launches must be at most 100000, not 1000000000000",
        "launches = 99999\n" + WHOLE.replace("launches = 3", ""): "199998 launches in all, at most 100000",
        WHOLE.replace("ranks = 2", "ranks = 3000000000"): "ranks must be at most",
        "launches = " + "9" * 5000 + "\n": "not TOML",
        "launches = " + "[" * 5000 + "\n": "not TOML",
    }

    def test_a_file_without_end_is_refused(self):
        with self.assertRaises(UsageError) as caught:
            sweep_file.read(Path("/dev/zero"))
        self.assertEqual(str(caught.exception), "/dev/zero: larger than 1 MiB")

    def test_one_line_says_what_and_where(self):
        for text, says in self.CASES.items():
            with self.subTest(says):
                with self.assertRaises(UsageError) as caught:
                    read(text)
                self.assertIn(says, str(caught.exception))
                self.assertIn("example.toml", str(caught.exception))
                self.assertNotIn("\n", str(caught.exception).strip())


if __name__ == "__main__":
    unittest.main()
