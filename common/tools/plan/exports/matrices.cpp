// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Formats that hold bytes per pair of ranks and no time: connection matrices of htsim
// (sim/datacenter/connection_matrix.cpp) and matrices of alltoallv_perf of nccl-tests.
#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/messages.hpp"
#include "common/tools/plan/exports/exports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace dlmb::trace {
namespace {

/// Gives `visit` each rank's row: the bytes that its messages have for each rank, what it keeps of exchanges included.
template <class Visit>
void each_row(PlanSource const& plans, Visit visit) {
    Messages const messages(plans);
    plans.each([&](Plan const& plan) {
        std::vector<Bytes> row(plans.ranks(), 0);
        auto const add = [&](Rank peer, Bytes bytes) {
            Bytes& cell = row.at(static_cast<std::size_t>(peer));
            if (bytes > (std::numeric_limits<Bytes>::max() >> 1U) - cell) {
                throw UsageError(
                    fmt::format("rank {} sends rank {} more than 2^63 - 1 bytes: take one phase", plan.me, peer));
            }
            cell += bytes;
        };
        messages.each(plan, [&](StepId id, std::span<Message const> of_step) {
            for (Message const& message : of_step) {
                add(message.peer, message.sends ? message.bytes : 0);
            }
            if (auto const* exchange = std::get_if<Exchange>(&plan.steps[id].operation)) {
                for (Block const& block : exchange->send) {
                    Rank const peer = world_rank(plan, exchange->group, block.peer);
                    add(peer, peer == plan.me ? block.bytes : 0);
                }
            }
        });
        visit(plan.me, row);
    });
}

LossCounter losses_of(PlanSource const& plans) {
    LossCounter losses;
    plans.each([&](Plan const& plan) {
        std::size_t communications = 0;
        for (Step const& step : plan.steps) {
            losses.add_common(step);
            OperationKind const kind = kind_of(step.operation);
            losses.add("computation", kind == OperationKind::compute);
            losses.add("kind, group and type of a collective: its messages are counted",
                       collective_group(step.operation) && kind != OperationKind::exchange);
            losses.add("order: what is sent one after the other is one sum",
                       kind != OperationKind::compute && communications++ > 0);
        }
    });
    return losses;
}

}  // namespace

Losses write_htsim(PlanSource const& plans, FileSink const& sink) {
    LossCounter losses = losses_of(plans);
    constexpr Bytes most_flow = std::numeric_limits<std::int32_t>::max();  // htsim reads an int
    std::uint64_t flows = 0;
    std::uint64_t cut = 0;
    auto const each_flow = [&](auto visit) {
        each_row(plans, [&](Rank from, std::vector<Bytes> const& row) {
            for (std::size_t to = 0; to < row.size(); ++to) {
                for (Bytes left = static_cast<Rank>(to) == from ? 0 : row[to]; left > 0;) {
                    Bytes const bytes = std::min(left, most_flow);
                    visit(from, to, bytes);
                    left -= bytes;
                }
            }
        });
    };
    each_flow([&](Rank /*from*/, std::size_t /*to*/, Bytes bytes) {
        ++flows;
        cut += bytes == most_flow ? 1 : 0;
    });
    if (flows == 0 || flows > most_flow) {
        throw UsageError(fmt::format("htsim: the plans have {} between ranks",
                                     flows == 0 ? "no bytes" : fmt::format("{} flows, more than 2^31 - 1,", flows)));
    }
    sink("", fmt::format("Nodes {}\nConnections {}\n", plans.ranks(), flows));
    std::uint64_t id = 0;
    each_flow([&](Rank from, std::size_t to, Bytes bytes) {
        sink("", fmt::format("{}->{} id {} start 0 size {}\n", from, to, ++id, bytes));
    });
    plans.each([&](Plan const& plan) {
        for (Step const& step : plan.steps) {
            losses.add("bytes that a rank gives itself", keeps_bytes(plan, step.operation));
        }
    });
    Losses found = losses.take();
    if (cut > 0) {
        found["flows of more than 2^31 - 1 bytes: each is several"] = cut;
    }
    return found;
}

Losses write_nccl_matrix(PlanSource const& plans, FileSink const& sink) {
    LossCounter losses = losses_of(plans);
    constexpr Bytes granule = 16;
    bool any = false;
    std::uint64_t rounded = 0;
    each_row(plans, [&](Rank /*from*/, std::vector<Bytes> const& row) {
        sink("", fmt::format("{}\n", fmt::join(row, " ")));
        any |= std::any_of(row.begin(), row.end(), [](Bytes bytes) { return bytes > 0; });
        rounded += static_cast<std::uint64_t>(
            std::count_if(row.begin(), row.end(), [](Bytes bytes) { return bytes % granule != 0; }));
    });
    if (!any) {
        throw UsageError("nccl-matrix: the plans send nothing");
    }
    Losses found = losses.take();
    if (rounded > 0) {
        found["sizes that are no multiple of 16 bytes: nccl-tests rounds them down"] = rounded;
    }
    return found;
}

}  // namespace dlmb::trace
