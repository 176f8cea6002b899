// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/remote_memory.hpp"

#include "common/memory/host_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace dlmb::ucx {
namespace {

/// A rank tells it another one, and the key's bytes behind it. Travels as bytes between ranks of one launch, hence of
/// one build.
struct PlaceInfo {
    std::uint64_t name = 0;
    std::uint64_t address = 0;
    std::uint64_t key_bytes = 0;
};

Blob key_of(ucp_context_h context, ucp_mem_h memory) {
    void* packed = nullptr;
    std::size_t size = 0;
    check(ucp_rkey_pack(context, memory, &packed, &size), "ucp_rkey_pack");
    auto const* const bytes = static_cast<std::byte const*>(packed);
    Blob key(bytes, bytes + size);
    ucp_rkey_buffer_release(packed);
    return key;
}

/// All memory of this kind (-d ucx) in this process, whose ranks may be threads. It belongs to the context by which
/// puts and gets with the user's settings are made (Workers::remote_context()).
class Allocations {
public:
    std::byte* add(ContextHandle context, Bytes bytes) {
        MappedMemory memory = allocate_mapped(context.get(), bytes);
        std::byte* const data = address_of(memory.get());
        std::lock_guard const lock(mutex_);
        all_.emplace(data, OwnedMemory{std::move(context), std::move(memory), bytes});
        return data;
    }
    void remove(std::byte const* data) {
        std::lock_guard const lock(mutex_);
        all_.erase(data);
    }
    /// The memory in which `data` lies, if it is of this context; else nullptr.
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
    struct OwnedMemory {
        ContextHandle context;  // outlives its memory
        MappedMemory memory;
        Bytes bytes;
    };
    std::mutex mutex_;
    std::map<std::byte const*, OwnedMemory> all_;
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

std::byte* RemoteMemory::allocate(Bytes bytes) {
    MappedMemory memory = allocate_mapped(worker_.context(), std::max<Bytes>(bytes, 1));
    std::byte* const data = address_of(memory.get());
    std::memset(data, 0, bytes);
    Blob key = key_of(worker_.context(), memory.get());
    mapped_[data] = {std::move(memory), std::move(key)};
    return data;
}

Blob const& RemoteMemory::key_to(std::byte* data, Bytes bytes) {
    auto const known = mapped_.find(data);
    if (known != mapped_.end()) {
        return known->second.key;
    }
    MappedMemory mapped(nullptr, UnmapMemory{worker_.context()});
    ucp_mem_h memory = allocations().find(worker_.context(), data);
    if (memory == nullptr) {
        mapped = map_memory(worker_.context(), data, bytes);
        memory = mapped.get();
    }
    return mapped_.emplace(data, Mapped{std::move(mapped), key_of(worker_.context(), memory)}).first->second.key;
}

void RemoteMemory::tell(Rank peer, std::uint64_t name, std::byte const* data, Blob const& key) {
    PlaceInfo const info{name, reinterpret_cast<std::uint64_t>(data), key.size()};
    auto const* const bytes = reinterpret_cast<std::byte const*>(&info);
    Blob& blob = told_[peer];
    blob.insert(blob.end(), bytes, bytes + sizeof info);
    blob.insert(blob.end(), key.begin(), key.end());
}

void RemoteMemory::exchange() {
    std::vector<PeerBlob> outgoing;
    for (auto& [peer, blob] : std::exchange(told_, {})) {
        outgoing.push_back({peer, std::move(blob)});
    }
    for (PeerBlob const& each : worker_.bootstrap().exchange(std::move(outgoing))) {
        read(each);
    }
}

void RemoteMemory::read(PeerBlob const& received) {
    for (std::size_t at = 0; at < received.blob.size();) {
        PlaceInfo info;
        std::memcpy(&info, received.blob.data() + at, sizeof info);
        at += sizeof info;
        Place place{info.address, nullptr};
        if (info.key_bytes > 0) {
            check(ucp_ep_rkey_unpack(worker_.endpoint(received.peer), received.blob.data() + at, &place.key),
                  "ucp_ep_rkey_unpack");
            keys_.emplace_back(place.key);
        }
        at += info.key_bytes;
        places_[{received.peer, info.name}] = place;
    }
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
