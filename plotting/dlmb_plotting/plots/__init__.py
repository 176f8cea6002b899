# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One module per plot: from what was read to charts. Nothing here draws."""
