// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/window_trial.hpp"

#include "common/backends/ucx/shared_windows.hpp"
#include "common/base/clock.hpp"
#include "common/bootstrap/first_reason.hpp"

#include <algorithm>
#include <array>

namespace dlmb::ucx {
namespace {

constexpr Bytes block = Bytes{64} << 10;
constexpr std::array both{WindowCopies::cached, WindowCopies::streamed};

std::vector<Rank> ranks_of_node(Transport const& transport) {
    std::vector<Rank> ranks;
    for (std::size_t rank = 0; rank < transport.sharing().size(); ++rank) {
        if (transport.sharing()[rank]) {
            ranks.push_back(static_cast<Rank>(rank));
        }
    }
    return ranks;
}

/// One exchange for each of `both`; none where this rank is alone.
Plan plan_of(Rank me, std::vector<Rank> const& ranks) {
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
    for (std::size_t i = 0; i < both.size() && places > 1; ++i) {
        plan.steps.push_back({exchange, {}, "window_trial"});
    }
    return plan;
}

std::vector<StepWay> ways_of(Plan const& plan, Buffers const& buffers) {
    std::vector<StepWay> ways(plan.steps.size());
    for (std::size_t i = 0; i < ways.size(); ++i) {
        ways[i].shared = shared_way(plan, plan.steps[i].operation, buffers, std::nullopt,
                                    {.always = true, .segment = block, .window_copies = both.at(i)});
    }
    return ways;
}

Nanoseconds time_burst(Transport const& transport, SharedLane& lane) {
    constexpr int iterations = 4;
    Nanoseconds start = 0;
    for (int i = 0; i <= iterations; ++i) {  // the first one fetches what the other way has left elsewhere
        lane.start();
        while (!lane.poll()) {
            transport.progress_or_idle();
        }
        start = i == 0 ? now_ns() : start;
    }
    return now_ns() - start;
}

}  // namespace

WindowCopies WindowTrial::faster(Transport& transport) {
    if (state_ == State::untried) {
        state_ = prepare(transport) ? State::ready : State::impossible;
    }
    if (state_ == State::ready && is_stale(transport.bootstrap())) {
        answer_ = compare(transport);
        answered_at_ns_ = now_ns();
    }
    return answer_;
}

bool WindowTrial::is_stale(Bootstrap& bootstrap) const {
    constexpr Nanoseconds valid_ns = 2'000'000'000;
    std::int64_t stale = answered_at_ns_ == 0 || now_ns() - answered_at_ns_ > valid_ns ? 1 : 0;
    bootstrap.all_reduce({&stale, 1}, Fold::max);
    return stale != 0;
}

WindowCopies WindowTrial::compare(Transport& transport) {
    constexpr std::size_t samples = 9;
    std::array<std::array<Nanoseconds, samples>, both.size()> times{};
    for (std::size_t sample = 0; sample < samples; ++sample) {
        for (std::size_t which = 0; which < lanes_.size(); ++which) {
            times.at(which).at(sample) = time_burst(transport, lanes_[which]);
        }
    }
    std::array<std::int64_t, both.size()> medians{};
    for (std::size_t which = 0; which < both.size(); ++which) {
        auto& mine = times.at(which);
        std::nth_element(mine.begin(), mine.begin() + samples / 2, mine.end());
        medians.at(which) = mine.at(samples / 2);
    }
    transport.bootstrap().all_reduce(medians, Fold::sum);
    return medians[0] < medians[1] ? WindowCopies::cached : WindowCopies::streamed;
}

bool WindowTrial::prepare(Transport& transport) {
    Bootstrap& bootstrap = transport.bootstrap();
    Plan const plan = plan_of(bootstrap.rank(), ranks_of_node(transport));
    sent_.resize(plan.buffers[0].bytes);
    received_.resize(plan.buffers[1].bytes);
    Buffers const buffers{.base = {sent_.data(), received_.data()}};
    std::vector<StepWay> const ways = ways_of(plan, buffers);
    std::vector<LoweredStep> const steps = lower(plan, buffers, ways, std::vector<std::byte*>(ways.size()));
    SharedWindows windows(transport, plan, ways, steps);
    transport.connect(shared_peers(plan, ways));
    if (!first_reason(bootstrap, windows.map()).empty()) {
        return false;
    }
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        lanes_.push_back(windows.lane_of(step));
    }
    mappings_ = std::move(windows).mappings();
    return true;
}

}  // namespace dlmb::ucx
