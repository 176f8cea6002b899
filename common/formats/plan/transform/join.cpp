// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// bucket and fuse: steps that become one.
#include "common/formats/plan/transform/draft.hpp"
#include "common/formats/plan/transform/transform.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace dlmb {
namespace {

/// Of allgathers that are packed alike. A row goes on where the one before ended, so that has to be whole blocks: then
/// codes and scales are as many as before.
bool alike(std::optional<PackedRows> const& one, std::optional<PackedRows> const& other) {
    if (!one || !other) {
        return !one && !other;
    }
    BlockFormat const& format = one->packing.format;
    auto const whole_blocks = [&](PackedRows const& rows) {
        return std::all_of(rows.sent.begin(), rows.sent.end(),
                           [&](std::uint64_t numbers) { return numbers % format.block == 0; });
    };
    return format == other->packing.format && one->packing.element == other->packing.element && whole_blocks(*one) &&
           whole_blocks(*other);
}

/// Whether two steps can be one: the same operation but for its bytes.
bool alike(Draft const& one, Draft const& other, bool exchanges) {
    if (!alike(one.rows, other.rows)) {
        return false;
    }
    if (phase_of(one.label) != phase_of(other.label) || one.microbatch != other.microbatch ||
        one.in_place != other.in_place || one.shared != other.shared) {
        return false;
    }
    auto const* exchange = std::get_if<Exchange>(&one.operation);
    auto const* other_exchange = std::get_if<Exchange>(&other.operation);
    if (exchange != nullptr && other_exchange != nullptr) {
        return exchanges && exchange->group == other_exchange->group && !one.rows;
    }
    auto const* a = std::get_if<Collective>(&one.operation);
    auto const* b = std::get_if<Collective>(&other.operation);
    return a != nullptr && b != nullptr && a->kind == b->kind && a->group == b->group && a->element == b->element &&
           a->reduction == b->reduction && a->root == b->root && a->shares.empty() == b->shares.empty();
}

/// Adds the blocks of `more`, by peer.
void add_blocks(std::vector<Block>& blocks, std::span<Block const> more) {
    for (Block const& block : more) {
        auto const found = std::lower_bound(blocks.begin(), blocks.end(), block,
                                            [](Block const& a, Block const& b) { return a.peer < b.peer; });
        if (found != blocks.end() && found->peer == block.peer) {
            found->bytes += block.bytes;
        } else {
            blocks.insert(found, block);
        }
    }
}

void add_counts(std::vector<std::uint64_t>& counts, std::span<std::uint64_t const> more) {
    std::transform(counts.begin(), counts.end(), more.begin(), counts.begin(), std::plus<>{});
}

void join(Operation& into, Operation const& more) {
    if (auto* exchange = std::get_if<Exchange>(&into)) {
        add_blocks(exchange->send, std::get<Exchange>(more).send);
        add_blocks(exchange->recv, std::get<Exchange>(more).recv);
    } else if (auto* collective = std::get_if<Collective>(&into)) {
        collective->bytes += std::get<Collective>(more).bytes;
        add_counts(collective->shares, std::get<Collective>(more).shares);
    }
}

Bytes bytes_of(Operation const& operation) {
    auto const* collective = std::get_if<Collective>(&operation);
    return collective == nullptr ? 0 : collective->bytes;
}

/// Steps that become one, in order.
struct StepBucket {
    std::vector<StepId> members;
    Bytes bytes = 0;
};

/// Puts each step into the open bucket of its group, or into one of its own.
std::vector<StepBucket> buckets_of(std::vector<Draft> const& drafts, std::optional<Bytes> limit) {
    std::vector<StepBucket> buckets;
    std::vector<std::size_t> bucket_of(drafts.size());
    std::vector<std::size_t> open;  // at most one of each group
    auto const group_at = [&](StepId step) { return group_of(drafts[step].operation); };
    for (StepId step = 0; step < drafts.size(); ++step) {
        std::optional<std::size_t> joined;
        for (std::size_t const candidate : open) {
            StepId const first = buckets[candidate].members.front();
            if (group_at(step) == group_at(first) && alike(drafts[first], drafts[step], !limit)) {
                joined = candidate;
            }
        }
        // Whoever waits for a step of a bucket, or stands behind it in the order of its group, ends the bucket.
        std::erase_if(open, [&](std::size_t candidate) {
            bool const waits = std::any_of(drafts[step].after.begin(), drafts[step].after.end(),
                                           [&](StepId earlier) { return bucket_of[earlier] == candidate; });
            bool const behind = group_at(step) && group_at(step) == group_at(buckets[candidate].members.front());
            return candidate != joined && (waits || behind);
        });
        if (!joined) {
            joined = buckets.size();
            buckets.emplace_back();
            if (group_at(step)) {
                open.push_back(*joined);
            }
        }
        bucket_of[step] = *joined;
        buckets[*joined].members.push_back(step);
        buckets[*joined].bytes += bytes_of(drafts[step].operation);
        if (limit && buckets[*joined].bytes >= *limit) {
            std::erase(open, *joined);
        }
    }
    // A bucket stands where its last step stood: behind all that its steps wait for.
    std::stable_sort(buckets.begin(), buckets.end(), [](StepBucket const& one, StepBucket const& other) {
        return one.members.back() < other.members.back();
    });
    return buckets;
}

Plan joined(Plan const& plan, std::optional<Bytes> limit) {
    std::vector<Draft> drafts = drafts_of(plan);
    std::vector<StepBucket> const buckets = buckets_of(drafts, limit);
    std::vector<StepId> place_of(drafts.size());
    for (StepId place = 0; place < buckets.size(); ++place) {
        for (StepId const member : buckets[place].members) {
            place_of[member] = place;
        }
    }
    std::vector<Draft> result;
    for (StepId place = 0; place < buckets.size(); ++place) {
        std::vector<StepId> const& members = buckets[place].members;
        Draft draft = drafts[members.front()];
        std::set<StepId> after;
        for (StepId const member : members) {
            if (member != members.front()) {
                join(draft.operation, drafts[member].operation);
                if (draft.rows) {
                    add_counts(draft.rows->sent, drafts[member].rows->sent);
                }
            }
            for (StepId const earlier : drafts[member].after) {
                after.insert(place_of[earlier]);
            }
        }
        after.erase(place);
        draft.after.assign(after.begin(), after.end());
        if (members.size() > 1) {
            draft.label += fmt::format("+{}", members.size() - 1);
        }
        result.push_back(std::move(draft));
    }
    return lay_out_all(plan, result);
}

}  // namespace

Plan bucket(Plan const& plan, Bytes bytes) {
    return joined(plan, bytes);
}

Plan fuse(Plan const& plan) {
    return joined(plan, std::nullopt);
}

}  // namespace dlmb
