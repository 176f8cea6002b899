// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/tuned/random_plan.hpp"

#include "common/formats/plan/builder.hpp"

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
        // Parts of different sizes would ask for different sizes, and so for different backends at one time.
        groups_.resize(ranks > 1 && ranks % 2 == 0 ? 3 : 1);
        for (Rank rank = 0; rank < ranks; ++rank) {
            groups_[0].members.push_back(rank);
            if (groups_.size() > 1 && (rank < half) == (me < half)) {
                groups_[1].members.push_back(rank);
            }
            if (groups_.size() > 1 && rank % 2 == me % 2) {
                groups_[2].members.push_back(rank);
            }
        }
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
        std::size_t const drawn = draws_.below(6);
        Group const& members = groups_[drawn < groups_.size() ? drawn : 0];
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
    std::vector<Group> groups_;  // that this rank is in: all ranks, its half of them, and every other one
    std::vector<StepId> steps_;
};

}  // namespace

Plan random_plan(std::uint64_t seed, Rank me, int ranks) {
    return RandomPlan(seed, me, ranks).build();
}

}  // namespace dlmb::tuned
