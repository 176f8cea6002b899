# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch autotune|compare|convert|guidelines|sweep [ARGUMENT...]: what the commands launch/dlmb_* and those of `pip install` run."""

import sys
from functools import partial

from dlmb_results.program import start

HINT = "launch/install-dependencies compare installs it"

autotune = partial(start, "dlmb_autotune", "dlmb_launch.autotune.command")
compare = partial(start, "dlmb_compare", "dlmb_launch.compare.command", HINT)
convert = partial(start, "dlmb_convert", "dlmb_launch.convert.command")
guidelines = partial(start, "dlmb_guidelines", "dlmb_launch.guidelines.command", HINT)
sweep = partial(start, "dlmb_sweep", "dlmb_launch.sweep.command")

if __name__ == "__main__":
    sys.exit({"autotune": autotune, "compare": compare, "convert": convert, "guidelines": guidelines, "sweep": sweep}[sys.argv.pop(1)]())
