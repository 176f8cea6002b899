// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/software.hpp"

#include "common/tuning/whole_number.hpp"

#include <fmt/core.h>

namespace dlmb::tuning {
namespace {

/// NCCL_VERSION of nccl.h since 2.9: 22809 is 2.28.9.
std::string dotted(std::uint64_t code) {
    return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

}  // namespace

Versions library_versions(record::Record const& cell) {
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
