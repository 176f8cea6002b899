// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/validation/bit_patterns.hpp"

#include "common/backend_kit/element_codec.hpp"
#include "common/base/clock.hpp"
#include "common/base/philox.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dlmb::measure {
namespace {

/// So large that 1 is lost beside it, and so small that the sums of many ranks are finite.
double large_of(Element element) {
    switch (element) {
    case Element::fp64:
        return 0x1p56;
    case Element::fp32:
        return 0x1p27;
    case Element::bf16:
    case Element::fp16:
        return 0x1p12;
    case Element::fp8:
        return 0x1p5;
    default:
        return 0;
    }
}

/// Places of a sum: this rank's input, and the result.
struct Sum {
    Region input;
    Region output;
    Bytes output_bytes = 0;  // 0: this rank gets none
    std::vector<std::byte> operands;
};

/// Element by element 2^k, a small number and -2^k, begun elsewhere by each member.
std::vector<std::byte> operands_of(Element element, Bytes bytes, std::size_t member) {
    std::vector<std::byte> operands(bytes);
    with_codec(element, [&](auto codec) {
        using Codec = decltype(codec);
        using Storage = typename Codec::Storage;
        double const large = large_of(element);
        for (std::size_t i = 0; i < bytes / sizeof(Storage); ++i) {
            std::size_t const turn = (i + member) % 3;
            double const small = 1 + static_cast<double>((7 * i + member) % 5);
            double const value = turn == 0 ? large : turn == 1 ? small : -large;
            Storage const stored = Codec::store(static_cast<typename Codec::Value>(value));
            std::memcpy(operands.data() + i * sizeof(Storage), &stored, sizeof(Storage));
        }
    });
    return operands;
}

std::vector<Sum> sums_of(Plan const& plan) {
    std::vector<Sum> sums;
    for (Step const& each : plan.steps) {
        auto const* step = std::get_if<Collective>(&each.operation);
        if (step != nullptr && reduces(step->kind) && step->reduction == Reduction::sum &&
            large_of(step->element) > 0) {
            auto const member = rank_in(plan.groups.at(step->group), plan.me).value();
            Sum& sum =
                sums.emplace_back(Sum{step->send, step->recv, step->bytes,
                                      operands_of(step->element, step->bytes, static_cast<std::size_t>(member))});
            sum.output_bytes = sides_of(plan, *step).received;
        }
    }
    return sums;
}

void wait_for(Nanoseconds ns) {
    Nanoseconds const end = now_ns() + ns;
    while (now_ns() < end) {
    }
}

}  // namespace

std::uint64_t count_bit_patterns(Bootstrap& bootstrap, MemorySpace& memory, Buffers const& buffers, Plan const& plan,
                                 CompiledPlan& compiled, std::uint64_t iterations, std::uint64_t seed,
                                 std::function<void()> const& touch) {
    std::vector<Sum> const sums = sums_of(plan);
    if (!any_rank(bootstrap, !sums.empty())) {
        return 0;
    }
    auto const at = [&](Region const& region) { return buffers.base.at(region.buffer) + region.offset; };
    std::set<std::size_t> seen;  // hashes: results may have gigabytes
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        for (Sum const& sum : sums) {
            memory.copy_in(at(sum.input), sum.operands.data(), sum.operands.size());
        }
        auto const word =
            philox({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(bootstrap.rank())}, seed).front();
        bootstrap.barrier();
        wait_for(below(word, static_cast<std::uint32_t>(most_jitter_ns)));
        compiled.launch();
        compiled.finish();
        std::string results;
        for (Sum const& sum : sums) {
            std::size_t const begin = results.size();
            results.resize(begin + sum.output_bytes);
            memory.copy_out(reinterpret_cast<std::byte*>(results.data()) + begin, at(sum.output), sum.output_bytes);
        }
        seen.insert(std::hash<std::string>{}(results));
        bootstrap.barrier();  // a peer that is ahead must not write into results that are still being read
        touch();
    }
    return static_cast<std::uint64_t>(reduce_over_ranks(bootstrap, static_cast<std::int64_t>(seen.size()), Fold::max));
}

}  // namespace dlmb::measure
