# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch autotune|compare|convert|guidelines|sweep [ARGUMENT...]: what the commands launch/dlmb_* and those of `pip install` run."""

import sys

from dlmb_results.program import start


def autotune() -> int:
    return start("dlmb_autotune", "dlmb_launch.autotune.command")


def compare() -> int:
    return start("dlmb_compare", "dlmb_launch.compare.command", "launch/install-dependencies compare installs it")


def convert() -> int:
    return start("dlmb_convert", "dlmb_launch.convert.command")


def guidelines() -> int:
    return start("dlmb_guidelines", "dlmb_launch.guidelines.command", "launch/install-dependencies compare installs it")


def sweep() -> int:
    return start("dlmb_sweep", "dlmb_launch.sweep.command")


if __name__ == "__main__":
    sys.exit({"autotune": autotune, "compare": compare, "convert": convert, "guidelines": guidelines, "sweep": sweep}[sys.argv.pop(1)]())
