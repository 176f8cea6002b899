// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a profile of PyTorch to MPI: what MPI is given in a replay is what the profile says, counted from its numbers.
#include "common/formats/plan_file/plan_file.hpp"
#include "common/run/replay/replay.hpp"
#include "common/tools/plan/iterations.hpp"
#include "common/tools/plan/plans.hpp"
#include "common/tools/plan/read.hpp"
#include "tests/mpi/interception/intercepted_mpi.hpp"
#include "tests/mpi/rig.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace dlmb {
namespace {

constexpr int iterations = 2;
constexpr std::uint64_t float_bytes = 4;
constexpr std::uint64_t reduced = 1000;  // floats in the allreduce
constexpr std::uint64_t share = 10;      // floats of a rank in the allgather

/// Floats from one rank to another; none where it is 0, and other numbers in each iteration.
std::uint64_t elements(int iteration, int from, int to) {
    return static_cast<std::uint64_t>((from + 2 * to) % 5) * static_cast<std::uint64_t>(iteration + 1);
}

/// One rank's profile: per iteration an uneven all-to-all, an allreduce and an allgather.
std::string profile(int rank, int ranks) {
    std::string events;
    int id = 0;
    auto const call = [&](int time, std::string_view name, std::uint64_t in, std::uint64_t out,
                          std::string const& more) {
        std::vector<int> members;
        for (int member = 0; member < ranks; ++member) {
            members.push_back(member);
        }
        events += fmt::format(
            R"(,{{"ph":"X","name":"record_param_comms","ts":{},"dur":1,"args":{{"External id":{},"Collective name":"{}",)"
            R"("In msg nelems":{},"Out msg nelems":{},"dtype":"Float","Group size":{},"Process Group Name":"0",)"
            R"("Process Group Ranks":"{}"{}}}}})",
            time, ++id, name, in, out, ranks, members, more);
    };
    for (int iteration = 0; iteration < iterations; ++iteration) {
        int const begin = 1000 * (iteration + 1);
        events += fmt::format(R"(,{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","ts":{},"dur":900}})",
                              iteration, begin);
        std::vector<std::uint64_t> in;
        std::vector<std::uint64_t> out;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (int peer = 0; peer < ranks; ++peer) {
            sent += in.emplace_back(elements(iteration, rank, peer));
            received += out.emplace_back(elements(iteration, peer, rank));
        }
        call(begin + 1, "all_to_allv", sent, received,
             fmt::format(R"(,"In split size":"{}","Out split size":"{}")", in, out));
        call(begin + 2, "allreduce", reduced, reduced, "");
        call(begin + 3, "_allgather_base", share, share * static_cast<std::uint64_t>(ranks), "");
    }
    return fmt::format(R"({{"distributedInfo":{{"rank":{},"world_size":{}}},"traceEvents":[{{"name":"x"}}{}]}})", rank,
                       ranks, events);
}

intercepted::Given expected(int iteration, int rank, int ranks) {
    intercepted::Given given;
    for (int peer = 0; peer < ranks; ++peer) {
        std::uint64_t const bytes = float_bytes * elements(iteration, rank, peer);
        given.messages += peer != rank && bytes > 0 ? 1 : 0;
        given.message_bytes += peer != rank ? bytes : 0;
    }
    given.collectives = 2;
    given.collective_bytes = float_bytes * (reduced + share * static_cast<std::uint64_t>(ranks));
    return given;
}

/// Does what dlmb_plan import does.
void import(std::filesystem::path const& folder, int ranks) {
    std::filesystem::create_directories(folder / "plans");
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < ranks; ++rank) {
        files.push_back(folder / fmt::format("trace.{}.json", rank));
        std::ofstream(files.back()) << profile(rank, ranks);
    }
    trace::Trace trace = trace::read_trace(files, {});
    ASSERT_EQ(trace::find_iterations(trace, std::nullopt).count, iterations);
    PlanHeader header;
    header.pattern = "trace";
    header.world = {ranks, ranks};
    for (int iteration = 0; iteration < iterations; ++iteration) {
        std::ofstream(folder / "plans" / fmt::format("{}.jsonl", iteration))
            << plan_lines(header, trace::plans_of(trace, {iteration}));
    }
}

TEST(Replay, MpiIsGivenWhatTheTraceSays) {
    mpi::Rig rig;
    int const ranks = rig.ranks();
    std::filesystem::path const folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("dlmb_replay_test_{}", ranks);
    if (rig.me() == 0) {
        import(folder, ranks);
    }
    rig.bootstrap().barrier();
    PatternType const& type = run::replay::type();
    auto const pattern = type.make(resolve(type, "", {{"plan", (folder / "plans").string()}}), {ranks, ranks});
    EXPECT_EQ(pattern->most_draws(), static_cast<std::uint32_t>(iterations));
    for (int iteration = 0; iteration < iterations; ++iteration) {
        Plan const plan = pattern->build(rig.me(), {1, static_cast<std::uint32_t>(iteration)}, {}, {});
        EXPECT_EQ(rig.run(plan, "alltoallv"), std::vector<std::string>());  // the payload, too
        Buffers const buffers = rig.bind(plan);
        auto compiled = rig.backend().compile(plan, buffers, {"alltoallv", {}});
        ASSERT_TRUE(compiled);
        rig.bootstrap().barrier();
        intercepted::reset();
        compiled.value()->launch();
        compiled.value()->finish();
        EXPECT_TRUE(intercepted::given() == expected(iteration, rig.me(), ranks)) << iteration;
        rig.backend().quiesce();
    }
    rig.bootstrap().barrier();
    if (rig.me() == 0) {
        std::filesystem::remove_all(folder);
    }
}

}  // namespace
}  // namespace dlmb
