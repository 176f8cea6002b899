// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/zeros.hpp"

#include <algorithm>
#include <vector>

namespace dlmb {
namespace {

constexpr Bytes copied_at_once = Bytes{1} << 20;

}  // namespace

void fill_zeros(MemorySpace& memory, std::byte* data, Bytes bytes) {
    std::vector<std::byte> const zeros(std::min(copied_at_once, bytes));
    for (Bytes done = 0; done < bytes; done += zeros.size()) {
        memory.copy_in(data + done, zeros.data(), std::min<Bytes>(zeros.size(), bytes - done));
    }
}

std::optional<Bytes> first_nonzero(MemorySpace& memory, std::byte const* data, Bytes bytes) {
    std::vector<std::byte> copy(std::min(copied_at_once, bytes));
    for (Bytes done = 0; done < bytes; done += copy.size()) {
        copy.resize(std::min<Bytes>(copy.size(), bytes - done));
        memory.copy_out(copy.data(), data + done, copy.size());
        auto const found = std::find_if(copy.begin(), copy.end(), [](std::byte byte) { return byte != std::byte{0}; });
        if (found != copy.end()) {
            return done + static_cast<Bytes>(found - copy.begin());
        }
    }
    return std::nullopt;
}

}  // namespace dlmb
