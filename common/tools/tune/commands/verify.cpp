// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune verify: runs the other program with an export, and says whether what the table chose is what runs.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/run_program.hpp"
#include "common/base/command_line/siblings.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "common/tools/tune/verify/consumers.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace dlmb::tuning::commands {
namespace {

int report(Verification const& result) {
    if (!result.skipped.empty()) {
        fmt::print("skipped: {}\n", result.skipped);
        return exit_nothing_ran;
    }
    constexpr std::array words{"ok    ", "WRONG ", "unseen"};
    std::array<std::size_t, words.size()> counts{};
    for (Check const& check : result.checks) {
        auto const verdict = static_cast<std::size_t>(check.verdict);
        ++counts.at(verdict);
        fmt::print("{} {}\n", words.at(verdict), check.what);
    }
    auto const [held, wrong, unseen] = counts;
    if (wrong + unseen > 0) {
        for (std::string const& note : result.notes) {
            fmt::print("note  {}\n", note);
        }
    }
    fmt::print("{} checks, {} wrong{}\n", result.checks.size(), wrong,
               unseen == 0 ? "" : fmt::format(", {} unseen: whether the export acts there is not known", unseen));
    return wrong != 0 ? exit_cell_failed : unseen != 0 || held == 0 ? exit_nothing_ran : exit_ok;
}

class Verify {
public:
    void add_options(CLI::App& parser) {
        request_.add_to(parser);
        parser.add_option("--files", files_, "folder of an export to verify; default: a fresh one");
        parser.add_option("--ranks", ranks_, "only rules for this number of ranks")->check(whole_number_check);
        parser
            .add_option(
                "--mpiexec", launcher_,
                "launcher; repeat it for each of its options, as --mpiexec=--hostfile --mpiexec=FILE [the launcher of "
                "this build's MPI library]")
            ->allow_extra_args(false);
    }

    [[nodiscard]] int run() {
        if (request_.consumer == "ucx" && ranks_ != 0) {
            throw UsageError("--ranks: UCX is tried with two ranks; leave it out");
        }
        TuningTable const table = read_table(request_.table);
        tuning::Export const made = export_table(table, request_);
        TemporaryFolder const fresh;
        if (files_.empty()) {
            files_ = fresh.path().string();
            write_export(files_, request_, table, made);
        }
        auto const environment = read_environment(files_);
        std::vector<Check> const different = differences(files_, made, environment);
        if (launcher_.empty()) {
            launcher_ = {launcher_of(find_mpi_library().path)};
        }
        Verification result =
            verify({request_, table, made, environment, ranks_ == 0 ? std::nullopt : std::optional{ranks_}, launcher_});
        if (!different.empty()) {
            if (!result.skipped.empty()) {
                result.notes.push_back("not tried: " + std::exchange(result.skipped, ""));
            }
            result.checks.insert(result.checks.begin(), different.begin(), different.end());
        }
        return report(result);
    }

private:
    ExportRequest request_;
    std::string files_;
    std::uint64_t ranks_ = 0;
    std::vector<std::string> launcher_;
};

}  // namespace

void add_verify(CLI::App& tune, int& exit_code) {
    add_command<Verify>(tune, "verify", "run another program with an export and see whether it obeys", exit_code);
}

}  // namespace dlmb::tuning::commands
