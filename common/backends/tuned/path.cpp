// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/tuned/path.hpp"

#include <cstdint>
#include <limits>

namespace dlmb::tuned {
namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();

class PathSearch {
public:
    PathSearch(std::span<std::vector<PricedChoice> const> ways, LeavingCosts const& leaving_ns)
        : ways_(ways), leaving_ns_(leaving_ns) {}

    /// The cheapest path whose first step goes `first`; its cost is in cost_ns().
    [[nodiscard]] std::vector<std::size_t> beginning_with(std::size_t first) {
        std::vector<double> reached(ways_.front().size(), unreached);
        reached[first] = ways_.front()[first].time_ns;
        std::vector<std::vector<std::uint32_t>> before(ways_.size());
        for (std::size_t step = 1; step < ways_.size(); ++step) {
            std::vector<double> next;
            for (PricedChoice const& way : ways_[step]) {
                auto const [from, cost] = cheapest_before(step, way, reached);
                before[step].push_back(static_cast<std::uint32_t>(from));
                next.push_back(cost + way.time_ns);
            }
            reached = std::move(next);
        }
        auto const [last, cost] = cheapest_before(ways_.size(), ways_.front()[first], reached);
        cost_ns_ = cost;
        std::vector<std::size_t> path(ways_.size(), last);
        for (std::size_t step = ways_.size(); step-- > 1;) {
            path[step - 1] = before[step][path[step]];
        }
        return path;
    }
    [[nodiscard]] double cost_ns() const { return cost_ns_; }

private:
    struct Reached {
        std::size_t from = 0;
        double cost_ns = unreached;
    };
    [[nodiscard]] Reached cheapest_before(std::size_t step, PricedChoice const& way,
                                          std::vector<double> const& reached) const {
        Reached best;
        for (std::size_t from = 0; from < reached.size(); ++from) {
            double const cost = reached[from] + change_ns(ways_[step - 1][from].choice, way.choice);
            if (cost < best.cost_ns || (from == 0 && best.cost_ns == unreached)) {
                best = {from, cost};
            }
        }
        return best;
    }
    [[nodiscard]] double change_ns(StepChoice const& from, StepChoice const& to) const {
        if (from.backend == to.backend) {
            return 0;
        }
        auto const found = leaving_ns_.find(from.backend);
        return found == leaving_ns_.end() ? 0 : found->second;
    }

    std::span<std::vector<PricedChoice> const> ways_;
    LeavingCosts const& leaving_ns_;
    double cost_ns_ = unreached;
};

}  // namespace

std::vector<StepChoice> shortest_path(std::span<std::vector<PricedChoice> const> ways, LeavingCosts const& leaving_ns) {
    if (ways.empty()) {
        return {};
    }
    PathSearch search(ways, leaving_ns);
    std::vector<std::size_t> best = search.beginning_with(0);
    double least_ns = search.cost_ns();
    for (std::size_t first = 1; first < ways.front().size(); ++first) {
        std::vector<std::size_t> path = search.beginning_with(first);
        if (search.cost_ns() < least_ns) {
            least_ns = search.cost_ns();
            best = std::move(path);
        }
    }
    std::vector<StepChoice> choices;
    for (std::size_t step = 0; step < ways.size(); ++step) {
        choices.push_back(ways[step][best[step]].choice);
    }
    return choices;
}

}  // namespace dlmb::tuned
