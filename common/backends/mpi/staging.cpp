// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/staging.hpp"

#include "common/base/error.hpp"
#include "common/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <unistd.h>

namespace dlmb::mpi {
namespace {

/// Sizes of draws differ a little: an eighth to spare lets most of them share one image.
Bytes with_room(Bytes bytes) {
    constexpr Bytes page = 4096;
    return (bytes + bytes / 8 + page - 1) / page * page;
}

bool node_has(Bytes bytes) {
    long const pages = sysconf(_SC_AVPHYS_PAGES);
    long const page = sysconf(_SC_PAGESIZE);
    return pages <= 0 || page <= 0 || bytes / static_cast<Bytes>(page) < static_cast<Bytes>(pages);
}

}  // namespace

std::shared_ptr<Allocation> StagingBuffers::find(std::byte const* device, Bytes bytes) const {
    auto const image = images_.find(device);
    std::shared_ptr<Allocation> memory = image == images_.end() ? nullptr : image->second.lock();
    return memory != nullptr && memory->bytes() >= bytes ? memory : nullptr;
}

HostImages StagingBuffers::of(Plan const& plan, Buffers const& device, int local_ranks, std::string& why_not) {
    std::erase_if(images_, [](auto const& image) { return image.second.expired(); });
    Bytes missing = 0;
    for (BufferId id = 0; id < plan.buffers.size(); ++id) {
        missing += find(device.base[id], plan.buffers[id].bytes) ? 0 : with_room(plan.buffers[id].bytes);
    }
    if (!node_has(missing * static_cast<Bytes>(local_ranks))) {
        why_not =
            fmt::format("needs {} of pinned host memory per rank, more than this node has free", human_bytes(missing));
        return {};
    }
    if (pinned_ == nullptr && (pinned_ = make_memory_space(MemoryKind::pinned, why_not)) == nullptr) {
        return {};
    }
    HostImages images;
    try {
        for (BufferId id = 0; id < plan.buffers.size(); ++id) {
            Bytes const bytes = plan.buffers[id].bytes;
            std::shared_ptr<Allocation> memory = find(device.base[id], bytes);
            if (memory == nullptr) {
                memory = std::make_shared<Allocation>(pinned_->allocate(with_room(bytes)));
                images_[device.base[id]] = memory;
            }
            images.host.base.push_back(memory->data());
            images.memory.push_back(std::move(memory));
        }
    } catch (Error const& error) {  // a limit on locked memory; every rank has to hear of it
        why_not = error.what();
        return {};
    }
    return images;
}

Bytes StagingBuffers::bytes() const {
    Bytes sum = 0;
    for (auto const& [device, image] : images_) {
        std::shared_ptr<Allocation> const memory = image.lock();
        sum += memory == nullptr ? 0 : memory->bytes();
    }
    return sum;
}

std::vector<std::shared_ptr<Turn>> turns_of(Plan const& plan) {
    Precedence const precedence = precedence_of(plan);
    std::vector<std::shared_ptr<Turn>> turns;
    for (std::vector<StepId> const& before : precedence.started) {
        turns.push_back(before.empty() ? std::make_shared<Turn>() : turns[before.front()]);
    }
    return turns;
}

}  // namespace dlmb::mpi
