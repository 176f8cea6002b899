// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/in_process/aggregator.hpp"

#include "common/backend_kit/host_reduce.hpp"

#include <algorithm>

namespace dlmb::in_process {

Aggregator::Aggregator(Aggregation how, std::size_t hosts, Bytes bytes, Element element, Reduction reduction)
    : how_(how), hosts_(hosts), bytes_(bytes), element_(element), reduction_(reduction), traffic_(hosts) {
    for (PartialSums& each : buffers_) {
        each.sums.resize(how == Aggregation::tree ? hosts * bytes : bytes);
    }
}

void Aggregator::send(std::size_t place, std::uint64_t iteration, std::byte const* operand) {
    PartialSums& into = buffers_[iteration % 2];
    if (how_ == Aggregation::tree) {
        std::copy_n(operand, bytes_, into.sums.data() + place * bytes_);  // nobody else's
    }
    traffic_[place].sent += bytes_;
    std::lock_guard const lock(mutex_);
    if (how_ == Aggregation::single) {
        add(into, operand);
    }
    if (++into.arrived == hosts_) {
        if (how_ == Aggregation::tree) {
            join(into);
        }
        into.arrived = 0;
        joined_[iteration % 2].store(iteration, std::memory_order_release);
    }
}

void Aggregator::receive(std::size_t place, std::uint64_t iteration, std::byte* result) {
    std::copy_n(buffers_[iteration % 2].sums.data(), bytes_, result);
    traffic_[place].received += bytes_;
}

void Aggregator::add(PartialSums& into, std::byte const* operand) {
    if (into.arrived == 0) {
        std::copy_n(operand, bytes_, into.sums.data());
    } else {
        host_reduce(into.sums.data(), operand, bytes_, element_, reduction_);
    }
}

/// Neighbours first: ((0 + 1) + (2 + 3)) + ((4 + 5) + 6).
void Aggregator::join(PartialSums& into) {
    for (std::size_t width = 1; width < hosts_; width *= 2) {
        for (std::size_t left = 0; left + width < hosts_; left += 2 * width) {
            host_reduce(into.sums.data() + left * bytes_, into.sums.data() + (left + width) * bytes_, bytes_, element_,
                        reduction_);
        }
    }
}

}  // namespace dlmb::in_process
