// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/scratch.hpp"

#include "common/base/error.hpp"
#include "common/memory/cuda_memory.hpp"
#include "common/memory/host_space.hpp"
#include "common/plan/precedence.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

/// Memory for steps each of which waits for the one before it.
struct Shelf {
    StepId latest = 0;
    Bytes bytes = 0;
};

constexpr Bytes page = 4096;

}  // namespace

ScratchLayout lay_out_scratch(Plan const& plan, std::vector<Bytes> const& needed) {
    std::vector<Shelf> shelves;
    std::vector<std::size_t> shelf_of(needed.size());
    for (StepId step = 0; step < needed.size(); ++step) {
        if (needed[step] == 0) {
            continue;
        }
        auto free = std::find_if(shelves.begin(), shelves.end(),
                                 [&](Shelf const& shelf) { return waits_for(plan, step, shelf.latest); });
        if (free == shelves.end()) {
            free = shelves.insert(free, Shelf{});
        }
        *free = {step, std::max(free->bytes, (needed[step] + page - 1) / page * page)};
        shelf_of[step] = static_cast<std::size_t>(free - shelves.begin());
    }
    ScratchLayout layout;
    std::vector<Bytes> begins;
    for (Shelf const& shelf : shelves) {
        begins.push_back(layout.bytes);
        layout.bytes += shelf.bytes;
    }
    for (StepId step = 0; step < needed.size(); ++step) {
        layout.offsets.push_back(needed[step] == 0 ? 0 : begins[shelf_of[step]]);
    }
    return layout;
}

Allocation allocate_scratch(MemoryKind kind, Bytes bytes) {
    if (bytes == 0) {
        return {};
    }
    if (kind == MemoryKind::cuda || kind == MemoryKind::nccl) {
        return allocate_on_device(bytes);
    }
    if (kind == MemoryKind::managed) {
        std::string why_not;
        auto const space = make_memory_space(kind, why_not);
        return space == nullptr ? throw Error(why_not) : space->allocate(bytes);
    }
    Allocation memory = allocate_host(bytes);
    std::memset(memory.data(), 0, bytes);  // its pages are this rank's, not those of the peer that writes first
    return memory;
}

}  // namespace dlmb::ucx
