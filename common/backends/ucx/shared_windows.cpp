// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_windows.hpp"

#include "common/backends/ucx/shared_letters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace dlmb::ucx {
namespace {

constexpr Bytes counter_bytes = 64;  // a cache line of its own

bool meets(algorithms::SharedPlan const& plan, std::size_t place) {
    return plan.offers[place].bytes > 0 || plan.expected[place] > 0;
}

/// Calls use(place, world rank) for those that a step exchanges anything with.
template <class Use>
void for_each_peer(Plan const& plan, SharedWay const& way, Use const& use) {
    std::vector<Rank> const& members = plan.groups.at(way.group).members;
    for (std::size_t place = 0; place < members.size(); ++place) {
        if (meets(way.plan, place)) {
            use(place, members[place]);
        }
    }
}

bool is_large_window_copy(algorithms::SharedStep const& step) {
    return step.past_caches && step.to.space == algorithms::SharedSpace::window;
}

}  // namespace

bool goes_past_caches(algorithms::SharedStep const& step, WindowCopies copies) {
    return step.past_caches && (copies == WindowCopies::streamed || !is_large_window_copy(step));
}

bool has_large_window_copies(SharedWay const& way) {
    return std::any_of(way.plan.steps.begin(), way.plan.steps.end(), is_large_window_copy);
}

SharedWindows::SharedWindows(Transport const& transport, Plan const& plan, std::vector<StepWay> const& ways,
                             std::vector<LoweredStep> const& steps)
    : transport_(transport), plan_(plan), ways_(ways), steps_(steps), places_(ways.size()) {
    lay_out();
    letters_ = transport.bootstrap().exchange(write_letters());
    match();
}

void SharedWindows::lay_out() {
    std::vector<Bytes> begins(ways_.size());
    Bytes bytes = 0;
    auto const stride_of = [](SharedWay const& way) { return way.plan.windows == 1 ? 0 : way.plan.window_bytes; };
    for (StepId step = 0; step < ways_.size(); ++step) {
        if (auto const& way = ways_[step].shared) {
            begins[step] = bytes;
            bytes += counter_bytes + way->plan.window_bytes + stride_of(*way);
        }
    }
    if (bytes == 0) {
        return;
    }
    mappings_.own = std::make_unique<SharedMemory>(transport_, bytes);
    for (StepId step = 0; step < ways_.size(); ++step) {
        if (auto const& way = ways_[step].shared) {
            places_[step].resize(plan_.groups.at(way->group).members.size());
            std::byte* const counter = mappings_.own->data() + begins[step];
            places_[step].at(static_cast<std::size_t>(way->place)) = {counter, counter + counter_bytes, stride_of(*way),
                                                                      way->plan.stages};
        }
    }
}

std::vector<Letter> SharedWindows::write_letters() const {
    std::map<Rank, Blob> blobs;
    for (StepId step = 0; step < ways_.size(); ++step) {
        auto const& way = ways_[step].shared;
        if (!way) {
            continue;
        }
        Place const& mine = places_[step][static_cast<std::size_t>(way->place)];
        for_each_peer(plan_, *way, [&](std::size_t place, Rank peer) {
            Blob& blob = blobs[peer];
            if (blob.empty()) {
                blob = begin_letter(mappings_.own->data(), mappings_.own->key());
            }
            algorithms::SharedOffer const& offer = way->plan.offers[place];
            auto const counter = static_cast<Bytes>(mine.counter - mappings_.own->data());
            append(blob, {steps_[step].kind, steps_[step].key, counter, counter + counter_bytes + offer.offset,
                          mine.stride, mine.stages, offer.bytes});
        });
    }
    std::vector<Letter> letters;
    for (auto& [peer, blob] : blobs) {
        letters.push_back({peer, std::move(blob)});
    }
    return letters;
}

void SharedWindows::match() {
    SharedInbox inbox = sort(letters_);
    auto const complain = [&](StepId step, std::string const& text) {
        if (!problem_) {
            problem_ =
                fmt::format("ucx: rank {} step {} \"{}\" expects {}", plan_.me, step, plan_.steps[step].label, text);
        }
    };
    for (StepId step = 0; step < ways_.size(); ++step) {
        auto const& way = ways_[step].shared;
        if (!way) {
            continue;
        }
        for_each_peer(plan_, *way, [&](std::size_t place, Rank peer) {
            Bytes const expected = way->plan.expected[place];
            SharedEntries& queue = inbox[{peer, steps_[step].kind, steps_[step].key}];
            if (queue.taken == queue.entries.size()) {
                return complain(step, fmt::format("{} B from rank {}, which sends nothing there", expected, peer));
            }
            SharedEntry const& entry = queue.entries[queue.taken++];
            if (entry.bytes != expected) {
                return complain(step, fmt::format("{} B from rank {}, which sends {} B", expected, peer, entry.bytes));
            }
            unmapped_.push_back({step, place, peer, entry.counter, entry.window, entry.stride, entry.stages});
        });
    }
    for (auto const& [who, queue] : inbox) {
        if (queue.taken < queue.entries.size() && !problem_) {
            problem_ = fmt::format("ucx: rank {} sends {} B to rank {}, which does not expect it", std::get<0>(who),
                                   queue.entries[queue.taken].bytes, plan_.me);
        }
    }
}

std::string SharedWindows::map() {
    std::map<Rank, std::byte*> bases;
    for (Letter const& letter : letters_) {
        PeerMemory memory(transport_, letter.peer, key_in(letter.blob), address_in(letter.blob));
        if (memory.data() == nullptr) {
            return fmt::format("rank {} cannot map the memory of rank {}", plan_.me, letter.peer);
        }
        bases[letter.peer] = memory.data();
        mappings_.peers.push_back(std::move(memory));
    }
    for (Unmapped const& each : unmapped_) {
        std::byte* const base = bases.at(each.peer);
        places_[each.step][each.place] = {base + each.counter, base + each.window, each.stride, each.stages};
    }
    return {};
}

std::byte* SharedWindows::address(StepId step, algorithms::SharedArea area, std::size_t window) const {
    SharedWay const& way = *ways_[step].shared;
    switch (area.space) {
    case algorithms::SharedSpace::input:
        return way.input + area.offset;
    case algorithms::SharedSpace::output:
        return way.output + area.offset;
    case algorithms::SharedSpace::window:
        break;
    }
    Place const& place = places_[step][static_cast<std::size_t>(area.place)];
    return place.window + window * place.stride + area.offset;
}

std::string SharedWindows::window_copies() const {
    constexpr std::array both{WindowCopies::cached, WindowCopies::streamed};
    std::array<std::int64_t, both.size()> used{};
    for (StepWay const& way : ways_) {
        if (way.shared && has_large_window_copies(*way.shared)) {
            used.at(static_cast<std::size_t>(way.shared->use.copies)) = 1;
        }
    }
    transport_.bootstrap().all_reduce(used, Fold::max);
    std::string names;
    for (WindowCopies const each : both) {
        if (used.at(static_cast<std::size_t>(each)) != 0) {
            names += fmt::format("{}{}", names.empty() ? "" : " ", name_of(each));
        }
    }
    return names;
}

SharedLane SharedWindows::lane_of(StepId step) const {
    SharedWay const& way = *ways_[step].shared;
    std::array<std::vector<SharedInstruction>, 2> programs;
    for (std::size_t window = 0; window < programs.size(); ++window) {
        for (algorithms::SharedStep const& each : way.plan.steps) {
            SharedInstruction& made = programs.at(window).emplace_back();
            made.action = each.action;
            if (each.bytes == 0) {
                Place const& place = places_[step][static_cast<std::size_t>(each.place)];
                made.counter = reinterpret_cast<std::uint64_t*>(place.counter);
                made.stages = static_cast<std::int64_t>(place.stages);
                made.value = static_cast<std::int64_t>(each.stage) - static_cast<std::int64_t>(each.back) * made.stages;
                continue;
            }
            bool const reduces = each.action == algorithms::SharedAction::reduce;
            made.work = {address(step, each.to, window),
                         address(step, each.left, window),
                         reduces ? address(step, each.right, window) : nullptr,
                         each.bytes,
                         way.element,
                         way.reduction,
                         goes_past_caches(each, way.use.copies)};
        }
    }
    return SharedLane(std::move(programs));
}

std::vector<Rank> shared_peers(Plan const& plan, std::vector<StepWay> const& ways) {
    std::vector<Rank> peers;
    for (StepWay const& way : ways) {
        if (way.shared) {
            for_each_peer(plan, *way.shared, [&](std::size_t /*place*/, Rank peer) { peers.push_back(peer); });
        }
    }
    return peers;
}

}  // namespace dlmb::ucx
