// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs another program and collects what it prints; a folder for its files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

struct Finished {
    int exit_code = 0;   // 128 + signal, 124: it ran out of time and was ended
    std::string output;  // standard output and error as they came, the first 64 MiB
};

/// `arguments`: the program, by path or by name, and what it is given. `until`: the program is ended, and counts as
/// finished with 0, once it has printed this. Throws Error when it cannot be started.
[[nodiscard]] Finished run_program(std::vector<std::string> const& arguments, std::chrono::seconds most,
                                   std::string_view until = {});

/// `arguments` on so many ranks. `launcher`: mpiexec and its options. The variables are set through env: the ranks get
/// them, the launcher does not.
[[nodiscard]] Finished run_ranks(std::vector<std::string> const& launcher, std::uint64_t ranks,
                                 std::map<std::string, std::string> const& environment,
                                 std::vector<std::string> const& arguments, std::chrono::seconds most);

/// A folder that is gone with the object.
class TemporaryFolder {
public:
    /// Throws Error with the system's reason.
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace dlmb
