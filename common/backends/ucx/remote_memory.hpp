// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that peers access by ucp_put_nbx and ucp_get_nbx, and the keys to that of peers. A put into memory that UCX
// allocated is a copy by the rank that puts, inside a node. Other memory UCX 1.13 writes with the peer's help, by
// active messages. So there is a kind of memory that UCX allocates (-d ucx), as ucx_perftest and OpenSHMEM allocate it.
#pragma once

#include "common/backends/ucx/worker.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace dlmb::ucx {

/// Given back when it ends.
class RemoteMemory {
public:
    /// Endpoints of all peers exist.
    explicit RemoteMemory(Worker& worker) : worker_(worker) {}

    /// Page-aligned zeros of this rank.
    [[nodiscard]] std::byte* allocate(Bytes bytes);
    /// The key to `bytes` at `data`, as a peer needs it; memory of allocate() with its own address.
    [[nodiscard]] Blob const& key_to(std::byte* data, Bytes bytes);
    /// Has exchange() tell `peer` where something of this rank lies. `key`: empty where it has no bytes.
    void tell(Rank peer, std::uint64_t name, std::byte const* data, Blob const& key);
    /// Collective: peers tell each other.
    void exchange();

    struct Place {
        std::uint64_t address = 0;
        ucp_rkey_h key = nullptr;  // nullptr: there are no bytes
    };
    /// The place that `peer` told under `name`.
    [[nodiscard]] Place const& of(Rank peer, std::uint64_t name) const { return places_.at({peer, name}); }

private:
    struct DestroyKey {
        void operator()(ucp_rkey_h key) const { ucp_rkey_destroy(key); }
    };
    struct Mapped {
        MappedMemory memory;  // nullptr: somebody else's
        Blob key;
    };

    void read(PeerBlob const& received);

    Worker& worker_;
    std::map<std::byte const*, Mapped> mapped_;
    std::map<Rank, Blob> told_;
    std::map<std::pair<Rank, std::uint64_t>, Place> places_;
    std::vector<std::unique_ptr<std::remove_pointer_t<ucp_rkey_h>, DestroyKey>> keys_;
};

}  // namespace dlmb::ucx
