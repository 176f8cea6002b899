// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans run over the reference backend, every byte checked.
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/conformance/run_corpus.hpp"
#include "tests/unit/pipeline_p2p/fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::pipeline_p2p {
namespace {

std::vector<conformance::CorpusEntry> entries(int ranks) {
    Parameters const small{
        {"sequence", "32"},  {"hidden", "16"},     {"microbatches", "8"}, {"compute", "busy"},
        {"forward-us", "1"}, {"backward-us", "2"}, {"tp", "2"},           {"tp-split", "scatter_gather"}};
    std::vector<conformance::CorpusEntry> made;
    for (char const* schedule : schedules) {
        for (char const* mode : modes) {
            Parameters const parameters = with(small, {{"schedule", schedule}, {"mode", mode}, {"vocabulary", "64"}});
            made.push_back({std::string(schedule) + ' ' + mode, plans_of(parameters, ranks)});
        }
    }
    made.push_back({"gradients", plans_of(with(small, {{"schedule", "chimera"}, {"gradient-bytes", "4096"}}), ranks)});
    made.push_back(
        {"loss and mask",
         plans_of(
             with(small, {{"mode", "meta_data"}, {"loss", "on"}, {"attention-mask", "on"}, {"dynamic-shape", "on"}}),
             ranks)});
    made.push_back({"fill", plans_of(with(small, {{"pp", "2"},
                                                  {"bubble-fill", "forward.compute@1/reduce_scatter:64@1+allgather:64@1"
                                                                  "/allreduce:4K@1x2"}}),
                                     ranks)});
    return made;
}

TEST(PipelineRun, EveryScheduleInEveryModeDeliversItsBytes) {
    auto const all = entries(8);
    in_process::run_ranks(8, [&](Bootstrap& bootstrap) {
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        auto const backend = make_backend("in_process", {bootstrap, YieldPolicy::always});
        ASSERT_TRUE(backend) << backend.error().reason;
        auto const result = conformance::run_entries(all, bootstrap, *backend.value(), *memory);
        EXPECT_EQ(result.problems, std::vector<std::string>{});
        EXPECT_TRUE(result.declined.empty());
        EXPECT_EQ(result.iterations, 2 * conformance::runs_of(all, *backend.value(), memory->kind()));
    });
}

}  // namespace
}  // namespace dlmb::pipeline_p2p
