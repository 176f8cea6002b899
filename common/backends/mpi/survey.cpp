// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/survey.hpp"

#include "common/backends/mpi/alltoallv.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/packed.hpp"
#include "common/plan/precedence.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::mpi {
namespace {

struct Refusal {
    Plan const& plan;
    Method const& method;
    Limits const& limits;
    int channels;

    [[nodiscard]] std::size_t ranks(GroupId group) const { return plan.groups.at(group).members.size(); }
    [[nodiscard]] std::string channel(int channel) const {
        bool const fits = channel >= 0 && channel < channels;
        return fits ? "" : fmt::format("channel {} is not among the {} tags of this MPI library", channel, channels);
    }
    [[nodiscard]] bool takes_equal_blocks(std::vector<Block> const& blocks, GroupId group) const {
        auto const equal = packed(blocks, ranks(group));
        return equal && equal->block_bytes <= limits.call_bytes;
    }
    std::string operator()(Exchange const& step) const {
        bool const fits = method.id != MethodId::alltoall ||
                          (takes_equal_blocks(step.send, step.group) && takes_equal_blocks(step.recv, step.group));
        return fits ? "" : "MPI_Alltoall takes equal packed blocks of an int of bytes; alltoallv takes others";
    }
    std::string operator()(Send const& step) const { return channel(step.channel); }
    std::string operator()(Recv const& step) const { return channel(step.channel); }
    std::string operator()(AllReduce const& /*step*/) const { return ""; }
    std::string operator()(ReduceScatter const& step) const { return refusal(step, ranks(step.group), limits); }
    std::string operator()(AllGather const& step) const { return refusal(step, ranks(step.group), limits); }
    std::string operator()(Broadcast const& /*step*/) const { return ""; }
    std::string operator()(Compute const& /*step*/) const { return ""; }
};

}  // namespace

Survey survey(Plan const& plan, Method const& method, Limits const& limits, int channels) {
    Survey own{!is_chain(plan), false, false, ""};
    for (Step const& step : plan.steps) {
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            own.large = own.large || !fits_int(*exchange, limits);
        }
        OperationKind const kind = kind_of(step.operation);
        own.reduces = own.reduces || kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter;
        std::string const reason = std::visit(Refusal{plan, method, limits, channels}, step.operation);
        if (own.refusal.empty() && !reason.empty()) {
            own.refusal = fmt::format("mpi: {} \"{}\": {}", name_of(step.operation), step.label, reason);
        }
    }
    return own;
}

Survey agree(Survey const& own, Bootstrap& bootstrap) {
    std::int64_t const refusing = own.refusal.empty() ? 0 : bootstrap.size() - bootstrap.rank();
    std::array<std::int64_t, 4> votes{own.concurrent ? 1 : 0, own.reduces ? 1 : 0, own.large ? 1 : 0, refusing};
    bootstrap.all_reduce(votes, Fold::max);
    Survey all{votes[0] != 0, votes[1] != 0, votes[2] != 0, ""};
    if (votes[3] > 0) {
        auto const text = std::as_bytes(std::span(own.refusal.data(), own.refusal.size()));
        Blob blob(text.begin(), text.end());
        bootstrap.broadcast(blob, static_cast<Rank>(bootstrap.size() - votes[3]));
        for (std::byte const c : blob) {
            all.refusal += static_cast<char>(c);
        }
    }
    return all;
}

}  // namespace dlmb::mpi
