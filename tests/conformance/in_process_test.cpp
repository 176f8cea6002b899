// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/validate.hpp"
#include "tests/conformance/late_data.hpp"
#include "tests/conformance/run_corpus.hpp"

#include <gtest/gtest.h>

namespace dlmb::conformance {
namespace {

class InProcessConformance : public testing::TestWithParam<int> {};

TEST_P(InProcessConformance, TheCorpusItselfIsConsistent) {
    for (CorpusEntry const& entry : corpus(GetParam())) {
        for (PlanProblem const& problem : validate(entry.plans)) {
            ADD_FAILURE() << entry.name << ": " << problem.text;
        }
    }
}

TEST_P(InProcessConformance, EveryEntryRunsAndEveryByteIsRight) {
    in_process::run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        auto const backend = make_backend("in_process", {bootstrap, YieldPolicy::always});
        ASSERT_TRUE(backend) << backend.error().reason;
        CorpusResult const result = run_corpus(bootstrap, *backend.value(), *memory);
        EXPECT_EQ(result.problems, std::vector<std::string>{});
        for (Declined const& declined : result.declined) {
            ADD_FAILURE() << "the reference declines " << declined.entry << ": " << declined.reason;
        }
        EXPECT_EQ(result.iterations, 2 * runs_of(corpus(bootstrap.size()), *backend.value(), memory->kind()));
        // The uniform exchanges alone deliver one block per peer, in seven sizes that are not zero, in two iterations.
        EXPECT_GE(result.blocks_checked, static_cast<std::uint64_t>(2 * 7 * bootstrap.size()));
    });
}

/// Where flags overtake their data, a plan that ends with the right bytes is wrong all the same.
TEST(SignalWatch, FindsDataThatComeBehindTheirSignal) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        std::string why_not;
        auto const memory = make_memory_space(MemoryKind::host, why_not);
        auto const backend = make_backend("in_process", {bootstrap, YieldPolicy::always});
        std::vector<CorpusEntry> entries;
        add_signals(bootstrap.size(), entries);
        CorpusEntry const& entry = entries.at(2);
        ASSERT_EQ(entry.name, "puts of 17 B");
        Plan const& plan = entry.plans[static_cast<std::size_t>(bootstrap.rank())];
        std::vector<std::vector<std::byte>> arena;
        Buffers buffers;
        for (Buffer const& buffer : plan.buffers) {
            buffers.base.push_back(arena.emplace_back(buffer.bytes).data());
        }
        PlanPayload payload(*memory, buffers, plan);
        auto const problems_with = [&](CompiledPlan& compiled, std::uint32_t iteration, bool watched) {
            payload.prepare(iteration);
            compiled.watch_signals(watched ? &payload.watch_signals(iteration) : nullptr);
            bootstrap.barrier();
            compiled.launch();
            compiled.finish();
            compiled.watch_signals(nullptr);
            return payload.verify(iteration);
        };
        auto const in_time = backend.value()->compile(plan, buffers, {"default", {}});
        EXPECT_TRUE(problems_with(*in_time.value(), 0, true).empty());
        auto const late = LateData::compile(*backend.value(), plan, buffers);
        std::vector<std::string> const problems = problems_with(*late, 1, true);
        ASSERT_FALSE(problems.empty());
        EXPECT_NE(problems.front().find("its signal had come already"), std::string::npos) << problems.front();
        EXPECT_TRUE(problems_with(*late, 2, false).empty()) << "all is there in the end";
    });
}

/// A UsageError is printed once, and the program ends with exit code 64.
TEST(BackendOptions, ThatNobodyKnowsAreRefusedWithTheNearestName) {
    in_process::run_ranks(1, [](Bootstrap& bootstrap) {
        auto const refusal = [&](BackendOptions const& options) -> std::string {
            try {
                (void)make_backend("in_process", {.bootstrap = bootstrap, .options = options});
            } catch (UsageError const& error) {
                return error.what();
            }
            return "";
        };
        EXPECT_EQ(refusal({{"mpi", {{"device", "yes"}}}, {"nccl", {{"shared_gpu", "no"}}}}), "");
        EXPECT_EQ(refusal({{"mpi", {{"devise", "yes"}}}}), "unknown option of backend mpi 'devise'; nearest: device");
        EXPECT_EQ(refusal({{"in_process", {{"device", "yes"}}}}),
                  "unknown option of backend in_process 'device'; there is none");
        EXPECT_EQ(refusal({{"mpy", {{"device", "yes"}}}}).substr(0, 35), "unknown backend 'mpy'; nearest: mpi");
    });
}

INSTANTIATE_TEST_SUITE_P(ThreadRanks, InProcessConformance, testing::Values(1, 2, 3, 4, 7));

}  // namespace
}  // namespace dlmb::conformance
