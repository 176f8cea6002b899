// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// plain_loop OPERATION MIN MAX [ITERATIONS WARMUP]
//
// A plain MPI program without any code of DLMB, so that it has MPI as a user's program has it. It times an operation as
// the documentation of OSU Micro-Benchmarks describes: each call by itself, an MPI_Barrier between two calls, the mean
// over iterations, then mean, least and most over ranks. Prints "size avg min max" in us.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr long small_bytes = 8192;  // OSU's LARGE_MESSAGE_SIZE: above it, fewer iterations
constexpr double us = 1e6;

void check(int code, char const* call) {
    if (code != MPI_SUCCESS) {
        std::fprintf(stderr, "plain_loop: error: %s returned %d\n", call, code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

struct Buffers {
    char* send;
    char* recv;
    int ranks;
};

/// One call of `operation` with `bytes` as the OSU program of that name counts them; empty: unknown.
std::function<void()> call_of(std::string const& operation, Buffers const& data, int bytes) {
    if (operation == "allreduce") {
        return [=] {
            check(MPI_Allreduce(data.send, data.recv, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
        };
    }
    if (operation == "broadcast") {
        return [=] { check(MPI_Bcast(data.send, bytes, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast"); };
    }
    if (operation == "allgather") {
        return [=] {
            check(MPI_Allgather(data.send, bytes, MPI_CHAR, data.recv, bytes, MPI_CHAR, MPI_COMM_WORLD),
                  "MPI_Allgather");
        };
    }
    if (operation == "alltoall") {
        return [=] {
            check(MPI_Alltoall(data.send, bytes, MPI_CHAR, data.recv, bytes, MPI_CHAR, MPI_COMM_WORLD), "MPI_Alltoall");
        };
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4 && argc != 6) {
        std::fprintf(stderr, "usage: plain_loop OPERATION MIN MAX [ITERATIONS WARMUP]\n");
        MPI_Finalize();
        return 64;
    }
    std::string const operation = argv[1];
    long const most = std::atol(argv[3]);
    std::size_t const room = static_cast<std::size_t>(most) * static_cast<std::size_t>(ranks);
    std::vector<char> send(room, 1);
    std::vector<char> recv(room, 0);
    for (long bytes = std::atol(argv[2]); bytes <= most; bytes *= 2) {
        auto const call = call_of(operation, {send.data(), recv.data(), ranks}, static_cast<int>(bytes));
        if (!call) {
            std::fprintf(stderr, "plain_loop: error: %s: no such operation\n", operation.c_str());
            MPI_Finalize();
            return 64;
        }
        int const iterations = argc == 6 ? std::atoi(argv[4]) : bytes > small_bytes ? 100 : 1000;
        int const warm_up = argc == 6 ? std::atoi(argv[5]) : bytes > small_bytes ? 10 : 100;
        double total = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = -warm_up; i < iterations; ++i) {
            double const begin = MPI_Wtime();
            call();
            double const end = MPI_Wtime();
            total += i >= 0 ? end - begin : 0;
            MPI_Barrier(MPI_COMM_WORLD);
        }
        double const mine = total / iterations * us;
        double sum = 0;
        double least = 0;
        double largest = 0;
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            std::printf("%ld %.3f %.3f %.3f\n", bytes, sum / ranks, least, largest);
            std::fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
