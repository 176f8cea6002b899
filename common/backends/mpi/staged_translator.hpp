// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From steps on device memory to staged ones. Cold: runs in compile().
#pragma once

#include "common/backends/mpi/chunks.hpp"
#include "common/backends/mpi/native_translator.hpp"
#include "common/backends/mpi/staged.hpp"

namespace dlmb::mpi {

class StagedTranslator {
public:
    /// `host`: images of `device` (mirrors.hpp). Collective over the groups of the plan's exchanges.
    StagedTranslator(TranslatedPlan const& shared, Buffers const& device, Buffers const& host,
                     DeviceQueues const& queues, Idle idle);

    /// Not for Compute. Collective as NativeTranslator is.
    [[nodiscard]] Staged operator()(StepId step);

private:
    [[nodiscard]] std::vector<Chunk> cut(StepId step) const;
    [[nodiscard]] StagedPart part(Chunk const& chunk);
    [[nodiscard]] SelfCopy self(Operation const& operation) const;
    [[nodiscard]] bool in_one_call(Operation const& operation) const;

    TranslatedPlan shared_;
    NativeTranslator native_;
    Buffers const& device_;
    Buffers const& host_;
    DeviceQueues const& queues_;
    Idle idle_;
    std::vector<std::uint64_t> rounds_;         // by step
    std::vector<std::shared_ptr<Turn>> turns_;  // by step
};

}  // namespace dlmb::mpi
