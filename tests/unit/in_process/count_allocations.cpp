// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/in_process/count_allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

// In a file of its own: inlined into their callers they would look like a mismatched pair to the compiler.
void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc();
}
// std::stable_sort asks for its buffer this way and returns it to the operator delete below.
void* operator new(std::size_t bytes, std::nothrow_t const& /*tag*/) noexcept {
    ++allocations;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

namespace dlmb::in_process::testing {

std::uint64_t allocations_of_this_thread() {
    return allocations;
}

}  // namespace dlmb::in_process::testing
