// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Events by time; those of one time in the order in which they were pushed. A radix heap (Ahuja, Mehlhorn, Orlin,
// Tarjan: Faster Algorithms for the Shortest Path Problem, 1990): an event lies in the bucket of the highest bit in
// which its time differs from the present, and moves towards bucket 0 as the present gets nearer, so that a push and a
// pop cost a few sequential accesses however many events there are.
#pragma once

#include "common/tools/predict/picoseconds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace dlmb::predict {

template <class What>
class EventQueue {
public:
    struct Event {
        Picoseconds time;
        What what;
    };

    /// Not before the present, which is the time of the last event that was popped.
    void push(Picoseconds time, What what) {
        std::size_t const bucket = bucket_of(time);
        buckets_[bucket].push_back({time, what});
        filled_ |= std::uint64_t{1} << bucket;
    }

    [[nodiscard]] bool empty() const { return filled_ == 0; }

    Event pop() {
        if ((filled_ & 1U) == 0) {
            advance();
        }
        Event const event = buckets_[0][popped_++];
        if (popped_ == buckets_[0].size()) {
            buckets_[0].clear();
            popped_ = 0;
            filled_ &= ~std::uint64_t{1};
        }
        return event;
    }

private:
    [[nodiscard]] std::size_t bucket_of(Picoseconds time) const {
        return 64U - static_cast<unsigned>(std::countl_zero(static_cast<std::uint64_t>(time ^ now_)));
    }

    /// The earliest time becomes the present. Order within a bucket is kept, and equal times are in one bucket.
    void advance() {
        auto const bucket = static_cast<std::size_t>(std::countr_zero(filled_));
        std::vector<Event>& events = buckets_[bucket];
        now_ = std::min_element(events.begin(), events.end(), [](Event const& left, Event const& right) {
                   return left.time < right.time;
               })->time;
        filled_ &= ~(std::uint64_t{1} << bucket);
        for (Event const& event : events) {
            push(event.time, event.what);
        }
        events.clear();
    }

    std::array<std::vector<Event>, 64> buckets_;  // times have 63 bits
    std::uint64_t filled_ = 0;                    // bit n: bucket n holds events
    std::size_t popped_ = 0;                      // of bucket 0
    Picoseconds now_ = 0;
};

}  // namespace dlmb::predict
