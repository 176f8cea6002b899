// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The 64 bits that pair a send with its receive: kind 4, iteration 20, operation 20, source rank 20. The sender chooses
// the operation, unique among its live compiled plans, and tells it to the receiver when plans are matched.
#pragma once

#include "common/base/units.hpp"

#include <ucp/api/ucp_def.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace dlmb::ucx {

/// Ranks, operations, and iterations before they wrap.
inline constexpr std::uint64_t tag_field_limit = std::uint64_t{1} << 20;
inline constexpr ucp_tag_t full_tag_mask = ~ucp_tag_t{0};

enum class TagKind : std::uint8_t { wire_up = 1, payload = 2, answer = 3 };

[[nodiscard]] constexpr ucp_tag_t make_tag(TagKind kind, std::uint64_t operation, Rank source) {
    return (ucp_tag_t{static_cast<std::uint8_t>(kind)} << 60) | (operation << 20) | static_cast<std::uint32_t>(source);
}

/// Tag of answers from `receiver` to the sender of messages with the tag `payload`, which the sender made by make_tag.
[[nodiscard]] constexpr ucp_tag_t answer_tag(ucp_tag_t payload, Rank receiver) {
    return make_tag(TagKind::answer, (payload >> 20) % tag_field_limit, receiver);
}

/// Bits that an iteration adds to the tag of make_tag. Wraps: messages of one pair are matched in order anyway.
[[nodiscard]] constexpr ucp_tag_t iteration_bits(std::uint64_t iteration) {
    return (iteration % tag_field_limit) << 40;
}

/// Hands out ranges of the operation field, so that no two live compiled plans of a rank share one.
class OperationIds {
public:
    explicit OperationIds(std::uint64_t limit) : limit_(limit) {}

    /// First of `count` free consecutive ids; nothing when no such gap is left.
    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t count) {
        count = std::max<std::uint64_t>(count, 1);  // a plan without steps still has a range of its own
        std::uint64_t first = 0;
        for (auto const& [begin, end] : taken_) {
            if (begin - first >= count) {
                break;
            }
            first = end;
        }
        if (count > limit_ || first > limit_ - count) {
            return std::nullopt;
        }
        taken_.emplace(first, first + count);
        return first;
    }
    void give_back(std::uint64_t first) { taken_.erase(first); }

private:
    std::uint64_t limit_;
    std::map<std::uint64_t, std::uint64_t> taken_;  // first -> end
};

/// A range that gives itself back.
class OperationRange {
public:
    OperationRange(OperationIds& ids, std::uint64_t first) : ids_(&ids), first_(first) {}
    OperationRange(OperationRange const&) = delete;
    OperationRange& operator=(OperationRange const&) = delete;
    ~OperationRange() { ids_->give_back(first_); }

private:
    OperationIds* ids_;
    std::uint64_t first_;
};

}  // namespace dlmb::ucx
