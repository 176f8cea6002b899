# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_guidelines: collectives that are slower than other calls that do the same."""
