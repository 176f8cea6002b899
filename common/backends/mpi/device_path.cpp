// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/device_path.hpp"

#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <array>

namespace dlmb::mpi {
namespace {

/// "mpi,system,cuda:device" names cuda: kinds are separated by commas, and restrictors follow a colon.
bool names_cuda(std::string_view kinds) {
    std::string const list = fmt::format(",{},", kinds);
    return list.find(",cuda,") != std::string::npos || list.find(",cuda:") != std::string::npos;
}

}  // namespace

std::optional<bool> device_pointers(std::string_view word) {
    if (word.empty() || word == "auto") {
        return std::nullopt;
    }
    if (word != "yes" && word != "no") {
        throw UsageError(fmt::format("mpi: option device: '{}' is not auto, yes or no", word));
    }
    return word == "yes";
}

DevicePath decide(DeviceAnswers const& answers) {
    if (answers.wanted) {
        return {*answers.wanted, *answers.wanted ? "--mpi-device yes: trusted" : "--mpi-device no"};
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

DevicePath path_of_all(DevicePath const& own, Bootstrap& bootstrap) {
    std::int64_t const refusing =
        reduce_over_ranks(bootstrap, own.direct ? bootstrap.size() : bootstrap.rank(), Fold::min);
    if (refusing == bootstrap.size()) {
        return own;
    }
    std::string const reason = text_from_rank(bootstrap, own.reason, static_cast<Rank>(refusing));
    return {false, own.direct ? fmt::format("rank {}: {}", refusing, reason) : reason};
}

std::optional<std::string> memory_alloc_kinds() {
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Comm_get_info(MPI_COMM_WORLD, &info), "MPI_Comm_get_info");
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    check(MPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value.data(), &found), "MPI_Info_get");
    check(MPI_Info_free(&info), "MPI_Info_free");
    return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
}

}  // namespace dlmb::mpi
