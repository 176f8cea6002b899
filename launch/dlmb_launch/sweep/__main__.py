# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch.sweep"""

import sys

from dlmb_results.program import start


def main() -> int:
    return start("dlmb_sweep", "dlmb_launch.sweep.command")


if __name__ == "__main__":
    sys.exit(main())
