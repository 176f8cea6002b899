# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m dlmb_plotting"""

import sys

from dlmb_plotting.command import main

sys.exit(main())
