// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which steps of a large iteration have buffers of their own. An iteration of a whole model moves more than fits in
// memory, and frameworks reuse their buffers, too; but what lies in a reused buffer cannot be checked afterwards.
#pragma once

#include "common/base/units.hpp"

namespace dlmb {

/// The parameter of patterns that have one.
inline constexpr char const* memory_limit_help =
    "bytes of buffers per rank that steps have for themselves; later steps share buffers, which are not checked";

/// Asked in the same order with the same sizes it gives the same answers, so all ranks of a step agree on them.
class BufferBudget {
public:
    explicit BufferBudget(Bytes limit) : left_(limit) {}

    /// Takes `bytes`; false: they do not fit, and from here on nothing does.
    [[nodiscard]] bool take(Bytes bytes) {
        exhausted_ = exhausted_ || bytes > left_;
        left_ -= exhausted_ ? 0 : bytes;
        return !exhausted_;
    }

private:
    Bytes left_;
    bool exhausted_ = false;
};

}  // namespace dlmb
