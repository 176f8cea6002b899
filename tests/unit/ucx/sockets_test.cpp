// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// UCX with nothing but TCP sockets.
#include "common/backends/ucx/transports.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>

namespace dlmb::ucx {
namespace {

constexpr Bytes kib = 1024;

/// UCX_TLS for as long as it lives, set while no other thread reads it.
class OnlyTcp {
public:
    OnlyTcp() { setenv("UCX_TLS", "self,tcp", 1); }
    OnlyTcp(OnlyTcp const&) = delete;
    OnlyTcp& operator=(OnlyTcp const&) = delete;
    ~OnlyTcp() { unsetenv("UCX_TLS"); }
};

/// SO_SNDBUF of this process's TCP connections: twice what was asked for (socket(7)).
std::set<int> send_buffers_of_connections() {
    std::set<int> sizes;
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        int const descriptor = std::stoi(each.path().filename().string());
        sockaddr_storage peer{};
        socklen_t length = sizeof(peer);
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 && peer.ss_family == AF_INET) {
            int bytes = 0;
            socklen_t size = sizeof(bytes);
            EXPECT_EQ(getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, &size), 0);
            sizes.insert(bytes);
        }
    }
    return sizes;
}

/// What the kernel makes of 512 KiB: not more than it allows.
int bounded_send_buffer() {
    int allowed = 0;
    std::ifstream("/proc/sys/net/core/wmem_max") >> allowed;
    return 2 * std::min(allowed, 512 * 1024);
}

TEST(Sockets, OfOneNodeHoldNoMoreThanACacheDoes) {
    OnlyTcp const only_tcp;
    for (int const ranks_per_node : {2, 1}) {
        in_process::run_ranks(2, ranks_per_node, [ranks_per_node](Bootstrap& bootstrap) {
            Transports transports({bootstrap, YieldPolicy::always});
            Rank const other = 1 - bootstrap.rank();
            transports.standard().connect({&other, 1});
            EXPECT_EQ(send_buffers_of_connections().contains(bounded_send_buffer()), ranks_per_node == 2);
            std::string const& changed = transports.standard().settings().at("ucx_set_by_dlmb");
            EXPECT_EQ(changed.find("SNDBUF=512k") != std::string::npos, ranks_per_node == 2) << changed;
            bootstrap.barrier();
        });
    }
}

TEST(Sockets, AreRecordedAsTheyWereSet) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        EXPECT_EQ(transports.standard().settings().at("ucx_set_by_dlmb"), "none") << "UCX_TLS is not set";
    });
    OnlyTcp const only_tcp;
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        Transports transports({bootstrap, YieldPolicy::always});
        auto const changed = [](Transport const& transport) { return transport.settings().at("ucx_set_by_dlmb"); };
        EXPECT_NE(changed(transports.standard()).find("RNDV_THRESH=786432"), std::string::npos);
        std::string const with_another = changed(*transports.with({{"RNDV_THRESH", "4096"}}).value());
        EXPECT_EQ(with_another.find("RNDV_THRESH"), std::string::npos) << with_another;
    });
}

TEST(Sockets, CarryBlocksOnBothSidesOfTheirThresholds) {
    OnlyTcp const only_tcp;
    for (char const* const method : {"linear", "pairwise"}) {
        in_process::run_ranks(3, [method](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            Plan const plan = rank.exchange(
                [](Rank from, Rank to) { return static_cast<Bytes>(1 + from * 2 + to * 3) * 400 * kib + 17; });
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
