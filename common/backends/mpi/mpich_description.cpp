// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpich_description.hpp"

namespace dlmb::mpi {
namespace {

/// Algorithms without parameters. Those with some (tree, recexch, k_*, recursive_multiplying) are left out: a file
/// cannot say them, and without them the library crashes or hangs. So is smp: it makes the same call on the ranks of a
/// node, where it is chosen again; 4.0.2 goes on until the stack is full.
constexpr std::string_view without_parameters[] = {"binomial",
                                                   "brucks",
                                                   "dissemination",
                                                   "linear",
                                                   "nb",
                                                   "noncommutative",
                                                   "pairwise",
                                                   "pairwise_sendrecv_replace",
                                                   "recursive_doubling",
                                                   "recursive_halving",
                                                   "reduce_scatter_allgather",
                                                   "reduce_scatter_gather",
                                                   "ring",
                                                   "scatter_recursive_doubling_allgather",
                                                   "scatter_ring_allgather",
                                                   "scattered"};

/// In descriptions of 4.0 nothing separates a name from the words before it: "Force ring algorithmnb  - Force". Then it
/// is the longest known name that they end with.
std::string_view known_name(std::string_view words, bool in_lines) {
    std::string_view longest;
    for (std::string_view const name : without_parameters) {
        bool const is_it = in_lines ? words == name : words.ends_with(name);
        longest = is_it && name.size() > longest.size() ? name : longest;
    }
    return longest;
}

}  // namespace

std::vector<NamedValue> mpich_algorithms_in(std::string_view description) {
    constexpr std::string_view mark = " - Force";  // behind each name but that of id 0, "auto"
    bool const in_lines = description.find('\n') != description.npos;
    std::vector<NamedValue> found;
    int id = 0;
    for (std::size_t at = description.find(mark); at != description.npos; at = description.find(mark, at + 1)) {
        ++id;
        std::string_view words = description.substr(0, at);
        words = words.substr(0, words.find_last_not_of(' ') + 1);
        words = words.substr(words.find_last_of(" \n") + 1);
        if (std::string_view const name = known_name(words, in_lines); !name.empty()) {
            found.push_back({std::string(name), id});
        }
    }
    return found;
}

}  // namespace dlmb::mpi
