// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/consumers.hpp"
#include "common/app/tune/consumers/run_program.hpp"

#include <fmt/core.h>

#include <regex>
#include <sstream>

namespace dlmb::app::tune {
namespace {

/// "256K", or "0" for none; as UCX prints sizes.
std::string first_rendezvous(std::string const& output) {
    std::regex const row(R"(\|\s+(\d+[KMGT]?)\.\.\S+\s+\|[^|]*rendezvous)");
    std::istringstream lines(output);
    bool messages = false;
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (line.find("ep_cfg[") != line.npos) {
            messages = line.find("tagged message") != line.npos;
        } else if (messages && std::regex_search(line, match, row)) {
            return match[1];
        }
    }
    return "none";
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
        return {{}, {}, "the export sets no threshold for ranks on one node"};
    }
    auto const run = [&](std::map<std::string, std::string> environment) {
        environment["UCX_PROTO_ENABLE"] = "y";  // the default from 1.16 on
        environment["UCX_PROTO_INFO"] = "y";
        return run_ranks(request.mpiexec, 2, environment,
                         {sibling_program("dlmb_collective").string(), "--operation", "sendrecv", "--backend", "ucx",
                          "-m", "64:64", "-i", "1"},
                         std::chrono::seconds(120));
    };
    Finished const without = run({});
    Finished const with = run(request.environment);
    if (without.exit_code != 0 || with.exit_code != 0) {
        return {{{without.exit_code != 0 ? Verdict::unseen : Verdict::wrong,
                  fmt::format("dlmb_collective --backend ucx failed: exit {} without the export, {} with it",
                              without.exit_code, with.exit_code)}},
                {},
                ""};
    }
    std::string const shown = first_rendezvous(with.output);
    auto const seen = tuning::read_threshold(shown);
    bool const held = wanted == "inf" ? shown == "none" : seen && seen == tuning::read_threshold(wanted);
    std::string const by_default = first_rendezvous(without.output);
    Verdict const verdict = !held ? Verdict::wrong : shown == by_default ? Verdict::unseen : Verdict::held;
    return {{{verdict, fmt::format("rendezvous from {} bytes on; the export says {}, without it from {}", shown, wanted,
                                   by_default)}},
            {},
            ""};
}

}  // namespace dlmb::app::tune
