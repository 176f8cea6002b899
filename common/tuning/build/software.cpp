// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/software.hpp"

#include "common/tuning/whole_number.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace dlmb::tuning {
namespace {

/// NCCL_VERSION of nccl.h since 2.9: 22809 is 2.28.9.
std::string dotted(std::uint64_t code) {
    return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

}  // namespace

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

Versions library_versions(record::Cell const& cell) {
    Versions versions;
    if (auto const found = cell.backend_facts.find("ucx_version"); found != cell.backend_facts.end()) {
        versions["ucx"] = found->second;
    }
    if (auto const found = cell.backend_facts.find("nccl_version"); found != cell.backend_facts.end()) {
        versions["nccl"] = dotted(whole_number(found->second, "nccl_version"));
    }
    return versions;
}

std::string other_version(Versions const& these, Versions const& first) {
    for (auto const& [library, version] : these) {
        auto const found = first.find(library);
        if (found != first.end() && found->second != version) {
            return fmt::format("{} {} instead of {}", library, version, found->second);
        }
    }
    return {};
}

}  // namespace dlmb::tuning
