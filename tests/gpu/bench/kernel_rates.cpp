// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// gpu_kernel_rates [SIZE]
//
// Bytes of device memory per second that fill, check, reduce, pack and unpack move, next to a copy within the device:
// that is the rate to compare with, as all are bound by memory. Best of the repetitions; each ends when the host knows
// that it is done. exit 77: no device
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/device_reduction.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/memory_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>

namespace dlmb::benchmark {
namespace {

constexpr int exit_skipped = 77;
constexpr Bytes default_bytes = Bytes{1} << 30;  // far above every cache

constexpr std::uint64_t row_numbers = 7168;  // the hidden size of DeepSeek-V3

/// 10^9 bytes per second.
double best_rate(Bytes moved, std::function<void()> const& work) {
    constexpr int repetitions = 10;
    Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        Nanoseconds const start = now_ns();
        work();
        best = std::min(best, now_ns() - start);
    }
    return static_cast<double>(moved) / static_cast<double>(best);
}

void print_rates(MemorySpace& space, Bytes bytes) {
    constexpr PayloadKey key{1};
    DeviceQueue const queue;
    Allocation const first = space.allocate(bytes);
    Allocation const second = space.allocate(bytes);
    space.fill(first.data(), bytes, key);
    double const copy = best_rate(2 * bytes, [&] {
        queue.copy(second.data(), first.data(), bytes);
        queue.drain();
    });
    auto const print = [&](std::string_view name, double rate) {
        fmt::print("{:<14} {:>10.1f} GB/s {:>8.2f} of a copy\n", name, rate, rate / copy);
        std::fflush(stdout);
    };
    fmt::print("{} B per operand; bytes read and written per second\n", bytes);
    print("copy", copy);
    print("fill", best_rate(bytes, [&] { space.fill(first.data(), bytes, key); }));
    print("check", best_rate(bytes, [&] {
              if (space.check(first.data(), bytes, key)) {
                  throw Error("the device's own payload is wrong");
              }
          }));
    for (Element const element : {Element::fp8, Element::bf16, Element::fp32, Element::fp64}) {
        space.fill(second.data(), bytes, PayloadKey{2});
        print(fmt::format("reduce {}", name_of(element)), best_rate(3 * bytes, [&] {
                  device_reduce(queue, second.data(), second.data(), first.data(), bytes, element, Reduction::max);
                  queue.drain();
              }));
    }
}

/// Rows of bf16 in `bytes`, and the same rows packed.
void print_conversions(MemorySpace& space, Bytes bytes) {
    std::uint64_t const rows = bytes / (row_numbers * size_of(Element::bf16));
    DeviceQueue const queue;
    Allocation const numbers = space.allocate(bytes);
    Allocation const packed = space.allocate(bytes);
    space.fill(numbers.data(), bytes, PayloadKey{1});
    Buffers const buffers{MemoryKind::cuda, {numbers.data(), packed.data()}};
    for (char const* const name : {"mxfp8", "fp8:128:fp32", "int4:32:fp32", "mxfp4"}) {
        BlockFormat const format = block_format_named(name).value();
        for (PackDirection const direction : {PackDirection::pack, PackDirection::unpack}) {
            Compute step;
            step.conversion = Conversion{direction, format, Element::bf16, 0, 1, {{rows, row_numbers, 0, 0}}};
            DeviceCompute const conversion(step, buffers);
            double const rate =
                best_rate(rows * (row_numbers * size_of(Element::bf16) + format.row_bytes(row_numbers)), [&] {
                    conversion.start(queue);
                    queue.drain();
                });
            fmt::print("{:<6} {:<14} {:>10.1f} GB/s\n", name_of(direction), name, rate);
            std::fflush(stdout);
        }
    }
}

int run(Bytes bytes) {
    Devices const devices = find_devices();
    if (devices.list.empty()) {
        fmt::print("skipped: {}\n", devices.why_none);
        return exit_skipped;
    }
    use_device(devices.list.front().index);
    std::string why_not;
    auto const space = make_memory_space(MemoryKind::cuda, why_not);
    if (space == nullptr) {
        throw Error(why_not);
    }
    fmt::print("{}\n", devices.list.front().name);
    print_rates(*space, bytes);
    print_conversions(*space, bytes);
    return 0;
}

}  // namespace
}  // namespace dlmb::benchmark

int main(int count, char** arguments) {
    try {
        return dlmb::benchmark::run(count > 1 ? dlmb::parse_bytes(arguments[1], "SIZE")
                                              : dlmb::benchmark::default_bytes);
    } catch (std::exception const& error) {
        fmt::print(stderr, "gpu_kernel_rates: error: {}\n", error.what());
        return 1;
    }
}
