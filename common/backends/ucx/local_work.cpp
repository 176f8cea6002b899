// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/local_work.hpp"

#include "common/backend_kit/device_reduction.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/ready_queue.hpp"
#include "common/memory/host_space.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

constexpr Bytes piece = Bytes{1} << 20;  // whole elements of every type
constexpr Bytes page = 4096;

/// Scratch memory of steps each of which waits for the one before it.
struct SharedScratch {
    StepId latest = 0;
    Bytes bytes = 0;
};

}  // namespace

bool do_piece(LocalWork const& work, Bytes& done) {
    Bytes const bytes = std::min(piece, work.bytes - done);
    if (work.right == nullptr) {
        std::memcpy(work.to + done, work.left + done, bytes);
    } else {
        host_reduce(work.to + done, work.left + done, work.right + done, bytes, work.element, work.reduction);
    }
    done += bytes;
    return done == work.bytes;
}

void queue_work(DeviceQueue const& queue, LocalWork const& work) {
    if (work.right == nullptr) {
        queue.copy(work.to, work.left, work.bytes);
    } else {
        device_reduce(queue, work.to, work.left, work.right, work.bytes, work.element, work.reduction);
    }
}

ScratchLayout lay_out_scratch(Plan const& plan, std::vector<Bytes> const& needed) {
    std::vector<SharedScratch> areas;
    std::vector<std::size_t> area_of(needed.size());
    for (StepId step = 0; step < needed.size(); ++step) {
        if (needed[step] == 0) {
            continue;
        }
        auto free = std::find_if(areas.begin(), areas.end(),
                                 [&](SharedScratch const& area) { return waits_for(plan, step, area.latest); });
        if (free == areas.end()) {
            free = areas.insert(free, SharedScratch{});
        }
        *free = {step, std::max(free->bytes, (needed[step] + page - 1) / page * page)};
        area_of[step] = static_cast<std::size_t>(free - areas.begin());
    }
    ScratchLayout layout;
    std::vector<Bytes> begins;
    for (SharedScratch const& area : areas) {
        begins.push_back(layout.bytes);
        layout.bytes += area.bytes;
    }
    for (StepId step = 0; step < needed.size(); ++step) {
        layout.offsets.push_back(needed[step] == 0 ? 0 : begins[area_of[step]]);
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
