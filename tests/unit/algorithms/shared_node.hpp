// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// All places of one collective in shared memory, played in one thread: their steps are taken in random turns.
#pragma once

#include "common/backend_kit/algorithms/shared_algorithms.hpp"
#include "common/backend_kit/host_reduce.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

namespace dlmb::algorithms {

using Memory = std::vector<std::byte>;

/// One place of a simulated node.
struct Place {
    SharedPlan plan;
    Memory input;
    Memory output;
    Memory windows;
    std::int64_t counter = 0;
    std::int64_t iteration = 0;
    std::size_t next = 0;
};

class Node {
public:
    using Hook = std::function<void(int place, Place& state)>;

    /// `begin` and `end`: around every iteration of a place.
    Node(Element element, Hook begin, Hook end) : element_(element), begin_(std::move(begin)), end_(std::move(end)) {}

    void add(SharedPlan plan, Bytes input, Bytes output) {
        Place place;
        place.windows.resize(plan.window_bytes * static_cast<Bytes>(plan.windows) + 1);
        place.plan = std::move(plan);
        place.input.resize(input + 1);
        place.output.resize(output + 1);
        places_.push_back(std::move(place));
    }

    void run(std::int64_t iterations, unsigned seed) {
        for (std::size_t a = 0; a < places_.size(); ++a) {
            for (std::size_t b = 0; b < places_.size(); ++b) {
                ASSERT_EQ(places_[a].plan.offers[b].bytes, places_[b].plan.expected[a]) << a << " to " << b;
            }
            begin_(static_cast<int>(a), places_[a]);
        }
        std::mt19937 random(seed);
        std::size_t idle = 0;
        while (idle < 1000 * places_.size()) {
            std::size_t const number = random() % places_.size();
            std::size_t const burst = 1 + random() % 20;
            for (std::size_t i = 0; i < burst && places_[number].iteration < iterations; ++i) {
                idle = advance(number, iterations) ? 0 : idle + 1;
            }
            idle += places_[number].iteration == iterations ? 1U : 0U;
        }
        for (Place const& place : places_) {
            ASSERT_EQ(place.iteration, iterations) << "stands at step " << place.next;
        }
    }

private:
    bool advance(std::size_t number, std::int64_t iterations) {
        Place& place = places_[number];
        if (place.next == place.plan.steps.size()) {
            end_(static_cast<int>(number), place);
            place.next = 0;
            if (++place.iteration < iterations) {
                begin_(static_cast<int>(number), place);
            }
            return true;
        }
        SharedStep const& step = place.plan.steps[place.next];
        Place const& other = places_[static_cast<std::size_t>(step.place)];
        if (step.action == SharedAction::await &&
            other.counter < (place.iteration - step.back) * other.plan.stages + step.stage) {
            return false;
        }
        if (step.action == SharedAction::publish) {
            place.counter = place.iteration * place.plan.stages + step.stage;
        } else if (step.action == SharedAction::copy) {
            std::memcpy(at(number, step.to), at(number, step.left), step.bytes);
        } else if (step.action == SharedAction::reduce) {
            host_reduce(at(number, step.to), at(number, step.left), at(number, step.right), step.bytes, element_,
                        Reduction::sum);
        }
        ++place.next;
        return true;
    }

    std::byte* at(std::size_t number, SharedArea area) {
        Place& place = places_[number];
        if (area.space != SharedSpace::window) {
            return (area.space == SharedSpace::input ? place.input : place.output).data() + area.offset;
        }
        Place& owner = places_[static_cast<std::size_t>(area.place)];
        Bytes const told = &owner == &place ? 0 : owner.plan.offers[number].offset;
        Bytes const window = static_cast<Bytes>(place.iteration % owner.plan.windows) * owner.plan.window_bytes;
        return owner.windows.data() + told + window + area.offset;
    }

    Element element_;
    Hook begin_;
    Hook end_;
    std::vector<Place> places_;
};

}  // namespace dlmb::algorithms
