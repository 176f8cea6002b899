// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// ucx_vs_mpi [--method METHOD]... [--rounds N] [SIZE | file:MATRIX]...
//
// The ucx backend's compiled plans against MPI_Alltoallv on the same matrices, interleaved in one launch. Not a test:
// it prints a table with ratios and decides nothing.
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/benchmarks/ucx_vs_mpi/alltoallv_loop.hpp"
#include "tests/benchmarks/ucx_vs_mpi/case.hpp"
#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <span>

namespace dlmb::benchmark {
namespace {

struct Arguments {
    std::vector<std::string> methods;
    std::vector<std::string> cases;
    int rounds = 0;  // 0: by size
};

Arguments read(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string const word = words[i];
        bool const has_value = word == "--method" || word == "--rounds";
        if (has_value && i + 1 == words.size()) {
            throw UsageError(fmt::format("{}: its value is missing", word));
        }
        if (word == "--method") {
            arguments.methods.emplace_back(words[++i]);
        } else if (word == "--rounds") {
            arguments.rounds = std::stoi(words[++i]);
        } else {
            arguments.cases.push_back(word);
        }
    }
    if (arguments.methods.empty()) {
        arguments.methods = {"default"};
    }
    if (arguments.cases.empty()) {
        // The last: 4096 tokens x top-8 rows of 7168 bf16 numbers over 4 ranks, a balanced deepseek-v3 dispatch.
        arguments.cases = {"64", "512", "4K", "32K", "256K", "2M", "117440512"};
    }
    return arguments;
}

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Backend& backend, Arguments arguments)
        : bootstrap_(bootstrap), backend_(backend), arguments_(std::move(arguments)) {}

    void run() {
        print(fmt::format("{:>24} {:>14}", "bytes per peer", "MPI us"));
        for (std::string const& method : arguments_.methods) {
            print(fmt::format(" {:>28} {:>6}", "ucx " + method + " us", "ratio"));
        }
        print("\n");
        for (std::string const& text : arguments_.cases) {
            run_case(read_case(text, bootstrap_.size()));
        }
    }

private:
    void run_case(Case const& traffic) {
        Plan const plan = plan_of(traffic, bootstrap_.rank());
        std::string why_not;
        auto const space = make_memory_space(MemoryKind::host, why_not);
        std::vector<Allocation> memory;
        Buffers buffers;
        for (Buffer const& each : plan.buffers) {
            memory.push_back(space->allocate(each.bytes));
            space->fill(memory.back().data(), each.bytes, guard_key);  // touches every page
            buffers.base.push_back(memory.back().data());
        }
        auto const& exchange = std::get<Exchange>(plan.steps.front().operation);
        AlltoallvLoop const mpi(exchange, buffers.base.at(exchange.send_buffer), buffers.base.at(exchange.recv_buffer),
                                MPI_COMM_WORLD);
        std::vector<Candidate> candidates{{"MPI_Alltoallv", [&] { mpi.run(); }}};
        std::vector<std::unique_ptr<CompiledPlan>> compiled;
        for (std::string const& method : arguments_.methods) {
            compiled.push_back(std::move(backend_.compile(plan, buffers, parse_method(method))).value());
            candidates.push_back({method, [ucx = compiled.back().get()] {
                                      ucx->launch();
                                      ucx->finish();
                                  }});
        }
        Rounds rounds = rounds_for(traffic.largest_row());
        rounds.count = arguments_.rounds > 0 ? arguments_.rounds : rounds.count;
        print_row(traffic, medians(bootstrap_, candidates, rounds));
        backend_.quiesce();
    }

    void print_row(Case const& traffic, std::vector<double> const& times) const {
        print(fmt::format("{:>24} {:>14.2f}", traffic.name, times[0] / 1000));
        for (std::size_t i = 1; i < times.size(); ++i) {
            print(fmt::format(" {:>28.2f} {:>6.3f}", times[i] / 1000, times[i] / times[0]));
        }
        print("\n");
    }

    void print(std::string const& text) const {
        if (bootstrap_.rank() == 0) {
            fmt::print("{}", text);
            std::fflush(stdout);
        }
    }

    Bootstrap& bootstrap_;
    Backend& backend_;
    Arguments arguments_;
};

void run(Bootstrap& bootstrap, std::span<char*> words) {
    Arguments arguments = read(words);
    auto backend = std::move(ucx::make_backend({bootstrap})).value();
    Comparison(bootstrap, *backend, std::move(arguments)).run();
    if (bootstrap.rank() == 0) {
        for (auto const& [name, value] : backend->provenance()) {
            fmt::print("{}: {}\n", name, value);
        }
    }
}

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    dlmb::MpiSession const session(argc, argv);
    auto const bootstrap = dlmb::make_mpi_bootstrap();
    try {
        dlmb::benchmark::run(*bootstrap, {argv, static_cast<std::size_t>(argc)});
    } catch (std::exception const& error) {
        fmt::print(stderr, "ucx_vs_mpi: error: rank {}: {}\n", bootstrap->rank(), error.what());
        bootstrap->abort(1);
    }
    return 0;
}
