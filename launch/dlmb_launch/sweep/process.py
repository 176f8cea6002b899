# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One launch as a process: started in a group of its own, ended in an orderly way when its time is up or ours is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from dlmb_results.program import OutputError, UnavailableError

GRACE_SECONDS = 15  # for programs to write what they have and for launchers to clean up
_POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1


class Interrupts:
    """SIGTERM (a batch system's time limit), SIGINT and SIGHUP ask the sweep to stop; the driver ends the running launch first. What is ignored
    at the start stays so: nohup has SIGHUP ignored."""

    def __init__(self) -> None:
        self.received = 0
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, _: object) -> None:
        self.received = self.received or number


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    timed_out: bool
    interrupted: bool


class Process:
    def __init__(self, command: list[str], variables: dict[str, str], log: Path):
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            output = log.open("ab")
        except OSError as error:
            raise OutputError(f"{log}: {error.strerror}") from None
        prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up before the fork
        with output:
            try:
                self._child = subprocess.Popen(
                    command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True, preexec_fn=lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM))
            except OSError as error:
                raise UnavailableError(f"{command[0]}: {error.strerror}") from None

    @property
    def identity(self) -> dict[str, int]:
        return {"pid": self._child.pid, "started_ticks": started_ticks(self._child.pid)}

    @property
    def runs(self) -> bool:
        return self._child.poll() is None

    def end(self) -> None:
        if self.runs:
            end_group(self._child.pid)
        self._child.wait()

    def wait(self, timeout_s: float, interrupts: Interrupts) -> Outcome:
        end = time.monotonic() + timeout_s
        # Popen.wait() with a time asks again and again, which takes time from what is measured, and sees the end late.
        watch = threading.Thread(target=self._child.wait, daemon=True)
        watch.start()
        late = False
        while watch.is_alive() and not (late or interrupts.received):
            watch.join(_POLL_SECONDS)
            late = time.monotonic() > end
        if not watch.is_alive():
            return Outcome(self._child.returncode, False, bool(interrupts.received))
        end_group(self._child.pid)
        watch.join()
        return Outcome(self._child.returncode, late, not late)


def end_group(leader: int) -> None:
    """SIGTERM to the launcher, which passes it on to its ranks; what is left of the group after the grace is killed."""
    _signal(os.kill, leader, signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < end and _runs(leader):
        time.sleep(_POLL_SECONDS)
    _signal(os.killpg, leader, signal.SIGKILL)


def end_leftover(identity: dict[str, int]) -> bool:
    """The launch of a sweep that was killed itself, if it still runs. True: it did."""
    pid = identity.get("pid", 0)
    if pid <= 0 or started_ticks(pid) != identity.get("started_ticks"):
        return False
    end_group(pid)
    return True


def _fields_of(pid: int) -> list[str]:
    """Those of /proc/PID/stat from the third on (proc(5)); empty: there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def started_ticks(pid: int) -> int:
    """Start time of a process, which tells it from a later one with the same number; 0: there is none."""
    return int((_fields_of(pid) or ["0"] * 20)[19])


def _runs(pid: int) -> bool:
    return _fields_of(pid)[:1] not in ([], ["Z"])


def _signal(call, target: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        call(target, number)
