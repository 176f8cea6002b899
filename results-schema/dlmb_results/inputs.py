# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading files that users name. A device or a FIFO may have no end, so each read has a limit, as in common/base/input_file.hpp."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MOST_DOCUMENT_BYTES = 256 << 20  # tables, plans, lists
MOST_LINE_BYTES = 64 << 20  # of a result file
MOST_STREAM_BYTES = 1 << 30  # of results from what has no size: a FIFO, a device
MOST_SETTINGS_BYTES = 1 << 20  # sweep and machine files


def read_document(path: Path, most: int = MOST_DOCUMENT_BYTES) -> bytes:
    """The whole file. OSError says so where it is larger."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(0, f"larger than {most >> 20} MiB", str(path))
    return content


def bounded_lines(file: BinaryIO, most: int = MOST_LINE_BYTES, most_stream: int = MOST_STREAM_BYTES) -> Iterator[bytes]:
    """As iterating over the file. OSError says so where a line is longer, or where what is no regular file goes on and on."""
    left = None if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else most_stream
    while line := file.readline(most + 1):
        if len(line) > most:
            raise OSError(0, f"a line is longer than {most >> 20} MiB")
        if left is not None and (left := left - len(line)) < 0:
            raise OSError(0, f"more than {most_stream >> 20} MiB from what is no regular file")
        yield line
