// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// ucx_vs_mpi [--method METHOD]... [--size SIZE]... [--only TEXT] [--rounds N] [--control] [GROUP]...
//
// The ucx backend (its default, and the methods named) against the mpi backend's default, which is the plain MPI call,
// on the same plans and buffers, interleaved in one launch. --control: MPI against itself as well. Not a test: it
// prints a table with ratios and decides nothing.
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/base/error.hpp"
#include "tests/benchmarks/over_mpi.hpp"
#include "tests/benchmarks/ucx_vs_mpi/arguments.hpp"
#include "tests/benchmarks/ucx_vs_mpi/cases.hpp"
#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"
#include "tests/benchmarks/ucx_vs_mpi/report.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <cstring>

namespace dlmb::benchmark {
namespace {

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Arguments const& arguments)
        : bootstrap_(bootstrap), arguments_(arguments), mpi_(mpi::make_backend({bootstrap}).value()),
          ucx_(ucx::make_backend({bootstrap}).value()), report_(bootstrap, contenders(arguments)) {}

    void run() {
        for (std::string const& group : arguments_.groups) {
            for (Case const& each : cases_of(group, arguments_.sizes)) {
                if (each.name.find(arguments_.only) == std::string::npos) {
                    continue;
                }
                std::unique_ptr<Pattern> pattern;
                try {
                    pattern = each.type->make(resolve(*each.type, each.preset, each.parameters),
                                              {bootstrap_.size(), bootstrap_.size()});
                } catch (UsageError const& error) {  // this number of ranks; alike on all of them
                    report_.skip(each.name, error.what());
                    continue;
                }
                run_case(each.name, build_one(*pattern, bootstrap_.rank(), {}));
            }
            report_.end_group(group);
        }
        if (bootstrap_.rank() == 0) {
            for (auto const& [name, value] : ucx_->provenance()) {
                fmt::print("{}: {}\n", name, value);
            }
        }
    }

private:
    static std::vector<std::string> contenders(Arguments const& arguments) {
        std::vector<std::string> labels = arguments.methods;
        if (arguments.control) {
            labels.insert(labels.begin(), "mpi again");
        }
        return labels;
    }

    void run_case(std::string const& name, Plan const& plan) {
        std::string why_not;
        auto const space = make_memory_space(MemoryKind::host, why_not);
        std::vector<Allocation> memory;
        Buffers buffers;
        for (Buffer const& each : plan.buffers) {
            memory.push_back(space->allocate(each.bytes));
            std::memset(memory.back().data(), 0, each.bytes);  // sums stay ordinary numbers however often they run
            buffers.base.push_back(memory.back().data());
        }
        std::vector<std::unique_ptr<CompiledPlan>> compiled;
        std::vector<Candidate> candidates;
        auto const add = [&](Backend& backend, std::string const& method) {
            compiled.push_back(backend.compile(plan, buffers, parse_method(method)).value());
            candidates.push_back({compiled.back().get(), &backend});
            backend.quiesce();
        };
        add(*mpi_, "default");
        if (arguments_.control) {
            add(*mpi_, "default");
        }
        for (std::string const& method : arguments_.methods) {
            add(*ucx_, method);
        }
        report_.add(name, compete(bootstrap_, candidates, arguments_.rounds));
    }

    Bootstrap& bootstrap_;
    Arguments const& arguments_;
    std::unique_ptr<Backend> mpi_;
    std::unique_ptr<Backend> ucx_;
    Report report_;
};

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    return dlmb::benchmark::over_mpi("ucx_vs_mpi", argc, argv, [](dlmb::Bootstrap& bootstrap, auto words) {
        auto const arguments = dlmb::benchmark::read_arguments(words);
        if (bootstrap.local_size() < bootstrap.size()) {
            throw dlmb::UsageError("the ranks are on several nodes, whose clocks differ: start them on one");
        }
        dlmb::benchmark::Comparison(bootstrap, arguments).run();
    });
}
