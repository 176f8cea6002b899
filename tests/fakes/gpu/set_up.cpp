// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/set_up.hpp"

#include "tests/fakes/gpu/device_memory.hpp"
#include "tests/fakes/gpu/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

namespace dlmb::fake_gpu {
namespace {

/// Ranks with different NCCL_HOSTID count as on different machines, and may share a device.
std::uint64_t machine() {
    char const* const id = std::getenv("NCCL_HOSTID");
    return id == nullptr ? 0 : std::hash<std::string_view>()(id);
}

ncclResult_t check_devices(std::vector<Given> given) {
    std::sort(given.begin(), given.end());
    return std::adjacent_find(given.begin(), given.end()) == given.end() ? ncclSuccess : ncclInvalidUsage;
}

std::size_t nodes_of(std::vector<Given> const& given) {
    std::set<std::uint64_t> machines;
    for (Given const& each : given) {
        machines.insert(each[1]);
    }
    return machines.size();
}

struct Place {
    int ranks = 0;
    int rank = 0;
};

/// `given`: color and key of each rank.
Place place_in_split(std::vector<Given> const& given, int me) {
    auto const mine = static_cast<std::size_t>(me);
    Place place;
    for (std::size_t rank = 0; rank < given.size(); ++rank) {
        if (given[rank][0] == given[mine][0]) {
            ++place.ranks;
            bool const before = static_cast<int>(given[rank][1]) < static_cast<int>(given[mine][1]) ||
                                (given[rank][1] == given[mine][1] && rank < mine);
            place.rank += before ? 1 : 0;
        }
    }
    return place;
}

}  // namespace

std::shared_ptr<Communicator> join(std::string const& name, int ranks, int rank, bool blocking) {
    auto communicator = std::make_shared<Communicator>(name, ranks, rank, blocking);
    auto const exchange =
        std::make_shared<SetUpExchange>(*communicator, Given{static_cast<std::uint64_t>(thread_device()), machine()});
    communicator->begin([exchange, raw = communicator.get()]() -> std::optional<ncclResult_t> {
        auto const given = exchange->try_to_end();
        if (!given) {
            return std::nullopt;
        }
        raw->segment.remove_name();
        raw->tuner = std::make_shared<Tuner>(given->size(), nodes_of(*given));
        return check_devices(*given);
    });
    return communicator;
}

void begin_split(std::shared_ptr<Communicator> const& parent, int color, int key, ncclComm_t* newcomm, bool blocking) {
    *newcomm = nullptr;
    auto const exchange = std::make_shared<SetUpExchange>(
        *parent, Given{static_cast<std::uint64_t>(color), static_cast<std::uint64_t>(key)});
    std::string const name = fmt::format("{}.{}.{}", parent->segment.name(), ++parent->splits, color);
    std::shared_ptr<Communicator> child;
    parent->begin([=, rank = parent->rank, child = child]() mutable -> std::optional<ncclResult_t> {
        if (!child) {
            auto const given = exchange->try_to_end();
            if (!given) {
                return std::nullopt;
            }
            if (color == NCCL_SPLIT_NOCOLOR) {
                return ncclSuccess;
            }
            Place const place = place_in_split(*given, rank);
            child = join(name, place.ranks, place.rank, blocking);
        }
        ncclResult_t const state = child->ask();
        if (state == ncclInProgress) {
            return std::nullopt;
        }
        *newcomm = add_communicator(child);
        return state;
    });
}

}  // namespace dlmb::fake_gpu
