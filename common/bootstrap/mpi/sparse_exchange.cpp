// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/sparse_exchange.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <cstring>

namespace dlmb::mpi {

std::map<Rank, Blob> pack(std::span<Letter const> outgoing, int ranks) {
    std::map<Rank, Blob> messages;
    for (Letter const& letter : outgoing) {
        if (letter.peer < 0 || letter.peer >= ranks) {
            throw Error(fmt::format("bootstrap exchange: letter to rank {} of {}", letter.peer, ranks));
        }
        Blob& message = messages[letter.peer];
        std::uint64_t const length = letter.blob.size();
        std::size_t const start = message.size();
        message.resize(start + sizeof length + letter.blob.size());
        std::memcpy(message.data() + start, &length, sizeof length);
        if (!letter.blob.empty()) {
            std::memcpy(message.data() + start + sizeof length, letter.blob.data(), letter.blob.size());
        }
    }
    return messages;
}

void unpack(Rank peer, std::span<std::byte const> message, std::vector<Letter>& incoming) {
    while (!message.empty()) {
        std::uint64_t length = 0;
        bool whole = message.size() >= sizeof length;
        if (whole) {
            std::memcpy(&length, message.data(), sizeof length);
            message = message.subspan(sizeof length);
            whole = message.size() >= length;
        }
        if (!whole) {
            throw Error(fmt::format("bootstrap exchange: the message from rank {} ends inside a letter", peer));
        }
        std::span<std::byte const> const body = message.first(length);
        incoming.push_back({peer, Blob(body.begin(), body.end())});
        message = message.subspan(length);
    }
}

}  // namespace dlmb::mpi
