// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The programs that tables are exported to, by the names that --to takes: what an export needs to know of them, and the
// folder that it becomes.
#pragma once

#include "common/tuning/exporters/export.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dlmb::app::tune {

struct ExportRequest {
    std::string consumer;  // consumer_names()
    tuning::Slice slice;
    std::string library_version;    // empty: from the table, else from the library beside this program
    std::filesystem::path library;  // libmpich.so; empty: the one that dlmb_plain_mpi runs with
};

[[nodiscard]] std::vector<std::string> consumer_names();

/// The scope of the table's rules that a consumer is given: "mpi", "ucx", "ucc" or "nccl".
[[nodiscard]] std::string scope_of(std::string const& consumer);

/// Completes the slice. Throws UsageError where the request must say more.
[[nodiscard]] tuning::Export export_table(tuning::TuningTable const& table, ExportRequest request);

/// The MPI library that dlmb_plain_mpi, and with it every program of this build, runs with.
struct MpiLibraryFound {
    std::filesystem::path path;
    std::string name;     // "Open MPI" or "MPICH"; else what it calls itself
    std::string version;  // "4.1.4"
};
/// Throws UsageError when this build has none.
[[nodiscard]] MpiLibraryFound find_mpi_library();

/// The launcher of that library.
[[nodiscard]] std::string default_mpiexec();

/// A program or library that is installed with this one.
[[nodiscard]] std::filesystem::path sibling_program(std::string const& name);
[[nodiscard]] std::filesystem::path sibling_library(std::string const& name);

/// The options that export and verify have in common.
struct ExportOptions {
    std::string table;
    std::string consumer;
    std::uint64_t nodes = 0;  // 0: what the table says
    tuning::Slice slice;
    std::string library_version;
    std::string library;

    void add_to(CLI::App& parser);
    [[nodiscard]] ExportRequest request() const;
};

/// The variables of an export whose files lie in `folder`, with absolute paths.
[[nodiscard]] std::map<std::string, std::string> environment_of(tuning::Export const& made,
                                                                std::filesystem::path const& folder);

/// The folder: its files, env.sh to source, lost.json, the table itself and verify.sh. Makes it where it is missing.
/// Throws OutputError with path and reason.
void write_export(std::filesystem::path const& folder, ExportRequest const& request, tuning::TuningTable const& table,
                  tuning::Export const& made);

}  // namespace dlmb::app::tune
