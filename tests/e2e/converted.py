# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A file of OSU Micro-Benchmarks beside a launch of `--timing osu`: dlmb_convert and dlmb_compare find the partner of every program, and
dlmb_plot draws both. The numbers of OSU are made up.
"""

import json
import os
import pathlib
import tempfile
import unittest

from programs import BIN, COLLECTIVE, MPIEXEC, SOURCE, cells, mpirun, run

COLLECTIVES = {  # title of the program, and what it is here
    "Allreduce": "allreduce", "Reduce": "reduce", "Reduce_scatter": "reduce_scatter", "Reduce_scatter_block": "reduce_scatter_block",
    "Allgather": "allgather", "Allgatherv": "allgatherv", "Gather": "gather", "Gatherv": "gatherv", "Scatter": "scatter", "Scatterv": "scatterv",
    "Broadcast": "broadcast", "All-to-All Personalized Exchange": "alltoall", "All-to-Allv Personalized Exchange": "alltoallv",
}
WINDOWS = {"Bandwidth": "bandwidth", "Bi-Directional Bandwidth": "bibandwidth"}
SIZES = (64, 128)


def table(title, column, value=2.0):
    rows = "".join(f"{size}  {value}\n" for size in SIZES)
    return f"# OSU MPI {title} Test v7.4\n# Datatype: MPI_CHAR.\n# Size       {column}\n{rows}"


class Converted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.ours, cls.osu = cls.folder / "ours.jsonl", cls.folder / "osu.jsonl"
        operations = ",".join([*COLLECTIVES.values(), "barrier", "sendrecv", *WINDOWS.values(), "message_rate"])
        done = run(mpirun(2, COLLECTIVE, "--operation", operations, "--route", "ping_pong", "-m", "64:128", "--element", "int8", "--timing", "osu",
                          "-i", "3", "-x", "0", "--backend", "mpi", "--method", "default,nonblocking,alltoallw", "--results", str(cls.ours)))
        assert done.returncode == 0, done.stdout + done.stderr
        text = "".join(table(f"{title} Latency", "Avg Latency(us)") for title in COLLECTIVES)
        text += "".join(table(f"{title} Latency", "Overall(us) Compute(us) Pure Comm.(us) Overlap(%)", "9 5 2.0 20") for title in ("Non-blocking Allreduce", "Non-blocking Gatherv"))
        text += table("All-to-Allw Personalized Exchange Latency", "Avg Latency(us)") + table("Latency", "Avg Latency(us)")
        text += "".join(table(title, "Bandwidth (MB/s)") for title in WINDOWS)
        text += "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n  2.0\n"
        rates = table("Multiple Bandwidth / Message Rate", "MB/s Messages/s", "2.0 {}").replace("# Size", "# [ pairs: 1 ] [ window size: 64 ]\n# Size")
        text += rates.format(*(2e6 / size for size in SIZES))
        (cls.folder / "osu.txt").write_text(text)
        done = run([BIN / "dlmb_convert", cls.folder / "osu.txt", "--ranks", "2", "-o", cls.osu])
        assert done.returncode == 0, done.stderr
        cls.programs = 2 * (len(COLLECTIVES) + 4), 2 * (len(WINDOWS) + 1)  # with a time, with a bandwidth alone

    def compared(self, *options):
        done = run([BIN / "dlmb_compare", self.osu, self.ours, "--json", *options])
        if done.returncode == 69:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 3, done.stderr)
        return json.loads(done.stdout)["cells"]

    def test_every_program_of_osu_finds_its_number_of_dlmb(self):
        timed, windows = self.programs
        found = self.compared()
        self.assertEqual([cell for cell in found if "bare_ratio" not in cell and "has no time" not in cell["reason"]], [])
        self.assertEqual(sum("bare_ratio" in cell for cell in found), timed + 1)
        rates = [cell["cell_id"].partition("p.operation=")[2].partition("/")[0] for cell in self.compared("--metric", "busbw") if "bare_ratio" in cell]
        self.assertEqual(sum(name in (*WINDOWS.values(), "message_rate") for name in rates), windows, rates)

    def test_the_number_of_dlmb_is_its_mean(self):
        means = {cell["rank_means_ns"]["mean"] for cell in cells(self.ours, "ok")}
        for cell in self.compared():
            if "bare_ratio" in cell:
                self.assertEqual(cell["bare_ratio"]["baseline"], 2000)
                self.assertTrue(any(abs(cell["bare_ratio"]["candidate"] - mean) < 1e-6 * mean for mean in means), cell)

    def test_the_commands_of_the_page_say_both_numbers(self):
        page = (SOURCE / "docs" / "from-osu-and-nccl-tests.md").read_text()
        task = page.partition("## Compare with a file that you have")[2].partition("shows both numbers")[0]
        commands = [line.strip() for line in task.splitlines() if line.startswith("    ")]
        self.assertEqual(len(commands), 2, task)
        (self.folder / "osu_allreduce.txt").write_text(table("Allreduce Latency", "Avg Latency(us)"))
        script = f'mpirun() {{ {MPIEXEC} -n "$2" "${{@:3}}" -m 64:128 -i 3 -x 0; }}\n' + "\n".join(commands)
        done = run(["bash", "-c", script], cwd=self.folder, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        if done.returncode == 69:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        rows = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("NOT_COMPARABLE ")]
        self.assertEqual(rows, [f"{size}/allreduce" for size in SIZES], done.stdout)

    def test_both_are_lines_of_one_chart(self):
        done = run([BIN / "dlmb_plot", "report", self.osu, self.ours, "-o", self.folder / "report.html"])
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "report.html").read_text()
        self.assertIn("mpi default (osu mean)", text)
        self.assertIn(" (DLMB mean)", text)


if __name__ == "__main__":
    unittest.main()
