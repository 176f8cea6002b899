// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/command_line/run_program.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dlmb {
namespace {

TEST(RunProgram, TellsOutputAndExitCode) {
    Finished const finished = run_program({"sh", "-c", "echo said; exit 3"}, std::chrono::seconds(60));
    EXPECT_EQ(finished.output, "said\n");
    EXPECT_EQ(finished.exit_code, 3);
}

/// As Ctrl-C does: a launcher and its ranks would go on, because they are a process group of their own. `before`: what
/// the started shell does first.
void expect_end_by_signal(char const* before) {
    TemporaryFolder const folder;
    std::string const file = (folder.path() / "pid").string();
    pid_t const parent = fork();
    if (parent == 0) {
        (void)run_program(
            {"sh", "-c", fmt::format("{1} echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", file, before)},
            std::chrono::seconds(600));
        _exit(0);
    }
    pid_t started = 0;
    while (!(std::ifstream(file) >> started)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(kill(started, 0), 0);
    kill(parent, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_NE(kill(started, 0), 0);
}

TEST(RunProgram, EndsWhatItStartedWhenASignalEndsIt) {
    expect_end_by_signal("");
}

TEST(RunProgram, EndsWhatGoesOnWithItsOutputClosed) {
    expect_end_by_signal("exec >&- 2>&-;");
    EXPECT_EQ(run_program({"sh", "-c", "exec >&- 2>&-; exec sleep 600"}, std::chrono::seconds(1)).exit_code, 124);
}

}  // namespace
}  // namespace dlmb
