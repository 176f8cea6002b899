// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Hands out ranges of the tag's operation field, so that no two live compiled plans of a rank share one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace dlmb::ucx {

class OperationIds {
public:
    explicit OperationIds(std::uint64_t limit) : limit_(limit) {}

    /// First of `count` free consecutive ids; nothing when no such gap is left.
    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t count);
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
    [[nodiscard]] std::uint64_t first() const { return first_; }

private:
    OperationIds* ids_;
    std::uint64_t first_;
};

}  // namespace dlmb::ucx
