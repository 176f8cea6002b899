// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the result per second that host_reduce makes, per element and reduction, next to memcpy on as many bytes.
// One thread; best of the repetitions. The first size stays in the L2 cache, the second in none.
#include "common/backend_kit/host_reduce.hpp"
#include "common/base/clock.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace dlmb::benchmark {
namespace {

struct Operands {
    // Both have the bytes of 1.0 in some format, so that no product leaves the fast path of the processor.
    explicit Operands(Bytes bytes) : into(bytes, std::byte{0x3C}), operand(bytes, std::byte{0x3C}) {}
    std::vector<std::byte> into;
    std::vector<std::byte> operand;
};

/// 10^9 bytes per second.
template <class Work>
double best_rate(Bytes bytes, Work const& work) {
    constexpr Bytes bytes_per_repetition = Bytes{64} << 20;
    constexpr int repetitions = 7;
    auto const calls = static_cast<int>(std::max(Bytes{1}, bytes_per_repetition / bytes));
    Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        Nanoseconds const start = now_ns();
        for (int call = 0; call < calls; ++call) {
            work();
        }
        best = std::min(best, now_ns() - start);
    }
    return static_cast<double>(bytes) * calls / static_cast<double>(best);
}

void print_rates(Bytes bytes) {
    Operands operands(bytes);
    fmt::print("{} B per operand, GB/s of result: memcpy {:.1f}\n{:>8}", bytes,
               best_rate(bytes, [&] { std::memcpy(operands.into.data(), operands.operand.data(), bytes); }), "element");
    constexpr Reduction reductions[] = {Reduction::sum, Reduction::prod, Reduction::min, Reduction::max};
    for (Reduction const reduction : reductions) {
        fmt::print("{:>8}", name_of(reduction));
    }
    fmt::print("\n");
    for (Element const element : {Element::byte, Element::int8, Element::int32, Element::int64, Element::fp8,
                                  Element::fp16, Element::bf16, Element::fp32, Element::fp64}) {
        fmt::print("{:>8}", name_of(element));
        for (Reduction const reduction : reductions) {
            fmt::print("{:>8.1f}", best_rate(bytes, [&] {
                           host_reduce(operands.into.data(), operands.operand.data(), bytes, element, reduction);
                       }));
        }
        fmt::print("\n");
    }
}

}  // namespace
}  // namespace dlmb::benchmark

int main() {
    dlmb::benchmark::print_rates(dlmb::Bytes{128} << 10);
    dlmb::benchmark::print_rates(dlmb::Bytes{64} << 20);
}
