// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pairs up the signals of all ranks: the n-th that one rank sends another one with the n-th that this waits for.
#include "common/formats/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace dlmb::validation {
namespace {

/// One end of a signal, and its blocks with their places in the receiver's buffer.
struct SignalEnd {
    Rank source = 0;
    Rank destination = 0;
    RankStep rank_step;
    OperationKind kind = OperationKind::put;
    std::span<Block const> blocks;
    std::span<Bytes const> targets;  // of a put; a wait_signal has the places in its blocks
    [[nodiscard]] auto pair() const { return std::tie(source, destination); }
    /// 0 where the receiver reads: it alone knows its places.
    [[nodiscard]] Bytes place(std::size_t block) const {
        return is_read(kind) ? 0 : targets.empty() ? blocks[block].offset : targets[block];
    }
};

struct SignalEnds {
    std::vector<SignalEnd> sent, waited_for;
};

SignalEnds collect(std::span<Plan const> plans) {
    SignalEnds ends;
    for (Plan const& plan : plans) {
        for (std::size_t id = 0; id < plan.steps.size(); ++id) {
            RankStep const rank_step{plan.me, static_cast<StepId>(id)};
            Operation const& operation = plan.steps[id].operation;
            if (auto const* put = std::get_if<Put>(&operation)) {
                for_each_signal(put->signals, put->send, [&](Signal const& signal, auto blocks, std::size_t first) {
                    std::span<Bytes const> const targets(put->targets);
                    ends.sent.push_back({plan.me, world_rank(plan, put->group, signal.peer), rank_step, put->kind,
                                         blocks, is_read(put->kind) ? targets : targets.subspan(first, blocks.size())});
                });
            } else if (auto const* wait = std::get_if<WaitSignal>(&operation)) {
                for_each_signal(wait->signals, wait->recv, [&](Signal const& signal, auto blocks, std::size_t) {
                    ends.waited_for.push_back(
                        {world_rank(plan, wait->group, signal.peer), plan.me, rank_step, wait->kind, blocks, {}});
                });
            }
        }
    }
    // Stable: the signals of a pair come from one plan and stay in its order.
    auto const by_pair = [](SignalEnd const& a, SignalEnd const& b) { return a.pair() < b.pair(); };
    std::stable_sort(ends.sent.begin(), ends.sent.end(), by_pair);
    std::stable_sort(ends.waited_for.begin(), ends.waited_for.end(), by_pair);
    return ends;
}

class SignalMatcher {
public:
    SignalMatcher(std::span<Plan const> plans, Problems& problems) : plans_(plans), problems_(problems) {}

    std::vector<SignalledSteps> match(SignalEnds const& ends) && {
        auto sent = ends.sent.begin();
        auto waited = ends.waited_for.begin();
        while (sent != ends.sent.end() || waited != ends.waited_for.end()) {
            if (waited == ends.waited_for.end() || (sent != ends.sent.end() && sent->pair() < waited->pair())) {
                fail(*sent, fmt::format("signals rank {}, which does not wait for it", sent->destination));
                ++sent;
            } else if (sent == ends.sent.end() || waited->pair() < sent->pair()) {
                fail(*waited, fmt::format("waits for a signal of rank {}, which sends none", waited->source));
                ++waited;
            } else {
                pair_up(*sent++, *waited++);
            }
        }
        return std::move(matches_);
    }

private:
    void fail(SignalEnd const& end, std::string const& text) {
        report(problems_, plans_[static_cast<std::size_t>(end.rank_step.rank)], end.rank_step.step, text);
    }

    void pair_up(SignalEnd const& sent, SignalEnd const& waited) {
        Plan const& sender = plans_[static_cast<std::size_t>(sent.rank_step.rank)];
        if (is_read(sent.kind) != is_read(waited.kind)) {
            fail(waited, fmt::format("is {}, and {} is {}", name_of(waited.kind), name_of(sender, sent.rank_step.step),
                                     name_of(sent.kind)));
        }
        if (sent.blocks.size() != waited.blocks.size()) {
            fail(waited, fmt::format("expects {} blocks before a signal, {} sends {}", waited.blocks.size(),
                                     name_of(sender, sent.rank_step.step), sent.blocks.size()));
        }
        for (std::size_t i = 0; i < std::min(sent.blocks.size(), waited.blocks.size()); ++i) {
            if (sent.blocks[i].bytes != waited.blocks[i].bytes || sent.place(i) != waited.place(i)) {
                fail(waited, fmt::format("expects {} B at offset {}, {} puts {} B at offset {}", waited.blocks[i].bytes,
                                         waited.place(i), name_of(sender, sent.rank_step.step), sent.blocks[i].bytes,
                                         sent.place(i)));
                break;
            }
        }
        auto const same = [](RankStep const& a, RankStep const& b) { return a.rank == b.rank && a.step == b.step; };
        bool const known = !matches_.empty() && same(matches_.back().put, sent.rank_step) &&
                           same(matches_.back().wait, waited.rank_step);
        if (!known) {
            matches_.push_back({sent.rank_step, waited.rank_step, is_read(sent.kind)});
        }
    }

    std::span<Plan const> plans_;
    Problems& problems_;
    std::vector<SignalledSteps> matches_;
};

}  // namespace

std::vector<SignalledSteps> match_signals(std::span<Plan const> all_ranks, Problems& problems) {
    return SignalMatcher(all_ranks, problems).match(collect(all_ranks));
}

}  // namespace dlmb::validation
