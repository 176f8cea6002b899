# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How programs write files; common/base/output_file.cpp does it the same way."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Union

MOST_LINKS = 40  # as the kernel
STANDARD_OUTPUT = 1


class OutputError(Exception):
    """What was asked for cannot be written; exit code 74."""


def is_standard_output(path: Path) -> bool:
    """`-`, or what standard output goes to under another name."""
    if str(path) == "-":
        return True
    try:
        return os.path.samestat(path.stat(), os.fstat(STANDARD_OUTPUT))
    except OSError:
        return False


def write_output(path: Path, content: Union[str, bytes]) -> None:
    """Writes all of it. Raises OutputError.

    A regular file, new or old, is replaced by rename, so a reader finds the old text or the new one, and a kill leaves one of them.
    Links are followed to their target and stay. Devices, FIFOs and what a descriptor below /proc holds are written through. Where
    `is_standard_output`, the text is printed.
    """
    try:
        if is_standard_output(path):
            _print(content)
            return
        data = content.encode() if isinstance(content, str) else content
        try:
            found = path.stat()
        except FileNotFoundError:
            return _replace(_target_of(path), data, None)
        target = _target_of(path)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(0, "Is a directory")
        if stat.S_ISREG(found.st_mode) and not target.is_symlink():
            return _replace(target, data, found.st_mode)
        with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
            file.write(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}; is its folder there, and is there space?") from None


def _print(content: Union[str, bytes]) -> None:
    if isinstance(content, str):
        sys.stdout.write(content)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    sys.stdout.flush()


def _target_of(path: Path) -> Path:
    """Where the links of `path` end; of links of /proc, as /dev/stdout, the kernel follows the descriptor, not the name that it shows."""
    for _ in range(MOST_LINKS):
        if not path.is_symlink() or str(path.parent.resolve()).startswith("/proc/"):
            break
        path = path.parent / os.readlink(path)
    return path


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # of a process with this number that was killed
    try:
        with part.open("xb") as file:
            if mode is not None:
                with contextlib.suppress(OSError):  # of another owner's file they cannot all be kept
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
