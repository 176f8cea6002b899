# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_convert: results of other programs as lines of result files. What a user does with it is in docs/converting.md."""
