# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The least that ReFrame must know to run dlmb_checks.py on the machine that it is started on, with Open MPI's mpirun. A
cluster has settings of its own: a partition with `scheduler: slurm` and `launcher: srun` takes the place of this one."""

PARTITION = {
    "name": "local",
    "scheduler": "local",
    "launcher": "mpirun",
    "environs": ["builtin"],
    "max_jobs": 1,  # tests that run side by side measure each other
}

site_configuration = {
    "systems": [{"name": "here", "hostnames": [".*"], "partitions": [PARTITION]}],
    "environments": [{"name": "builtin"}],
}
