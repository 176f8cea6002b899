# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_launch.convert"""

import sys

from dlmb_launch.convert.command import main

sys.exit(main())
