# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on one machine: namespaces with a host name, an IP address and a clock of their own, joined by a
network whose delays and rates are chosen for each direction. Packets go through a process of this test and wait there, as few
kernels in containers have netem. Needs root."""

import contextlib
import ctypes
import fcntl
import heapq
import multiprocessing
import os
import pathlib
import select
import shutil
import stat
import struct
import subprocess
import tempfile
import time

CLONE_NEWNET = 0x40000000  # linux/sched.h
TUNSETIFF = 0x400454CA  # linux/if_tun.h
IFF_TUN_NO_PI = 0x1001
SECONDS_APART = 1000  # by which clocks of neighbouring nodes differ


def why_not():
    """Why this machine cannot have such nodes; empty: it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if not os.path.exists("/dev/net/tun"):
        return "this system has no /dev/net/tun"
    own = f"dlmb-probe-{os.getpid()}"
    try:
        subprocess.run(["unshare", "--time", "--fork", "--monotonic", "1", "true"], check=True, capture_output=True)
        subprocess.run(["ip", "netns", "add", own], check=True, capture_output=True)
        try:  # where the root folder is no mount, as after chroot, nothing can run in it
            subprocess.run(["ip", "netns", "exec", own, "true"], check=True, capture_output=True)
        finally:
            subprocess.run(["ip", "netns", "del", own], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        return f"no namespaces here: {error.stderr.decode().strip()}"
    return ""


def open_tun(namespace):
    """A network device in that namespace, as a file of its packets. Moves this process into the namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}", "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TUN_NO_PI))
    return tun


def carry(namespaces, delay_ms, megabytes_per_s, ready):
    """Takes packets from node to node, delay_ms[from][to] after they have passed the link, one at a time, at
    megabytes_per_s[from][to]; the last byte of an IPv4 address is the node."""
    with contextlib.suppress(OSError):  # some containers forbid it
        os.setpriority(os.PRIO_PROCESS, 0, -20)  # packets must not wait for what else the machine does
    tuns = [open_tun(namespace) for namespace in namespaces]
    ready.set()
    waiting = []
    count = 0
    free = {}  # when the last packet has passed a link
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for tun in select.select(tuns, [], [], timeout)[0]:
            packet = os.read(tun, 65536)
            source, target = tuns.index(tun), packet[19] - 1
            if packet[0] >> 4 == 4 and target < len(tuns):
                count += 1
                passing_s = len(packet) / 1e6 / megabytes_per_s[source][target]
                free[source, target] = max(time.monotonic(), free.get((source, target), 0)) + passing_s
                due = free[source, target] + delay_ms[source][target] / 1000
                heapq.heappush(waiting, (due, count, target, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, target, packet = heapq.heappop(waiting)
            os.write(tuns[target], packet)


class DelayedNodes:
    """`delay_ms[i][j]`, `megabytes_per_s[i][j]`: from node i to node j. Use with `with`."""

    def __init__(self, delay_ms, megabytes_per_s=None):
        self.names = [f"dlmb-{os.getpid()}-{node + 1}" for node in range(len(delay_ms))]
        self.delay_ms = delay_ms
        self.megabytes_per_s = megabytes_per_s or [[float("inf")] * len(delay_ms) for _ in delay_ms]

    def __enter__(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        ready = multiprocessing.Event()
        self.carrier = multiprocessing.Process(target=carry, args=(self.names, self.delay_ms, self.megabytes_per_s, ready),
                                               daemon=True)
        self.carrier.start()
        assert ready.wait(30), "no network devices in the namespaces"
        for node, name in enumerate(self.names):
            for command in ("link set lo up", f"addr add 10.77.0.{node + 1}/24 dev eth0", "link set eth0 up"):
                subprocess.run(["ip", "-n", name, *command.split()], check=True)
        self.folder = tempfile.TemporaryDirectory()
        self.agent = pathlib.Path(self.folder.name) / "agent"
        # Called as `agent HOST COMMAND...`, in place of ssh.
        self.agent.write_text(
            "#!/bin/bash\n"
            "node=${1##*.}; shift\n"
            f"exec ip netns exec dlmb-{os.getpid()}-$node unshare --uts --time --fork --kill-child "
            f"--monotonic $((node * {SECONDS_APART})) bash -c \"hostname dlmb-node-$node; $*\"\n", encoding="utf-8")
        self.agent.chmod(stat.S_IRWXU)
        return self

    def __exit__(self, *_):
        self.carrier.kill()
        self.carrier.join()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)
        self.folder.cleanup()

    def mpirun(self, mpiexec, ranks_per_node, *command, version=4):
        """Open MPI over TCP between the nodes, started on the first one. `version`: 4 or 5."""
        hosts = ",".join(f"10.77.0.{node + 1}:{ranks_per_node}" for node in range(len(self.names)))
        launch, by_memory = {
            4: (["--mca", "plm_rsh_agent", str(self.agent), "--mca", "oob_tcp_if_include", "eth0"], "vader"),
            5: (["--prtemca", "plm_ssh_agent", str(self.agent), "--prtemca", "prte_if_include", "eth0",
                 "--allow-run-as-root", "--bind-to", "none", "--map-by", ":oversubscribe"], "sm"),
        }[version]
        options = [mpiexec, "--host", hosts, *launch, "--mca", "pml", "ob1", "--mca", "btl", f"self,tcp,{by_memory}",
                   "--mca", "btl_tcp_if_include", "eth0"]
        return [str(self.agent), "10.77.0.1", *options, *command]
