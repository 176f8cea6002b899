# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the Python programs read files that users name, and write files; common/base/input_file.hpp and output_file.cpp do it the same way.

A device or a FIFO may have no end, so each read has a limit. What is written is whole or not there.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Union

from dlmb_results.fields import load_json
from dlmb_results.program import OutputError, UsageError

MOST_DOCUMENT_BYTES = 256 << 20  # tables, lists
MOST_LINE_BYTES = 64 << 20  # of a result file
MOST_STREAM_BYTES = 1 << 30  # of results from what has no size: a FIFO, a device
MOST_SETTINGS_BYTES = 1 << 20  # sweep and machine files
MOST_LINKS = 40  # as the kernel
STANDARD_OUTPUT = 1


def read_document(path: Path, most: int = MOST_DOCUMENT_BYTES) -> bytes:
    """The whole file; UsageError where it cannot be read, or is larger."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if len(content) > most:
        raise UsageError(f"{path}: larger than {most >> 20} MiB")
    return content


def read_json(path: Path, what: str = "") -> Any:
    """A whole JSON document. what: as which it is refused where it is no JSON; UsageError."""
    try:
        return load_json(read_document(path))
    except ValueError as error:
        raise UsageError(f"{path}: not {what}" if what else f"{path}: not JSON: {error}") from None


def kept_json(path: Path, remedy: str) -> Any:
    """What a program keeps for its next run; None: nothing yet. remedy: what is wrong where it cannot be read, and what to do."""
    if not os.path.lexists(path):
        return None
    try:
        return load_json(read_document(path))
    except (UsageError, ValueError):
        raise UsageError(f"{path}: {remedy}") from None


def bounded_lines(file: BinaryIO, most: int = MOST_LINE_BYTES, most_stream: int = MOST_STREAM_BYTES) -> Iterator[bytes]:
    """As iterating over the file. OSError says so where a line is longer, or where what is no regular file goes on and on."""
    left = None if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else most_stream
    while line := file.readline(most + 1):
        if len(line) > most:
            raise OSError(0, f"a line is longer than {most >> 20} MiB")
        if left is not None and (left := left - len(line)) < 0:
            raise OSError(0, f"more than {most_stream >> 20} MiB from what is no regular file")
        yield line


def write_whole(path: Path, content: Union[str, bytes]) -> None:
    """As write_output; makes its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
    write_output(path, content)


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
