# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A history whose writers are killed or run at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import unittest
from pathlib import Path
from typing import Any

from dlmb_results.lines import read_lines
from made import CELL
from test_command import PROGRAM
from test_exit_codes import US
from test_history import WithHistory

WRITERS = 6
CALLS = ((os, "fsync"), (Path, "replace"), (Path, "mkdir"))  # between them nothing reaches the disk


def die_at(moment: int) -> None:
    """Kills this process before or after a call that touches the disk, counted from 0."""
    passed = iter(range(1_000_000))

    def mortal(call: Any) -> Any:
        def called(*arguments: Any, **named: Any) -> Any:
            for step in (lambda: None, lambda: call(*arguments, **named)):
                found = step()
                if next(passed) == moment:
                    os.kill(os.getpid(), signal.SIGKILL)
            return found

        return called

    for owner, name in CALLS:
        setattr(owner, name, mortal(getattr(owner, name)))


class KillTest(WithHistory):
    def killed(self, moment: int, path: Path) -> bool:
        child = os.fork()
        if child == 0:
            die_at(moment)
            self.append(path)
            os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])

    def test_a_kill_leaves_the_history_before_or_after_and_adding_again_makes_it_right(self) -> None:
        moment = 0
        while self.killed(moment, self.campaign(f"c{moment}", US, moment + 1)):
            before = self.held()
            self.assertEqual(before[:moment], [f"c{day}" for day in range(moment)])
            self.assertEqual(self.append(self.folder / f"c{moment}.jsonl")[0], 64 if len(before) > moment else 0)
            self.assertEqual(self.held(), [f"c{day}" for day in range(moment + 1)])
            moment += 1
        self.assertGreater(moment, 6)

    def test_writers_at_the_same_time_wait_for_each_other(self) -> None:
        names = [f"w{number}" for number in range(WRITERS)]
        paths = [self.campaign(name, US, day) for day, name in enumerate(names, 1)]
        commands = [[PROGRAM, "--history", str(self.history), "--append", str(path)] for path in paths]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
        self.assertEqual([process.wait(120) for process in running], [0] * WRITERS)
        self.assertEqual(self.held(), names)
        for file in (self.history / "campaigns").iterdir():
            remarks: list[str] = []
            cells = [line["cell_id"] for _, line in read_lines(file, remarks) if line["kind"] == "cell"]
            self.assertEqual((cells, remarks), ([CELL] * len(US), []))


if __name__ == "__main__":
    unittest.main()
