// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a process group of PyTorch 1.13 derives from. torch_2/base.hpp is that of PyTorch 2; CMake picks one.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace dlmb::torch {

/// What Python knows it as.
using Registered = c10d::ProcessGroup;

/// With the operations that PyTorch 2 has besides.
class Base : public Registered {
public:
    using Registered::Registered;
    virtual c10::intrusive_ptr<c10d::Work> allgather_into_tensor_coalesced(std::vector<at::Tensor>& outputs,
                                                                           std::vector<at::Tensor>& inputs,
                                                                           c10d::AllgatherOptions const& options) = 0;
    virtual c10::intrusive_ptr<c10d::Work>
    reduce_scatter_tensor_coalesced(std::vector<at::Tensor>& outputs, std::vector<at::Tensor>& inputs,
                                    c10d::ReduceScatterOptions const& options) = 0;
};

}  // namespace dlmb::torch
