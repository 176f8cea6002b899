// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/device_path.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::mpi {
namespace {

/// "mpi,system,cuda:device" names cuda: kinds are separated by commas, and restrictors follow a colon.
bool names_cuda(std::string_view kinds) {
    while (true) {
        std::size_t const end = kinds.find(',');
        std::string_view const kind = kinds.substr(0, end);
        if (kind.substr(0, kind.find(':')) == "cuda") {
            return true;
        }
        if (end == std::string_view::npos) {
            return false;
        }
        kinds.remove_prefix(end + 1);
    }
}

}  // namespace

DevicePath decide(DeviceAnswers const& answers) {
    if (answers.wanted != DevicePointers::ask) {
        bool const yes = answers.wanted == DevicePointers::yes;
        return {yes, yes ? "--mpi-device yes: trusted" : "--mpi-device no"};
    }
    if (answers.query.answer) {
        return {*answers.query.answer,
                fmt::format("{} says {}", answers.query.function, *answers.query.answer ? "yes" : "no")};
    }
    if (answers.alloc_kinds) {
        return {names_cuda(*answers.alloc_kinds),
                fmt::format("the info key mpi_memory_alloc_kinds is \"{}\"", *answers.alloc_kinds)};
    }
    return {false, "this MPI library cannot be asked whether it takes device memory; --mpi-device yes if it does"};
}

DevicePath agree(DevicePath const& own, Bootstrap& bootstrap) {
    std::array<std::int64_t, 1> lowest_refusing{own.direct ? bootstrap.size() : bootstrap.rank()};
    bootstrap.all_reduce(lowest_refusing, Fold::min);
    if (lowest_refusing[0] == bootstrap.size()) {
        return own;
    }
    auto const text = std::as_bytes(std::span(own.reason.data(), own.reason.size()));
    Blob blob(text.begin(), text.end());
    bootstrap.broadcast(blob, static_cast<Rank>(lowest_refusing[0]));
    DevicePath agreed{false, own.direct ? fmt::format("rank {}: ", lowest_refusing[0]) : ""};
    for (std::byte const c : blob) {
        agreed.reason += static_cast<char>(c);
    }
    return agreed;
}

}  // namespace dlmb::mpi
