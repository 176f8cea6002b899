# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_plotting"""

import sys

from dlmb_results.program import start


def main() -> int:
    return start("dlmb_plot", "dlmb_plotting.command", "launch/install-dependencies plot installs it")


if __name__ == "__main__":
    sys.exit(main())
