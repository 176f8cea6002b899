# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of this folder; exit 77, skipped, where this python has no matplotlib."""

import importlib.util
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

if __name__ == "__main__":
    if importlib.util.find_spec("matplotlib") is None:
        print(f"skipped: matplotlib is not installed for {sys.executable}")
        sys.exit(77)
    sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parents[1] / "results-schema")]
    found = unittest.defaultTestLoader.discover(str(FOLDER))
    sys.exit(not unittest.TextTestRunner().run(found).wasSuccessful())
