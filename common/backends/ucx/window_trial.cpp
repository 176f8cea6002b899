// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/window_trial.hpp"

#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <algorithm>
#include <array>

namespace dlmb::ucx {
namespace {

constexpr std::array methods{"shared_memory:window_copies=cached", "shared_memory:window_copies=streamed", "linear"};

WindowCopies faster_copies(WindowTimes const& times) {
    return times.cached < times.streamed ? WindowCopies::cached : WindowCopies::streamed;
}

bool messages_win(WindowTimes const& times, WindowCopies copies) {
    return times.messages < (copies == WindowCopies::cached ? times.cached : times.streamed);
}

std::vector<Rank> ranks_of_node(std::vector<bool> const& sharing) {
    std::vector<Rank> ranks;
    for (std::size_t rank = 0; rank < sharing.size(); ++rank) {
        if (sharing[rank]) {
            ranks.push_back(static_cast<Rank>(rank));
        }
    }
    return ranks;
}

/// Without a step where this rank is alone on its node.
Plan plan_of(Rank me, std::vector<Rank> const& ranks, Bytes block) {
    Plan plan;
    plan.me = me;
    plan.groups.push_back({ranks});
    auto const places = static_cast<int>(ranks.size());
    auto const place = static_cast<int>(std::find(ranks.begin(), ranks.end(), me) - ranks.begin());
    Exchange exchange;
    exchange.recv_buffer = 1;
    Bytes offset = 0;
    for (int distance = 1; distance < places; distance *= 2) {
        exchange.send.push_back({(place + distance) % places, offset, block});
        exchange.recv.push_back({(place - distance + places) % places, offset, block});
        offset += block;
    }
    plan.buffers = {{"sent", offset}, {"received", offset}};
    if (places > 1) {
        plan.steps.push_back({exchange, {}, "window_trial"});
    }
    return plan;
}

Nanoseconds time_burst(CompiledPlan& compiled) {
    constexpr int iterations = 2;
    Nanoseconds start = 0;
    for (int i = 0; i <= iterations; ++i) {  // the first one fetches what another way has left elsewhere
        compiled.launch();
        compiled.finish();
        start = i == 0 ? now_ns() : start;
    }
    return now_ns() - start;
}

}  // namespace

Bytes next_tried_block(WindowTimes const& middle) {
    return messages_win(middle, faster_copies(middle)) ? small_tried_block : large_tried_block;
}

WindowUse fastest_use(WindowTimes const& middle, WindowTimes const& next) {
    WindowUse use{faster_copies(middle), WindowUse::never};
    if (messages_win(next, use.copies)) {
        use.messages_from = next_tried_block(middle);
    } else if (messages_win(middle, use.copies)) {
        use.messages_from = middle_tried_block;
    }
    return use;
}

std::optional<WindowUse> WindowTrial::fastest(std::vector<bool> const& sharing) {
    if (is_stale()) {
        answer_ = compare(sharing);
        answered_at_ns_ = now_ns();
    }
    return answer_;
}

bool WindowTrial::is_stale() const {
    constexpr Nanoseconds valid_ns = 2'000'000'000;
    return any_rank(bootstrap_, answered_at_ns_ == 0 || now_ns() - answered_at_ns_ > valid_ns);
}

std::optional<WindowUse> WindowTrial::compare(std::vector<bool> const& sharing) {
    std::optional<WindowTimes> const middle = times_of(middle_tried_block, sharing);
    if (!middle) {
        return std::nullopt;
    }
    std::optional<WindowTimes> const next = times_of(next_tried_block(*middle), sharing);
    return next ? std::optional(fastest_use(*middle, *next)) : std::nullopt;
}

std::optional<WindowTimes> WindowTrial::times_of(Bytes block, std::vector<bool> const& sharing) {
    auto const [found, is_new] = compiled_.try_emplace(block);
    Compiled& compiled = found->second;
    if (is_new) {
        compiled = compile(block, sharing);
    }
    if (compiled.empty()) {
        return std::nullopt;
    }
    compiled.front()->activate();  // all are of one context
    constexpr std::size_t samples = 7;
    std::array<std::array<Nanoseconds, samples>, methods.size()> times{};
    for (std::size_t sample = 0; sample < samples; ++sample) {
        for (std::size_t way = 0; way < methods.size(); ++way) {
            times.at(way).at(sample) = time_burst(*compiled[way]);
        }
    }
    std::array<std::int64_t, methods.size()> medians{};
    for (std::size_t way = 0; way < methods.size(); ++way) {
        auto& mine = times.at(way);
        std::nth_element(mine.begin(), mine.begin() + samples / 2, mine.end());
        medians.at(way) = mine.at(samples / 2);
    }
    bootstrap_.all_reduce(medians, Fold::sum);
    return WindowTimes{medians[0], medians[1], medians[2]};
}

WindowTrial::Compiled WindowTrial::compile(Bytes block, std::vector<bool> const& sharing) {
    Plan const plan = plan_of(bootstrap_.rank(), ranks_of_node(sharing), block);
    // Those of the largest block that is tried: what is compiled refers to them.
    Bytes const bytes = plan.buffers[0].bytes / block * large_tried_block;
    sent_.resize(bytes);
    received_.resize(bytes);
    Buffers const buffers{.base = {sent_.data(), received_.data()}};
    Compiled compiled;
    for (char const* const method : methods) {
        auto made = backend_.compile(plan, buffers, parse_method(method));
        if (!made) {
            return {};
        }
        compiled.push_back(std::move(made).value());
    }
    return compiled;
}

}  // namespace dlmb::ucx
