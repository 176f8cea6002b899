# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""libnccl-tuner-dlmb.so shows NCCL's symbols and DLMB's own, nothing else, and needs no C++ library, CUDA or NCCL.

usage: nccl_plugin_symbols.py LIBRARY
"""

from __future__ import annotations

import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop() if len(sys.argv) > 1 else ""
EXPORTED = {f"ncclTunerPlugin_v{version}" for version in range(2, 7)} | {"dlmb_nccl_tuner_control"}
NEEDED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output_of(*command: str) -> list[list[str]]:
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split() for line in text.splitlines()]


class PluginSymbols(unittest.TestCase):
    def test_exports_exactly_what_is_looked_up(self) -> None:
        names = {line[-1] for line in output_of("nm", "--dynamic", "--defined-only", LIBRARY)}
        self.assertEqual(names, EXPORTED)

    def test_sizes_are_those_of_the_versions(self) -> None:
        lines = output_of("nm", "--dynamic", "--defined-only", "--print-size", LIBRARY)
        sizes = {line[-1]: int(line[1], 16) for line in lines}
        for version in range(2, 6):
            self.assertEqual(sizes[f"ncclTunerPlugin_v{version}"], 32)
        self.assertEqual(sizes["ncclTunerPlugin_v6"], 40)

    def test_needs_no_other_library(self) -> None:
        lines = output_of("readelf", "--dynamic", "--wide", LIBRARY)
        needed = {line[-1].strip("[]") for line in lines if "(NEEDED)" in line}
        self.assertLessEqual(needed, NEEDED)


if __name__ == "__main__":
    unittest.main()
