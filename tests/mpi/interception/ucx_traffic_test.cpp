// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every byte that one rank of a plan sends to another one goes through UCX. For exchanges and messages the plan says
// how many bytes that is; for a collective the algorithm's micro-steps do (tests/unit/algorithms holds those to closed
// forms). The payload of small plans is checked as well, so the bytes that were counted are those that arrived.
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/algorithms/algorithms.hpp"
#include "tests/mpi/interception/intercepted_ucx.hpp"
#include "tests/mpi/interception/pattern_cases.hpp"
#include "tests/mpi/ucx_rig.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace dlmb::ucx {
namespace {

using BytesByRank = std::map<Rank, Bytes>;

/// nullptr: the method sends every block directly.
algorithms::Algorithm algorithm_of(std::string_view method, OperationKind kind) {
    static std::map<std::pair<std::string_view, OperationKind>, algorithms::Algorithm> const chosen{
        {{"bruck", OperationKind::exchange}, algorithms::bruck_exchange},
        {{"recursive_doubling", OperationKind::all_reduce}, algorithms::recursive_doubling},
        {{"ring", OperationKind::all_reduce}, algorithms::ring},
        {{"ring", OperationKind::reduce_scatter}, algorithms::ring},
        {{"ring", OperationKind::all_gather}, algorithms::ring},
        {{"knomial", OperationKind::all_reduce}, algorithms::knomial},
        {{"knomial", OperationKind::reduce_scatter}, algorithms::knomial},
        {{"knomial", OperationKind::all_gather}, algorithms::knomial},
        {{"knomial", OperationKind::broadcast}, algorithms::knomial_tree},
        {{"reproducible", OperationKind::all_reduce}, algorithms::fixed_tree},
        {{"reproducible", OperationKind::reduce_scatter}, algorithms::fixed_tree},
        {{"bruck_allgather", OperationKind::all_gather}, algorithms::bruck_all_gather},
        {{"neighbor", OperationKind::all_gather}, algorithms::neighbor},
        {{"knomial", OperationKind::reduce}, algorithms::knomial_tree},
        {{"knomial", OperationKind::gather}, algorithms::knomial_tree},
        {{"knomial", OperationKind::scatter}, algorithms::knomial_tree},
        {{"linear", OperationKind::all_gather}, nullptr},
        {{"linear", OperationKind::gather}, nullptr},
        {{"linear", OperationKind::scatter}, nullptr},
        {{"pairwise", OperationKind::all_gather}, nullptr},
        {{"pairwise", OperationKind::gather}, nullptr},
        {{"pairwise", OperationKind::scatter}, nullptr},
        {{"chain", OperationKind::broadcast}, algorithms::chain},
        {{"chain", OperationKind::reduce}, algorithms::chain},
        {{"scatter_allgather", OperationKind::broadcast}, algorithms::scatter_allgather},
    };
    auto const found = chosen.find({method, kind});
    if (found != chosen.end()) {
        return found->second;
    }
    return kind == OperationKind::exchange ? nullptr : algorithms::automatic;
}

/// Adds what this rank sends in one step to other ranks; by the method get, what it gets from them.
class ExpectedBytes {
public:
    ExpectedBytes(Plan const& plan, std::string_view method) : plan_(plan), method_(method) {
        for (Step const& step : plan.steps) {
            std::visit([this](auto const& operation) { add(operation); }, step.operation);
        }
    }
    [[nodiscard]] BytesByRank const& by_rank() const { return bytes_; }

private:
    void add(Compute const& /*step*/) {}
    void add(Put const& step) {
        for (Block const& block : step.send) {
            send(step.group, block.peer, block.bytes);
        }
    }
    void add(WaitSignal const& /*step*/) {}
    void add(Recv const& step) {
        send(step.group, step.from.peer, gets() ? step.window.messages * step.from.bytes : 0);
    }
    void add(Send const& step) { send(step.group, step.to.peer, gets() ? 0 : step.window.messages * step.to.bytes); }
    void add(Exchange const& step) {
        if (auto const algorithm = algorithm_of(method_, OperationKind::exchange)) {
            Bytes total = 0;
            for (Block const& block : step.send) {
                total += block.bytes;
            }
            return play(algorithm, step.group, shape(OperationKind::exchange, step.group, total));
        }
        for (Block const& block : gets() ? step.recv : step.send) {
            send(step.group, block.peer, block.bytes);
        }
    }
    [[nodiscard]] bool gets() const { return method_ == "get"; }
    void add(Barrier const& step) {
        play(algorithms::dissemination, step.group, shape(OperationKind::barrier, step.group, 0));
    }
    void add(Collective const& step) {
        algorithms::Shape made = shape(step.kind, step.group, step.bytes);
        made.element = step.element;
        made.shares = step.shares;
        made.root = step.root;
        made.in_place = step.kind == OperationKind::broadcast;
        if (auto const algorithm = algorithm_of(method_, made.kind)) {
            return play(algorithm, step.group, made);
        }
        send_directly(step, made);
    }
    /// A message for every part that goes to another rank.
    void send_directly(Collective const& step, algorithms::Shape const& made) {
        Shares const shares = shares_of(plan_, step);
        if (made.kind == OperationKind::gather) {
            return send(step.group, made.root, shares.of(made.place));
        }
        bool const scatters = made.kind == OperationKind::scatter;
        for (int place = 0; place < made.places && (!scatters || made.place == made.root); ++place) {
            send(step.group, place, shares.of(scatters ? place : made.place));
        }
    }

    [[nodiscard]] algorithms::Shape shape(OperationKind kind, GroupId group, Bytes bytes) const {
        std::vector<Rank> const& members = plan_.groups.at(group).members;
        algorithms::Shape made;
        made.kind = kind;
        made.place = static_cast<int>(std::find(members.begin(), members.end(), plan_.me) - members.begin());
        made.places = static_cast<int>(members.size());
        made.bytes = bytes;
        return made;
    }
    void play(algorithms::Algorithm algorithm, GroupId group, algorithms::Shape const& collective) {
        for (algorithms::MicroStep const& step : algorithm(collective, {}).steps) {
            if (step.action == algorithms::Action::send) {
                send(group, step.peer, step.bytes);
            }
        }
    }
    void send(GroupId group, Rank place, Bytes bytes) {
        Rank const peer = plan_.groups.at(group).members.at(static_cast<std::size_t>(place));
        if (peer != plan_.me && bytes > 0) {
            bytes_[peer] += bytes;
        }
    }

    Plan const& plan_;
    std::string_view method_;
    BytesByRank bytes_;
};

/// The worker's id of every rank.
std::map<std::uint64_t, Rank> ranks_of_workers(Bootstrap& bootstrap) {
    std::uint64_t const mine = intercepted::own_worker_id();
    std::map<std::uint64_t, Rank> ranks;
    for (Blob const& other : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        std::uint64_t id = 0;
        std::memcpy(&id, other.data(), sizeof id);
        ranks.emplace(id, static_cast<Rank>(ranks.size()));
    }
    return ranks;
}

/// By the other rank, without what this rank sends to itself.
BytesByRank given_to_ucx(std::map<std::uint64_t, Rank> const& ranks, Rank me) {
    BytesByRank given;
    for (auto const& bytes_by_worker : {intercepted::bytes_sent(), intercepted::bytes_got()}) {
        for (auto const& [worker, bytes] : bytes_by_worker) {
            if (ranks.at(worker) != me && bytes > 0) {
                given[ranks.at(worker)] += bytes;
            }
        }
    }
    return given;
}

/// Small plans are run with every method, and their payload is checked. Others take too long for that in a build
/// without optimization: they run once.
bool is_small(Plan const& plan) {
    constexpr Bytes most = Bytes{1} << 20;
    return std::all_of(plan.buffers.begin(), plan.buffers.end(),
                       [](Buffer const& buffer) { return buffer.bytes <= most; });
}

class UcxInterception : public testing::Test {
protected:
    /// False: the method does not take the plan.
    [[nodiscard]] bool runs_as_expected(Plan const& plan, std::string_view method) {
        auto bound = BoundPlan::unless_unsupported(*bootstrap_, *backend_, plan, method);
        if (!bound) {
            return false;
        }
        ranks_.merge(ranks_of_workers(*bootstrap_));  // put and get have a worker of their own
        if (is_small(plan)) {
            bound->prepare(1);
        }
        bootstrap_->barrier();
        intercepted::reset();
        bound->run();
        BytesByRank const given = given_to_ucx(ranks_, bootstrap_->rank());
        backend_->quiesce();
        if (is_small(plan)) {
            bound->verify(1);
        }
        EXPECT_EQ(given, ExpectedBytes(plan, method).by_rank()) << method;
        return true;
    }

    std::unique_ptr<Bootstrap> bootstrap_ = make_mpi_bootstrap();
    std::unique_ptr<Backend> backend_ = std::move(make_backend("ucx", {*bootstrap_})).value();
    std::map<std::uint64_t, Rank> ranks_ = ranks_of_workers(*bootstrap_);
};

TEST_F(UcxInterception, EveryByteBetweenTwoRanksGoesThroughUcx) {
    ASSERT_EQ(ranks_.size(), static_cast<std::size_t>(bootstrap_->size()));
    for (PatternType const* type : pattern_types()) {
        SCOPED_TRACE(type->name);
        for (Parameters const& parameters : small_traffic_of(*type, bootstrap_->size())) {
            auto const pattern = type->make(parameters, {bootstrap_->size(), bootstrap_->size()});
            Plan const plan = build_one(*pattern, bootstrap_->rank(), {});
            bool const everywhere = !any_rank(*bootstrap_, !is_small(plan));
            EXPECT_TRUE(runs_as_expected(plan, "default"));
            for (MethodInfo const& method :
                 methods_for(backend_->methods_on(MemoryKind::host), pattern->operations())) {
                if (everywhere) {
                    EXPECT_TRUE(runs_as_expected(plan, method.name) || method.uniform_only) << method.name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::ucx
