# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Python writes of environment variables: the rules that tests/unit/environment/variables_test.cpp checks of the programs."""

import unittest

from dlmb_results.variables import recorded

LISTED = {
    "UCX_RNDV_THRESH": "inf",
    "UCX_IB_MAX_IDLE_RKEY_COUNT": "16",
    "UCX_NET_DEVICES": "mlx5_0:1,mlx5_bond_0:1",
    "UCC_TL_UCP_TUNE": "allreduce:0-4k:@sra_knomial#alltoall:@1",
    "OMPI_MCA_btl_tcp_if_include": "10.0.0.0/8",
    "MPICH_ALLREDUCE_INTRA_ALGORITHM": "ring",
    "FI_PROVIDER": "verbs;ofi_rxm",
    "CUDA_VISIBLE_DEVICES": "GPU-8f3c2e1a-5b6d-4c7e-9f01-23456789abcd",
    "NCCL_TOPO_FILE": "/opt/spack/ucx-1.17-k3j4h5g6f7d8s9a0q1w2e3r4/topo.xml",
}
CREDENTIALS = (
    "http://user:hunter2@proxy:80",
    "https://hunter2@proxy/x",
    "user:hunter2@proxy",
    "rc_x,password=hunter2",
    "api_key: hunter2",
    "hf_abcdefghijklmnopqr",
    "ghp_abcdefghijklmnopqrs",
    "glpat-abcdefghijk",
    "eyJhbGciOiJIUzI1NiJ9.e30.abc",
    "Bearer hunter2",
    "Basic aHVudGVyMg==",
    "-----BEGIN PRIVATE KEY-----",
    "AKIAABCDEFGHIJKLMNOP",
    "rc_x,Zm9vYmFyYmF6cXV4MTIzNDU2",
)


class Variables(unittest.TestCase):
    def test_values_of_listed_variables_are_written(self):
        self.assertEqual(recorded(LISTED), dict(sorted(LISTED.items())))

    def test_of_others_a_hash(self):
        written = recorded({"OMPI_MCA_user_choice": "hunter2"})["OMPI_MCA_user_choice"]
        self.assertRegex(written, r"\A<hash [0-9a-f]{6}>\Z")
        self.assertNotEqual(recorded({"OMPI_MCA_user_choice": "hunter3"})["OMPI_MCA_user_choice"], written)

    def test_names_and_values_that_look_like_credentials_are_redacted(self):
        for name in ("OMPI_MCA_user_pwd", "NCCL_AUTH", "UCX_COOKIE", "FI_BEARER", "HF_TOKEN", "ssh_key"):
            self.assertEqual(recorded({name: "hunter2"}), {name: "<redacted>"})
        for value in CREDENTIALS:
            self.assertEqual(recorded({"UCX_TLS": value}), {"UCX_TLS": "<redacted>"}, value)


if __name__ == "__main__":
    unittest.main()
