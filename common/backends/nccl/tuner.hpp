// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The tuner plugin of DLMB, if NCCL loads it in this launch: how algorithms are chosen in a process that runs already.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/table/nccl_tuner_control.hpp"

#include <string>

namespace dlmb::nccl {

class Tuner {
public:
    /// Collective. Opens what NCCL_TUNER_PLUGIN names.
    explicit Tuner(Bootstrap& bootstrap);

    /// Why algorithms cannot be chosen, alike on all ranks; empty: they can.
    [[nodiscard]] std::string const& why_not() const { return why_not_; }
    /// Only where they can.
    [[nodiscard]] nccl_tuner::Control const& control() const { return *control_; }

private:
    [[nodiscard]] std::string open();

    nccl_tuner::Control const* control_ = nullptr;  // in a library that stays loaded
    std::string why_not_;
};

}  // namespace dlmb::nccl
