// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The programs that tables are exported to, by the names that --to takes: what an export needs to know of them, and the
// folder that it becomes.
#pragma once

#include "common/tools/tune/exporters/export.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning::commands {

/// The consumer and slice of an export, and the options of export and verify for them.
struct ExportRequest {
    std::string table;
    std::string consumer;  // "openmpi" and so on
    Slice slice;
    std::string library_version;  // empty: from the table, else from the library beside this program
    std::string library;          // libmpich.so; empty: the one that dlmb_plain_mpi runs with
    std::string accept;           // "foreign": a table of foreign evidence as well
    bool commutative = false;     // programs reduce with commutative operations only

    void add_to(CLI::App& parser);
};

/// The scope of the table's rules that a consumer is given: "mpi", "ucx", "ucc" or "nccl".
[[nodiscard]] std::string scope_of(std::string const& consumer);
[[nodiscard]] DistinguishedKeys keys_of(std::string const& consumer);

/// The part of the table that the export is of (complete).
[[nodiscard]] Slice slice_of(ExportRequest const& request, TuningTable const& table);
/// Files of foreign evidence say that in a comment, where their format has any. Throws UsageError
/// where the request must say more.
[[nodiscard]] Export export_table(TuningTable const& table, ExportRequest request);

/// The MPI library that dlmb_plain_mpi, and with it every program of this build, runs with.
struct MpiLibraryFound : MpiLibrary {
    std::string path;
};
/// Throws UsageError when this build has none.
[[nodiscard]] MpiLibraryFound find_mpi_library();

/// The variables that `folder`/env.sh exports. Throws UsageError where the shell cannot read it.
[[nodiscard]] std::map<std::string, std::string> read_environment(std::filesystem::path const& folder);

/// The folder: its files, env.sh to source, lost.json, the table itself and verify.sh. Makes it where it is missing.
/// Throws OutputError with path and reason.
void write_export(std::filesystem::path const& folder, ExportRequest const& request, TuningTable const& table,
                  Export const& made);

// dlmb_tune verify finds out whether an export acts in its consumer where the table says so, and only there.

/// unseen: the runs do not show whether the export acts. They failed without it, or the library's own choice looks like
/// the table's.
enum class TrialVerdict : std::uint8_t { held, wrong, unseen };

struct Check {
    TrialVerdict verdict = TrialVerdict::unseen;
    std::string what;  // one line: what was tried, what was expected, what was seen
};

/// Lines and variables of an export in a folder that are not those of `made`, comments left out. Throws UsageError
/// where its env.sh names the files of another folder, which would be verified instead.
[[nodiscard]] std::vector<Check> differences(std::filesystem::path const& folder, Export const& made,
                                             std::map<std::string, std::string> const& environment);

struct Verification {
    std::vector<Check> checks;
    std::string skipped;                  // why nothing could be tried; empty: it was
    std::vector<std::string> notes = {};  // settings of the user that the library obeys before the files
};

struct VerifyRequest {
    ExportRequest const& request;
    TuningTable const& table;
    Export const& made;                              // what the files should be
    std::map<std::string, std::string> environment;  // what makes the consumer read the files
    std::optional<std::uint64_t> ranks;              // only these; absent: what the rules name
    std::vector<std::string> launcher;               // and its options
};

/// Open MPI and MPICH: what an export does against what the forced algorithm, or no export, does.
[[nodiscard]] Verification verify_mpi(VerifyRequest const& request);
/// UCC: the ranges and algorithms of the score map that it logs for a team.
[[nodiscard]] Verification verify_ucc(VerifyRequest const& request);
/// UCX: from which size on its protocol table shows rendezvous.
[[nodiscard]] Verification verify_ucx(VerifyRequest const& request);
/// NCCL: that it loads the plugin, and what its log says it chose. Skipped without a GPU.
[[nodiscard]] Verification verify_nccl(VerifyRequest const& request);
/// The one of these for the consumer of the request.
[[nodiscard]] Verification verify(VerifyRequest const& request);

}  // namespace dlmb::tuning::commands
