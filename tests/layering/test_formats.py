# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What reads a file of results compiles without a transport: neither MPI nor a GPU nor UCX, and against few headers.

usage: test_formats.py COMPILER BASE_INCLUDE    BASE_INCLUDE: folder of the counter that common/base includes
"""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILER, BASE_INCLUDE = sys.argv[1:3]
MOST_PROJECT_HEADERS = 10  # behind the header of a result line
FOREIGN = re.compile(r"/(mpi|mpi-ext|nccl|hwloc)\.h$|/(ucp|uct|ucs|ucc|cuda|crt)/|/cuda[^/]*\.h$")


def headers_of(source: Path) -> list[str]:
    """Every header that compiling `source` reads, with the include path of the project alone."""
    command = [COMPILER, "-std=c++20", "-x", "c++", "-M", f"-I{ROOT}", f"-I{BASE_INCLUDE}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{source}: {done.stderr}")
    return done.stdout.replace("\\\n", " ").split()[2:]


class Formats(unittest.TestCase):
    def test_no_format_reads_a_header_of_a_transport(self) -> None:
        sources = sorted((ROOT / "common/formats/record").glob("*.cpp")) + sorted((ROOT / "common/formats/table").glob("*.cpp"))
        self.assertGreater(len(sources), 6)
        for source in sources:
            self.assertEqual([header for header in headers_of(source) if FOREIGN.search(header)], [], source.name)

    def test_few_project_headers_are_behind_a_result_line(self) -> None:
        found = sorted({header for header in headers_of(ROOT / "common/formats/record/record.hpp") if header.startswith(str(ROOT))})
        self.assertLessEqual(len(found), MOST_PROJECT_HEADERS, found)

    def test_a_header_of_a_transport_would_be_found(self) -> None:
        for header in ("/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h", "/usr/include/ucp/api/ucp.h", "/usr/local/cuda/include/cuda_runtime_api.h", "/usr/include/nccl.h"):
            self.assertRegex(header, FOREIGN)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
