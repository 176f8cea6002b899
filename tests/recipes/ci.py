# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""launch/ci: the gate and the nightly script with doubles of launcher and programs, and the files that users copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from xml.etree import ElementTree

import doubles
import tools
from made import CELL, WithFolder, cell, launch

CI = tools.ROOT / "launch" / "ci"
MACHINE = "oversubscribe = true\n"
SWEEP = """
launches = 8
[[world]]
ranks = 4
[[program]]
program = "moe_alltoall"
"""
ENVIRONMENTS = "".join(f'[[environment]]\nname = "{name}"\nset = {{ UCX_TLS = "{name}" }}\n' for name in ("tcp", "sm"))

# A test double of dlmb_moe_alltoall: its times are made up, twice as long where its results' path holds a word in SLOW.
PROGRAM = f"#!{sys.executable} -IS" + """
import os, sys, json, uuid
launch, cell = {launch!r}, {cell!r}
if "--version" in sys.argv:  # a sweep asks whether the options are known
    sys.exit(0)
path = sys.argv[sys.argv.index("--results") + 1]
if any(word in path for word in os.environ.get("FAILING", "none").split()):
    sys.exit("the last words of a double")
cell["definition"] = "another" if any(word in path for word in os.environ.get("OTHERWISE", "none").split()) else "made up"
slower = 2 if any(word in path for word in os.environ.get("SLOW", "none").split()) else 1
ns = slower * (100000 + 100 * int(path.split(".")[-2]))
launch["launch_id"] = cell["launch_id"] = str(uuid.uuid4())
launch["environment"]["variables"] = dict((name, os.environ[name]) for name in ["UCX_TLS"] if name in os.environ)
cell |= dict(time_ns=dict(median=ns, median_low=None, median_high=None, p99=None, max=ns), rounds=dict(medians_ns=[ns] * 6, median_of_rounds_ns=ns, aa_ratio=1.0))
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w") as file:
    more = [cell | dict(cell_id=cell["cell_id"] + "/x=1")] if any(word in path for word in os.environ.get("ONE_MORE", "none").split()) else []
    for line in (launch, cell, *more, dict(kind="end", launch_id=launch["launch_id"])):
        file.write(json.dumps(line) + "\\n")
"""


class WithDoubles(WithFolder):
    def setUp(self) -> None:
        super().setUp()
        doubles.make(self.folder)
        program = self.folder / "bin" / "dlmb_moe_alltoall"
        program.write_text(PROGRAM.format(launch=launch("x"), cell=cell("x", 1, f"{CELL}/ranks=4")))
        program.chmod(0o755)
        self.sweep, self.machine = self.folder / "sweep.toml", self.folder / "machine.toml"
        self.sweep.write_text(SWEEP)
        self.machine.write_text(MACHINE)

    def run_script(self, name: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{self.folder / 'path'}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "GITHUB_"))}
        command = [str(CI / name), *map(str, arguments)]
        return subprocess.run(command, env=clean | path | variables, capture_output=True, text=True, timeout=200, check=False)


class GateTest(WithDoubles):
    def gate(self, **variables: str) -> subprocess.CompletedProcess[str]:
        programs = self.folder / "bin"
        arguments = ["--machine", self.machine, self.sweep, self.folder / "gate", programs, programs]
        return self.run_script("gate", *arguments, **variables)

    def launches(self, look: str) -> int:
        return len(list((self.folder / "gate" / look).rglob("*.jsonl")))

    def test_what_is_the_same_passes_at_once(self) -> None:
        done = self.gate()
        self.assertEqual((done.returncode, self.launches("first"), self.launches("again")), (0, 16, 0), done.stderr)
        self.assertIn("1 SAME", done.stdout)
        self.assertIn('write start = "barrier" in [options]', done.stderr)

    def test_the_shipped_sweep_fixes_how_samples_begin(self) -> None:
        self.assertRegex((tools.ROOT / "launch" / "sweeps" / "nightly.toml").read_text(), r"(?m)^start = \"barrier\"")

    def test_what_is_slower_twice_fails_and_github_is_told_once(self) -> None:
        done = self.gate(SLOW="/after/", GITHUB_ACTIONS="true")
        self.assertEqual((done.returncode, self.launches("again")), (1, 16), done.stderr)
        failures = ElementTree.parse(self.folder / "gate" / "report.xml").getroot().iter("failure")
        self.assertEqual(len(list(failures)), 1)
        self.assertEqual(done.stdout.count("::error"), 1, done.stdout)  # GitHub is told of the verdict that stands alone

    def test_what_is_slower_only_at_first_passes(self) -> None:
        done = self.gate(SLOW="/first/after/")
        self.assertEqual((done.returncode, self.launches("again")), (0, 16), done.stderr)

    def test_a_cell_that_vanished_is_no_pass_beside_one_that_is_slower_only_at_first(self) -> None:
        done = self.gate(SLOW="/first/after/", ONE_MORE="/first/before/")
        self.assertEqual((done.returncode, self.launches("again")), (1, 0), done.stderr)
        self.assertIn("1 NOT_COMPARABLE", done.stdout)
        self.assertIn("looks slower; it is not measured again", done.stdout)

    def test_what_is_only_suspect_is_measured_again(self) -> None:
        """Three launches of eight begin their samples otherwise: five remain, which do not decide."""
        few = " ".join(f"/first/after/moe_alltoall.4r.00{replicate}" for replicate in (1, 2, 3))
        for slow, code in (("/after/", 1), ("/first/after/", 0)):
            shutil.rmtree(self.folder / "gate", ignore_errors=True)
            done = self.gate(SLOW=slow, OTHERWISE=few)
            self.assertEqual((done.returncode, self.launches("again")), (code, 16), done.stderr)

    def test_each_environment_of_a_sweep_is_compared_with_itself_and_measured_again_alone(self) -> None:
        self.sweep.write_text(SWEEP + ENVIRONMENTS)
        done = self.gate(SLOW="/after/tcp/")
        self.assertEqual((done.returncode, self.launches("first"), self.launches("again")), (1, 32, 16), done.stdout + done.stderr)
        failures = [case.get("name") for case in ElementTree.parse(self.folder / "gate" / "report.xml").getroot().iter("testcase") if case.find("failure") is not None]
        self.assertEqual(failures, [f"{CELL}/ranks=4/environment=tcp"])
        shutil.rmtree(self.folder / "gate")
        done = self.gate()
        self.assertEqual((done.returncode, self.launches("again")), (0, 0), done.stdout + done.stderr)
        self.assertIn("2 SAME", done.stdout)

    def test_a_launch_that_failed_is_no_pass(self) -> None:
        done = self.gate(FAILING="/after/moe_alltoall.4r.003")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("launches failed", done.stdout)


class NightlyTest(WithDoubles):
    def night(self, name: str, **variables: str) -> int:
        arguments = [self.sweep, self.folder / name, self.folder / "history", "--machine", self.machine]
        return self.run_script("nightly", *arguments, "--build", self.folder / "bin", **variables).returncode

    def kept(self) -> int:
        return len(list((self.folder / "history" / "campaigns").iterdir()))

    def test_a_night_is_kept_unless_it_is_slower(self) -> None:
        self.assertEqual((self.night("one"), self.kept()), (0, 1))
        self.assertEqual((self.night("two"), self.kept()), (0, 2))
        self.assertEqual((self.night("three", SLOW="/three/"), self.kept()), (1, 2))
        self.assertTrue((self.folder / "two" / "otava.yaml").exists())
        names = [(self.folder / night / "campaign").read_text().strip() for night in ("one", "two", "three")]
        self.assertRegex(names[0], r"\Asweep\.\d{4}-\d\d-\d\dT\d{6}\Z")
        states = [json.loads(file.read_text()) for file in (self.folder / "two" / "results" / "state").rglob("*.json")]
        self.assertEqual({state["command"][state["command"].index("--campaign") + 1] for state in states}, {f"{names[1]}.results"})
        self.assertEqual(self.night("three", SLOW="/three/"), 1)  # goes on, under the same name
        self.assertEqual((self.folder / "three" / "campaign").read_text().strip(), names[2])

    def test_of_a_sweep_with_environments_the_slower_one_is_named(self) -> None:
        self.sweep.write_text(SWEEP + ENVIRONMENTS)
        self.assertEqual((self.night("one"), self.night("two"), self.kept()), (0, 0, 2))
        self.assertEqual(self.night("three", SLOW="three/results/results/tcp/"), 1)
        cases = ElementTree.parse(self.folder / "three" / "report.xml").getroot().iter("testcase")
        self.assertEqual([case.get("name") for case in cases if case.find("failure") is not None], [f"{CELL}/ranks=4/environment=tcp"])

    def test_a_night_with_a_launch_that_failed_is_not_slower_and_not_kept(self) -> None:
        self.assertEqual((self.night("one", FAILING=".003"), (self.folder / "history" / "campaigns").exists()), (3, False))
        self.assertEqual((self.night("one", FAILING="/one/"), self.night("none", FAILING="/none/")), (3, 3))
        self.assertEqual((self.night("one"), self.kept()), (0, 1))  # which measures what failed
        self.assertEqual((self.night("two", FAILING=".003"), self.kept()), (3, 1))

    def test_a_night_that_is_kept_already_is_done_also_after_slower_ones_and_after_a_kill_before_its_export(self) -> None:
        self.assertEqual((self.night("one", SLOW="/one/"), self.night("two")), (0, 0))
        (self.folder / "one" / "otava.yaml").unlink()
        self.assertEqual((self.night("one", SLOW="/one/"), self.kept()), (0, 2))
        self.assertTrue((self.folder / "one" / "otava.yaml").exists())


class CopiedFilesTest(unittest.TestCase):
    def test_they_follow_the_published_schemas(self) -> None:
        checker = tools.find("check-jsonschema")
        if checker is None:
            self.skipTest("check-jsonschema is not installed: launch/install-dependencies tools")
        for schema, name in (("github-workflows", "github-actions.yml"), ("gitlab-ci", "gitlab-ci.yml")):
            command = [checker, "--builtin-schema", f"vendor.{schema}", str(CI / name)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_they_call_is_there(self) -> None:
        for name in ("github-actions.yml", "gitlab-ci.yml"):
            words = (CI / name).read_text().replace("after/launch", "launch").split()
            called = {word.rstrip(",") for word in words if word.startswith("launch/")}
            self.assertEqual({word for word in called if not (tools.ROOT / word).exists()}, set())
            self.assertLessEqual({"launch/ci/gate", "launch/ci/nightly"}, called)


if __name__ == "__main__":
    unittest.main()
