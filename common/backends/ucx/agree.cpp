// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/agree.hpp"

#include <cstring>

namespace dlmb::ucx {

std::optional<std::string> agree(Bootstrap& bootstrap, std::optional<std::string> const& mine) {
    std::int64_t speaker = mine ? bootstrap.rank() : bootstrap.size();
    bootstrap.all_reduce({&speaker, 1}, Fold::min);
    if (speaker == bootstrap.size()) {
        return std::nullopt;
    }
    Blob blob;
    if (speaker == bootstrap.rank()) {
        blob.resize(mine->size());
        std::memcpy(blob.data(), mine->data(), mine->size());
    }
    bootstrap.broadcast(blob, static_cast<Rank>(speaker));
    std::string text(blob.size(), '\0');
    std::memcpy(text.data(), blob.data(), blob.size());
    return text;
}

}  // namespace dlmb::ucx
