// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/buckets.hpp"
#include "patterns/dp_gradients/plans.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace dlmb::dp_gradients {
namespace {

/// Tensors in one order of use: as they are, as they travel, and as they travel if they are not persistent (else 0).
struct Sizes {
    Sizes(Params const& params, bool backward) {
        for (ParameterTensor const& tensor : params.model.tensors) {
            plain.push_back(tensor.elements);
        }
        if (backward) {
            std::reverse(plain.begin(), plain.end());
        }
        for (std::uint64_t const elements : plain) {
            whole.push_back(padded(elements, params.ranks()));
            gathered.push_back(elements <= params.persistence_elements ? 0 : whole.back());
        }
    }

    std::vector<std::uint64_t> plain;
    std::vector<std::uint64_t> whole;
    std::vector<std::uint64_t> gathered;
};

std::uint64_t sum(std::vector<std::uint64_t> const& sizes, Bucket const& bucket) {
    auto const begin = sizes.begin();
    return std::accumulate(begin + static_cast<std::ptrdiff_t>(bucket.first),
                           begin + static_cast<std::ptrdiff_t>(bucket.last) + 1, std::uint64_t{0});
}

std::vector<Bucket> gathers_of(Params const& params, Sizes const& sizes) {
    std::uint64_t const cap = std::max<std::uint64_t>(params.prefetch_elements, 1);
    return close_when_full(sizes.gathered, cap, cap);
}

void zero3_forward(Params const& params, Sizes const& sizes, CollectiveQueue& queue) {
    std::vector<Bucket> const gathers = gathers_of(params, sizes);
    for (std::size_t i = 0; i < gathers.size(); ++i) {
        queue.all_gather(fmt::format("parameters.forward.{}", i), gathers[i].elements * size_of(params.element),
                         params.element);
    }
    queue.wait_for_all();
}

/// A bucket leaves when the last of its gradients exists, which needs the parameters gathered before.
void zero3_backward(Params const& params, Sizes const& sizes, CollectiveQueue& queue) {
    std::vector<Bucket> const gathers = gathers_of(params, sizes);
    std::vector<Bucket> const buckets = close_before_overflow(sizes.plain, params.bucket_elements);
    std::size_t gather = 0;
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
        for (; gather < gathers.size() && gathers[gather].first <= buckets[bucket].last; ++gather) {
            queue.all_gather(fmt::format("parameters.backward.{}", gather),
                             gathers[gather].elements * size_of(params.element), params.element);
        }
        queue.reduce_scatter(fmt::format("gradients.{}", bucket),
                             sum(sizes.whole, buckets[bucket]) * size_of(params.gradient_element),
                             params.gradient_element);
    }
    queue.wait_for_all();
}

/// Index: unit. Elements with padding.
std::vector<std::uint64_t> unit_sizes(Params const& params) {
    std::vector<std::uint64_t> units(1);
    for (ParameterTensor const& tensor : params.model.tensors) {
        units.resize(std::max<std::size_t>(units.size(), tensor.unit + std::size_t{1}));
        units[tensor.unit] += tensor.elements;
    }
    for (std::uint64_t& elements : units) {
        elements = padded(elements, params.ranks());
    }
    return units;
}

}  // namespace

Plan zero3_plan(Params const& params, WorldShape const& world, Rank me) {
    CollectiveQueue queue = queue_of(params, world, me);
    Sizes const forward(params, false);
    Sizes const backward(params, true);
    for (int microbatch = 0; microbatch < params.microbatches; ++microbatch) {
        queue.microbatch(microbatch);
        zero3_forward(params, forward, queue);
        zero3_backward(params, backward, queue);
    }
    queue.microbatch(-1);
    queue.all_reduce("overflow", 1, Element::byte, Reduction::max);
    queue.wait_for_all();
    std::uint64_t const all = std::accumulate(forward.whole.begin(), forward.whole.end(), std::uint64_t{0});
    std::uint64_t const regathered =
        std::accumulate(forward.gathered.begin(), forward.gathered.end(), std::uint64_t{0});
    if (all > regathered) {
        queue.all_gather("parameters.persistent", (all - regathered) * size_of(params.element), params.element);
    }
    return std::move(queue).finish();
}

Plan fsdp_plan(Params const& params, WorldShape const& world, Rank me) {
    CollectiveQueue queue = queue_of(params, world, me);
    std::vector<std::uint64_t> const units = unit_sizes(params);
    for (int microbatch = 0; microbatch < params.microbatches; ++microbatch) {
        queue.microbatch(microbatch);
        for (std::size_t unit = 0; unit < units.size(); ++unit) {
            if (units[unit] > 0) {
                queue.all_gather(fmt::format("parameters.forward.{}", unit), units[unit] * size_of(params.element),
                                 params.element);
            }
        }
        queue.wait_for_all();
        for (std::size_t unit = units.size(); unit-- > 0;) {
            if (unit > 0 && params.reshard) {
                queue.all_gather(fmt::format("parameters.backward.{}", unit), units[unit] * size_of(params.element),
                                 params.element);
            }
            if (units[unit] > 0) {
                queue.reduce_scatter(fmt::format("gradients.{}", unit), units[unit] * size_of(params.gradient_element),
                                     params.gradient_element);
            }
        }
        queue.wait_for_all();
    }
    return std::move(queue).finish();
}

}  // namespace dlmb::dp_gradients
