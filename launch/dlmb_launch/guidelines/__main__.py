# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch.guidelines"""

import sys

from dlmb_results.program import start


def main() -> int:
    return start("dlmb_guidelines", "dlmb_launch.guidelines.command")


if __name__ == "__main__":
    sys.exit(main())
