# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""mpi and ucx cells in one launch, many times: a transport that is not quiesced hangs within some dozens of runs.

CI runs a short form; DLMB_MIX_LAUNCHES=50 the one that is asked for before a release."""

import os
import unittest

from programs import HAVE_UCX, MOE, mpirun, run

LAUNCHES = int(os.environ.get("DLMB_MIX_LAUNCHES", "6"))


@unittest.skipUnless(HAVE_UCX, "this build has no ucx backend")
class MixedBackends(unittest.TestCase):
    def test_mpi_and_ucx_cells_of_2_mib_blocks_never_hang(self):
        # 512 rows of 8 KiB to each of 2 ranks: blocks of about 2 MiB, where the hang was first seen
        traffic = ["--hidden", "4096", "--experts", "8", "--top-k", "2", "--tokens", "256", "--draws", "2"]
        for launch in range(LAUNCHES):
            done = run(mpirun(2, MOE, *traffic, "--backend", "mpi,ucx", "--method", "all", "-i", "6", "-x", "1",
                              "--seed", str(launch), "--timeout", "30"), timeout=100)
            self.assertEqual(done.returncode, 0, f"launch {launch}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    unittest.main()
