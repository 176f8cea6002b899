// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/memory_stream.hpp"

#include "common/base/error.hpp"

#include <cstdlib>
#include <memory>

namespace dlmb::ucx {

std::string printed(std::function<void(std::FILE*)> const& print) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const stream = open_memstream(&text, &size);
    if (stream == nullptr) {
        throw Error("ucx: open_memstream: no memory for UCX's description");
    }
    print(stream);
    std::fclose(stream);  // writes text and size
    std::unique_ptr<char, void (*)(void*)> const owner(text, std::free);
    return {text, size};
}

}  // namespace dlmb::ucx
