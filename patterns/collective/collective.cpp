// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/collective/collective.hpp"

#include "common/plan/builder.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/collective/byte_matrix.hpp"
#include "patterns/collective/params.hpp"

#include <optional>

namespace dlmb::collective {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

constexpr int channel = 0;

std::string label_of(Params const& params) {
    return std::string(kind_names.at(static_cast<std::size_t>(params.kind)));
}

/// Both at once, as ncclSend and ncclRecv in one group; alone, a rank sends to itself.
void add_ring(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    std::string const label = label_of(params);
    builder.send(all, (me + 1) % ranks, params.message_bytes, channel, 0, label);
    builder.recv(all, (me + ranks - 1) % ranks, params.message_bytes, channel, 0, label);
}

void add_ping_pong(PlanBuilder& builder, GroupId all, Params const& params, int ranks, Rank me) {
    int const half = ranks / 2;
    Bytes const bytes = params.message_bytes;
    if (me < half) {
        StepId const ping = builder.send(all, me + half, bytes, channel, -1, "sendrecv.ping");
        builder.recv(all, me + half, bytes, channel, -1, "sendrecv.pong", {ping});
    } else {
        StepId const ping = builder.recv(all, me - half, bytes, channel, -1, "sendrecv.ping");
        builder.send(all, me - half, bytes, channel, -1, "sendrecv.pong", {ping});
    }
}

/// alltoall and alltoallv, with the bytes to and from every rank.
Plan exchange_plan(Params const& params, WorldShape const& world, Rank me, std::span<Bytes const> send,
                   std::span<Bytes const> recv) {
    PlanBuilder builder(me);
    GroupId const all = builder.group(consecutive_group(world, me, world.ranks));
    builder.exchange(all, send, recv, label_of(params));
    return std::move(builder).finish();
}

/// Every operation but alltoallv.
Plan plan_of(Params const& params, WorldShape const& world, Rank me) {
    if (params.kind == Kind::alltoall) {
        std::vector<Bytes> const equal(static_cast<std::size_t>(world.ranks), params.message_bytes);
        return exchange_plan(params, world, me, equal, equal);
    }
    PlanBuilder builder(me);
    builder.in_place(params.in_place);
    GroupId const all = builder.group(consecutive_group(world, me, world.ranks));
    std::string const label = label_of(params);
    switch (params.kind) {
    case Kind::allreduce:
        builder.all_reduce(all, params.message_bytes, params.element, params.reduction, label);
        break;
    case Kind::reduce_scatter:
        builder.reduce_scatter(all, params.message_bytes, params.element, params.reduction, label);
        break;
    case Kind::allgather:
        builder.all_gather(all, params.message_bytes * static_cast<Bytes>(world.ranks), params.element, label);
        break;
    case Kind::broadcast:
        builder.broadcast(all, params.root, params.message_bytes, params.element, label);
        break;
    case Kind::sendrecv:
        (params.route == Route::ring ? add_ring : add_ping_pong)(builder, all, params, world.ranks, me);
        break;
    case Kind::alltoall:
    case Kind::alltoallv:
        break;
    }
    return std::move(builder).finish();
}

std::vector<OperationUse> operations_of(Params const& params) {
    switch (params.kind) {
    case Kind::allreduce:
        return {{OperationKind::all_reduce}};
    case Kind::reduce_scatter:
        return {{OperationKind::reduce_scatter}};
    case Kind::allgather:
        return {{OperationKind::all_gather}};
    case Kind::broadcast:
        return {{OperationKind::broadcast}};
    case Kind::alltoall:
        // Smaller blocks are padded to the alignment of a block, so they are not packed.
        return {{OperationKind::exchange, params.message_bytes > 0 && params.message_bytes % guard_bytes == 0}};
    case Kind::sendrecv:
        return {{OperationKind::send}, {OperationKind::recv}};
    case Kind::alltoallv:
        break;
    }
    return {{OperationKind::exchange}};
}

class Collective final : public Pattern {
public:
    Collective(Params const& params, WorldShape const& world) : params_(params), world_(world) {
        if (params.kind == Kind::alltoallv) {
            matrix_.emplace(params, world);
        }
    }

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        return {{}, matrix_ ? matrix_->row(source, draw.seed) : std::vector<std::uint64_t>{}};
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        if (matrix_) {
            return exchange_plan(params_, world_, me, own.statistics, matrix_->column(me, draw.seed));
        }
        return plan_of(params_, world_, me);
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        if (!matrix_) {
            return {};
        }
        return {{"gini_rank", gini(summed)}, {"max_mean_rank", max_over_mean(summed)}};
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override { return operations_of(params_); }

private:
    Params params_;
    WorldShape world_;
    std::optional<ByteMatrix> matrix_;  // alltoallv
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<Collective>(read_params(parameters, world), world);
}

}  // namespace

PatternType const& type() {
    static PatternType const collective{
        "collective",      "one plain operation over a range of message sizes, as OSU and nccl-tests measure it",
        parameter_infos(), kind_names,
        presets_json,      make};
    return collective;
}

}  // namespace dlmb::collective
