# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What containers and sites change around a launch: little shared memory, host names, limits of memory and of processor time,
settings from files, transports that reach nobody. One backend that cannot be used never costs the others their cells."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from programs import BIN, COLLECTIVE, HAVE_UCX, MOE, cells, lines, mpirun, run, small

OPEN_MPI = "Open" in subprocess.run([os.environ.get("DLMB_MPIEXEC", "true"), "--version"], capture_output=True, text=True, check=False).stdout
ONE_SIZE = ["--operation", "allreduce", "--message-size", "1K:1K", "-i", "6", "-x", "2", "--calibration", "off"]


def namespaces_allowed():
    """Whether this user may have a mount and a UTS namespace of its own, with a file system of its own in it."""
    tried = subprocess.run(["unshare", "-m", "-u", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && hostname other"], capture_output=True, check=False)
    return tried.returncode == 0


def with_shared_memory(size, command):
    """In a mount namespace whose /dev/shm has that size."""
    return ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"', "sh", *command]


# MPICH of Debian moves its own messages by UCX: what takes UCX away ends MPI_Init, and DLMB has nothing to say.
@unittest.skipUnless(OPEN_MPI, "this MPI library may itself need what is taken away")
class Containers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "cells.jsonl"

    def done(self, command, **keywords):
        """Must pass; returns the launch line and the cells."""
        ran = run([*command, "--results", str(self.results)], timeout=300, **keywords)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return lines(self.results)[0], cells(self.results), ran

    def by_backend(self, found):
        return {cell["backend"]: cell for cell in found}


@unittest.skipUnless(namespaces_allowed(), "this user may not make namespaces")
class Namespaces(Containers):
    def rank_script(self, body):
        """A program that each rank goes through; $rank is its number."""
        script = self.folder / "rank.sh"
        script.write_text("#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}\n" + body)
        script.chmod(0o755)
        return str(script)

    def test_little_shared_memory_costs_ucx_alone(self):
        for size, ranks in (("1m", 2), ("1m", 16), ("64m", 16)):
            with self.subTest(size=size, ranks=ranks):
                self.results.unlink(missing_ok=True)
                backends = "mpi,ucx" if HAVE_UCX else "mpi"
                launch, found, _ = self.done(with_shared_memory(size, mpirun(ranks, COLLECTIVE, *ONE_SIZE, "--backend", backends)))
                self.assertTrue(launch["environment"]["informational"]["dev_shm"].startswith("1 M" if size == "1m" else "64 M"))
                each = self.by_backend(found)
                self.assertEqual(each["mpi"]["status"], "ok")
                if HAVE_UCX and size == "1m":
                    self.assertEqual(each["ucx"]["status"], "skipped")
                    self.assertRegex(each["ucx"]["reason"], "ucp_worker_create.*/dev/shm has .* free of 1 M.*--shm-size")
                elif HAVE_UCX:
                    self.assertIn(each["ucx"]["status"], ("ok", "skipped"))

    def test_one_sided_methods_without_shared_memory_are_skipped_or_run(self):
        command = mpirun(2, COLLECTIVE, *ONE_SIZE[2:], "--operation", "alltoall", "--backend", "mpi", "--method", "all")
        _, found, _ = self.done(with_shared_memory("1m", command))
        self.assertEqual({cell["status"] for cell in found} - {"ok", "skipped"}, set())
        self.assertIn("ok", {cell["status"] for cell in found})

    def test_names_of_hosts_are_labels(self):
        script = self.rank_script('case $rank in 0|2) name=a;; *) name=b;; esac\nexec unshare -u sh -c "hostname $name; exec \\"\\$@\\"" sh "$@"\n')
        launch, _, _ = self.done(mpirun(4, script, COLLECTIVE, *ONE_SIZE, "--backend", "mpi"))
        self.assertEqual(launch["world"], {"ranks": 4, "ranks_per_node": 4})
        identity = launch["environment"]["identity"]
        self.assertEqual((identity["nodes"], identity["ranks_per_node"]), ("1", "4"))
        self.assertEqual({place["node"] for place in launch["environment"]["ranks"]}, {0})
        self.assertIn("2 host names", " ".join(launch["environment"]["warnings"]))

    @unittest.skipUnless(OPEN_MPI, "other libraries do not fall back to TCP between them")
    def test_containers_of_one_name_are_several_nodes(self):
        tcp = os.environ | {"OMPI_MCA_btl": "self,tcp"}
        split = 'if [ $((rank {})) = 0 ]; then exec "$@"; fi\nexec unshare -m sh -c \'mount -t tmpfs tmpfs /dev/shm; exec "$@"\' sh "$@"\n'
        script = self.rank_script(split.format("/ 2"))
        launch, _, _ = self.done(mpirun(3, script, COLLECTIVE, *ONE_SIZE, "--backend", "mpi"), env=tcp)
        identity = launch["environment"]["identity"]
        self.assertEqual(launch["world"]["ranks_per_node"], 0)
        self.assertEqual((identity["nodes"], identity["ranks_per_node"]), ("2", "1..2"))
        self.assertEqual([place["node"] for place in launch["environment"]["ranks"]], [0, 0, 1])
        self.assertIn("2 nodes have the host name", " ".join(launch["environment"]["warnings"]))


class Settings(Containers):
    @unittest.skipUnless(HAVE_UCX, "this build has no UCX")
    def test_transports_that_reach_nobody_cost_ucx_alone(self):
        for transports in ("rc", "self", "no_such_transport"):
            with self.subTest(UCX_TLS=transports):
                self.results.unlink(missing_ok=True)
                command = mpirun(2, COLLECTIVE, *ONE_SIZE, "--backend", "mpi,ucx")
                _, found, _ = self.done(command, env=os.environ | {"UCX_TLS": transports})
                each = self.by_backend(found)
                self.assertEqual(each["mpi"]["status"], "ok")
                self.assertEqual(each["ucx"]["status"], "skipped")
                self.assertIn(f"UCX_TLS is {transports}", each["ucx"]["reason"])

    @unittest.skipUnless(OPEN_MPI, "the files of Open MPI")
    def test_settings_from_files_are_part_of_the_identity(self):
        command = mpirun(2, COLLECTIVE, *ONE_SIZE, "--backend", "mpi")
        home = os.environ | {"HOME": str(self.folder)}
        plain, _, _ = self.done(command, env=home)
        (self.folder / ".openmpi").mkdir()
        (self.folder / ".openmpi" / "mca-params.conf").write_text("coll_tuned_use_dynamic_rules = 1\n")
        self.results.unlink()
        tuned, _, _ = self.done(command, env=home)
        setting = "OMPI_MCA_coll_tuned_use_dynamic_rules=1"  # others may come from the files of the distribution
        self.assertNotIn(setting, plain["environment"]["identity"].get("parameter_files", ""))
        self.assertIn(setting, tuned["environment"]["identity"]["parameter_files"].split())
        self.assertNotEqual(plain["environment"]["env_key"], tuned["environment"]["env_key"])
        self.assertNotIn(str(self.folder), str(tuned["environment"]), "no path of a user is recorded")

    def test_a_point_that_may_not_be_mapped_is_skipped(self):
        sizes = ["--operation", "allreduce", "--message-size", "1K:1K,1G:1G", "-i", "6", "-x", "2", "--calibration", "off"]
        command = ["sh", "-c", 'ulimit -v 2500000; exec "$@"', "sh", *mpirun(2, COLLECTIVE, *sizes, "--backend", "mpi")]
        _, found, _ = self.done(command)
        self.assertEqual([cell["status"] for cell in found], ["ok", "skipped"])
        self.assertIn("more than is free", found[1]["reason"])

    def test_every_named_method_has_a_row(self):
        command = mpirun(2, MOE, *small(), "--backend", "mpi", "--method", "alltoallv,reproducible")
        _, found, _ = self.done(command)
        self.assertEqual({cell["method"]: cell["status"] for cell in found}, {"alltoallv": "ok", "reproducible": "skipped"})

    def test_nodes_that_are_only_assumed_make_no_table(self):
        command = mpirun(2, COLLECTIVE, *ONE_SIZE, "--backend", "mpi", "--ranks-per-node", "1")
        launch, found, _ = self.done(command)
        self.assertIn("assumed_nodes", found[0]["flags"])
        self.assertIn("--ranks-per-node 1", " ".join(launch["environment"]["warnings"]))
        made = run([str(BIN / "dlmb_tune"), "build", str(self.results), "-o", str(self.folder / "table.json"), "--accept", "quick,oversubscribed"])
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("nodes that the launch did not have", made.stdout + made.stderr)


class KnownFaults(Containers):
    @unittest.skipUnless(OPEN_MPI, "a fault of Open MPI")
    def test_a_known_fault_is_named_where_its_symptom_shows(self):
        command = mpirun(2, COLLECTIVE, "--operation", "allreduce", "--element", "byte", "--message-size", "1K:1K", "--in-place", "on",
                         "--timing", "nccl", "-i", "40", "--calibration", "off", "--backend", "mpi", "--results", str(self.results))
        ran = run(command)
        (cell,) = cells(self.results)
        if cell["status"] == "ok":
            self.skipTest("this library adds bytes as it should")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(cell["reason"], "a known fault of Open MPI.*OMPI_MCA_op=.avx.*ompi/issues/8045")
        self.results.unlink()
        _, found, _ = self.done(command[:-2], env=os.environ | {"OMPI_MCA_op": "^avx"})
        self.assertEqual(found[0]["status"], "ok")


class Quota(Containers):
    """On control groups of version 1, where this user may make one."""

    def setUp(self):
        super().setUp()
        self.group = pathlib.Path("/sys/fs/cgroup/cpu") / f"dlmb-test-{os.getpid()}"
        try:
            self.group.mkdir()
            self.addCleanup(self.group.rmdir)
            (self.group / "cpu.cfs_period_us").write_text("20000")
            (self.group / "cpu.cfs_quota_us").write_text("2000")
        except OSError as error:
            self.skipTest(f"no control group of version 1 can be made here: {error}")

    def test_a_quota_that_is_used_up_is_told(self):
        enter = ["sh", "-c", f'echo $$ > {self.group}/cgroup.procs; exec "$@"', "sh"]
        sizes = ["--operation", "allreduce", "--message-size", "64K:64K", "--time-limit", "0.5", "--calibration", "off"]
        launch, found, ran = self.done([*enter, *mpirun(2, COLLECTIVE, *sizes, "--backend", "mpi")])
        self.assertEqual(launch["environment"]["informational"]["cpu_quota"], "0.1 processors")
        (cell,) = found
        self.assertTrue(cell["throttled"])
        self.assertGreater(cell["cpu_quota"]["throttled"], 0)
        self.assertLessEqual(cell["cpu_quota"]["throttled"], cell["cpu_quota"]["periods"])
        self.assertIn("quota of processor time", ran.stdout)


if __name__ == "__main__":
    assert shutil.which("unshare") is not None
    unittest.main()
