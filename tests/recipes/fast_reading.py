# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tests of dlmb_compare once more, with a Python that has msgspec: every verdict is the same. fast_reading.py DLMB_COMPARE"""

import os
import subprocess
import sys

import tools

python = tools.ROOT / "build" / "python" / "bin" / "python"
found = subprocess.run([python, "-c", "import msgspec, numpy, scipy"], capture_output=True, check=False) if python.exists() else None
if found is None or found.returncode != 0:
    print("skipped: build/python has no msgspec, NumPy and SciPy: launch/install-dependencies tools")
    sys.exit(tools.SKIPPED)
command = [python, "-m", "unittest", "discover", "-s", tools.ROOT / "tests" / "compare"]
sys.exit(subprocess.run(command, env=os.environ | {"DLMB_COMPARE": sys.argv[1]}, check=False).returncode)
