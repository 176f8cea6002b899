// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/host_mirrors.hpp"

#include <utility>

namespace dlmb {
namespace {

/// A piece of a device costs about as much as the transfer of so many bytes (30 us at 4 GB/s).
constexpr Bytes bytes_per_piece = Bytes{128} << 10;
constexpr std::uint64_t fewest_pieces = 16;
constexpr Bytes largest_copy = Bytes{256} << 20;  // every rank of a node has copies at the same time

/// Numbers are made and compared row by row.
std::uint64_t parts_of(Piece const& piece) {
    return piece.numbers ? piece.bytes / piece.numbers->row_bytes() : 1;
}

}  // namespace

HostMirrors::HostMirrors(MemorySpace& memory, Buffers const& buffers, Plan const& plan, PayloadLayout const& layout)
    : memory_(memory), buffers_(buffers), bytes_(plan.buffers.size()), copies_(plan.buffers.size()) {
    if (!on_device(memory.kind())) {
        return;
    }
    std::vector<std::uint64_t> parts(plan.buffers.size());
    std::vector<bool> reduced(plan.buffers.size());  // a kernel compares what is reduced, however small
    for (auto const* const pieces : {&layout.sent, &layout.delivered}) {
        for (Piece const& piece : *pieces) {
            parts[piece.buffer] += parts_of(piece);
            reduced[piece.buffer] = reduced[piece.buffer] || piece.is_reduced();
        }
    }
    for (BufferId buffer = 0; buffer < plan.buffers.size(); ++buffer) {
        Bytes const bytes = plan.buffers[buffer].bytes;
        if (!reduced[buffer] && parts[buffer] >= fewest_pieces && bytes <= largest_copy &&
            bytes / bytes_per_piece < parts[buffer]) {
            bytes_[buffer] = bytes;
        }
    }
}

void HostMirrors::fetch() {
    for (std::size_t buffer = 0; buffer < bytes_.size(); ++buffer) {
        if (bytes_[buffer] > 0) {
            Allocation copy = host_.allocate(bytes_[buffer]);
            memory_.copy_out(copy.data(), buffers_.base[buffer], bytes_[buffer]);
            copies_[buffer] = std::move(copy);
        }
    }
}

void HostMirrors::store() {
    for (std::size_t buffer = 0; buffer < bytes_.size(); ++buffer) {
        if (bytes_[buffer] > 0) {
            memory_.copy_in(buffers_.base[buffer], copies_[buffer].data(), bytes_[buffer]);
        }
    }
}

void HostMirrors::release() {
    for (Allocation& copy : copies_) {
        copy = Allocation();
    }
}

}  // namespace dlmb
