# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Standard error that is closed, full, or read by nobody costs messages only: exit codes and results are those of every other run."""

import contextlib
import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

from programs import BIN, COLLECTIVE, SOURCE, cells, lines

PLAIN = [COLLECTIVE, "--operation", "allreduce", "-i", "3", "-x", "1", "--calibration", "off", "--backend", "in_process", "--ranks", "2", "-m"]
LAUNCH = [*PLAIN, "8:16"]
PROGRAMS = ("dlmb_collective", "dlmb_info", "dlmb_predict", "dlmb_plan", "dlmb_tune")
COMMANDS = ("dlmb_convert", "dlmb_autotune", "dlmb_compare", "dlmb_guidelines", "dlmb_plot", "dlmb_sweep")
SHUT = ("closed", "full", "unread")


@contextlib.contextmanager
def shut(how):
    """Keywords for a child process whose standard error takes nothing."""
    if how == "closed":
        yield {"preexec_fn": lambda: os.close(2)}
    elif how == "full":
        with open("/dev/full", "wb") as full:
            yield {"stderr": full}
    else:
        reader, writer = os.pipe()
        os.close(reader)
        try:
            yield {"stderr": writer}
        finally:
            os.close(writer)


def run(command, how):
    with shut(how) as keywords:
        return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=120, check=False,
                              **keywords)


class StandardStreams(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results.jsonl"

    def test_a_launch_saves_its_results(self):
        for how in SHUT:
            with self.subTest(how):
                self.results.unlink(missing_ok=True)
                # The second launch warns of another environment.
                for more in ((), ("--resume",)):
                    done = run([*LAUNCH, "--results", self.results, *more], how)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn("DLMB_RESULT: PASS", done.stdout)
                    text = self.results.read_text(encoding="utf-8").replace('"env_key":"', '"env_key":"x')
                    self.results.write_text(text, encoding="utf-8")
                self.assertEqual([line["kind"] for line in lines(self.results)], ["launch", "cell", "cell", "end", "launch", "end"])

    def test_a_full_disk_is_noticed_all_the_same(self):
        """The one line on standard error that precedes the lines which are not saved."""
        for how in SHUT:
            with self.subTest(how):
                self.results.unlink(missing_ok=True)
                with_limit = ["bash", "-c", 'set -o pipefail; (ulimit -f 16; exec "$@") | cat', "bash"]  # KiB: the first four of 6 cells
                done = run([*with_limit, *PLAIN, "8:256", "--results", self.results], how)
                self.assertEqual(done.returncode, 74, done.stdout)
                self.assertIn("DLMB-UNSAVED {", done.stdout)

    def test_a_wrong_command_line_has_its_exit_code(self):
        programs = [BIN / name for name in PROGRAMS if (BIN / name).exists()]
        self.assertGreater(len(programs), 2)
        commands = [SOURCE / "launch" / name for name in COMMANDS]  # which all begin with dlmb_results.program.start()
        for program, how in [*itertools.product([*programs, commands[0]], SHUT), *zip(commands[1:], itertools.cycle(SHUT))]:
            with self.subTest(program=program.name, how=how):
                missing = (69,) if program in commands else ()  # a package of Python
                self.assertIn(run([program, "--frobnicate"], how).returncode, (64, *missing))

    def test_what_is_printed_beside_an_output_is_no_reason_to_fail(self):
        self.assertEqual(run([*LAUNCH, "--results", self.results], "full").returncode, 0)
        for how in SHUT:
            with self.subTest(how):
                done = run([BIN / "dlmb_tune", "build", self.results, "-o", "-", "--accept", "unconfirmed"], how)
                usual = subprocess.run([BIN / "dlmb_tune", "build", self.results, "-o", "-", "--accept", "unconfirmed"], capture_output=True, text=True,
                                       check=False, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (usual.returncode, usual.stdout), usual.stderr)

    def test_a_closed_standard_output_is_named(self):
        for program in (BIN / "dlmb_collective", SOURCE / "launch" / "dlmb_convert"):
            done = subprocess.run([program, "--help"], stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1), check=False, timeout=60)
            self.assertEqual(done.returncode, 74, done.stderr)
            self.assertIn("standard output cannot be written", done.stderr)

    def test_nothing_that_is_printed_ends_in_a_file(self):
        done = subprocess.run([*LAUNCH, "--results", self.results], preexec_fn=lambda: (os.close(1), os.close(2)), check=False, timeout=60)
        self.assertEqual(done.returncode, 74)  # the table is lost
        self.assertEqual(len(cells(self.results, "ok")), 2)
        self.assertEqual(len(lines(self.results)), 4)


if __name__ == "__main__":
    unittest.main()
