// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune export: a table as the files of another program.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/output_file.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/commands/run_tune.hpp"
#include "common/tools/tune/verify/consumers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning::commands {
namespace {

/// One line: why the files of this table would change nothing.
std::string why_nothing(TuningTable const& table, ExportRequest const& request) {
    std::string const scope = scope_of(request.consumer);
    std::map<std::string_view, std::size_t> states;
    bool open = false;
    for (Rule const& rule : table.rules) {
        if (rule.scope != scope) {
            continue;
        }
        if (!rule.choose.keeps_default()) {
            return fmt::format("it can hold no choice of scope {}, for the reasons above", scope);
        }
        ++states[name_of(rule.status)];
        open = open || is_open(rule.status);
    }
    if (states.empty()) {
        return fmt::format("the table has no rule of scope {}", scope);
    }
    std::vector<std::string> counts;
    for (auto const& state : states) {
        counts.push_back(fmt::format("{} {}", state.second, state.first));
    }
    return fmt::format("no rule of scope {} leaves the library's own choice ({}){}", scope, fmt::join(counts, ", "),
                       open ? "; dlmb_autotune measures what is open, or more launches of the same sweep do" : "");
}

class TableExport {
public:
    void add_options(CLI::App& parser) {
        request_.add_to(parser);
        parser.add_option("-o,--output", folder_, "folder that the files go to")->required();
        parser.add_flag("--strict", strict_, "exit with 1 if the other program cannot hold every rule");
    }

    [[nodiscard]] int run() {
        TuningTable const table = read_table(request_.table);
        tuning::Export const made = export_table(table, request_);
        if (made.chooses) {
            write_export(folder_, request_, table, made);
        }
        for (Lost const& lost : made.lost) {
            print_error(
                fmt::format("dlmb_tune: warning: {} is lost ({}): {}\n", lost.rule, name_of(lost.why), lost.detail));
        }
        if (!made.chooses) {
            std::string const earlier = std::filesystem::exists(std::filesystem::path(folder_) / "env.sh")
                                            ? fmt::format("; {} still holds an earlier export", folder_)
                                            : "";
            print_error(fmt::format("dlmb_tune: nothing to export to {}, so nothing is written: {}{}\n",
                                    request_.consumer, why_nothing(table, request_), earlier));
            return strict_ && !made.lost.empty() ? exit_cell_failed : exit_nothing_ran;
        }
        for (std::string const& note : made.notes) {
            print_error(fmt::format("dlmb_tune: note: {}\n", note));
        }
        fmt::print("{0}: for {1}; source {0}/env.sh before the program starts, run {0}/verify.sh to see it act\n",
                   folder_, request_.consumer);
        return strict_ && !made.lost.empty() ? exit_cell_failed : exit_ok;
    }

private:
    ExportRequest request_;
    std::string folder_;
    bool strict_ = false;
};

}  // namespace

void add_export(CLI::App& tune, int& exit_code) {
    add_command<TableExport>(tune, "export", "write a table as the files of another program", exit_code);
}

}  // namespace dlmb::tuning::commands
