# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster of one node on this machine, for tests: real controller, daemon and authentication in a folder of its own."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

NEEDED = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "scancel", "squeue", "sinfo")
_START_SECONDS = 60
_CPUS = 8  # ranks are oversubscribed; Slurm need not know

_CONF = """
ClusterName=dlmbtest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=20
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def why_not():
    """Empty where a cluster can be started; otherwise the reason."""
    if os.getuid() != 0:
        return "only root can start Slurm's daemons"
    missing = [name for name in NEEDED if not shutil.which(name)]
    return f"not installed: {', '.join(missing)}" if missing else ""


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """with Cluster(folder) as cluster: cluster.run(["srun", ...])"""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._daemons = []
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def run(self, command, **options):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=300, **options)

    def stop(self):
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def logs(self):
        return "".join(
            f"== {log.name}\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}\n" for log in sorted(self.folder.glob("*.log"))
        )

    def _start(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)  # munge asks for folders that others cannot write to and can search
        conf = _CONF.format(
            host=socket.gethostname(), folder=self.folder, cpus=_CPUS, controller_port=_free_port(), daemon_port=_free_port()
        )
        (self.folder / "slurm.conf").write_text(conf, encoding="utf-8")
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        places = [f"--{what}={self.folder}/munge.{end}" for what, end in (
            ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"), ("key-file", "key"))]  # fmt: skip
        self._daemon(["munged", "--foreground", "--force", *places])
        self._wait_for("munge", (self.folder / "munge.socket").exists)
        self._daemon(["slurmctld", "-D"])
        self._daemon(["slurmd", "-D", "-N", socket.gethostname()])
        self._wait_for("an idle node", lambda: "idle" in self.run(["sinfo", "-h", "-o", "%t"]).stdout)

    def _daemon(self, command):
        with (self.folder / f"{command[0]}.out.log").open("w", encoding="utf-8") as log:
            self._daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=subprocess.STDOUT))

    def _wait_for(self, what, ready):
        end = time.monotonic() + _START_SECONDS
        while not ready():
            ended = [daemon.args[0] for daemon in self._daemons if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"{what} did not come up; ended: {ended}\n{self.logs()}")
            time.sleep(0.1)
