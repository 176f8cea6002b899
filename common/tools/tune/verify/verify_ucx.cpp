// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/command_line/run_program.hpp"
#include "common/base/command_line/siblings.hpp"
#include "common/tools/tune/verify/consumers.hpp"
#include "common/tools/tune/verify/program_output.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace dlmb::tuning::commands {
namespace {

/// A run of two ranks, and what the log of one of them shows.
struct Seen {
    int exit_code = 0;
    std::string rendezvous;
};

Seen run(VerifyRequest const& request, std::map<std::string, std::string> environment) {
    TemporaryFolder const logs;
    environment["UCX_LOG_FILE"] = (logs.path() / "%p").string();  // one per rank; on a terminal their lines mix
    environment["UCX_PROTO_ENABLE"] = "y";                        // the default from 1.16 on
    environment["UCX_PROTO_INFO"] = "y";
    Finished const finished = run_ranks(request.launcher, 2, environment,
                                        {sibling_program("dlmb_collective").string(), "--operation", "sendrecv",
                                         "--backend", "ucx", "-m", "64:64", "-i", "1"},
                                        std::chrono::seconds(120));
    for (auto const& entry : std::filesystem::directory_iterator(logs.path())) {
        std::ifstream log(entry.path());
        if (std::string shown = first_rendezvous(log); shown != "none") {
            return {finished.exit_code, std::move(shown)};
        }
    }
    return {finished.exit_code, "none"};
}

/// The threshold that the file sets for ranks on one node.
std::string threshold_in(std::string const& text) {
    std::smatch match;
    std::regex const line(R"(UCX_RNDV_THRESH=(?:intra:)?([^,\n]+))");
    return std::regex_search(text, match, line) ? std::string(match[1]) : "auto";
}

}  // namespace

Verification verify_ucx(VerifyRequest const& request) {
    std::string const wanted = threshold_in(request.made.files.front().text);
    if (wanted == "auto") {
        return {{}, "the export sets no threshold for ranks on one node"};
    }
    Seen const without = run(request, {});
    Seen const with = run(request, request.environment);
    if (without.exit_code != 0 || with.exit_code != 0) {
        return {{{without.exit_code != 0 ? TrialVerdict::unseen : TrialVerdict::wrong,
                  fmt::format("dlmb_collective --backend ucx failed: exit {} without the export, {} with it",
                              without.exit_code, with.exit_code)}},
                ""};
    }
    std::string const& shown = with.rendezvous;
    auto const seen = read_threshold(shown);
    bool const held = wanted == "inf" ? shown == "none" : seen && seen == read_threshold(wanted);
    std::string const& by_default = without.rendezvous;
    TrialVerdict const verdict = !held                 ? TrialVerdict::wrong
                                 : shown == by_default ? TrialVerdict::unseen
                                                       : TrialVerdict::held;
    return {{{verdict, fmt::format("rendezvous from {} bytes on; the export says {}, without it from {}", shown, wanted,
                                   by_default)}},
            ""};
}

}  // namespace dlmb::tuning::commands
