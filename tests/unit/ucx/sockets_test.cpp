// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// UCX with nothing but TCP sockets.
#include "common/backends/ucx/transports.hpp"
#include "tests/unit/ucx/ucx_environment.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace dlmb::ucx {
namespace {

constexpr Bytes kib = 1024;

/// SO_SNDBUF; 0: no such socket any more. UCX closes one of two connections that peers open to each other at once.
int send_buffer(int descriptor) {
    int bytes = 0;
    socklen_t size = sizeof(bytes);
    return getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 ? bytes : 0;
}

/// What the kernel makes of a request for 256 KiB.
int bounded_send_buffer() {
    int const wanted = 256 * 1024;
    int const descriptor = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof(wanted)), 0);
    int const bytes = send_buffer(descriptor);
    close(descriptor);
    return bytes;
}

/// Descriptors of this process that are connected to a peer by TCP.
std::set<int> connections() {
    std::set<int> found;
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        int const descriptor = std::stoi(each.path().filename().string());
        sockaddr_storage peer{};
        socklen_t length = sizeof(peer);
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
            (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
            found.insert(descriptor);
        }
    }
    return found;
}

TEST(Sockets, OfOneNodeHaveABoundedSendBuffer) {
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"}});
    std::set<int> const others = connections();
    int const bounded = bounded_send_buffer();
    for (int const ranks_per_node : {2, 1}) {
        in_process::run_ranks(2, ranks_per_node, [&](Bootstrap& bootstrap) {
            Transports transports({bootstrap, YieldPolicy::always});
            Rank const other = 1 - bootstrap.rank();
            transports.standard().connect({&other, 1});
            bootstrap.barrier();
            int with_bound = 0;
            int without = 0;
            for (int const descriptor : connections()) {
                int const bytes = others.contains(descriptor) ? 0 : send_buffer(descriptor);
                with_bound += bytes == bounded ? 1 : 0;
                without += bytes != 0 && bytes != bounded ? 1 : 0;
            }
            EXPECT_EQ(with_bound > 0, ranks_per_node == 2);
            EXPECT_EQ(without > 0, ranks_per_node == 1);
            bootstrap.barrier();
        });
    }
}

std::string set_by_dlmb(Transport const& transport) {
    return transport.settings().at("ucx_set_by_dlmb");
}

TEST(Sockets, AreRecordedAsTheyWereSet) {
    {
        UcxEnvironment const environment(UcxEnvironment::Values{});
        in_process::run_ranks(2, [](Bootstrap& bootstrap) {
            Transports transports({bootstrap, YieldPolicy::always});
            EXPECT_EQ(set_by_dlmb(transports.standard()), "none");
        });
    }
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"}});
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        EXPECT_EQ(set_by_dlmb(transports.standard()),
                  "UCX_MAX_RNDV_RAILS=1 UCX_RNDV_THRESH=917504 UCX_TCP_RX_SEG_SIZE=100k UCX_TCP_SNDBUF=256k");
        EXPECT_EQ(set_by_dlmb(*transports.with({{"RNDV_THRESH", "4096"}}).value()),
                  "UCX_MAX_RNDV_RAILS=1 UCX_TCP_RX_SEG_SIZE=100k UCX_TCP_SNDBUF=256k");
    });
}

TEST(Sockets, CarryBlocksOnBothSidesOfTheThreshold) {
    UcxEnvironment const environment(UcxEnvironment::Values{{"UCX_TLS", "self,tcp"}});
    for (char const* const method : {"linear", "pairwise"}) {
        in_process::run_ranks(3, [method](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            Plan const plan = rank.exchange(
                [](Rank from, Rank to) { return static_cast<Bytes>(1 + from * 2 + to * 3) * 300 * kib + 17; });
            Buffers const buffers = rank.bind(plan);
            auto const compiled = rank.backend().compile(plan, buffers, {method, {}}).value();
            for (std::uint32_t iteration = 0; iteration < 3; ++iteration) {
                rank.run(*compiled, plan, buffers, iteration);
            }
        });
    }
}

}  // namespace
}  // namespace dlmb::ucx
