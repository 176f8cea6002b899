// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that UCX allocates where other processes of the node can map it, and the mappings of that of others.
#pragma once

#include "common/backends/ucx/transport.hpp"

#include <memory>
#include <vector>

namespace dlmb::ucx {

/// Zeroed. Not collective.
class SharedMemory {
public:
    SharedMemory(Transport const& transport, Bytes bytes);
    SharedMemory(SharedMemory const&) = delete;
    SharedMemory& operator=(SharedMemory const&) = delete;
    ~SharedMemory();

    [[nodiscard]] std::byte* data() const { return data_; }
    /// What a peer needs to map it.
    [[nodiscard]] Blob key() const;

private:
    ucp_context_h context_;
    ucp_mem_h handle_ = nullptr;
    std::byte* data_ = nullptr;
};

/// The memory of a peer, mapped here.
class PeerMemory {
public:
    /// `key` as packed by the peer, `address` as it has it. data() is nullptr where this rank cannot load and store
    /// there.
    PeerMemory(Transport const& transport, Rank peer, std::byte const* key, std::uint64_t address);
    PeerMemory(PeerMemory const&) = delete;
    PeerMemory& operator=(PeerMemory const&) = delete;
    PeerMemory(PeerMemory&& other) noexcept;
    PeerMemory& operator=(PeerMemory&&) = delete;
    ~PeerMemory();

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    ucp_rkey_h key_ = nullptr;
    std::byte* data_ = nullptr;
};

/// What the steps of one plan load and store in.
struct SharedMappings {
    std::unique_ptr<SharedMemory> own;
    std::vector<PeerMemory> peers;
};

}  // namespace dlmb::ucx
