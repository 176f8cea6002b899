// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/transform/rescale.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/lay_out.hpp"
#include "common/formats/plan/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace dlmb {
namespace {

/// Bytes from each rank of a group to each.
using Matrix = std::vector<std::vector<Bytes>>;
using Members = std::vector<Rank>;

/// The recorded exchanges, as matrices: the n-th one of a group.
class Exchanges {
public:
    explicit Exchanges(std::span<Plan const> recorded) {
        for (Plan const& plan : recorded) {
            std::vector<std::size_t> before(plan.groups.size());
            for (Step const& step : plan.steps) {
                if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
                    add(plan, *exchange, before.at(exchange->group)++);
                }
            }
        }
    }
    [[nodiscard]] Matrix const& of(Members const& members, std::size_t number) const {
        return matrices_.at({members, number});
    }

private:
    void add(Plan const& plan, Exchange const& exchange, std::size_t number) {
        Group const& group = plan.groups[exchange.group];
        Matrix& matrix = matrices_[{group.members, number}];
        matrix.resize(group.members.size(), std::vector<Bytes>(group.members.size()));
        auto& row = matrix.at(static_cast<std::size_t>(rank_in(group, plan.me).value()));
        for (Block const& block : exchange.send) {
            row.at(static_cast<std::size_t>(block.peer)) = block.bytes;
        }
    }

    std::map<std::pair<Members, std::size_t>, Matrix> matrices_;
};

/// A group in the new world, and which recorded place each of its places stands for.
struct NewGroup {
    Members members;
    std::vector<std::size_t> places;
    std::size_t recorded = 0;  // members
};

/// How far [one * one_width, (one + 1) * one_width) and the same of the other lie over each other.
double overlap(std::size_t one, std::size_t one_width, std::size_t other, std::size_t other_width) {
    std::size_t const first = std::max(one * one_width, other * other_width);
    std::size_t const last = std::min((one + 1) * one_width, (other + 1) * other_width);
    return last > first ? static_cast<double>(last - first) : 0;
}

/// Bytes of each of equal blocks, of which a rank sends as much as before in the mean.
Bytes even_bytes(Matrix const& matrix, NewGroup const& group) {
    double sum = 0;
    for (auto const& row : matrix) {
        sum += static_cast<double>(std::accumulate(row.begin(), row.end(), Bytes{0}));
    }
    return static_cast<Bytes>(
        std::llround(sum / static_cast<double>(group.recorded) / static_cast<double>(group.members.size())));
}

/// Bytes from place `from` to place `to` of the new group. Both ends compute it in the same order, so they agree.
Bytes block_bytes(Matrix const& matrix, NewGroup const& group, Rescale how, std::size_t from, std::size_t to) {
    std::size_t const old_size = group.recorded;
    std::size_t const new_size = group.members.size();
    if (how == Rescale::truncate || old_size == new_size) {
        return matrix[group.places[from]][group.places[to]];
    }
    auto const scale = static_cast<double>(old_size) * static_cast<double>(new_size);
    double sum = 0;
    if (new_size > old_size) {
        double const copies = static_cast<double>(new_size) / static_cast<double>(old_size);
        return static_cast<Bytes>(
            std::llround(static_cast<double>(matrix[group.places[from]][group.places[to]]) / copies));
    }
    for (std::size_t row = 0; row < old_size; ++row) {
        double const weight = overlap(row, new_size, from, old_size);
        for (std::size_t column = 0; weight > 0 && column < old_size; ++column) {
            sum += weight * overlap(column, new_size, to, old_size) * static_cast<double>(matrix[row][column]);
        }
    }
    return static_cast<Bytes>(std::llround(sum / scale));
}

class Rescaler {
public:
    Rescaler(std::span<Plan const> recorded, int ranks, Rescale how)
        : recorded_(recorded), ranks_(ranks), how_(how), exchanges_(recorded) {}

    Plan plan_of(Rank rank) const {
        auto const before = static_cast<int>(recorded_.size());
        Plan const& source = recorded_[static_cast<std::size_t>(rank % before)];
        Rank const shift = rank - rank % before;  // of the copy that this rank is in
        Plan plan;
        plan.me = rank;
        std::vector<NewGroup> groups;
        for (Group const& group : source.groups) {
            groups.push_back(new_group(group, shift));
            plan.groups.push_back({groups.back().members});
        }
        std::vector<std::size_t> number(groups.size());
        for (Step step : source.steps) {
            if (auto* exchange = std::get_if<Exchange>(&step.operation)) {
                GroupId const id = exchange->group;
                rescale(*exchange, groups[id], exchanges_.of(source.groups[id].members, number[id]++), rank);
            } else if (auto* send = std::get_if<Send>(&step.operation)) {
                send->to.peer = new_place(source, groups[send->group], send->group, send->to.peer, shift);
            } else if (auto* recv = std::get_if<Recv>(&step.operation)) {
                recv->from.peer = new_place(source, groups[recv->group], recv->group, recv->from.peer, shift);
            } else if (auto* collective = std::get_if<Collective>(&step.operation)) {
                rescale(source, *collective, groups[collective->group], shift);
            } else if (has_signals(step.operation)) {
                throw UsageError("rescale: puts go to places that are known for the recorded ranks only");
            }
            plan.steps.push_back(std::move(step));
        }
        return without(std::move(plan), [](Step const& step) {
            auto const* send = std::get_if<Send>(&step.operation);
            auto const* recv = std::get_if<Recv>(&step.operation);
            return (send != nullptr && send->to.peer == nobody) || (recv != nullptr && recv->from.peer == nobody);
        });
    }

private:
    static constexpr Rank nobody = -1;

    [[nodiscard]] NewGroup new_group(Group const& group, Rank shift) const {
        NewGroup result{{}, {}, group.members.size()};
        auto const before = static_cast<Rank>(recorded_.size());
        bool const is_world = group.members.size() == recorded_.size();
        for (Rank copy = is_world ? 0 : shift; copy < (is_world ? std::max(ranks_, before) : shift + before);
             copy += before) {
            for (std::size_t place = 0; place < group.members.size(); ++place) {
                if (group.members[place] + copy < ranks_) {
                    result.members.push_back(group.members[place] + copy);
                    result.places.push_back(place);
                }
            }
        }
        return result;
    }

    /// Of a recorded place; `nobody` where that rank is left out.
    [[nodiscard]] static Rank new_place(Plan const& source, NewGroup const& group, GroupId id, Rank peer, Rank shift) {
        Rank const rank = world_rank(source, id, peer) + shift;
        auto const found = std::find(group.members.begin(), group.members.end(), rank);
        return found == group.members.end() ? nobody : static_cast<Rank>(found - group.members.begin());
    }

    void rescale(Exchange& exchange, NewGroup const& group, Matrix const& matrix, Rank rank) const {
        auto const me = static_cast<std::size_t>(std::find(group.members.begin(), group.members.end(), rank) -
                                                 group.members.begin());
        exchange.send.clear();
        exchange.recv.clear();
        bool const is_even = how_ == Rescale::uniform && group.members.size() != group.recorded;
        Bytes const even = is_even ? even_bytes(matrix, group) : 0;
        auto const bytes_of = [&](std::size_t from, std::size_t to) {
            return is_even ? even : block_bytes(matrix, group, how_, from, to);
        };
        for (std::size_t peer = 0; peer < group.members.size(); ++peer) {
            if (Bytes const bytes = bytes_of(me, peer); bytes > 0) {
                exchange.send.push_back({static_cast<Rank>(peer), 0, bytes});
            }
            if (Bytes const bytes = bytes_of(peer, me); bytes > 0) {
                exchange.recv.push_back({static_cast<Rank>(peer), 0, bytes});
            }
        }
    }

    void rescale(Plan const& source, Collective& step, NewGroup const& group, Rank shift) const {
        if (has_root(step.kind)) {
            bool const is_world = group.recorded == recorded_.size();
            Rank const place = new_place(source, group, step.group, step.root, is_world ? 0 : shift);
            step.root = place == nobody ? 0 : place;
        }
        if (!has_parts(step.kind) || group.members.size() == group.recorded) {
            return;
        }
        if (has_uneven_shares(step)) {
            throw UsageError("rescale: a collective has uneven parts, which are known for the recorded ranks only");
        }
        Bytes const now = group.members.size();
        Bytes const part = step.bytes / group.recorded;
        Bytes const unit = now * size_of(step.element);
        step.bytes = how_ == Rescale::truncate ? part * now : (step.bytes + unit - 1) / unit * unit;
        if (!step.shares.empty()) {
            step.shares.assign(now, step.bytes / now);
        }
    }

    std::span<Plan const> recorded_;
    int ranks_;
    Rescale how_;
    Exchanges exchanges_;
};

}  // namespace

std::vector<Plan> rescaled(std::span<Plan const> recorded, int ranks, Rescale how) {
    auto const before = static_cast<int>(recorded.size());
    if (ranks > before && how == Rescale::truncate) {
        throw UsageError(
            fmt::format("rescale truncate: leaves ranks out, and {} are more than the {} of the plan", ranks, before));
    }
    if (ranks > before && ranks % before != 0) {
        throw UsageError(fmt::format("rescale: {} ranks are no multiple of the {} of the plan", ranks, before));
    }
    for (Plan const& plan : recorded) {
        for (Step const& step : plan.steps) {
            if (keeps_places(step.operation)) {
                throw UsageError(fmt::format("rescale: step \"{}\" packs or moves rows (--quantize, --pack), whose "
                                             "places are known for the recorded ranks only",
                                             step.label));
            }
        }
    }
    Rescaler const rescaler(recorded, ranks, how);
    std::vector<Plan> plans;
    for (Rank rank = 0; rank < ranks; ++rank) {
        plans.push_back(rescaler.plan_of(rank));
    }
    return plans;
}

Plan without(Plan plan, std::function<bool(Step const&)> const& is_left_out) {
    std::vector<std::vector<StepId>> stands_for(plan.steps.size());  // by old step: the new ones to wait for
    std::vector<Step> kept;
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        Step& step = plan.steps[id];
        std::vector<StepId> after;
        for (StepId const before : step.after) {
            after.insert(after.end(), stands_for[before].begin(), stands_for[before].end());
        }
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (is_left_out(step)) {
            stands_for[id] = std::move(after);
            continue;
        }
        stands_for[id] = {static_cast<StepId>(kept.size())};
        step.after = std::move(after);
        kept.push_back(std::move(step));
    }
    plan.steps = std::move(kept);
    return plan;
}

}  // namespace dlmb
