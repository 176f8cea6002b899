// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON in the blobs of the bootstrap: set-up messages between ranks of one launch, never stored.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

#include <nlohmann/json.hpp>

namespace dlmb::record {

[[nodiscard]] inline Blob to_blob(nlohmann::json const& value) {
    // Bytes that are no UTF-8 (a variable may hold anything) are replaced, not refused.
    std::string const text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    auto const* first = reinterpret_cast<std::byte const*>(text.data());
    return {first, first + text.size()};
}

[[nodiscard]] inline nlohmann::json from_blob(Blob const& blob) {
    auto const* first = reinterpret_cast<char const*>(blob.data());
    return nlohmann::json::parse(first, first + blob.size());
}

}  // namespace dlmb::record
