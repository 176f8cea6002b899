// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which WindowUse is the fastest on this machine, found by trying. It depends on how far apart the cores of the ranks
// are and on how fast the kernel copies; on a virtual machine the former changes from minute to minute, and the
// topology tells neither.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/ucx/window_use.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace dlmb::ucx {

/// How long an exchange takes by the ways that are tried.
struct WindowTimes {
    Nanoseconds cached = 0;  // through windows
    Nanoseconds streamed = 0;
    Nanoseconds messages = 0;
};

inline constexpr Bytes small_tried_block = Bytes{16} << 10;
inline constexpr Bytes middle_tried_block = Bytes{64} << 10;
inline constexpr Bytes large_tried_block = Bytes{256} << 10;

/// The block to try after the middle one: where it may turn around.
[[nodiscard]] Bytes next_tried_block(WindowTimes const& middle);
/// `next`: of next_tried_block(middle).
[[nodiscard]] WindowUse fastest_use(WindowTimes const& middle, WindowTimes const& next);

class WindowTrial {
public:
    /// `backend` compiles what is tried.
    WindowTrial(Backend& backend, Bootstrap& bootstrap) : backend_(backend), bootstrap_(bootstrap) {}

    /// Collective: all ranks of a node exchange blocks with those at distances 1, 2, 4 ... around it. `sharing`: by
    /// world rank, whether it shares memory with this one. The same answer on all ranks: by the sum over them of the
    /// median times. Tried again where the last answer is two seconds old, so that plans compiled together do alike.
    /// Nothing: some rank cannot map the memory of another one; the backend knows it from now on.
    [[nodiscard]] std::optional<WindowUse> fastest(std::vector<bool> const& sharing);

private:
    using Compiled = std::vector<std::unique_ptr<CompiledPlan>>;  // by way

    /// Collective.
    [[nodiscard]] bool is_stale() const;
    [[nodiscard]] std::optional<WindowUse> compare(std::vector<bool> const& sharing);
    /// Collective. How long an exchange of such blocks takes, summed over all ranks.
    [[nodiscard]] std::optional<WindowTimes> times_of(Bytes block, std::vector<bool> const& sharing);
    [[nodiscard]] Compiled compile(Bytes block, std::vector<bool> const& sharing);

    Backend& backend_;
    Bootstrap& bootstrap_;
    std::optional<WindowUse> answer_;
    Nanoseconds answered_at_ns_ = 0;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    std::map<Bytes, Compiled> compiled_;  // by block; none: memory cannot be shared
};

}  // namespace dlmb::ucx
