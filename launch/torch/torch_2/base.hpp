// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a process group of PyTorch 2 derives from. torch_1/base.hpp is that of PyTorch 1.13; CMake picks one.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace dlmb::torch {

/// What Python knows it as.
using Registered = c10d::Backend;
using Base = Registered;

}  // namespace dlmb::torch
