// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/probes.hpp"

#include "common/tuning/query.hpp"

#include <algorithm>
#include <set>

namespace dlmb::app::tune {
namespace {

using namespace tuning;

constexpr Bytes most_bytes = Bytes{64} << 20;
constexpr std::uint64_t element_bytes = 4;

class Places {
public:
    Places(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost)
        : table_(table), slice_(slice), lost_(lost) {}

    void around(Carried const& one, MpiCollective collective, std::uint64_t ranks) {
        Bytes const unit = ranks * element_bytes;
        Bytes const first = (one.bytes.min + unit - 1) / unit * unit;
        Bytes const last = std::min(one.bytes.max, most_bytes) / unit * unit;
        if (first > last) {
            return;
        }
        add(collective, first, ranks);
        add(collective, last, ranks);
        if (first >= unit) {
            add(collective, first - unit, ranks);
        }
        if (last + unit <= most_bytes) {
            add(collective, last + unit, ranks);
        }
        for (std::uint64_t const other : {std::uint64_t{2}, ranks - 1, ranks + 1}) {
            if (other >= 2 && other != ranks) {
                add(collective, first / (other * element_bytes) * (other * element_bytes), other);
            }
        }
    }

    std::vector<Probe> all() const { return {found_.begin(), found_.end()}; }

private:
    [[nodiscard]] bool is_lost(Rule const& rule) const {
        return std::any_of(lost_.begin(), lost_.end(), [&](Lost const& one) { return one.rule == rule.id; });
    }

    void add(MpiCollective collective, Bytes bytes, std::uint64_t ranks) {
        Query query;
        query.backend = "mpi";
        query.operation = operation_of(collective);
        query.bytes = bytes;
        query.ranks = ranks;
        query.nodes = slice_.nodes;
        if (slice_.nodes && ranks % *slice_.nodes == 0) {
            query.ranks_per_node = ranks / *slice_.nodes;
        }
        if (slice_.nodes == 1) {
            query.distribution = Distribution::single_node;
        }
        query.memory = slice_.memory;
        query.dtype = slice_.dtype;
        query.reduction = slice_.reduction;
        if (query.operation == TunedOperation::exchange) {
            query.uniform = collective == MpiCollective::alltoall;
        }
        Match const match = lookup(table_, query);
        Rule const* const rule = match.deciding();
        if (rule != nullptr && is_lost(*rule)) {
            return;
        }
        bool const chosen = rule != nullptr && rule->choose.algorithm;
        found_.insert({collective, bytes, ranks, chosen ? rule->choose.algorithm->name : ""});
    }

    static TunedOperation operation_of(MpiCollective collective) {
        for (TunedOperation const operation : every_tuned_operation) {
            When when;
            when.operation = operation;
            when.uniform = collective == MpiCollective::alltoall;
            if (collective_of(when) == collective) {
                return operation;
            }
        }
        return TunedOperation::exchange;
    }

    TuningTable const& table_;
    Slice const& slice_;
    std::vector<Lost> const& lost_;
    std::set<Probe> found_;
};

}  // namespace

std::vector<Probe> probes(TuningTable const& table, Slice const& slice, std::vector<Lost> const& lost,
                          std::optional<std::uint64_t> ranks) {
    Places places(table, slice, lost);
    for (Carried const& one : select_rules(table, "mpi", slice, {}).rules) {
        auto const collective = collective_of(one.rule->when);
        std::uint64_t const tried = ranks.value_or(std::max<std::uint64_t>(one.ranks.min, 2));
        if (!one.keeps_default() && collective && one.ranks.contains(tried)) {
            places.around(one, *collective, tried);
        }
    }
    return places.all();
}

}  // namespace dlmb::app::tune
