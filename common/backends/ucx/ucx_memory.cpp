// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucx_memory.hpp"

#include "common/backends/ucx/worker.hpp"
#include "common/memory/host_space.hpp"

#include <fmt/core.h>

#include <map>
#include <mutex>

namespace dlmb::ucx {
namespace {

/// Of all ranks of this process: they may be threads.
class Allocations {
public:
    std::byte* add(ContextHandle context, Bytes bytes) {
        MappedMemory memory = allocate_mapped(context.get(), bytes);
        std::byte* const data = address_of(memory.get());
        std::lock_guard const lock(mutex_);
        all_.emplace(data, Owned{std::move(context), std::move(memory), bytes});
        return data;
    }
    void remove(std::byte const* data) {
        std::lock_guard const lock(mutex_);
        all_.erase(data);
    }
    [[nodiscard]] ucp_mem_h find(ucp_context_h context, std::byte const* data) {
        std::lock_guard const lock(mutex_);
        auto const behind = all_.upper_bound(data);
        if (behind == all_.begin()) {
            return nullptr;
        }
        auto const& [begin, owned] = *std::prev(behind);
        return data < begin + owned.bytes && owned.context.get() == context ? owned.memory.get() : nullptr;
    }

private:
    struct Owned {
        ContextHandle context;  // outlives its memory
        MappedMemory memory;
        Bytes bytes;
    };
    std::mutex mutex_;
    std::map<std::byte const*, Owned> all_;
};

Allocations& allocations() {
    static Allocations all;
    return all;
}

void release(std::byte* data, Bytes /*bytes*/) {
    allocations().remove(data);
}

/// Everything but the allocation is as for other host memory.
class UcxMemory final : public HostSpace {
public:
    explicit UcxMemory(ContextHandle context) : context_(std::move(context)) {}
    [[nodiscard]] MemoryKind kind() const override { return MemoryKind::ucx; }
    [[nodiscard]] Allocation allocate(Bytes bytes) override {
        if (bytes == 0) {
            return {};
        }
        return {allocations().add(context_, bytes), bytes, release};
    }

private:
    ContextHandle context_;
};

}  // namespace

ucp_mem_h allocated_memory(ucp_context_h context, std::byte const* data) {
    return allocations().find(context, data);
}

std::unique_ptr<MemorySpace> make_memory(std::string& why_not) {
    Workers* const workers = Workers::of_this_thread();
    if (workers == nullptr) {
        why_not = fmt::format("{} memory: backend ucx allocates it; measure that one, too (--backend ucx,...)",
                              name_of(MemoryKind::ucx));
        return nullptr;
    }
    try {
        return std::make_unique<UcxMemory>(workers->remote_context());
    } catch (Error const& error) {
        why_not = fmt::format("{} memory: {}", name_of(MemoryKind::ucx), error.what());
        return nullptr;
    }
}

}  // namespace dlmb::ucx
