// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// osu_loop OPERATION MIN MAX [ITERATIONS]
//
// Times one operation over sizes that double, as OSU Micro-Benchmarks' own programs do: each rank times each of its
// calls, barriers follow outside the time where the program of that operation has some, and what counts is the mean
// over the ranks that take times of each one's mean. It uses nothing of DLMB and starts MPI as a plain program does.
// One line per size: bytes, then in microseconds mean, least and largest rank, and the median over calls of the mean
// over ranks, which on a busy machine says more. Of windows a call is a window with its answer. Elements are bytes, as
// OSU 7.4 has MPI_CHAR; reductions take MPI_SIGNED_CHAR, because MPI adds no printable characters.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t large_message = 8192;
constexpr double us_per_s = 1e6;

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};

/// Page-aligned, and touched by its rank.
class Memory {
public:
    explicit Memory(std::size_t bytes)
        : data_(std::aligned_alloc(page_bytes,
                                   (std::max<std::size_t>(bytes, 1) + page_bytes - 1) / page_bytes * page_bytes)) {
        std::fill_n(static_cast<unsigned char*>(data_.get()), bytes, static_cast<unsigned char>(1));
    }
    [[nodiscard]] void* get() const { return data_.get(); }

private:
    std::unique_ptr<void, Freed> data_;
};

struct World {
    int rank = 0;
    int ranks = 0;
};

/// All that a call needs, with room for the largest size.
struct Calls {
    Calls(World world, std::size_t largest)
        : send(largest * static_cast<std::size_t>(world.ranks)), recv(largest * static_cast<std::size_t>(world.ranks)),
          counts(static_cast<std::size_t>(world.ranks)), offsets(static_cast<std::size_t>(world.ranks)) {}
    Memory send;
    Memory recv;
    std::vector<int> counts;
    std::vector<int> offsets;
};

using Call = std::function<void()>;

constexpr int window = 64;

/// Of a window.
struct Requests {
    void wait() { MPI_Waitall(window, each.data(), statuses.data()); }

    std::array<MPI_Request, window> each{};
    std::array<MPI_Status, window> statuses{};
};

/// How the program of an operation times it.
struct Program {
    Call call;
    int barriers = 1;    // behind each call
    int with_times = 0;  // that many ranks take times, from rank 0 on
    int calls = 1000;
    int large_calls = 100;
    int warmup = 100;
    int large_warmup = 10;
    int halves = 1;  // of a call's time: 2 where a message goes there and back
};

/// osu_bw and osu_mbw_mr: a window of messages and an answer. osu_bibw: windows both ways, receives first; rank 0 waits
/// for its sends before it waits for what it receives, its peer the other way round. OSU runs the first and the last
/// with two ranks only; here all pairs take part, as in dlmb_collective.
Call window_of(std::string_view operation, World world, Calls& calls, int size) {
    bool const sends = world.rank < world.ranks / 2;
    int const peer = sends ? world.rank + world.ranks / 2 : world.rank - world.ranks / 2;
    void* const send = calls.send.get();
    void* const recv = calls.recv.get();
    if (operation == "bibw") {
        return [=, received = Requests(), sent = Requests()]() mutable {
            for (MPI_Request& request : received.each) {
                MPI_Irecv(recv, size, MPI_CHAR, peer, sends ? 10 : 100, MPI_COMM_WORLD, &request);
            }
            for (MPI_Request& request : sent.each) {
                MPI_Isend(send, size, MPI_CHAR, peer, sends ? 100 : 10, MPI_COMM_WORLD, &request);
            }
            (sends ? sent : received).wait();
            (sends ? received : sent).wait();
        };
    }
    return [=, requests = Requests()]() mutable {
        for (MPI_Request& request : requests.each) {
            if (sends) {
                MPI_Isend(send, size, MPI_CHAR, peer, 100, MPI_COMM_WORLD, &request);
            } else {
                MPI_Irecv(recv, size, MPI_CHAR, peer, 100, MPI_COMM_WORLD, &request);
            }
        }
        requests.wait();
        char answer = 0;
        if (sends) {
            MPI_Recv(&answer, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(&answer, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD);
        }
    };
}

Call ping_pong_of(World world, Calls& calls, int size) {
    void* const send = calls.send.get();
    void* const recv = calls.recv.get();
    bool const begins = world.rank < world.ranks / 2;
    int const peer = begins ? world.rank + world.ranks / 2 : world.rank - world.ranks / 2;
    if (begins) {
        return [=] {
            MPI_Send(send, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(recv, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        };
    }
    return [=] {
        MPI_Recv(recv, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(send, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    };
}

Call collective_of(std::string_view operation, World world, Calls& calls, int size) {
    void* const send = calls.send.get();
    void* const recv = calls.recv.get();
    if (operation == "allreduce") {
        return [=] { MPI_Allreduce(send, recv, size, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD); };
    }
    if (operation == "reduce") {
        return [=] { MPI_Reduce(send, recv, size, MPI_SIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD); };
    }
    if (operation == "reduce_scatter_block") {
        int const part = size / world.ranks;
        return [=] { MPI_Reduce_scatter_block(send, recv, part, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD); };
    }
    if (operation == "reduce_scatter") {
        for (int rank = 0; rank < world.ranks; ++rank) {
            calls.counts[static_cast<std::size_t>(rank)] = size / world.ranks + (rank < size % world.ranks ? 1 : 0);
        }
        int const* const counts = calls.counts.data();
        return [=] { MPI_Reduce_scatter(send, recv, counts, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD); };
    }
    if (operation == "bcast") {
        return [=] { MPI_Bcast(send, size, MPI_CHAR, 0, MPI_COMM_WORLD); };
    }
    if (operation == "gather") {
        return [=] { MPI_Gather(send, size, MPI_CHAR, recv, size, MPI_CHAR, 0, MPI_COMM_WORLD); };
    }
    if (operation == "scatter") {
        return [=] { MPI_Scatter(send, size, MPI_CHAR, recv, size, MPI_CHAR, 0, MPI_COMM_WORLD); };
    }
    if (operation == "barrier") {
        return [] { MPI_Barrier(MPI_COMM_WORLD); };
    }
    if (operation == "allgather") {
        return [=] { MPI_Allgather(send, size, MPI_CHAR, recv, size, MPI_CHAR, MPI_COMM_WORLD); };
    }
    if (operation == "alltoall") {
        return [=] { MPI_Alltoall(send, size, MPI_CHAR, recv, size, MPI_CHAR, MPI_COMM_WORLD); };
    }
    if (operation == "alltoallv") {
        for (int peer = 0; peer < world.ranks; ++peer) {
            calls.counts[static_cast<std::size_t>(peer)] = size;
            calls.offsets[static_cast<std::size_t>(peer)] = peer * size;
        }
        int const* const counts = calls.counts.data();
        int const* const offsets = calls.offsets.data();
        return [=] { MPI_Alltoallv(send, counts, offsets, MPI_CHAR, recv, counts, offsets, MPI_CHAR, MPI_COMM_WORLD); };
    }
    return {};
}

/// Without a call for an operation that there is not.
Program program_of(std::string_view operation, World world, std::size_t bytes, Calls& calls) {
    int const size = static_cast<int>(bytes);
    if (operation == "latency") {
        return {ping_pong_of(world, calls, size), 0, world.ranks / 2, 10000, 1000, 100, 10, 2};
    }
    if (operation == "bw" || operation == "bibw") {
        return {window_of(operation, world, calls, size), 0, 1, 100, 20, 10, 2};
    }
    if (operation == "mbw_mr") {
        return {window_of(operation, world, calls, size), 2, world.ranks / 2, 100, 100, 10, 10};
    }
    return {collective_of(operation, world, calls, size), operation == "barrier" ? 0 : 1, world.ranks};
}

/// Seconds of each call on this rank.
std::vector<double> time_calls(Call const& call, int warmup, int iterations, int barriers) {
    std::vector<double> times(static_cast<std::size_t>(iterations));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -warmup; i < iterations; ++i) {
        double const start = MPI_Wtime();
        call();
        double const stop = MPI_Wtime();
        for (int barrier = 0; barrier < barriers; ++barrier) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (i >= 0) {
            times[static_cast<std::size_t>(i)] = stop - start;
        }
    }
    return times;
}

/// Reorders them.
double median(std::vector<double>& values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void run(std::string_view operation, World world, std::size_t least, std::size_t largest, int asked) {
    Calls calls(world, largest);
    for (std::size_t bytes = least; bytes <= largest; bytes *= 2) {
        if (operation == "reduce_scatter_block" && bytes < static_cast<std::size_t>(world.ranks)) {
            continue;  // equal parts of so few elements are empty
        }
        bool const large = bytes > large_message;
        Program const program = program_of(operation, world, operation == "barrier" ? 0 : bytes, calls);
        int const iterations = asked > 0 ? asked : large ? program.large_calls : program.calls;
        bool const counts = world.rank < program.with_times;
        std::vector<double> times =
            time_calls(program.call, large ? program.large_warmup : program.warmup, iterations, program.barriers);
        for (double& time : times) {
            time *= counts ? us_per_s / program.halves : 0;
        }
        double const own = std::accumulate(times.begin(), times.end(), 0.0) / iterations;
        double const given[2] = {counts ? own : -1e30, counts ? -own : -1e30};
        double extremes[2] = {0, 0};
        std::vector<double> sums(times.size());
        MPI_Reduce(times.data(), sums.data(), iterations, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(given, extremes, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (world.rank == 0) {
            double const mean = std::accumulate(sums.begin(), sums.end(), 0.0) / iterations / program.with_times;
            std::printf("%zu %.4f %.4f %.4f %.4f\n", operation == "barrier" ? 0 : bytes, mean, -extremes[1],
                        extremes[0], median(sums) / program.with_times);
            std::fflush(stdout);
        }
        if (operation == "barrier") {
            break;
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    World world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
    bool const usable = argc >= 4 && world.ranks >= 2 && std::strtoull(argv[2], nullptr, 10) > 0;
    bool known = false;
    if (usable) {
        Calls none(world, 0);
        known = static_cast<bool>(program_of(argv[1], world, 0, none).call);
    }
    if (known) {
        run(argv[1], world, std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10),
            argc > 4 ? std::atoi(argv[4]) : 0);
    } else if (world.rank == 0) {
        std::fprintf(stderr, "osu_loop OPERATION MIN MAX [ITERATIONS], with two ranks or more\n");
    }
    MPI_Finalize();
    return known ? 0 : 64;
}
