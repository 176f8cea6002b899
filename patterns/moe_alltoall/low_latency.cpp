// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/low_latency.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <numeric>
#include <utility>

namespace dlmb::moe_alltoall {
namespace {

/// One of equal slots behind a guard band; each run of slots has as many as a rank has tokens.
class Slots {
public:
    Slots(std::uint64_t tokens, Bytes message_bytes)
        : tokens_(tokens), message_bytes_(message_bytes), stride_((message_bytes + 15) / 16 * 16) {}

    [[nodiscard]] PlacedBytes of(std::uint64_t run, std::uint64_t row) const {
        return {guard_bytes + (run * tokens_ + row) * stride_, message_bytes_};
    }
    [[nodiscard]] Bytes bytes(std::uint64_t runs) const { return 2 * guard_bytes + runs * tokens_ * stride_; }

private:
    std::uint64_t tokens_;
    Bytes message_bytes_;
    Bytes stride_;  // of 16 B vectors, as the kernels copy
};

/// Signals and the blocks before them.
struct Signalled {
    std::vector<Signal> signals;
    std::vector<PlacedBytes> blocks;

    void add(std::size_t peer, std::uint64_t rows, Slots const& slots, std::uint64_t run) {
        signals.push_back({static_cast<Rank>(peer), static_cast<std::uint32_t>(rows)});
        for (std::uint64_t row = 0; row < rows; ++row) {
            blocks.push_back(slots.of(run, row));
        }
    }
};

/// By expert of this rank and then by source: `run(expert, source)` is the run of slots.
Signalled by_own_expert(RowsOfExperts const& received, Slots const& slots, auto const& run) {
    Signalled signalled;
    std::size_t const experts = received.empty() ? 0 : received.front().size();
    for (std::size_t expert = 0; expert < experts; ++expert) {
        for (std::size_t source = 0; source < received.size(); ++source) {
            signalled.add(source, received[source].at(expert), slots, run(expert, source));
        }
    }
    return signalled;
}

/// By rank and then by its experts.
Signalled by_rank(RowsOfExperts const& sent, Slots const& slots, auto const& run) {
    Signalled signalled;
    std::uint64_t number = 0;  // of the expert in the group, replicas counted
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        for (std::size_t expert = 0; expert < sent[rank].size(); ++expert, ++number) {
            signalled.add(rank, sent[rank][expert], slots, run(expert, number));
        }
    }
    return signalled;
}

std::uint64_t experts_of(RowsOfExperts const& rows, std::size_t ranks) {
    return std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(ranks), std::uint64_t{0},
                           [](std::uint64_t sum, auto const& each) { return sum + each.size(); });
}

PutAndWait add_both(PlanBuilder& builder, GroupId group, Signalled put, Signalled wait, Bytes buffer_bytes,
                    std::string const& phase, std::string const& suffix, std::vector<StepId> const& after) {
    StepId const puts = builder.put(group, std::move(put.signals), put.blocks, phase + ".put" + suffix, after);
    return {puts, builder.wait_signal(group, std::move(wait.signals), wait.blocks, buffer_bytes,
                                      phase + ".wait" + suffix, after)};
}

std::vector<std::uint64_t> read_rows(SetupCounts const& setup, std::uint32_t layer) {
    SetupReader reader(setup);
    for (std::uint32_t before = 0; before < layer; ++before) {
        (void)reader.take_expert_rows();
    }
    return reader.take_expert_rows();
}

}  // namespace

Bytes low_latency_message_bytes(Element element, std::uint64_t hidden) {
    constexpr Bytes header_bytes = 16;  // an int4: the token's index and three words in reserve
    return header_bytes + dispatch_row_bytes(element, hidden);
}

void append_expert_rows(std::vector<std::uint64_t> const& counts, SetupCounts& setup) {
    setup.counts.push_back(counts.size());
    setup.counts.insert(setup.counts.end(), counts.begin(), counts.end());
}

std::vector<std::uint64_t> SetupReader::take(std::uint64_t count) {
    if (count > left_.size()) {
        throw Error(fmt::format("moe_alltoall: rank {} sent rank {} too few counts at set-up", setup_.from, setup_.to));
    }
    auto const taken = left_.first(count);
    left_ = left_.subspan(count);
    return {taken.begin(), taken.end()};
}

LowLatencyRows low_latency_rows(std::span<SetupCounts const> own, std::span<SetupCounts const> received,
                                std::uint32_t layer) {
    LowLatencyRows rows;
    for (SetupCounts const& each : own) {
        rows.sent.push_back(read_rows(each, layer));
    }
    for (SetupCounts const& each : received) {
        rows.received.push_back(read_rows(each, layer));
    }
    return rows;
}

PutAndWait add_dispatch(PlanBuilder& builder, Params const& params, GroupId group, std::size_t me,
                        LowLatencyRows const& rows, std::string const& suffix, std::vector<StepId> const& after) {
    Slots const slots(params.tokens, low_latency_message_bytes(params.element, params.hidden));
    auto const run = [&](std::uint64_t expert, std::uint64_t source) { return expert * params.ep + source; };
    Signalled put = by_rank(rows.sent, slots, [&](auto expert, auto /*number*/) { return run(expert, me); });
    Signalled wait = by_own_expert(rows.received, slots, run);
    return add_both(builder, group, std::move(put), std::move(wait), slots.bytes(rows.sent[me].size() * params.ep),
                    "dispatch", suffix, after);
}

PutAndWait add_combine(PlanBuilder& builder, Params const& params, GroupId group, std::size_t me,
                       LowLatencyRows const& rows, std::string const& suffix, std::vector<StepId> const& after) {
    Slots const slots(params.tokens, combine_row_bytes(params.element, params.hidden));
    std::uint64_t const first = experts_of(rows.sent, me);  // of this rank among those of the group
    Signalled put = by_own_expert(rows.received, slots, [&](auto expert, auto /*source*/) { return first + expert; });
    Signalled wait = by_rank(rows.sent, slots, [](auto /*expert*/, auto number) { return number; });
    return add_both(builder, group, std::move(put), std::move(wait), slots.bytes(experts_of(rows.sent, params.ep)),
                    "combine", suffix, after);
}

}  // namespace dlmb::moe_alltoall
