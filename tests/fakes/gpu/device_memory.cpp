// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/device_memory.hpp"

#include "tests/fakes/gpu/pinned_memory.hpp"
#include "tests/fakes/gpu/settings.hpp"
#include "tests/fakes/gpu/wrong_use.hpp"

#include <fmt/core.h>

#include <array>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace dlmb::fake_gpu {
namespace {

thread_local int device_of_thread = 0;

constexpr std::size_t page = 4096;
constexpr std::size_t range_bytes = device_bytes * default_devices;

struct Memory {
    Memory() {
        void* const data =
            mmap(nullptr, 3 * range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (data == MAP_FAILED) {
            wrong_use("cannot reserve addresses for device memory");
        }
        device = static_cast<std::byte*>(data);
        managed = device + range_bytes;
        hidden = managed + range_bytes;
    }
    [[nodiscard]] bool in_device(void const* address) const { return address >= device && address < managed; }
    [[nodiscard]] std::byte* start(Kind kind) const { return kind == Kind::managed ? managed : device; }

    std::byte* device;
    std::byte* managed;
    std::byte* hidden;  // the bytes behind the addresses of `device` when they are protected
    std::mutex mutex;
    std::map<std::byte const*, Block> blocks;
    std::array<std::size_t, default_devices> used{};
};

Memory& memory() {
    static auto* const only = new Memory;  // threads of streams outlive static objects
    return *only;
}

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page - 1) / page * page;
}

/// The first gap that holds the pages and one that stays unusable behind them.
std::byte* find_gap(Memory const& all, Kind kind, std::size_t pages) {
    std::byte* place = all.start(kind);
    for (auto block = all.blocks.lower_bound(place); block != all.blocks.end(); ++block) {
        if (block->second.data >= place + pages + page) {
            break;
        }
        place = block->second.data + whole_pages(block->second.bytes) + page;
    }
    return place + pages + page <= all.start(kind) + range_bytes ? place : nullptr;
}

}  // namespace

int thread_device() {
    return device_of_thread;
}

void set_thread_device(int device) {
    device_of_thread = device;
}

std::byte* view(void* address) {
    auto* const place = static_cast<std::byte*>(address);
    Memory const& all = memory();
    return memory_is_protected() && all.in_device(place) ? place + (all.hidden - all.device) : place;
}

std::byte const* view(void const* address) {
    return view(const_cast<void*>(address));
}

std::byte* allocate(std::size_t bytes, Kind kind) {
    Memory& all = memory();
    std::lock_guard const lock(all.mutex);
    int const device = thread_device();
    std::size_t const pages = whole_pages(bytes);
    std::size_t& used = all.used.at(static_cast<std::size_t>(device));
    if (bytes == 0 || bytes > device_bytes || pages > device_bytes - used) {
        return nullptr;
    }
    std::byte* const data = find_gap(all, kind, pages);
    if (data == nullptr || mprotect(view(data), pages, PROT_READ | PROT_WRITE) != 0) {
        return nullptr;
    }
    used += pages;
    all.blocks[data] = {data, bytes, kind, device};
    return data;
}

bool release(void* data) {
    Memory& all = memory();
    std::lock_guard const lock(all.mutex);
    auto const found = all.blocks.find(static_cast<std::byte*>(data));
    if (found == all.blocks.end()) {
        return false;
    }
    Block const block = found->second;
    std::size_t const pages = whole_pages(block.bytes);
    madvise(view(data), pages, MADV_DONTNEED);
    mprotect(view(data), pages, PROT_NONE);
    all.used.at(static_cast<std::size_t>(block.device)) -= pages;
    all.blocks.erase(found);
    return true;
}

std::optional<Block> find_block(void const* address) {
    Memory& all = memory();
    std::lock_guard const lock(all.mutex);
    auto const* const place = static_cast<std::byte const*>(address);
    auto next = all.blocks.upper_bound(place);
    if (next == all.blocks.begin()) {
        return std::nullopt;
    }
    Block const& block = std::prev(next)->second;
    return place < block.data + block.bytes ? std::optional(block) : std::nullopt;
}

std::size_t free_bytes(int device) {
    Memory& all = memory();
    std::lock_guard const lock(all.mutex);
    return device_bytes - all.used.at(static_cast<std::size_t>(device));
}

void require_device_memory(void const* data, std::size_t bytes, char const* what) {
    if (bytes == 0) {
        return;
    }
    auto const block = find_block(data);
    if (!block) {
        wrong_use(fmt::format("{}: {} is not device memory", what, data));
    }
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(data) - block->data);
    if (bytes > block->bytes - offset) {
        wrong_use(fmt::format("{}: {} B from byte {} of an allocation of {} B", what, bytes, offset, block->bytes));
    }
}

void require_reachable_memory(void const* data, std::size_t bytes, char const* what) {
    if (bytes > 0 && !is_pinned(data, bytes)) {
        require_device_memory(data, bytes, what);
    }
}

}  // namespace dlmb::fake_gpu

extern "C" bool dlmb_fake_gpu_is_device(void const* address);
bool dlmb_fake_gpu_is_device(void const* address) {
    auto const block = dlmb::fake_gpu::find_block(address);
    return block && block->kind != dlmb::fake_gpu::Kind::managed;
}

extern "C" void* dlmb_fake_gpu_view(void* address);
void* dlmb_fake_gpu_view(void* address) {
    return dlmb::fake_gpu::view(address);
}
