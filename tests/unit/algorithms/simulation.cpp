// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/algorithms/simulation.hpp"

#include "common/backend_kit/host_reduce.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <random>

namespace dlmb::algorithms {
namespace {

struct Place {
    Shape shape;
    MicroPlan plan;
    std::array<std::vector<std::byte>, 3> memory;  // by Space
    std::vector<std::size_t> waits;                // by micro-step; a message also waits for the one before it
    std::vector<std::vector<std::uint32_t>> after_completion;
    std::vector<std::vector<std::uint32_t>> after_start;
    std::vector<int> rounds;  // by micro-step, when it is complete

    std::byte* at(Area area) { return memory.at(static_cast<std::size_t>(area.space)).data() + area.offset; }
};

/// Messages from one place to another that have been started on either side.
struct Channel {
    std::deque<std::pair<std::uint32_t, std::vector<std::byte>>> sends;  // and their data, if eager
    std::deque<std::uint32_t> receives;
};

class Simulation {
public:
    Simulation(Reduction reduction, Protocol protocol, unsigned seed)
        : reduction_(reduction), protocol_(protocol), random_(seed) {}

    void add(Place place) {
        std::size_t const steps = place.plan.steps.size();
        place.waits.resize(steps);
        place.after_completion.resize(steps);
        place.after_start.resize(steps);
        place.rounds.resize(steps);
        std::map<std::pair<Action, int>, std::uint32_t> latest;
        for (std::uint32_t step = 0; step < steps; ++step) {
            MicroStep const& each = place.plan.steps[step];
            place.waits[step] = each.after.size();
            for (std::uint32_t const earlier : each.after) {
                place.after_completion.at(earlier).push_back(step);
            }
            if (each.peer >= 0) {
                auto const [entry, is_first] = latest.try_emplace({each.action, each.peer}, step);
                if (!is_first) {
                    place.after_start[entry->second].push_back(step);
                    ++place.waits[step];
                    entry->second = step;
                }
            }
        }
        left_ += steps;
        places_.push_back(std::move(place));
    }

    Outcome run() {
        for (std::size_t place = 0; place < places_.size(); ++place) {
            for (std::uint32_t step = 0; step < places_[place].waits.size(); ++step) {
                if (places_[place].waits[step] == 0) {
                    ready_.emplace_back(place, step);
                }
            }
        }
        while (outcome_.problem.empty() && (deliver_one() || start_one())) {
        }
        if (outcome_.problem.empty() && left_ > 0) {
            outcome_.problem = std::to_string(left_) + " micro-steps never start or end";
        }
        for (Place& place : places_) {
            std::byte const* const first = place.at(place.shape.output(0));
            outcome_.outputs.emplace_back(first, first + output_bytes(place.shape));
            outcome_.sent.push_back(0);
            for (MicroStep const& each : place.plan.steps) {
                outcome_.sent.back() += each.action == Action::send ? each.bytes : 0;
            }
            for (int const rounds : place.rounds) {
                outcome_.rounds = std::max(outcome_.rounds, rounds);
            }
        }
        return std::move(outcome_);
    }

private:
    bool start_one() {
        if (ready_.empty()) {
            return false;
        }
        std::swap(ready_[random_() % ready_.size()], ready_.back());
        auto const [number, step] = ready_.back();
        ready_.pop_back();
        Place& place = places_[number];
        MicroStep const& each = place.plan.steps[step];
        if (each.action == Action::send) {
            bool const eager = protocol_ == Protocol::eager;
            std::byte const* const data = place.at(each.left);
            channels_[{number, each.peer}].sends.emplace_back(step, std::vector(data, data + (eager ? each.bytes : 0)));
            if (eager) {
                complete(number, step);
            }
        } else if (each.action == Action::receive) {
            channels_[{static_cast<std::size_t>(each.peer), static_cast<int>(number)}].receives.push_back(step);
        } else {
            if (each.action == Action::copy) {
                std::memcpy(place.at(each.to), place.at(each.left), each.bytes);
            } else {
                host_reduce(place.at(each.to), place.at(each.left), place.at(each.right), each.bytes,
                            place.shape.element, reduction_);
            }
            complete(number, step);
        }
        release(number, place.after_start[step]);
        return true;
    }

    /// Sometimes nothing is delivered although something could be.
    bool deliver_one() {
        std::vector<std::pair<std::size_t, int>> possible;
        for (auto const& [ends, channel] : channels_) {
            if (!channel.sends.empty() && !channel.receives.empty()) {
                possible.push_back(ends);
            }
        }
        if (possible.empty() || (!ready_.empty() && random_() % 2 == 0)) {
            return false;
        }
        auto const ends = possible[random_() % possible.size()];
        Channel& channel = channels_.at(ends);
        auto const [send, data] = std::move(channel.sends.front());
        std::uint32_t const receive = channel.receives.front();
        channel.sends.pop_front();
        channel.receives.pop_front();
        deliver(ends.first, send, data, static_cast<std::size_t>(ends.second), receive);
        return true;
    }

    void deliver(std::size_t from, std::uint32_t send, std::vector<std::byte> const& data, std::size_t to,
                 std::uint32_t receive) {
        MicroStep const& sent = places_[from].plan.steps[send];
        MicroStep const& received = places_[to].plan.steps[receive];
        if (sent.bytes != received.bytes) {
            outcome_.problem = "place " + std::to_string(from) + " sends " + std::to_string(sent.bytes) + " B, place " +
                               std::to_string(to) + " expects " + std::to_string(received.bytes) + " B";
            return;
        }
        bool const eager = protocol_ == Protocol::eager;
        std::memcpy(places_[to].at(received.to), eager ? data.data() : places_[from].at(sent.left), sent.bytes);
        int const rounds = 1 + std::max(places_[from].rounds[send], places_[to].rounds[receive]);
        places_[to].rounds[receive] = rounds;
        complete(to, receive);
        if (!eager) {
            complete(from, send);
        }
    }

    void complete(std::size_t number, std::uint32_t step) {
        --left_;
        Place& place = places_[number];
        for (std::uint32_t const later : place.after_completion[step]) {
            place.rounds[later] = std::max(place.rounds[later], place.rounds[step]);
        }
        release(number, place.after_completion[step]);
    }

    void release(std::size_t number, std::vector<std::uint32_t> const& steps) {
        for (std::uint32_t const step : steps) {
            if (--places_[number].waits[step] == 0) {
                ready_.emplace_back(number, step);
            }
        }
    }

    Reduction reduction_;
    Protocol protocol_;
    std::mt19937 random_;
    std::vector<Place> places_;
    std::map<std::pair<std::size_t, int>, Channel> channels_;  // by sender and receiver
    std::vector<std::pair<std::size_t, std::uint32_t>> ready_;
    std::size_t left_ = 0;
    Outcome outcome_;
};

}  // namespace

Bytes own_part(Shape const& shape) {
    return shape.shares.empty() ? shape.part() : shape.shares[static_cast<std::size_t>(shape.place)];
}

Bytes input_bytes(Shape const& shape) {
    if (shape.kind == OperationKind::scatter && shape.place != shape.root) {
        return 0;
    }
    bool const gathers = shape.kind == OperationKind::all_gather || shape.kind == OperationKind::gather;
    return gathers ? own_part(shape) : shape.bytes;
}

Bytes output_bytes(Shape const& shape) {
    bool const to_root = shape.kind == OperationKind::gather || shape.kind == OperationKind::reduce;
    if (to_root && shape.place != shape.root) {
        return 0;
    }
    return shape.keeps_part() ? own_part(shape) : shape.bytes;
}

Outcome simulate(Algorithm algorithm, Shape shape, Knobs const& knobs, Reduction reduction,
                 std::vector<std::vector<std::byte>> const& inputs, Protocol protocol, unsigned seed) {
    Simulation simulation(reduction, protocol, seed);
    bool const in_place = shape.in_place;
    bool const at_the_root = shape.kind == OperationKind::reduce || shape.kind == OperationKind::gather ||
                             shape.kind == OperationKind::scatter;
    for (shape.place = 0; shape.place < shape.places; ++shape.place) {
        shape.in_place = in_place && (!at_the_root || shape.place == shape.root);
        Place place;
        place.shape = shape;
        place.plan = algorithm(shape, knobs);
        std::vector<std::byte> const& input = inputs[static_cast<std::size_t>(shape.place)];
        constexpr std::byte never_written{0xE7};
        place.memory[0].assign(input_bytes(shape) + 1, never_written);  // one more: data() is never null
        place.memory[1].assign(shape.bytes + 1, never_written);
        place.memory[2].assign(place.plan.scratch_bytes + 1, never_written);
        std::copy(input.begin(), input.end(), place.at(shape.input(0)));
        simulation.add(std::move(place));
    }
    return simulation.run();
}

}  // namespace dlmb::algorithms
