// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/mpi_library.hpp"

#include <algorithm>
#include <cctype>

namespace dlmb::tuning {

MpiLibrary mpi_library(std::string_view told) {
    std::size_t begin = 0;  // behind a blank or a "v": MVAPICH2 has a digit in its name
    while (begin < told.size() && (std::isdigit(static_cast<unsigned char>(told[begin])) == 0 || begin == 0 ||
                                   (told[begin - 1] != ' ' && told[begin - 1] != 'v'))) {
        ++begin;
    }
    std::size_t const end = std::min(told.find_first_not_of("0123456789.", begin), told.size());
    std::string_view name = told.substr(0, begin);
    for (std::string_view const known : {"Open MPI", "MPICH"}) {
        name = told.starts_with(known) ? known : name;
    }
    name = name.substr(0, name.find_last_not_of(" :") + 1);
    return {std::string(name), std::string(told.substr(begin, end - begin)), {}};
}

}  // namespace dlmb::tuning
