// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of what each launcher sets, as seen with Open MPI 4.1.4, MPICH 4.0.2 and Slurm 22.05.
#include "common/bootstrap/launch_guard.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

constexpr char const* open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
constexpr char const* mpich = "MPICH Version: 4.0.2";

LauncherVariables mpirun() {
    return {{"OMPI_COMM_WORLD_SIZE", "4"},
            {"OMPI_COMM_WORLD_RANK", "3"},
            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
            {"PMIX_RANK", "3"}};
}
LauncherVariables hydra() {
    return {{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "9"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "4"}};
}
LauncherVariables srun(std::string const& type) {
    LauncherVariables variables{{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"},
                                {"SLURM_NTASKS", "4"},  {"SLURM_JOB_ID", "7"},         {"SLURM_MPI_TYPE", type}};
    if (type == "pmix") {
        variables.insert({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}});
    }
    if (type == "pmi2") {
        variables.insert({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"PMI_FD", "9"}});
    }
    return variables;
}
LauncherVariables mpirun_in_batch_script() {
    LauncherVariables variables = mpirun();
    variables.insert({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}});
    return variables;
}
LauncherVariables bare_in_allocation() {
    return {{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}};
}

TEST(LaunchGuard, ReadsRanksAndLocalRankOfEveryLauncher) {
    struct Row {
        LauncherVariables variables;
        std::string name;
        int ranks;
        std::optional<int> local_rank;
        bool started;
    };
    std::vector<Row> const rows{
        {{}, "", 0, std::nullopt, false},
        {mpirun(), "Open MPI's mpirun", 4, 1, true},
        {hydra(), "Hydra's mpiexec", 4, 2, true},
        {srun("pmix"), "srun --mpi=pmix", 4, 1, true},
        {srun("pmi2"), "srun --mpi=pmi2", 4, 1, true},
        {srun("none"), "srun --mpi=none", 4, 1, true},
        {mpirun_in_batch_script(), "Open MPI's mpirun", 4, 1, true},
        {bare_in_allocation(), "", 0, std::nullopt, false},
    };
    for (Row const& row : rows) {
        LauncherInfo const info = launcher_info(row.variables);
        EXPECT_EQ(info.name, row.name);
        EXPECT_EQ(info.ranks, row.ranks) << row.name;
        EXPECT_EQ(info.local_rank, row.local_rank) << row.name;
        EXPECT_EQ(started_by_launcher(row.variables), row.started) << row.name;
    }
}

TEST(LaunchGuard, IgnoresTheStaleLocalRankOfABatchScript) {
    LauncherVariables variables = mpirun_in_batch_script();
    variables.erase("OMPI_COMM_WORLD_LOCAL_RANK");
    EXPECT_EQ(launcher_info(variables).local_rank, std::nullopt);
    EXPECT_EQ(launcher_info({{"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "4"}}).local_rank, std::nullopt);
}

TEST(LaunchGuard, NeverReadsTheGlobalRankAsALocalOne) {
    EXPECT_EQ(launcher_info({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}}).local_rank, std::nullopt);
    EXPECT_EQ(launcher_info({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}}).rank, std::nullopt);
}

TEST(LaunchGuard, OneTaskInASlurmStepIsNoLauncher) {
    EXPECT_FALSE(started_by_launcher({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
}

TEST(LaunchGuard, RefusesManyWorldsOfOneRankAndNamesTheRightLauncher) {
    std::string const hydra_starts_open_mpi = refusal_after_init(hydra(), open_mpi, 1);
    EXPECT_NE(hydra_starts_open_mpi.find("Hydra's mpiexec started 4 processes"), std::string::npos);
    EXPECT_NE(hydra_starts_open_mpi.find("Open MPI's mpirun"), std::string::npos);

    std::string const mpirun_starts_mpich = refusal_after_init(mpirun(), mpich, 1);
    EXPECT_NE(mpirun_starts_mpich.find("Open MPI's mpirun started 4 processes"), std::string::npos);
    EXPECT_NE(mpirun_starts_mpich.find("MPICH's mpiexec"), std::string::npos);

    std::string const pmix_starts_mpich = refusal_after_init(srun("pmix"), mpich, 1);
    EXPECT_NE(pmix_starts_mpich.find("--mpi=pmi2"), std::string::npos);
}

TEST(LaunchGuard, AcceptsLaunchersThatFit) {
    EXPECT_EQ(refusal_after_init(mpirun(), open_mpi, 4), "");
    EXPECT_EQ(refusal_after_init(hydra(), mpich, 4), "");
    EXPECT_EQ(refusal_after_init({}, open_mpi, 1), "");
    EXPECT_EQ(refusal_after_init(bare_in_allocation(), open_mpi, 1), "");
    for (LauncherVariables const& variables : {mpirun(), srun("pmix"), mpirun_in_batch_script(), LauncherVariables{}}) {
        EXPECT_EQ(refusal_before_init(variables, open_mpi), "");
    }
    EXPECT_EQ(refusal_before_init(srun("pmi2"), mpich), "");
}

TEST(LaunchGuard, RefusesOpenMpiUnderSrunWithoutPmixBeforeItAborts) {
    for (std::string const type : {"none", "pmi2"}) {
        std::string const refusal = refusal_before_init(srun(type), open_mpi);
        EXPECT_NE(refusal.find("--mpi=" + type), std::string::npos);
        EXPECT_NE(refusal.find("use srun --mpi=pmix"), std::string::npos);
    }
}

TEST(LaunchGuard, WarnsOfDifferencesThatDoNotStopALaunch) {
    EXPECT_EQ(launch_warning(mpirun(), 4, 1), "");
    EXPECT_EQ(launch_warning(mpirun(), 3, 1), "Open MPI's mpirun started 4 processes, MPI has 3");
    EXPECT_EQ(launch_warning(mpirun(), 4, 0), "the launcher says local rank 1, MPI says 0");
    EXPECT_NE(launch_warning(bare_in_allocation(), 1, 0).find("4 tasks"), std::string::npos);
    EXPECT_EQ(launch_warning({}, 1, 0), "");
}

TEST(LaunchGuard, IgnoresNumbersThatAreNone) {
    EXPECT_EQ(launcher_info({{"OMPI_COMM_WORLD_SIZE", "four"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1x"}}).ranks, 0);
    EXPECT_EQ(launcher_info({{"OMPI_COMM_WORLD_LOCAL_RANK", "1x"}}).local_rank, std::nullopt);
}

}  // namespace
}  // namespace dlmb
