// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How frameworks gather tensors into the buffers they communicate. Every function takes sizes in the order of use
// (for gradients: registration order reversed) and counts in elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::dp_gradients {

/// Tensors first..last of the list it was made from; `elements` includes padding where the rule pads.
struct Bucket {
    std::uint64_t elements = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    bool operator==(Bucket const&) const = default;
};

[[nodiscard]] std::uint64_t padded(std::uint64_t elements, std::uint64_t multiple);

/// Add, then close when the bucket holds `cap` or more (the first one: `first_cap`); the rest at the end. Tensors of 0
/// elements are in no bucket of their own. PyTorch DDP, torch/csrc/distributed/c10d/reducer.cpp,
/// compute_bucket_assignment_by_size; with both caps 1 every tensor is on its own.
[[nodiscard]] std::vector<Bucket> close_when_full(std::span<std::uint64_t const> sizes, std::uint64_t first_cap,
                                                  std::uint64_t cap);

/// Close when the next tensor would not fit, unless the bucket is empty. DeepSpeed,
/// deepspeed/runtime/zero/stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads.
[[nodiscard]] std::vector<Bucket> close_before_overflow(std::span<std::uint64_t const> sizes, std::uint64_t limit);

/// Close when full as DDP. With `ranks` above 0 (distributed optimizer) tensors start at multiples of 64 and buckets
/// end at multiples of lcm(ranks, 128). Megatron-LM, megatron/core/distributed/param_and_grad_buffer.py.
[[nodiscard]] std::vector<Bucket> megatron_buckets(std::span<std::uint64_t const> sizes, std::uint64_t cap,
                                                   std::uint64_t ranks);

/// Megatron-LM's bucket size when it overlaps (core/distributed/distributed_data_parallel.py): small ones would be
/// bound by latency at many ranks.
[[nodiscard]] std::uint64_t megatron_bucket_elements(std::uint64_t ranks);

/// All parameters in max(total / limit, 1) equal parts, the last with the rest, each padded to whole elements per rank
/// (AICB, workload_generator/generate_deepspeed_stage1_2_workload.py). Limit 0: one part with an even number of
/// elements per rank, as DeepSpeed with all_gather_into_tensor (deepspeed/runtime/utils.py; nccl_start_alignment_factor
/// in deepspeed/runtime/zero/stage_1_and_2.py).
[[nodiscard]] std::vector<std::uint64_t> gather_shards(std::uint64_t total, std::uint64_t limit, std::uint64_t ranks);

}  // namespace dlmb::dp_gradients
