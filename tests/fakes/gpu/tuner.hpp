// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuner plugin as NCCL 2.28 uses it: version 5 of the interface, loaded by NCCL_TUNER_PLUGIN, asked once per
// collective when that is put into its stream. The double moves bytes in one way whatever is chosen; what was chosen it
// tells to tests.
#pragma once

#include "tests/fakes/gpu/operations.hpp"

#include <cstddef>

namespace dlmb::fake_gpu {

/// What the double would run, by NCCL's numbers. channels 0: it was not told.
struct TunedChoice {
    int algorithm = -1;
    int protocol = -1;
    int channels = 0;
};

/// The tuner of one communicator; does nothing where no plugin is named.
class Tuner {
public:
    Tuner(std::size_t ranks, std::size_t nodes);
    Tuner(Tuner const&) = delete;
    Tuner& operator=(Tuner const&) = delete;
    ~Tuner();

    /// Messages and calls of one rank never come to a tuner.
    void choose(Operation const& operation);

private:
    std::size_t ranks_;
    void* context_ = nullptr;
};

}  // namespace dlmb::fake_gpu

/// Of the newest collective of the process.
extern "C" void dlmb_fake_gpu_tuned_choice(dlmb::fake_gpu::TunedChoice* choice);
