# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# To be sourced: lets Open MPI start more ranks than there are cores, and start as root (containers). For trying
# things out and for tests; a machine that is measured in earnest has a core per rank and needs none of this.
# MPICH reads none of these variables and needs none of them.
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 5
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1
    export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1
    export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
