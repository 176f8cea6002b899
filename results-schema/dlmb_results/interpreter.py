# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The Python that has what a tool needs. Imports nothing but the standard library."""

from __future__ import annotations

import importlib.util
import os
import sys

SYSTEM_PYTHON = "/usr/bin/python3"


def use_the_python_that_has(*modules: str) -> None:
    """A distribution's packages belong to its own python, which another python3 earlier in PATH may hide."""
    if any(importlib.util.find_spec(module) is None for module in modules) and os.path.exists(SYSTEM_PYTHON):
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
