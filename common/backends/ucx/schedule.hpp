// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan bound to buffers, endpoints and tags: its waves of lanes, run in order. Steps of a wave run side by side; the
// next wave starts on this rank when this rank's part of the wave is complete.
#pragma once

#include "common/backends/ucx/lane.hpp"

#include <memory>
#include <vector>

namespace dlmb::ucx {

class Schedule final : public CompiledPlan {
public:
    using Wave = std::vector<std::unique_ptr<Lane>>;

    Schedule(std::vector<Wave> waves, std::size_t steps, std::unique_ptr<OperationRange> operations,
             Transport& transport);
    void launch() override;
    void finish() override;

private:
    void start_wave();
    [[nodiscard]] bool poll_wave();

    std::unique_ptr<OperationRange> operations_;
    std::vector<Wave> waves_;
    Transport& transport_;
    std::vector<Lane*> open_;  // lanes of the current wave that are not done
    std::size_t wave_ = 0;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::ucx
