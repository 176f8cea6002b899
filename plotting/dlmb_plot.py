#!/usr/bin/env python3
# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws result files without installing the package: python3 plotting/dlmb_plot.py RESULTS... -o FOLDER"""

from __future__ import annotations

import importlib.util
import os
import sys

SYSTEM_PYTHON = "/usr/bin/python3"


def use_the_python_that_has_matplotlib() -> None:
    """A distribution's matplotlib belongs to its own python, which another python3 earlier in PATH may hide."""
    if importlib.util.find_spec("matplotlib") is None and os.path.exists(SYSTEM_PYTHON):
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])


if __name__ == "__main__":
    use_the_python_that_has_matplotlib()
    from dlmb_plotting.command import main

    sys.exit(main())
