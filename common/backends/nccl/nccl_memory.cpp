// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Device memory that NCCL allocates: what its symmetric windows take. Everything but the allocation is as for memory of
// the CUDA runtime.
#include "common/backends/nccl/check.hpp"
#include "common/memory/devices.hpp"
#include "common/memory/memory_space.hpp"

#include <fmt/core.h>

namespace dlmb::nccl {
namespace {

void release(std::byte* data, Bytes /*bytes*/) {
    ncclMemFree(data);
}

class NcclMemory final : public MemorySpace {
public:
    explicit NcclMemory(std::unique_ptr<MemorySpace> device) : device_(std::move(device)) {}

    [[nodiscard]] MemoryKind kind() const override { return MemoryKind::nccl; }

    [[nodiscard]] Allocation allocate(Bytes bytes) override {
        if (bytes == 0) {
            return {};
        }
        void* data = nullptr;
        nccl::check(ncclMemAlloc(&data, bytes),
                    fmt::format("nccl memory: ncclMemAlloc({} B, {})", bytes, human_bytes(bytes)));
        return {static_cast<std::byte*>(data), bytes, release};
    }
    void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start) override {
        device_->fill(data, bytes, key, start);
    }
    [[nodiscard]] std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                Bytes start) override {
        return device_->check(data, bytes, key, start);
    }
    void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) override {
        device_->copy_in(to, from_host, bytes);
    }
    void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) override {
        device_->copy_out(to_host, from, bytes);
    }

private:
    std::unique_ptr<MemorySpace> device_;
};

}  // namespace

std::unique_ptr<MemorySpace> make_memory(std::string& why_not) {
    if (std::string const why_none = find_devices().why_none; !why_none.empty()) {
        why_not = fmt::format("{} memory: {}", name_of(MemoryKind::nccl), why_none);
        return nullptr;
    }
    std::unique_ptr<MemorySpace> device = make_memory_space(MemoryKind::cuda, why_not);
    return device == nullptr ? nullptr : std::make_unique<NcclMemory>(std::move(device));
}

}  // namespace dlmb::nccl
