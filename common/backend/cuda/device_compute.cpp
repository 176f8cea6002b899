// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend/device_compute.hpp"

#include "common/backend/cuda/matrix_product.hpp"
#include "common/backend/cuda/spin_kernel.hpp"
#include "common/memory/cuda/cuda_check.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb {
namespace {

/// Device time of what `queue_work` queues, after as much of it to let clocks rise.
template <class Work>
double measured_ns(Work const& queue_work) {
    DeviceQueue queue;
    DeviceEvent before;
    DeviceEvent after;
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

MatrixProduct& matrix_product() {
    static MatrixProduct product;
    return product;
}

double product_ns() {
    constexpr int calibration_products = 100;
    static double const measured = measured_ns([](cudaStream_t stream) {
                                       for (int i = 0; i < calibration_products; ++i) {
                                           matrix_product().queue(stream);
                                       }
                                   }) /
                                   calibration_products;
    return measured;
}

}  // namespace

DeviceCompute::DeviceCompute(Compute const& step) : step_(step) {
    auto const busy_ns = static_cast<double>(step.busy_ns);
    if (step.kind == ComputeKind::gemm) {
        products_ = std::max(1U, static_cast<unsigned>(std::lround(busy_ns / product_ns())));
    } else {
        cycles_ = std::llround(busy_ns * cycles_per_ns());
    }
}

void DeviceCompute::start(DeviceQueue const& queue) const {
    cudaStream_t const stream = stream_of(queue.native());
    if (step_.kind == ComputeKind::busy) {
        queue_spin(cycles_, stream);
    }
    for (unsigned i = 0; i < products_; ++i) {
        matrix_product().queue(stream);
    }
}

}  // namespace dlmb
