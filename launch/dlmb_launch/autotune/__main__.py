# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch.autotune"""

import sys

from dlmb_results.program import start


def main() -> int:
    return start("dlmb_autotune", "dlmb_launch.autotune.command")


if __name__ == "__main__":
    sys.exit(main())
