# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch.compare"""

import sys

EXIT_UNAVAILABLE = 69

try:
    from dlmb_launch.compare.command import main
except ModuleNotFoundError as error:
    hint = "launch/install-dependencies compare installs it"
    print(f"dlmb_compare: error: {error.name} is not installed for {sys.executable}: {hint}", file=sys.stderr)
    sys.exit(EXIT_UNAVAILABLE)

sys.exit(main())
