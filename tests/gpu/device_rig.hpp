// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Device memory for tests of kernels: operands go there, results come back.
#pragma once

#include "common/base/error.hpp"
#include "common/memory/memory_space.hpp"

#include <vector>

namespace dlmb {

inline std::unique_ptr<MemorySpace> device_space() {
    std::string why_not;
    auto space = make_memory_space(MemoryKind::cuda, why_not);
    if (space == nullptr) {
        throw Error(why_not);
    }
    return space;
}

/// A copy of `bytes` on the device, `shift` bytes behind an address that is aligned for everything.
class DeviceCopy {
public:
    DeviceCopy(MemorySpace& space, std::vector<std::byte> const& bytes, Bytes shift)
        : space_(space), size_(bytes.size()), shift_(shift), allocation_(space.allocate(bytes.size() + shift + 1)) {
        if (size_ > 0) {
            space_.copy_in(data(), bytes.data(), size_);
        }
    }
    [[nodiscard]] std::byte* data() const { return allocation_.data() + shift_; }
    [[nodiscard]] std::vector<std::byte> read() const {
        std::vector<std::byte> bytes(size_);
        if (size_ > 0) {
            space_.copy_out(bytes.data(), data(), size_);
        }
        return bytes;
    }

private:
    MemorySpace& space_;
    Bytes size_;
    Bytes shift_;
    Allocation allocation_;
};

}  // namespace dlmb
