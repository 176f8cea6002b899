// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_runner.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/mpi/ucx_rig.hpp"

#include <mpi.h>

#include <numeric>

namespace dlmb::ucx {
namespace {

constexpr std::size_t few = 1000;
constexpr std::size_t many = std::size_t{1} << 18;  // by rendezvous

struct Fixture {
    explicit Fixture(std::vector<std::string> const& names = {}) : bootstrap(make_mpi_bootstrap()) {
        for (std::string const& name : names) {
            methods.push_back(parse_method(name));
        }
        runner = std::make_unique<StepRunner>(BackendContext{*bootstrap}, methods);
    }

    [[nodiscard]] Plan plan(Group group, Operation operation) const {
        return {bootstrap->rank(), {std::move(group)}, std::vector<Buffer>(2), {{std::move(operation), {}, "step"}}};
    }

    /// Sums 1 + the ranks of the group and compares with the closed form.
    void expect_sum(Group const& group, std::string_view method, std::size_t elements) const {
        std::vector<float> in(elements, static_cast<float>(bootstrap->rank() + 1));
        std::vector<float> out(elements);
        Plan const step =
            plan(group,
                 Collective{OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, elements * sizeof(float), Element::fp32});
        Buffers const buffers{MemoryKind::host,
                              {reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data())}};
        ASSERT_EQ(runner->refusal(step, parse_method(method)), "") << method;
        runner->run(step, buffers, parse_method(method));
        int const sum = std::accumulate(group.members.begin(), group.members.end(), 0,
                                        [](int a, Rank rank) { return a + rank + 1; });
        EXPECT_EQ(out, std::vector<float>(elements, static_cast<float>(sum))) << method;
    }

    std::unique_ptr<Bootstrap> bootstrap;
    std::vector<MethodChoice> methods;
    std::unique_ptr<StepRunner> runner;
};

TEST(UcxStepRunner, SumsOnMemoryOfTheCallerByEveryMethodThatItIsPreparedFor) {
    std::vector<std::string> const methods{"default", "recursive_doubling", "ring:segment=4K",
                                           "knomial:rndv_thresh=inf", "knomial:radix=2:rndv_thresh=1"};
    Fixture const fixture(methods);
    for (std::string const& method : methods) {
        for (std::size_t const elements : {std::size_t{1}, few, many}) {
            fixture.expect_sum(world_of(*fixture.bootstrap), method, elements);
        }
    }
}

TEST(UcxStepRunner, RunsStepsOfSomeRanksWithoutTheOthers) {
    Fixture const fixture;
    Rank const last = fixture.bootstrap->size() - 1;
    for (int repetition = 0; repetition < 3; ++repetition) {
        if (last > 0 && (fixture.bootstrap->rank() == 0 || fixture.bootstrap->rank() == last)) {
            fixture.expect_sum({{last, 0}}, "default", many);
        }
        fixture.expect_sum(world_of(*fixture.bootstrap), "default", few);
    }
}

// No barrier makes progress between the two libraries: a rank that is done with its step is in MPI at once.
TEST(UcxStepRunner, LeavesNothingThatARankInsideOfMpiHadToDo) {
    Fixture const fixture;
    for (int repetition = 0; repetition < 50; ++repetition) {
        fixture.expect_sum(world_of(*fixture.bootstrap), "default", repetition % 2 == 0 ? few : many);
        int highest = fixture.bootstrap->rank();
        MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        ASSERT_EQ(highest, fixture.bootstrap->size() - 1);
    }
}

// Rank 0 waits for the step, in which rank 1 takes part only when it has what rank 0 sends by MPI.
TEST(UcxStepRunner, KeepsMpiGoingWhileItWaits) {
    Fixture const fixture;
    if (fixture.bootstrap->size() < 2) {
        GTEST_SKIP() << "one rank waits for nobody";
    }
    std::vector<float> message(many * 4, static_cast<float>(fixture.bootstrap->rank()));
    MPI_Request request = MPI_REQUEST_NULL;
    int const count = static_cast<int>(message.size());
    if (fixture.bootstrap->rank() == 0) {
        MPI_Isend(message.data(), count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &request);
    } else if (fixture.bootstrap->rank() == 1) {
        MPI_Recv(message.data(), count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(message, std::vector<float>(message.size(), 0.0F));
    }
    fixture.expect_sum(world_of(*fixture.bootstrap), "default", few);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST(UcxStepRunner, RefusesWhatIsPreparedForPlansAndWhatDoesAnotherOperation) {
    Fixture const fixture;
    Plan const step = fixture.plan(world_of(*fixture.bootstrap),
                                   Collective{OperationKind::all_reduce, 0, 0, {0, 0}, {1, 0}, 64, Element::fp32});
    EXPECT_NE(fixture.runner->refusal(step, parse_method("put")).find("not for single steps"), std::string::npos);
    EXPECT_EQ(fixture.runner->refusal(step, parse_method("bruck")), "ucx: bruck: does no allreduce");
    EXPECT_THROW((void)fixture.runner->refusal(step, parse_method("none_such")), UsageError);
}

}  // namespace
}  // namespace dlmb::ucx
