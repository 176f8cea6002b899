// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where payload lives. A space allocates, fills and checks its own memory, so that device data never has to be copied
// to the host to be verified and nothing above this line names CUDA.
#pragma once

#include "common/base/units.hpp"
#include "common/memory/payload.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb {

/// nccl: device memory that NCCL allocated, for its symmetric windows. ucx: host memory that UCX allocated, which peers
/// on the node write and read directly.
enum class MemoryKind : std::uint8_t { host, pinned, cuda, managed, nccl, ucx };
inline constexpr std::array every_memory_kind{MemoryKind::host,    MemoryKind::pinned, MemoryKind::cuda,
                                              MemoryKind::managed, MemoryKind::nccl,   MemoryKind::ucx};
[[nodiscard]] constexpr std::string_view name_of(MemoryKind kind) {
    constexpr std::array<std::string_view, every_memory_kind.size()> names{"host",    "pinned", "cuda",
                                                                           "managed", "nccl",   "ucx"};
    return names.at(static_cast<std::size_t>(kind));
}
/// Not addressable by the host.
[[nodiscard]] constexpr bool on_device(MemoryKind kind) {
    return kind == MemoryKind::cuda || kind == MemoryKind::nccl;
}

/// Frees itself. Movable only.
class Allocation {
public:
    Allocation() = default;
    Allocation(std::byte* data, Bytes bytes, void (*release)(std::byte*, Bytes))
        : data_(data), bytes_(bytes), release_(release) {}
    Allocation(Allocation const&) = delete;
    Allocation& operator=(Allocation const&) = delete;
    Allocation(Allocation&& other) noexcept { swap(other); }
    Allocation& operator=(Allocation&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Allocation() {
        if (release_ != nullptr) {
            release_(data_, bytes_);
        }
    }
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    /// The caller frees it from now on.
    [[nodiscard]] std::byte* give_up() {
        release_ = nullptr;
        return data_;
    }

private:
    void swap(Allocation& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(release_, other.release_);
    }
    std::byte* data_ = nullptr;
    Bytes bytes_ = 0;
    void (*release_)(std::byte*, Bytes) = nullptr;
};

class MemorySpace {
public:
    virtual ~MemorySpace() = default;
    [[nodiscard]] virtual MemoryKind kind() const = 0;
    /// Throws Error with the size and the space's name when there is not enough memory.
    [[nodiscard]] virtual Allocation allocate(Bytes bytes) = 0;
    /// Writes / verifies the words of payload.hpp for `key`, starting at word offset `start` of the keyed stream.
    virtual void fill(std::byte* data, Bytes bytes, PayloadKey key, Bytes start = 0) = 0;
    [[nodiscard]] virtual std::optional<Mismatch> check(std::byte const* data, Bytes bytes, PayloadKey key,
                                                        Bytes start = 0) = 0;
    /// Plain copies between this space and the host, blocking; for tests and faults injected by them.
    virtual void copy_in(std::byte* to, std::byte const* from_host, Bytes bytes) = 0;
    virtual void copy_out(std::byte* to_host, std::byte const* from, Bytes bytes) = 0;
};

/// Kinds that this build and machine can serve without a transport, on the device that this thread uses; nullptr
/// otherwise with the reason in `why_not`. The folder cuda/ or device_absent.cpp defines it and what is below; CMake
/// picks one.
[[nodiscard]] std::unique_ptr<MemorySpace> make_memory_space(MemoryKind kind, std::string& why_not);

/// Memory that is nobody's payload, such as scratch of algorithms: cuda, managed or pinned. Pinned memory lies on the
/// NUMA node of the device in use, where the system says which. Throws Error with the size and the kind.
[[nodiscard]] Allocation allocate_on_device(Bytes bytes, MemoryKind kind = MemoryKind::cuda);

}  // namespace dlmb
