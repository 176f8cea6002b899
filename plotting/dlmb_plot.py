#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws without installing the package: python3 plotting/dlmb_plot.py [PLOT] FILE... -o FOLDER"""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "results-schema"))

if __name__ == "__main__":
    from dlmb_results.interpreter import use_the_python_that_has

    use_the_python_that_has("matplotlib")
    from dlmb_plotting.command import main

    sys.exit(main())
