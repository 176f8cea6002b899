// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb {
namespace {

/// Device time of what `queue_work` queues, after as much of it to let clocks rise.
template <class Work>
double measured_ns(Work const& queue_work) {
    DeviceQueue queue;
    TimedEvent before;
    TimedEvent after;
    queue_work(stream_of(queue.native()));
    before.record(queue);
    queue_work(stream_of(queue.native()));
    after.record(queue);
    queue.drain();
    return std::max(1.0, static_cast<double>(after.since(before)));
}

double cycles_per_ns() {
    constexpr long long calibration_cycles = 20'000'000;  // about 10 ms
    static double const measured = static_cast<double>(calibration_cycles) /
                                   measured_ns([](cudaStream_t stream) { queue_spin(calibration_cycles, stream); });
    return measured;
}

double time_of(MatrixProduct& product) {
    constexpr double calibration_ns = 20e6;
    constexpr double most_products = 100;
    auto const time_of_some = [&](int count) {
        return measured_ns([&](cudaStream_t stream) {
                   for (int i = 0; i < count; ++i) {
                       product.queue(stream);
                   }
               }) /
               count;
    };
    return time_of_some(static_cast<int>(std::clamp(calibration_ns / time_of_some(1), 1.0, most_products)));
}

struct MeasuredProduct {
    explicit MeasuredProduct(ProductShape const& shape) : product(shape), time_ns(time_of(product)) {}
    MatrixProduct product;
    double time_ns;
};

/// The latest of this rank is kept: what is compared with each other multiplies equally often.
std::shared_ptr<MeasuredProduct> product_of(ProductShape const& shape) {
    thread_local std::shared_ptr<MeasuredProduct> latest;
    if (latest == nullptr || latest->product.shape() != shape) {
        latest.reset();
        latest = std::make_shared<MeasuredProduct>(shape);
    }
    return latest;
}

}  // namespace

DeviceCompute::DeviceCompute(Compute const& step, Buffers const& buffers) {
    if (step.conversion) {
        queue_work_ = [rows = std::make_shared<DeviceConversion>(*step.conversion, buffers)](DeviceQueue const& queue) {
            rows->queue(stream_of(queue.native()));
        };
    } else if (step.rearrangement) {
        queue_work_ = [rows = std::make_shared<DeviceRearrangement>(*step.rearrangement, buffers)](
                          DeviceQueue const& queue) { rows->queue(stream_of(queue.native())); };
    } else if (step.product) {
        auto const measured = product_of(*step.product);
        queue_work_ = [measured, products = products_in(step.busy_ns, measured->time_ns)](DeviceQueue const& queue) {
            for (std::uint64_t i = 0; i < products; ++i) {
                measured->product.queue(stream_of(queue.native()));
            }
        };
    } else {
        long long const cycles = std::llround(static_cast<double>(step.busy_ns) * cycles_per_ns());
        queue_work_ = [cycles](DeviceQueue const& queue) { queue_spin(cycles, stream_of(queue.native())); };
    }
}

}  // namespace dlmb
