// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Return codes of NCCL and the CUDA runtime become exceptions.
#pragma once

#include "common/base/error.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string_view>

namespace dlmb::nccl {

void check(ncclResult_t code, std::string_view call, Where where = Where::here());
void check(cudaError_t code, std::string_view call, Where where = Where::here());
template <class T>
void check(T, std::string_view, Where = Where::here()) = delete;

}  // namespace dlmb::nccl
