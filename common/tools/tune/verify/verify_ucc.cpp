// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// UCC: which function its score map names for a size, against the map with the algorithm forced and without the export.
#include "common/base/command_line/siblings.hpp"
#include "common/tools/tune/verify/program_output.hpp"
#include "common/tools/tune/verify/trial.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace dlmb::tuning::commands {
namespace {

/// Sizes as UCC compares them: of a reduce_scatter what one rank receives, of an alltoallv nothing.
Bytes size_in_ucc(Probe const& probe) {
    return probe.collective == MpiCall::alltoallv              ? 0
           : probe.collective == MpiCall::reduce_scatter_block ? probe.bytes / probe.ranks
                                                               : probe.bytes;
}

/// Runs dlmb_collective over UCC and reads the score map of the team of all ranks.
class UccTrial final : public Trial {
public:
    /// `nodes`: that the export is for; nothing: any.
    UccTrial(std::vector<std::string> launcher, std::optional<std::uint64_t> nodes)
        : launcher_(std::move(launcher)), nodes_(nodes) {}

    [[nodiscard]] TrialVariables force(MpiCall collective, std::string const& algorithm) const override {
        return {{"UCC_TL_UCP_TUNE", fmt::format("{}:@{}", name_in_ucc(collective), algorithm)}};
    }

    /// Why nothing can be tried here; empty: it can.
    [[nodiscard]] std::string obstacle() {
        Finished const& finished = run(2, {});
        return finished.exit_code == 0 ? ""
                                       : fmt::format("dlmb_collective --backend ucc gives exit {} here; dlmb_info says "
                                                     "what this build and machine lack",
                                                     finished.exit_code);
    }

private:
    [[nodiscard]] Fingerprint look(Probe const& probe, TrialVariables const& environment) override {
        return in_map(run(probe.ranks, environment), probe);
    }

    /// One run shows every size of every collective. Its output is the log.
    Finished const& run(std::uint64_t ranks, TrialVariables environment) {
        auto const [place, is_new] = runs_.try_emplace({ranks, environment});
        if (!is_new) {
            return place->second;
        }
        TemporaryFolder const logs;
        environment["UCC_LOG_LEVEL"] = "debug";                       // from this level on the map names functions
        environment["UCX_LOG_FILE"] = (logs.path() / "%p").string();  // UCC logs by UCX; on a terminal ranks' lines mix
        place->second = run_ranks(launcher_, ranks, environment,
                                  {sibling_program("dlmb_collective").string(), "--operation", "allreduce", "--backend",
                                   "ucc", "-m", "64:64", "-i", "1"},
                                  std::chrono::seconds(120));
        for (auto const& entry : std::filesystem::directory_iterator(logs.path())) {
            std::ifstream const file(entry.path());
            std::ostringstream log;
            log << file.rdbuf();
            place->second.output += log.str();
        }
        return place->second;
    }

    [[nodiscard]] Fingerprint in_map(Finished const& finished, Probe const& probe) const {
        if (finished.exit_code != 0) {
            return failure(finished);
        }
        if (auto const nodes = nodes_in(finished.output); nodes && nodes_ && nodes != nodes_) {
            return {fmt::format("ran on {} nodes, the rules are for {}", *nodes, *nodes_), true};
        }
        std::string const function =
            function_in_score_map(finished.output, probe.ranks, probe.collective, size_in_ucc(probe));
        return function.empty() ? Fingerprint{"UCC logged no score map with this collective and size", true}
                                : Fingerprint{function};
    }

    std::vector<std::string> launcher_;
    std::optional<std::uint64_t> nodes_;
    std::map<std::pair<std::uint64_t, TrialVariables>, Finished> runs_;
};

}  // namespace

Verification verify_ucc(VerifyRequest const& request) {
    std::string const memory = request.request.slice.memory;
    if (!memory.empty() && memory != "host") {
        return {{}, fmt::format("only rules for memory host can be seen, not those for {}", memory)};
    }
    UccTrial trial(request.launcher, slice_of(request.request, request.table).nodes);
    if (std::string obstacle = trial.obstacle(); !obstacle.empty()) {
        return {{}, std::move(obstacle)};
    }
    return verify_rules(request, trial);
}

}  // namespace dlmb::tuning::commands
