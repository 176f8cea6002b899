// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which WindowCopies are faster on this machine, found by doing both. It depends on how far apart the cores of the
// ranks are; on a virtual machine that changes from minute to minute and the topology does not tell it.
#pragma once

#include "common/backends/ucx/shared_lane.hpp"
#include "common/backends/ucx/shared_memory.hpp"
#include "common/backends/ucx/window_copies.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::ucx {

class WindowTrial {
public:
    /// Collective: all ranks of a node exchange blocks with those at distances 1, 2, 4 ... around it. The same answer
    /// on all ranks: by the sum over them of the median times. Tried again where the last answer is two seconds old, so
    /// that plans compiled together do alike.
    [[nodiscard]] WindowCopies faster(Transport& transport);

private:
    /// Collective. False, on all ranks: some rank cannot map another's windows.
    [[nodiscard]] bool prepare(Transport& transport);
    /// Collective.
    [[nodiscard]] bool is_stale(Bootstrap& bootstrap) const;
    [[nodiscard]] WindowCopies compare(Transport& transport);

    enum class State : std::uint8_t { untried, ready, impossible };
    State state_ = State::untried;
    WindowCopies answer_ = WindowCopies::streamed;
    Nanoseconds answered_at_ns_ = 0;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    SharedMappings mappings_;
    std::vector<SharedLane> lanes_;  // by WindowCopies; none: this rank is alone on its node
};

}  // namespace dlmb::ucx
