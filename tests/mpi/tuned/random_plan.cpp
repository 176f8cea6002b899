// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/tuned/random_plan.hpp"

#include "common/plan/builder.hpp"

#include <fmt/core.h>

#include <array>
#include <random>

namespace dlmb::tuned {
namespace {

/// On both sides of every bound of the alternating table.
constexpr std::array<Bytes, 8> sizes{8, 96, 104, 1000, 4096, 4104, 40000, 50000};

/// All ranks draw the same numbers: the plans of one seed belong together.
class Draws {
public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t limit) { return engine_() % limit; }
    Bytes size() { return sizes.at(below(sizes.size())); }

private:
    std::mt19937_64 engine_;
};

class RandomPlan {
public:
    RandomPlan(std::uint64_t seed, Rank me, int ranks) : draws_(seed), me_(me), builder_(me) {
        int const half = ranks / 2;
        for (Rank rank = 0; rank < ranks; ++rank) {
            all_.members.push_back(rank);
            if ((rank < half) == (me < half)) {
                mine_.members.push_back(rank);
            }
        }
        // Halves of different sizes would ask for different sizes, and so for different backends at one time.
        halves_ = ranks > 1 && ranks % 2 == 0;
    }

    Plan build() {
        std::size_t const operations = 2 + draws_.below(5);
        for (std::size_t i = 0; i < operations; ++i) {
            add(fmt::format("operation {}", i));
        }
        return std::move(builder_).finish();
    }

private:
    void add(std::string const& label) {
        bool const by_halves = halves_ && draws_.below(4) == 0;
        Group const& members = by_halves ? mine_ : all_;
        GroupId const group = builder_.group(members);
        std::size_t const count = members.members.size();
        std::vector<StepId> const after = some_of_the_earlier();
        Bytes const bytes = draws_.size();
        switch (draws_.below(5)) {
        case 0:
            steps_.push_back(builder_.all_reduce(group, bytes, Element::fp32, Reduction::sum, label, after));
            break;
        case 1:
            steps_.push_back(builder_.all_gather(group, bytes * count, Element::byte, label, after));
            break;
        case 2:
            steps_.push_back(
                builder_.broadcast(group, static_cast<Rank>(draws_.below(count)), bytes, Element::byte, label, after));
            break;
        case 3:
            exchange(group, members, bytes, label, after);
            break;
        default:
            ring(group, members, bytes, label, after);
        }
    }

    std::vector<StepId> some_of_the_earlier() {
        std::size_t const one_in = 1 + draws_.below(3);
        std::vector<StepId> after;
        for (StepId const step : steps_) {
            if (draws_.below(one_in) == 0) {
                after.push_back(step);
            }
        }
        return after;
    }

    /// Members i and j send each other (i + j) mod 3 halves of `bytes`: some blocks are empty.
    void exchange(GroupId group, Group const& members, Bytes bytes, std::string const& label,
                  std::vector<StepId> const& after) {
        std::vector<Bytes> both_ways;
        Rank const place = place_in(members);
        for (std::size_t peer = 0; peer < members.members.size(); ++peer) {
            both_ways.push_back((static_cast<Bytes>(place) + peer) % 3 * bytes / 2);
        }
        steps_.push_back(builder_.exchange(group, both_ways, both_ways, label, after));
    }

    void ring(GroupId group, Group const& members, Bytes bytes, std::string const& label,
              std::vector<StepId> const& after) {
        auto const count = static_cast<Rank>(members.members.size());
        Rank const place = place_in(members);
        auto const distance = static_cast<Rank>(draws_.below(members.members.size()));
        steps_.push_back(builder_.recv(group, (place + count - distance) % count, bytes, 0, -1, label, after));
        steps_.push_back(builder_.send(group, (place + distance) % count, bytes, 0, -1, label + ".send", after));
    }

    [[nodiscard]] Rank place_in(Group const& members) const {
        Rank place = 0;
        while (members.members[static_cast<std::size_t>(place)] != me_) {
            ++place;
        }
        return place;
    }

    Draws draws_;
    Rank me_;
    PlanBuilder builder_;
    Group all_;
    Group mine_;  // the half of the ranks that this one is in
    bool halves_ = false;
    std::vector<StepId> steps_;
};

}  // namespace

Plan random_plan(std::uint64_t seed, Rank me, int ranks) {
    return RandomPlan(seed, me, ranks).build();
}

}  // namespace dlmb::tuned
