// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Three backends in one plan, two of which must be served while their rank waits in the bootstrap. With room for one
// progress function the backend that registered last silenced the other, whose peer then waited for ever.
#include "common/backend_kit/registry.hpp"
#include "common/formats/table/query.hpp"
#include "tests/mpi/ucx_rig.hpp"

#include <mpi.h>

#include <chrono>

namespace dlmb::tuned {
namespace {

constexpr std::string_view double_name = "answering_double";

void check(int code) {
    ASSERT_EQ(code, MPI_SUCCESS);
}

/// A test double of a transport that needs its peer's help: quiesce() asks the next rank, and a rank answers only while
/// it makes progress. The bytes themselves go by the backend mpi.
class AnsweringDouble final : public Backend {
public:
    AnsweringDouble(Bootstrap& bootstrap, std::shared_ptr<Backend> carrier)
        : bootstrap_(bootstrap), carrier_(std::move(carrier)) {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &questions_));
        check(MPI_Comm_dup(MPI_COMM_WORLD, &answers_));
        progress_ = bootstrap.add_progress([this] { answer(); });
    }
    AnsweringDouble(AnsweringDouble const&) = delete;
    AnsweringDouble& operator=(AnsweringDouble const&) = delete;
    ~AnsweringDouble() override {
        MPI_Comm_free(&questions_);
        MPI_Comm_free(&answers_);
    }

    [[nodiscard]] std::string_view name() const override { return double_name; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return carrier_->methods(); }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return carrier_->supports(kind); }
    [[nodiscard]] Provenance provenance() const override { return {{"test_double", "yes"}}; }
    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& method) override {
        return carrier_->compile(plan, buffers, method);
    }
    void quiesce() override {
        carrier_->quiesce();
        int const next = (bootstrap_.rank() + 1) % bootstrap_.size();
        // Rank 0 answers at once and asks late: the others are in the barrier below by then.
        auto const begin = std::chrono::steady_clock::now();
        while (bootstrap_.rank() == 0 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20)) {
            answer();
        }
        MPI_Request question = MPI_REQUEST_NULL;
        MPI_Request reply = MPI_REQUEST_NULL;
        check(MPI_Isend(nullptr, 0, MPI_BYTE, next, 0, questions_, &question));
        check(MPI_Irecv(nullptr, 0, MPI_BYTE, next, 0, answers_, &reply));
        wait(question);
        wait(reply);
        bootstrap_.barrier();
    }

private:
    void wait(MPI_Request& request) {
        for (int done = 0; done == 0; answer()) {
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        }
    }
    void answer() {
        int asked = 0;
        MPI_Status status;
        check(MPI_Iprobe(MPI_ANY_SOURCE, 0, questions_, &asked, &status));
        if (asked != 0) {
            check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, 0, questions_, MPI_STATUS_IGNORE));
            check(MPI_Send(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, 0, answers_));
            ++answered_;
        }
    }

public:
    std::uint64_t answered_ = 0;

private:
    Bootstrap& bootstrap_;
    std::shared_ptr<Backend> carrier_;
    MPI_Comm questions_ = MPI_COMM_NULL;
    MPI_Comm answers_ = MPI_COMM_NULL;
    ProgressHandle progress_;
};

/// The backends of the build, and the double.
class PoolWithDouble final : public BackendSource {
public:
    PoolWithDouble(Bootstrap& bootstrap, BackendPool& pool) : bootstrap_(bootstrap), pool_(pool) {}
    [[nodiscard]] Expected<std::shared_ptr<Backend>, Unsupported> backend(std::string_view name) override {
        if (name != double_name) {
            return pool_.backend(name);
        }
        if (!double_) {
            double_ = std::make_shared<AnsweringDouble>(bootstrap_, pool_.backend("mpi").value());
        }
        return std::shared_ptr<Backend>(double_);
    }
    [[nodiscard]] AnsweringDouble const& the_double() const { return *double_; }

private:
    Bootstrap& bootstrap_;
    BackendPool& pool_;
    std::shared_ptr<AnsweringDouble> double_;
};

/// Collectives of three kinds go to three backends.
class ByOperation final : public Chooser {
public:
    explicit ByOperation(std::vector<std::string> order) : order_(std::move(order)) {}
    [[nodiscard]] std::string const& digest() const override { return digest_; }
    [[nodiscard]] std::vector<std::string> backends() const override { return order_; }
    [[nodiscard]] StepChoice choose(tuning::Key const& step) const override {
        switch (step.operation) {
        case tuning::TunedOperation::allgather:
            return {.backend = std::string(double_name)};
        case tuning::TunedOperation::exchange:
            return {.backend = "ucx"};
        default:
            return {.backend = "mpi"};
        }
    }
    [[nodiscard]] StepChoice baseline(std::string_view /*memory*/) const override { return {.backend = "mpi"}; }

private:
    std::vector<std::string> order_;  // in which they register
    std::string digest_ = std::string(64, 'a');
};

Plan plan_of_three_backends(Bootstrap const& bootstrap) {
    PlanBuilder builder(bootstrap.rank());
    auto const ranks = static_cast<Bytes>(bootstrap.size());
    GroupId const all = builder.group(ucx::world_of(bootstrap));
    constexpr Bytes rendezvous = Bytes{1} << 20;
    std::vector<Bytes> const blocks(ranks, rendezvous);
    StepId last = builder.all_gather(all, 64 * ranks, Element::byte, "on the double");
    last = builder.exchange(all, blocks, blocks, "on ucx", {last});
    last = builder.all_reduce(all, 4096, Element::fp32, Reduction::sum, "on mpi", {last});
    last = builder.all_gather(all, rendezvous * ranks, Element::byte, "on the double again", {last});
    builder.exchange(all, blocks, blocks, "on ucx again", {last});
    return std::move(builder).finish();
}

class ProgressOfThreeBackends : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ProgressOfThreeBackends, IsMadeForAllWhicheverRegisteredLast) {
    auto const bootstrap = make_mpi_bootstrap();
    BackendContext context{*bootstrap};
    BackendPool transports(context);
    PoolWithDouble source(*bootstrap, transports);
    ByOperation const chooser(GetParam());
    Delegation const delegation{chooser, source};
    context.delegation = &delegation;
    auto const tuned = make_backend("tuned", context);
    ASSERT_TRUE(tuned) << tuned.error().reason;
    ucx::BoundPlan bound(*bootstrap, *tuned.value(), plan_of_three_backends(*bootstrap));
    ASSERT_EQ(bound.compiled().provenance().at("tuned_parts"), "5");
    constexpr std::uint32_t iterations = 5;
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
        bound.run_checked(iteration);
    }
    tuned.value()->quiesce();
    EXPECT_GE(source.the_double().answered_, std::uint64_t{2} * iterations);
}

INSTANTIATE_TEST_SUITE_P(Orders, ProgressOfThreeBackends,
                         testing::Values(std::vector<std::string>{std::string(double_name), "mpi", "ucx"},
                                         std::vector<std::string>{"ucx", "mpi", std::string(double_name)}));

}  // namespace
}  // namespace dlmb::tuned
