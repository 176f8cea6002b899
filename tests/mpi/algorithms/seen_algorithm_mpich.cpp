// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPICH's ch4:ucx sends every message to another node by ucp_tag_send_nbx, and with MPIR_CVAR_NOLOCAL=1 every rank is a
// node of its own. The function here is found before UCX's own and hands on to it. Over 2^k ranks recursive doubling
// sends k messages per rank, halving and then doubling 2 k.
#include "tests/mpi/algorithms/seen_algorithm.hpp"

#include <bit>
#include <cstdint>
#include <dlfcn.h>

namespace {

std::uint64_t sent = 0;

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the library's name
extern "C" void* ucp_tag_send_nbx(void* endpoint, void const* buffer, std::size_t count, std::uint64_t tag,
                                  void const* parameters) {
    using Send = void*(void*, void const*, std::size_t, std::uint64_t, void const*);
    static auto* const original = reinterpret_cast<Send*>(dlsym(RTLD_NEXT, "ucp_tag_send_nbx"));
    ++sent;
    return original(endpoint, buffer, count, tag, parameters);
}

namespace dlmb::mpi {

void watch_allreduce() {
    sent = 0;
}

std::string seen_allreduce(int ranks) {
    auto const steps = static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(ranks)));
    return sent == steps       ? "recursive_doubling"
           : sent == 2 * steps ? "reduce_scatter_allgather"
                               : std::to_string(sent) + " messages";
}

}  // namespace dlmb::mpi
