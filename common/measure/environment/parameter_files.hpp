// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings that communication libraries read from files of a user or a site. They change times as variables of the
// environment do, and leave no trace there.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace dlmb::measure {

using Variables = std::map<std::string, std::string, std::less<>>;

/// By the name of the variable that sets the same: {"OMPI_MCA_pml", "ob1"}. What a variable of `environment` sets is
/// left out, as it outweighs the files of these libraries. `open_mpi_files`: what Open MPI says it reads, joined with
/// ':' or ','; the most important first. Those of UCX, UCC and NCCL are where their documentation says. Files that
/// cannot be read say nothing. `root` lets a test give a tree of its own.
[[nodiscard]] Variables file_settings(Variables const& environment, std::string_view open_mpi_files,
                                      std::filesystem::path const& root = "/");

/// "OMPI_MCA_pml=ob1 UCX_TLS=tcp,self", with values as recorded_variables() lets them be seen; empty: there are none.
[[nodiscard]] std::string file_settings_text(Variables const& settings);

}  // namespace dlmb::measure
