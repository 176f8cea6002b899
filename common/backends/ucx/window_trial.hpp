// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which WindowUse is the fastest on this machine, found by trying. It depends on how far apart the cores of the ranks
// are and on how fast the kernel copies; on a virtual machine the former changes from minute to minute, and the
// topology tells neither.
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/ucx/window_use.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace dlmb::ucx {

class WindowTrial {
public:
    /// `backend` compiles what is tried.
    WindowTrial(Backend& backend, Bootstrap& bootstrap) : backend_(backend), bootstrap_(bootstrap) {}

    /// Collective: all ranks of a node exchange blocks with those at distances 1, 2, 4 ... around it. `sharing`: by
    /// world rank, whether it shares memory with this one. The same answer on all ranks: by the sum over them of the
    /// median times. Tried again where the last answer is two seconds old, so that plans compiled together do alike.
    [[nodiscard]] WindowUse fastest(std::vector<bool> const& sharing);

private:
    static constexpr std::size_t ways = 3;  // through windows by WindowCopies, and by messages
    using Times = std::array<std::int64_t, ways>;

    /// Collective.
    [[nodiscard]] bool is_stale() const;
    [[nodiscard]] WindowUse compare(std::vector<bool> const& sharing);
    /// Collective. How long an exchange of such blocks takes, by way, summed over all ranks.
    [[nodiscard]] Times times_of(Bytes block, std::vector<bool> const& sharing);
    [[nodiscard]] std::vector<std::unique_ptr<CompiledPlan>> compile(Bytes block, std::vector<bool> const& sharing);

    Backend& backend_;
    Bootstrap& bootstrap_;
    WindowUse answer_;
    Nanoseconds answered_at_ns_ = 0;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    std::map<Bytes, std::vector<std::unique_ptr<CompiledPlan>>> compiled_;  // by block; none: memory cannot be shared
};

}  // namespace dlmb::ucx
