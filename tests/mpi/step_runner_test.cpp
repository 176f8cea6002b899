// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/step_runner.hpp"
#include "common/base/error.hpp"
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::mpi {
namespace {

constexpr std::size_t elements = 1000;

Plan plan_of(Rank me, Group group, Operation operation, std::size_t buffers) {
    return {me, {std::move(group)}, std::vector<Buffer>(buffers), {{std::move(operation), {}, "step"}}};
}

template <class T>
Buffers buffers_of(std::vector<T>& first, std::vector<T>& second) {
    return {MemoryKind::host,
            {reinterpret_cast<std::byte*>(first.data()), reinterpret_cast<std::byte*>(second.data())}};
}

/// Sums 1 + the ranks of the group by `method` and compares with the closed form.
void expect_sum(StepRunner& runner, Rank me, Group const& group, std::string_view method) {
    std::vector<float> in(elements, static_cast<float>(me + 1));
    std::vector<float> out(elements);
    Plan const plan = plan_of(
        me, group, Collective{OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, elements * sizeof(float), Element::fp32},
        2);
    ASSERT_EQ(runner.refusal(plan, parse_method(method)), "") << method;
    runner.run(plan, buffers_of(in, out), parse_method(method));
    auto const sum =
        std::accumulate(group.members.begin(), group.members.end(), 0, [](int a, Rank rank) { return a + rank + 1; });
    EXPECT_EQ(out, std::vector<float>(elements, static_cast<float>(sum))) << method;
}

TEST(MpiStepRunner, SumsOnMemoryOfTheCallerByEveryMethodThatItTakes) {
    Rig rig;
    StepRunner runner(true);
    for (char const* const method : {"default", "blocking", "nonblocking"}) {
        expect_sum(runner, rig.me(), rig.world(), method);
    }
    if (runner.why_no_algorithms().empty()) {
        expect_sum(runner, rig.me(), rig.world(), "algorithm:allreduce=recursive_doubling");
        expect_sum(runner, rig.me(), rig.world(), "default");
    }
}

TEST(MpiStepRunner, RunsAStepOfSomeRanksWithoutTheOthers) {
    Rig rig;
    StepRunner runner(true);
    Group const last{{rig.ranks() - 1, 0}};
    bool const member = rig.me() == 0 || rig.me() == rig.ranks() - 1;
    if (rig.ranks() > 1 && member) {
        expect_sum(runner, rig.me(), last, "default");
    }
}

// Rank r sends r + p elements to rank p, so no rank knows the blocks of another, and the block of rank 0 to itself is
// empty.
TEST(MpiStepRunner, ExchangesBlocksThatOnlyTheirRanksKnow) {
    Rig rig;
    StepRunner runner(true);
    Exchange exchange{0, 0, 1, {}, {}};
    Bytes offset = 0;
    for (Rank peer = 0; peer < rig.ranks(); ++peer) {
        Bytes const bytes = static_cast<Bytes>(rig.me() + peer) * sizeof(std::int32_t);
        if (bytes > 0) {
            exchange.send.push_back({peer, offset, bytes});
            exchange.recv.push_back({peer, offset, bytes});
        }
        offset += bytes;
    }
    std::vector<std::int32_t> out(offset / sizeof(std::int32_t) + 1, rig.me());
    std::vector<std::int32_t> in(out.size(), -1);
    std::vector<std::int32_t> expected;
    for (Rank peer = 0; peer < rig.ranks(); ++peer) {
        expected.insert(expected.end(), static_cast<std::size_t>(rig.me()) + static_cast<std::size_t>(peer), peer);
    }
    expected.push_back(-1);
    runner.run(plan_of(rig.me(), rig.world(), exchange, 2), buffers_of(out, in), parse_method("alltoallv"));
    EXPECT_EQ(in, expected);
}

TEST(MpiStepRunner, RefusesWhatIsPreparedForPlansAndWhatNamesAnotherCall) {
    Rig rig;
    StepRunner const runner(true);
    Plan const plan = plan_of(rig.me(), rig.world(),
                              Collective{OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, 64, Element::fp32}, 2);
    for (char const* const method : {"persistent", "put", "staged:by=blocking", "threads", "neighbor"}) {
        EXPECT_NE(runner.refusal(plan, parse_method(method)).find("not for single steps"), std::string::npos) << method;
    }
    if (runner.why_no_algorithms().empty()) {
        EXPECT_NE(runner.refusal(plan, parse_method("algorithm:bcast=binomial")).find("no call of this operation"),
                  std::string::npos);
        EXPECT_THROW((void)runner.refusal(plan, parse_method("algorithm:allreduce=none_such")), UsageError);
    }
}

}  // namespace
}  // namespace dlmb::mpi
