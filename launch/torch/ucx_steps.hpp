// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Single operations over UCX, where this build has it: ucx_steps_native.cpp or ucx_steps_absent.cpp, CMake picks one.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <memory>
#include <span>
#include <string>

namespace dlmb::torch {

/// On the thread of MPI. As ucx::StepRunner says of its functions.
class UcxSteps {
public:
    virtual ~UcxSteps() = default;
    [[nodiscard]] virtual std::string refusal(Plan const& plan, MethodChoice const& method) const = 0;
    virtual void run(Plan const& plan, Buffers const& buffers, MethodChoice const& method) = 0;
};

/// Collective over MPI_COMM_WORLD. `methods`: those that run() may be asked for, chosen for UCX `version` (empty: for
/// any). nullptr, with the reason in `why_not`: there is no UCX here, or another one. Throws UsageError for an unknown
/// method.
[[nodiscard]] std::unique_ptr<UcxSteps> make_ucx_steps(std::span<MethodChoice const> methods,
                                                       std::string const& version, std::string& why_not);

}  // namespace dlmb::torch
