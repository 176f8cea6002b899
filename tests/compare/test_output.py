# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one way of writing files: nothing special is destroyed, regular files are whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from made import CELL, WithFolder, side

from dlmb_results.files import write_output
from dlmb_results.program import OutputError

PROGRAM = os.environ["DLMB_COMPARE"]


class WriteOutputTest(WithFolder):
    def test_a_regular_file_is_replaced_with_its_permissions_and_who_reads_it_keeps_the_old_one(self) -> None:
        path = self.folder / "table.json"
        path.write_text("old")
        path.chmod(0o640)
        with path.open() as reader:
            write_output(path, "new")
            self.assertEqual(reader.read(), "old")
        self.assertEqual((path.read_text(), stat.S_IMODE(path.stat().st_mode)), ("new", 0o640))
        self.assertEqual(os.listdir(self.folder), ["table.json"])

    def test_links_are_followed_and_stay(self) -> None:
        (self.folder / "target").write_text("old")
        for link, to in (("second", "target"), ("first", "second"), ("dangling", "missing")):
            (self.folder / link).symlink_to(to)
        write_output(self.folder / "first", "new")
        write_output(self.folder / "dangling", "made")
        self.assertTrue(all((self.folder / link).is_symlink() for link in ("first", "second", "dangling")))
        self.assertEqual([(self.folder / name).read_text() for name in ("target", "missing")], ["new", "made"])

    def test_fifos_and_devices_are_written_through(self) -> None:
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        read: list[str] = []
        reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
        reader.start()
        write_output(fifo, "text")
        reader.join()
        self.assertEqual(read, ["text"])
        self.assertTrue(fifo.is_fifo())
        write_output(Path("/dev/null"), "text")
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_the_file_of_a_descriptor_is_appended_to(self) -> None:
        with (self.folder / "log").open("a") as file:
            file.write("before ")
            file.flush()
            write_output(Path(f"/proc/self/fd/{file.fileno()}"), "text")
            file.write(" after")
        self.assertEqual((self.folder / "log").read_text(), "before text after")

    def test_a_path_of_standard_output_is_printed_and_a_dash_is_standard_output(self) -> None:
        log = self.folder / "log"
        script = f"from pathlib import Path; from dlmb_results.files import write_output\nprint('one'); write_output(Path({str(log)!r}), 'two\\n'); write_output(Path('-'), 'three\\n'); print('four')"
        with log.open("w") as file:
            subprocess.run([sys.executable, "-c", script], stdout=file, check=True, timeout=60)
        self.assertEqual(log.read_text(), "one\ntwo\nthree\nfour\n")

    def test_what_cannot_be_written_is_named_with_the_reason_and_leaves_nothing(self) -> None:
        for path, reason in ((self.folder / "none" / "file", "No such file"), (self.folder, "Is a directory"), (Path("/dev/full"), "No space left")):
            with self.assertRaises(OutputError) as raised:
                write_output(path, "text")
            self.assertIn(f"{path}: cannot be written: {reason}", str(raised.exception))
        self.assertEqual(os.listdir(self.folder), [])


class ProgramTest(WithFolder):
    def test_an_export_to_standard_output_stands_there_alone(self) -> None:
        before, after = (self.file(name, side(name, {CELL: [100 + launch for launch in range(8)]})) for name in ("before", "after"))
        done = subprocess.run([PROGRAM, before, after, "--export", "junit", "-"], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout[:5]), (0, "<?xml"), done.stdout)
        self.assertIn("1 SAME", done.stderr)
        refused = subprocess.run([PROGRAM, before, after, "--export", "otava", "-"], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((refused.returncode, refused.stderr.count("\n")), (64, 1), refused.stderr)


if __name__ == "__main__":
    unittest.main()
