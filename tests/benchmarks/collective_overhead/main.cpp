// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// collective_overhead [--rounds N] [--max SIZE]
//
// dlmb_collective's compiled plans over the mpi backend against a loop of the same MPI call, from 8 B up: the bare
// loop, and one that reads the clock after every call, as anyone who times calls does. Not a test: it prints and
// decides nothing. A plan adds some ten nanoseconds, so on a quiet machine with a core per rank ratios are from 0.97 to
// 1.03 except where a call takes no longer than some tens of them (small sizes).
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/base/error.hpp"
#include "patterns/collective/collective.hpp"
#include "tests/benchmarks/collective_overhead/contest.hpp"
#include "tests/benchmarks/collective_overhead/native_loop.hpp"
#include "tests/benchmarks/over_mpi.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace dlmb::benchmark {
namespace {

constexpr double lowest = 0.97;
constexpr double highest = 1.03;

struct Arguments {
    int rounds = 201;
    Bytes max = Bytes{1} << 20;
};

Arguments read(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        std::string_view const word = words[i];
        std::string const value = i + 1 < words.size() ? words[i + 1] : "";
        if (word == "--rounds" && parse_whole<int>(value).value_or(0) > 0) {
            arguments.rounds = *parse_whole<int>(value);
        } else if (word == "--max" && !value.empty()) {
            arguments.max = parse_bytes(value, "--max");
        } else {
            throw UsageError(fmt::format("{} {}: expected --rounds N or --max SIZE", word, value));
        }
    }
    return arguments;
}

bool is_inside(double ratio) {
    return ratio >= lowest && ratio <= highest;
}

/// Enough iterations for a sample far above the clock's resolution.
int burst_for(Bytes bytes) {
    constexpr Bytes small = Bytes{16} << 10;
    constexpr Bytes medium = Bytes{256} << 10;
    return bytes <= small ? 100 : bytes <= medium ? 20 : 5;
}

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Arguments const& arguments)
        : bootstrap_(bootstrap), arguments_(arguments), backend_(mpi::make_backend({bootstrap}).value()) {}

    void run() {
        print_on_rank_0(bootstrap_,
                        fmt::format("{:<20} {:>10} {:>12} {:>12} {:>12} {:>8} {:>12}\n", "operation", "size (B)",
                                    "MPI (us)", "+clock (us)", "plan (us)", "to MPI", "to MPI+clock"));
        for (char const* operation : {"allreduce", "allgather", "broadcast", "alltoallv", "reduce_scatter_block"}) {
            for (Bytes bytes = 8; bytes <= arguments_.max; bytes *= 2) {
                add(operation, bytes);
            }
        }
        print_on_rank_0(bootstrap_, fmt::format("{} of {} ratios to MPI are from {} to {}, {} of those to MPI+clock\n",
                                                bare_inside_, all_, lowest, highest, clocked_inside_));
    }

private:
    void add(char const* operation, Bytes bytes) {
        Parameters const parameters{
            {"operation", operation}, {"message-size", fmt::format("{}", bytes)}, {"skew", "zipf:1"}};
        PatternType const& type = collective::type();
        WorldShape const world{bootstrap_.size(), bootstrap_.size()};
        Plan const plan = build_one(*type.make(resolve(type, "", parameters), world), bootstrap_.rank(), {});
        std::vector<std::vector<std::byte>> memory;  // of zeros: sums stay ordinary numbers however often they run
        Buffers buffers;
        for (Buffer const& each : plan.buffers) {
            buffers.base.push_back(memory.emplace_back(each.bytes).data());
        }
        auto compiled = backend_->compile(plan, buffers, {});
        if (!compiled) {
            throw Error(compiled.error().reason);
        }
        Loop const subject = [&plan = *compiled.value()](int iterations) {
            for (int i = 0; i < iterations; ++i) {
                plan.launch();
                plan.finish();
            }
        };
        std::array<Loop, 3> const loops{native_loop(plan, buffers, MPI_COMM_WORLD, false),
                                        native_loop(plan, buffers, MPI_COMM_WORLD, true), subject};
        auto const times = compare(bootstrap_, loops, arguments_.rounds, burst_for(bytes));
        backend_->quiesce();
        double const to_bare = median_ratio(times[2], times[0]);
        double const to_clocked = median_ratio(times[2], times[1]);
        ++all_;
        bare_inside_ += is_inside(to_bare) ? 1 : 0;
        clocked_inside_ += is_inside(to_clocked) ? 1 : 0;
        print_on_rank_0(bootstrap_,
                        fmt::format("{:<20} {:>10} {:>12.3f} {:>12.3f} {:>12.3f} {:>8.3f} {:>12.3f}\n", operation,
                                    bytes, statistics::median(times[0]) / 1000, statistics::median(times[1]) / 1000,
                                    statistics::median(times[2]) / 1000, to_bare, to_clocked));
    }

    Bootstrap& bootstrap_;
    Arguments arguments_;
    std::unique_ptr<Backend> backend_;
    int all_ = 0;
    int bare_inside_ = 0;
    int clocked_inside_ = 0;
};

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    return dlmb::benchmark::over_mpi("collective_overhead", argc, argv, [](dlmb::Bootstrap& bootstrap, auto words) {
        auto const arguments = dlmb::benchmark::read(words);
        dlmb::benchmark::Comparison(bootstrap, arguments).run();
    });
}
