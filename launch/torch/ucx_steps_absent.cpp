// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/ucx_steps.hpp"

namespace dlmb::torch {

std::unique_ptr<UcxSteps> make_ucx_steps(std::span<MethodChoice const> /*methods*/, std::string const& /*version*/,
                                         std::string& why_not) {
    why_not = "UCX is not in this build; configure with -DDLMB_WITH_UCX=ON";
    return nullptr;
}

}  // namespace dlmb::torch
