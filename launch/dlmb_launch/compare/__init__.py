# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_compare: the verdict on two campaigns. The protocol and its sources are in docs/comparing.md."""
