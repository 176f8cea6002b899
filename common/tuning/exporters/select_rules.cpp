// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/carried.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace dlmb::tuning {
namespace {

/// Takes one rule through the slice.
class Sieve {
public:
    Sieve(Rule const& rule, Slice const& slice, Keys keys)
        : rule_(rule), when_(rule.when), slice_(slice),
          keys_(keys), carried_{&rule, when_.ranks.value_or(CountInterval{1, no_limit}),
                                when_.bytes.value_or(ByteInterval{0, no_limit})} {}

    /// Nothing: lost, see lost().
    std::optional<Carried> pass() {
        check_words();
        check_keys();
        if (!keys_.nodes) {
            check_nodes();
            check_distribution();
            check_ranks_per_node();
        }
        return lost_ ? std::nullopt : std::optional{carried_};
    }
    [[nodiscard]] Lost lost() const { return *lost_; }

private:
    void lose(LostReason why, std::string detail) {
        if (!lost_) {
            lost_ = Lost{rule_.id, why, std::move(detail)};
        }
    }

    void check_word(std::string const& condition, std::string const& value, std::string_view name) {
        if (!condition.empty() && condition != value) {
            lose(LostReason::other_slice,
                 fmt::format("holds for {} {}, exported is {}", name, condition, value.empty() ? "none" : value));
        }
    }

    void check_words() {
        if (!keys_.memory) {
            check_word(when_.memory, slice_.memory, "memory");
        }
        check_word(when_.dtype, slice_.dtype, "dtype");
        check_word(when_.reduction, slice_.reduction, "reduction");
    }

    void check_key(bool present, std::string_view name) {
        if (present) {
            lose(LostReason::key_not_expressible, fmt::format("the format has no key for '{}'", name));
        }
    }

    void check_keys() {
        // Every reduction but a user's is commutative.
        bool const known_commutative = !slice_.reduction.empty() && slice_.reduction != "user";
        check_key(when_.commutative && !(*when_.commutative && known_commutative), "commutative");
        check_key(when_.registered.has_value(), "registered");
        check_key(when_.in_place.has_value(), "in_place");
        bool const one_for_all =
            keys_.imbalance && when_.operation == TunedOperation::exchange && !when_.uniform.value_or(false);
        check_key(!one_for_all && when_.imbalance.has_value(), "imbalance");
        check_key(when_.overlap.has_value(), "overlap");
        check_key(when_.group_ops.has_value(), "group.ops");
        check_key(!keys_.pipe_ops && when_.group_pipe_ops.has_value(), "group.pipe_ops");
    }

    void check_nodes() {
        if (when_.nodes && !(slice_.nodes && when_.nodes->contains(*slice_.nodes))) {
            lose(LostReason::other_slice, fmt::format("holds for {} to {} nodes", when_.nodes->min, when_.nodes->max));
        }
    }

    void narrow_ranks(std::uint64_t min, std::uint64_t max, std::string_view by) {
        carried_.ranks = {std::max(carried_.ranks.min, min), std::min(carried_.ranks.max, max)};
        if (carried_.ranks.min > carried_.ranks.max) {
            lose(LostReason::other_slice, fmt::format("{} on the nodes exported leaves no number of ranks", by));
        }
    }

    void check_distribution() {
        if (!when_.distribution) {
            return;
        }
        bool const single = when_.distribution == Distribution::single_node;
        if (!slice_.nodes || (single && *slice_.nodes != 1)) {
            lose(LostReason::other_slice, fmt::format("holds for {}", name_of(*when_.distribution)));
        } else if (!single) {
            narrow_ranks(*slice_.nodes, *slice_.nodes, "one_per_node");
        }
    }

    void check_ranks_per_node() {
        if (!when_.ranks_per_node) {
            return;
        }
        CountInterval const per_node = *when_.ranks_per_node;
        // Between k and k + 1 ranks on each of several nodes lie uneven ones, which the rule does not match.
        if (!slice_.nodes || (*slice_.nodes > 1 && per_node.min != per_node.max) ||
            per_node.max > no_limit / *slice_.nodes) {
            lose(LostReason::key_not_expressible, "the format has no key for 'ppn'");
        } else {
            narrow_ranks(per_node.min * *slice_.nodes, per_node.max * *slice_.nodes, "ppn");
        }
    }

    Rule const& rule_;
    When const& when_;
    Slice const& slice_;
    Keys keys_;
    Carried carried_;
    std::optional<Lost> lost_;
};

}  // namespace

Selection select_rules(TuningTable const& table, std::string_view backend, Slice const& slice, Keys keys) {
    Selection selection;
    for (Rule const& rule : table.rules) {
        if (rule.scope == select_scope && rule.choose.backend != backend) {
            selection.lost.push_back({rule.id, LostReason::other_backend,
                                      fmt::format("the table hands this to backend {}", rule.choose.backend)});
        }
        if (rule.scope != backend) {
            continue;
        }
        Sieve sieve(rule, slice, keys);
        if (auto const carried = sieve.pass()) {
            selection.rules.push_back(*carried);
        } else if (!Carried{&rule, {}, {}}.keeps_default()) {
            selection.lost.push_back(sieve.lost());
        }
    }
    return selection;
}

}  // namespace dlmb::tuning
