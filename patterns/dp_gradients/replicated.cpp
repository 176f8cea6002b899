// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/buckets.hpp"
#include "patterns/dp_gradients/plans.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::dp_gradients {
namespace {

/// In the order in which gradients become ready.
std::vector<std::uint64_t> reversed_sizes(Model const& model) {
    std::vector<std::uint64_t> sizes;
    for (auto tensor = model.tensors.rbegin(); tensor != model.tensors.rend(); ++tensor) {
        sizes.push_back(tensor->elements);
    }
    return sizes;
}

std::vector<Bucket> buckets_of(Params const& params) {
    std::vector<std::uint64_t> const sizes = reversed_sizes(params.model);
    if (params.scheme == Scheme::ddp) {
        Bytes const size = size_of(params.gradient_element);
        return close_when_full(sizes, padded(params.first_bucket_bytes, size) / size,
                               padded(params.bucket_bytes, size) / size);
    }
    if (params.scheme == Scheme::megatron) {
        return megatron_buckets(sizes, params.bucket_elements,
                                params.form == Form::reduce_scatter ? params.ranks() : 0);
    }
    return close_before_overflow(sizes, params.bucket_elements);
}

class IterationBuilder {
public:
    IterationBuilder(Params const& params, WorldShape const& world, Rank me)
        : params_(params), queue_(queue_of(params, world, me)), buckets_(buckets_of(params)) {}

    /// DDP sends the running statistics of batch norms from rank 0 before a forward pass.
    void buffers() {
        if (params_.model.norm_counters == 0) {
            return;
        }
        queue_.broadcast("buffers.statistics", params_.model.running_statistics * size_of(Element::fp32),
                         Element::fp32);
        queue_.broadcast("buffers.counters", params_.model.norm_counters * size_of(Element::int64), Element::int64);
        queue_.wait_for_all();
    }

    void gradients() {
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            std::string label = fmt::format("gradients.{}", i);
            if (params_.form == Form::reduce_scatter) {
                queue_.reduce_scatter(std::move(label),
                                      padded(buckets_[i].elements, params_.ranks()) * size_of(params_.gradient_element),
                                      params_.gradient_element);
            } else {
                queue_.all_reduce(std::move(label), buckets_[i].elements * size_of(params_.gradient_element),
                                  params_.gradient_element);
            }
        }
        queue_.wait_for_all();
    }

    /// Megatron-LM gathers the buckets that it scattered, those of the first layers first.
    void gather_buckets() {
        for (std::size_t i = buckets_.size(); i-- > 0;) {
            queue_.all_gather(fmt::format("parameters.{}", i), buckets_[i].elements * size_of(params_.element),
                              params_.element);
        }
    }

    /// One byte says whether a gradient overflowed anywhere; then the updated parameters.
    void zero_step() {
        queue_.all_reduce("overflow", 1, Element::byte, Reduction::max);
        queue_.wait_for_all();
        std::vector<std::uint64_t> const shards =
            gather_shards(params_.model.elements(), params_.gather_elements, params_.ranks());
        for (std::size_t i = 0; i < shards.size(); ++i) {
            queue_.all_gather(fmt::format("parameters.{}", i), shards[i] * size_of(params_.element), params_.element);
        }
    }

    void microbatch(int number) { queue_.microbatch(number); }

    [[nodiscard]] Plan finish() && { return std::move(queue_).finish(); }

private:
    Params const& params_;
    CollectiveQueue queue_;
    std::vector<Bucket> buckets_;
};

}  // namespace

Plan replicated_plan(Params const& params, WorldShape const& world, Rank me) {
    IterationBuilder steps(params, world, me);
    if (params.scheme == Scheme::ddp) {
        steps.buffers();
    }
    // ZeRO-2 keeps no whole gradients from one micro-batch to the next.
    int const first = params.scheme == Scheme::zero2 ? 0 : params.microbatches - 1;
    for (int microbatch = first; microbatch < params.microbatches; ++microbatch) {
        steps.microbatch(microbatch);
        steps.gradients();
    }
    steps.microbatch(-1);
    if (params.scheme == Scheme::megatron && params.form == Form::reduce_scatter) {
        steps.gather_buckets();
    } else if (params.scheme == Scheme::zero1 || params.scheme == Scheme::zero2) {
        steps.zero_step();
    }
    return std::move(steps).finish();
}

}  // namespace dlmb::dp_gradients
