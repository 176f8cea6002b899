// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/kernels.hpp"

#include "common/backend_kit/block_codec.hpp"
#include "common/backend_kit/cuda/compute_work.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/backend_kit/reduction_payload.hpp"
#include "common/memory/device_gate.hpp"
#include "common/memory/payload.hpp"
#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace dlmb::fake_gpu {
namespace {

template <class T>
T argument(void* const* arguments, int place) {
    return *static_cast<T const*>(arguments[place]);
}

Work payload_fill(void* const* arguments) {
    auto* const data = argument<std::byte*>(arguments, 0);
    auto const bytes = argument<Bytes>(arguments, 1);
    auto const key = argument<PayloadKey>(arguments, 2);
    auto const start = argument<Bytes>(arguments, 3);
    require_reachable_memory(data, bytes, "dlmb_payload_fill, data");
    return [=] { fill_payload(view(data), bytes, key, start); };
}

Work payload_check(void* const* arguments) {
    auto const* const data = argument<std::byte const*>(arguments, 0);
    auto const bytes = argument<Bytes>(arguments, 1);
    auto const key = argument<PayloadKey>(arguments, 2);
    auto const start = argument<Bytes>(arguments, 3);
    auto* const first_wrong = argument<unsigned long long*>(arguments, 4);
    require_reachable_memory(data, bytes, "dlmb_payload_check, data");
    require_reachable_memory(first_wrong, sizeof *first_wrong, "dlmb_payload_check, first_wrong");
    return [=] {
        if (auto const mismatch = check_payload(view(data), bytes, key, start)) {
            auto& lowest = *reinterpret_cast<unsigned long long*>(view(first_wrong));
            lowest = std::min<unsigned long long>(lowest, mismatch->offset);
        }
    };
}

Work reduce(void* const* arguments) {
    auto* const to = argument<std::byte*>(arguments, 0);
    auto const* const left = argument<std::byte const*>(arguments, 1);
    auto const* const right = argument<std::byte const*>(arguments, 2);
    auto const bytes = argument<Bytes>(arguments, 3);
    auto const element = argument<Element>(arguments, 4);
    auto const reduction = argument<Reduction>(arguments, 5);
    require_reachable_memory(to, bytes, "dlmb_reduce, to");
    require_reachable_memory(left, bytes, "dlmb_reduce, left");
    require_reachable_memory(right, bytes, "dlmb_reduce, right");
    return [=] { host_reduce(view(to), view(left), view(right), bytes, element, reduction); };
}

Work reduction_check(void* const* arguments) {
    auto const* const data = argument<std::byte const*>(arguments, 0);
    auto const elements = argument<Bytes>(arguments, 1);
    auto const payload = argument<ReductionPayload>(arguments, 2);
    auto const key = argument<PayloadKey>(arguments, 3);
    auto const first = argument<std::uint64_t>(arguments, 4);
    auto* const first_wrong = argument<unsigned long long*>(arguments, 5);
    Bytes const size = size_of(payload.element());
    require_reachable_memory(data, elements * size, "dlmb_reduction_check, data");
    require_reachable_memory(first_wrong, sizeof *first_wrong, "dlmb_reduction_check, first_wrong");
    return [=] {
        std::vector<std::byte> expected(elements * size);
        payload.result(key, first, expected);
        auto const difference = std::mismatch(expected.begin(), expected.end(), view(data)).first;
        if (difference != expected.end()) {
            auto& lowest = *reinterpret_cast<unsigned long long*>(view(first_wrong));
            lowest = std::min(lowest, static_cast<unsigned long long>(difference - expected.begin()) / size);
        }
    };
}

Work reduction_input(void* const* arguments) {
    auto* const data = argument<std::byte*>(arguments, 0);
    auto const elements = argument<Bytes>(arguments, 1);
    auto const payload = argument<ReductionPayload>(arguments, 2);
    auto const key = argument<PayloadKey>(arguments, 3);
    auto const member = argument<int>(arguments, 4);
    auto const first = argument<std::uint64_t>(arguments, 5);
    Bytes const bytes = elements * size_of(payload.element());
    require_reachable_memory(data, bytes, "dlmb_reduction_input, data");
    return [=] { payload.input(key, member, first, std::span(view(data), bytes)); };
}

Work convert(void* const* arguments, char const* what) {
    auto const* const rows = argument<DeviceRows const*>(arguments, 0);
    auto const tables = argument<unsigned>(arguments, 1);
    auto const blocks = argument<std::uint64_t>(arguments, 2);
    auto const format = argument<BlockFormat>(arguments, 3);
    auto const element = argument<Element>(arguments, 4);
    auto const direction = argument<PackDirection>(arguments, 5);
    require_reachable_memory(rows, tables * sizeof(DeviceRows), what);
    return [=] {
        auto const* const table = reinterpret_cast<DeviceRows const*>(view(reinterpret_cast<std::byte const*>(rows)));
        for (unsigned i = 0; i < tables; ++i) {
            std::uint64_t const end = i + 1 < tables ? table[i + 1].first_block : blocks;
            std::uint64_t const count = table[i].row_numbers;
            auto* numbers = view(reinterpret_cast<std::byte*>(table[i].numbers));
            auto* packed = view(reinterpret_cast<std::byte*>(table[i].packed));
            for (std::uint64_t row = 0; row < (end - table[i].first_block) / format.blocks(count); ++row) {
                PackedRow const place = PackedRow::at(packed, format, count);
                if (direction == PackDirection::pack) {
                    host_pack(place, numbers, count, element, format);
                } else {
                    host_unpack(numbers, place, count, element, format);
                }
                numbers += count * size_of(element);
                packed += format.row_bytes(count);
            }
        }
    };
}

Work convert_blocks(void* const* arguments) {
    return convert(arguments, "dlmb_convert_blocks, rows");
}

Work convert_vectors(void* const* arguments) {
    return convert(arguments, "dlmb_convert_vectors, rows");
}

Work rearrange(void* const* arguments) {
    auto const* const runs = argument<DeviceRun const*>(arguments, 0);
    auto const tables = argument<unsigned>(arguments, 1);
    auto const rows = argument<std::uint64_t>(arguments, 2);
    auto const row_bytes = argument<std::uint64_t>(arguments, 3);
    require_reachable_memory(runs, tables * sizeof(DeviceRun), "dlmb_rearrange, runs");
    return [=] {
        auto const* const table = reinterpret_cast<DeviceRun const*>(view(reinterpret_cast<std::byte const*>(runs)));
        for (unsigned i = 0; i < tables; ++i) {
            std::uint64_t const end = i + 1 < tables ? table[i + 1].first_row : rows;
            for (std::uint64_t row = 0; row < end - table[i].first_row; ++row) {
                std::memcpy(view(reinterpret_cast<std::byte*>(table[i].to) + row * table[i].to_stride),
                            view(reinterpret_cast<std::byte const*>(table[i].from) + row * table[i].from_stride),
                            row_bytes);
            }
        }
    };
}

/// A cycle of this device is a nanosecond.
Work spin(void* const* arguments) {
    std::chrono::nanoseconds const duration(argument<long long>(arguments, 0));
    return [=] { std::this_thread::sleep_for(duration); };
}

/// The host opens it through memory that both see.
Work gate(void* const* arguments) {
    auto* const state = argument<GateState*>(arguments, 0);
    auto const ticket = argument<unsigned>(arguments, 1);
    std::chrono::nanoseconds const patience(argument<long long>(arguments, 2));
    require_reachable_memory(state, sizeof *state, "dlmb_gate, state");
    return [=] {
        GateState volatile* const shared = state;
        auto const end = std::chrono::steady_clock::now() + patience;
        while (shared->opened < ticket) {
            if (std::chrono::steady_clock::now() > end) {
                shared->ran_out = 1;
                return;
            }
            std::this_thread::yield();
        }
    };
}

struct Kernel {
    std::string_view name;
    Work (*bind)(void* const* arguments);
};

constexpr Kernel kernels[] = {
    {"dlmb_payload_fill", payload_fill},
    {"dlmb_payload_check", payload_check},
    {"dlmb_reduce", reduce},
    {"dlmb_reduction_check", reduction_check},
    {"dlmb_reduction_input", reduction_input},
    {"dlmb_convert_blocks", convert_blocks},
    {"dlmb_convert_vectors", convert_vectors},
    {"dlmb_rearrange", rearrange},
    {"dlmb_spin", spin},
    {"dlmb_gate", gate},
};

}  // namespace

Work kernel(std::string_view name, void* const* arguments) {
    auto const* const found =
        std::find_if(std::begin(kernels), std::end(kernels), [&](Kernel const& known) { return known.name == name; });
    if (found == std::end(kernels)) {
        wrong_use(fmt::format("kernel {} has no host version; add it to kernels.cpp", name));
    }
    return found->bind(arguments);
}

}  // namespace dlmb::fake_gpu
