# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of this folder: run.py [PROGRAM], the dlmb_compare to start. Exit 77, skipped, without numpy."""

import importlib.util
import os
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

if __name__ == "__main__":
    sys.path[:0] = [str(FOLDER), str(ROOT / "launch"), str(ROOT / "results-schema")]
    from dlmb_results.interpreter import use_the_python_that_has

    use_the_python_that_has("numpy")
    if importlib.util.find_spec("numpy") is None:
        print(f"skipped: numpy is not installed for {sys.executable}")
        sys.exit(77)
    os.environ["DLMB_COMPARE"] = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "launch" / "dlmb_compare")
    found = unittest.defaultTestLoader.discover(str(FOLDER))
    sys.exit(not unittest.TextTestRunner().run(found).wasSuccessful())
