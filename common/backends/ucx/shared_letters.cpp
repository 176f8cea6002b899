// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/shared_letters.hpp"

#include <algorithm>
#include <cstring>

namespace dlmb::ucx {
namespace {

/// Opens a letter; the packed key follows, then entries.
struct Heading {
    std::uint64_t address = 0;
    std::uint64_t key_bytes = 0;
};

template <class Value>
Value read_at(Blob const& blob, std::size_t offset) {
    Value value;
    std::memcpy(&value, blob.data() + offset, sizeof value);
    return value;
}

}  // namespace

Blob begin_letter(std::byte const* address, Blob const& key) {
    Heading const heading{reinterpret_cast<std::uintptr_t>(address), key.size()};
    Blob letter(sizeof heading + key.size());
    std::memcpy(letter.data(), &heading, sizeof heading);
    std::copy(key.begin(), key.end(), letter.begin() + sizeof heading);
    return letter;
}

void append(Blob& letter, SharedEntry const& entry) {
    letter.resize(letter.size() + sizeof entry);
    std::memcpy(letter.data() + letter.size() - sizeof entry, &entry, sizeof entry);
}

SharedInbox sort(std::vector<Letter> const& letters) {
    SharedInbox inbox;
    for (Letter const& letter : letters) {
        auto const heading = read_at<Heading>(letter.blob, 0);
        for (std::size_t at = sizeof heading + heading.key_bytes; at < letter.blob.size(); at += sizeof(SharedEntry)) {
            auto const entry = read_at<SharedEntry>(letter.blob, at);
            inbox[{letter.peer, entry.kind, entry.key}].entries.push_back(entry);
        }
    }
    return inbox;
}

std::uint64_t address_in(Blob const& letter) {
    return read_at<Heading>(letter, 0).address;
}

std::byte const* key_in(Blob const& letter) {
    return letter.data() + sizeof(Heading);
}

}  // namespace dlmb::ucx
