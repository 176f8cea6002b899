// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// tests/convert/test_variables.py holds what is written in Python to the same sentences.
#include "common/measure/environment/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

using Variables = std::map<std::string, std::string>;
using testing::MatchesRegex;

std::string recorded(std::string const& name, std::string const& value) {
    auto const variables = recorded_variables({{name, value}});
    return variables.contains(name) ? variables.at(name) : "(left out)";
}

TEST(Variables, AreRecordedByAllowListOnly) {
    std::map<std::string, std::string, std::less<>> const environment{
        {"UCX_TLS", "sm,self"},         {"NCCL_ALGO", "Ring"},
        {"OMPI_MCA_btl", "self,vader"}, {"LD_PRELOAD", "libx.so"},
        {"SLURM_JOB_ID", "17"},         {"SLURM_JOB_ACCOUNT", "someone"},
        {"HOME", "folder-of-someone"},  {"PATH", "somewhere"},
        {"GITHUB_TOKEN", "abc"},        {"MY_UCX_TLS", "x"}};
    EXPECT_EQ(recorded_variables(environment), (Variables{{"UCX_TLS", "sm,self"},
                                                          {"NCCL_ALGO", "Ring"},
                                                          {"OMPI_MCA_btl", "self,vader"},
                                                          {"LD_PRELOAD", "libx.so"},
                                                          {"SLURM_JOB_ID", "17"}}));
}

TEST(Variables, StateOfTheLauncherIsLeftOutThoughItsPrefixIsAllowed) {
    // Names seen under Open MPI 4.1.4's mpirun; they carry job ids, addresses and folders.
    for (char const* name :
         {"OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_local_daemon_uri", "OMPI_MCA_orte_precondition_transports",
          "OMPI_MCA_orte_top_session_dir", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_initial_wdir", "PMIX_SERVER_URI41",
          "PMIX_MCA_server_uri", "PMIX_NAMESPACE"}) {
        EXPECT_EQ(recorded(name, "x"), "(left out)") << name;
    }
    EXPECT_EQ(recorded("PMIX_MCA_gds", "x"), "x");
}

TEST(Variables, HaveTheirValueRecordedWhereALibraryListsThem) {
    for (auto const& [name, value] :
         Variables{{"UCX_RNDV_THRESH", "inf"},
                   {"UCX_IB_MAX_IDLE_RKEY_COUNT", "16"},  // KEY is a part of its name
                   {"UCX_NET_DEVICES", "mlx5_0:1,mlx5_bond_0:1"},
                   {"UCC_TL_UCP_TUNE", "allreduce:0-4k:@sra_knomial#alltoall:@1"},
                   {"OMPI_MCA_coll_tuned_allreduce_algorithm", "4"},
                   {"OMPI_MCA_btl_tcp_if_include", "10.0.0.0/8"},
                   {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "ring"},
                   {"MPICH_ALLREDUCE_INTRA_ALGORITHM", "ring"},
                   {"NCCL_PROTO", "LL128"},
                   {"FI_PROVIDER", "verbs;ofi_rxm"},
                   {"CUDA_VISIBLE_DEVICES", "GPU-8f3c2e1a-5b6d-4c7e-9f01-23456789abcd"},
                   {"OMP_NUM_THREADS", "4"},
                   {"LD_PRELOAD", "/opt/spack/ucx-1.17-k3j4h5g6f7d8s9a0q1w2e3r4/libucp.so"},
                   {"SLURM_CPU_BIND", "quiet,mask_cpu:0x0000000000000000000000000000000f"}}) {
        EXPECT_EQ(recorded(name, value), value) << name;
    }
}

TEST(Variables, OfOthersOnlyAHashIsRecorded) {
    std::string const hash = recorded("OMPI_MCA_user_choice", "hunter2");
    EXPECT_THAT(hash, MatchesRegex("<hash [0-9a-f]{6}>"));
    EXPECT_EQ(recorded("OMPI_MCA_user_choice", "hunter2"), hash);
    EXPECT_NE(recorded("OMPI_MCA_user_choice", "hunter3"), hash);     // so that launches that differ in it can be told
    EXPECT_NE(recorded("OMPI_MCA_another_choice", "hunter2"), hash);  // but not that two hold the same
    EXPECT_THAT(recorded("OMPI_MCA_mca_base_env_list", "X=hunter2"), MatchesRegex("<hash [0-9a-f]{6}>"));
}

TEST(Variables, UnknownNamesThatSpeakOfCredentialsAreRedacted) {
    for (char const* name : {"OMPI_MCA_user_pwd", "NCCL_AUTH", "UCX_COOKIE", "FI_BEARER", "UCX_AUTH_TOKEN",
                             "FI_OPX_key", "NCCL_PASSWORD", "UCC_Secret_file", "CUDA_CREDENTIALS", "UCX_JWT"}) {
        EXPECT_EQ(recorded(name, "hunter2"), "<redacted>") << name;
    }
}

TEST(Variables, ValuesThatLookLikeCredentialsAreRedactedWhateverTheName) {
    for (char const* value :
         {"http://user:hunter2@proxy:80", "https://hunter2@proxy/x", "user:hunter2@proxy", "rc_x,password=hunter2",
          "api_key: hunter2", "hf_abcdefghijklmnopqr", "ghp_abcdefghijklmnopqrs", "glpat-abcdefghijk",
          "eyJhbGciOiJIUzI1NiJ9.e30.abc", "Bearer hunter2", "Basic aHVudGVyMg==", "-----BEGIN PRIVATE KEY-----",
          "AKIAABCDEFGHIJKLMNOP", "rc_x,Zm9vYmFyYmF6cXV4MTIzNDU2"}) {
        EXPECT_EQ(recorded("UCX_TLS", value), "<redacted>") << value;
        EXPECT_EQ(recorded("UCX_NEWS", value), "<redacted>") << value;
        EXPECT_EQ(recorded("LD_PRELOAD", value), "<redacted>") << value;
    }
}

}  // namespace
}  // namespace dlmb::measure
