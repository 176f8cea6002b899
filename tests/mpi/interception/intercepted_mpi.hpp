// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What this process gives to MPI to be moved, counted by wrappers that stand before the library's functions (the MPI
// profiling interface), and what a faulty library would do to it. A program that links intercepted_mpi.cpp has them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlmb::intercepted {

struct Given {
    std::uint64_t messages = 0;          // to other ranks: MPI_Isend, MPI_Put, and blocks of the all-to-all calls
    std::uint64_t message_bytes = 0;     // their bytes
    std::uint64_t notices = 0;           // MPI_Isend of 0 bytes
    std::uint64_t gets = 0;              // from other ranks: MPI_Get
    std::uint64_t get_bytes = 0;         // their bytes
    std::uint64_t accumulates = 0;       // at other ranks: MPI_Accumulate
    std::uint64_t accumulate_bytes = 0;  // their bytes
    std::uint64_t collectives = 0;       // calls of allreduce, reduce_scatter, allgather, broadcast
    std::uint64_t collective_bytes = 0;  // their full logical buffers, on this rank
    bool operator==(Given const&) const = default;
};

/// Since the last reset().
[[nodiscard]] Given given();
void reset();

enum class Fault : std::uint8_t { flipped_byte, swapped_blocks, nothing_delivered, overrun, changed_send };
inline constexpr std::array every_fault{Fault::flipped_byte, Fault::swapped_blocks, Fault::nothing_delivered,
                                        Fault::overrun, Fault::changed_send};
[[nodiscard]] constexpr std::string_view name_of(Fault fault) {
    constexpr std::array<std::string_view, every_fault.size()> names{
        "flipped byte", "swapped blocks", "nothing delivered", "byte behind the last block", "changed send buffer"};
    return names.at(static_cast<std::size_t>(fault));
}

/// Calls number `first` .. `last` of MPI_Alltoallv and MPI_Allreduce, from 0 on.
struct Strike {
    Fault fault = Fault::flipped_byte;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// From now on, on this rank; calls are counted anew. nullopt: nothing is done to them.
void strike(std::optional<Strike> const& what);

/// Of the next calls of MPI_Win_create and MPI_Win_allocate on this rank, number `which`, from 0 on, says that there is
/// no memory. nullopt: none does.
void deny_window(std::optional<std::uint64_t> which);

}  // namespace dlmb::intercepted
