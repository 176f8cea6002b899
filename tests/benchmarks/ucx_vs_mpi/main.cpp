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
#include "tests/benchmarks/ucx_vs_mpi/cases.hpp"
#include "tests/benchmarks/ucx_vs_mpi/interleaved.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace dlmb::benchmark {
namespace {

struct Arguments {
    std::vector<std::string> groups;  // of cases
    std::vector<std::string> methods{"default"};
    std::vector<Bytes> sizes;  // empty: those of the group
    std::string only;          // cases whose names have this text
    int rounds = 61;
    bool control = false;  // MPI takes another turn in each round: its ratio to itself is what no comparison can tell
};

/// Throws UsageError.
Arguments read_arguments(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string const word = words[i];
        bool const has_value = word == "--method" || word == "--rounds" || word == "--size" || word == "--only";
        if (has_value && i + 1 == words.size()) {
            throw UsageError(fmt::format("{}: its value is missing", word));
        }
        if (word == "--method") {
            arguments.methods.emplace_back(words[++i]);
        } else if (word == "--size") {
            arguments.sizes.push_back(parse_bytes(words[++i], "--size"));
        } else if (word == "--only") {
            arguments.only = words[++i];
        } else if (word == "--rounds") {
            arguments.rounds = std::max(1, std::stoi(words[++i]));
        } else if (word == "--control") {
            arguments.control = true;
        } else {
            arguments.groups.push_back(word);
        }
    }
    if (arguments.groups.empty()) {
        arguments.groups.assign(group_names().begin(), group_names().end());
    }
    return arguments;
}

/// A line per case, and per group and method the geometric means of the ratios and the worst. Ratios are of medians and
/// of least times: the latter are what a quiet machine comes closest to.
class Report {
public:
    /// Only rank 0 prints.
    Report(Bootstrap const& bootstrap, std::vector<std::string> methods);

    /// `times`: MPI's, then one per method.
    void add(std::string const& name, std::vector<Times> const& times);
    void skip(std::string const& name, std::string const& reason) const;
    void end_group(std::string const& group);

private:
    struct Ratio {
        std::string name;
        double of_medians = 0;
        double of_least = 0;
    };
    [[nodiscard]] static std::string summary(std::vector<Ratio> const& ratios, double Ratio::*value);
    void print(std::string const& text) const;

    bool prints_;
    std::vector<std::string> methods_;
    std::vector<std::vector<Ratio>> ratios_;  // by method, of the group in hand
};

Report::Report(Bootstrap const& bootstrap, std::vector<std::string> methods)
    : prints_(bootstrap.rank() == 0), methods_(std::move(methods)), ratios_(methods_.size()) {
    std::string heading = fmt::format("{:<34} {:>10} {:>10}", "case", "mpi us", "least us");
    for (std::string const& method : methods_) {
        heading += fmt::format(" | {:>10} {:>10} {:>6} {:>6}", method, "least us", "ratio", "least");
    }
    print(heading);
}

void Report::add(std::string const& name, std::vector<Times> const& times) {
    std::string line = fmt::format("{:<34} {:>10.2f} {:>10.2f}", name, times[0].median / 1000, times[0].least / 1000);
    for (std::size_t i = 0; i < methods_.size(); ++i) {
        Times const& ucx = times[i + 1];
        Ratio const ratio{name, ucx.median / times[0].median, ucx.least / times[0].least};
        ratios_[i].push_back(ratio);
        line += fmt::format(" | {:>10.2f} {:>10.2f} {:>6.3f} {:>6.3f}", ucx.median / 1000, ucx.least / 1000,
                            ratio.of_medians, ratio.of_least);
    }
    print(line);
}

void Report::skip(std::string const& name, std::string const& reason) const {
    print(fmt::format("{:<34} skipped: {}", name, reason));
}

void Report::end_group(std::string const& group) {
    for (std::size_t i = 0; i < methods_.size(); ++i) {
        if (!ratios_[i].empty()) {
            print(fmt::format("== {} {}: medians {}; least {}", group, methods_[i],
                              summary(ratios_[i], &Ratio::of_medians), summary(ratios_[i], &Ratio::of_least)));
        }
        ratios_[i].clear();
    }
}

std::string Report::summary(std::vector<Ratio> const& ratios, double Ratio::*value) {
    double logarithms = 0;
    Ratio worst;
    for (Ratio const& each : ratios) {
        logarithms += std::log(each.*value);
        worst = each.*value > worst.*value ? each : worst;
    }
    return fmt::format("geometric mean {:.3f}, worst {:.3f} ({})",
                       std::exp(logarithms / static_cast<double>(ratios.size())), worst.*value, worst.name);
}

void Report::print(std::string const& text) const {
    if (prints_) {
        fmt::print("{}\n", text);
        std::fflush(stdout);
    }
}

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Arguments const& arguments)
        : bootstrap_(bootstrap), arguments_(arguments), mpi_(mpi::make_backend({bootstrap}).value()),
          ucx_(ucx::make_backend({bootstrap}).value()), report_(bootstrap, labels(arguments)) {}

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
    static std::vector<std::string> labels(Arguments const& arguments) {
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
        std::vector<TimedPlan> timed;
        auto const add = [&](Backend& backend, std::string const& method) {
            compiled.push_back(backend.compile(plan, buffers, parse_method(method)).value());
            timed.push_back({compiled.back().get(), &backend});
            backend.quiesce();
        };
        add(*mpi_, "default");
        if (arguments_.control) {
            add(*mpi_, "default");
        }
        for (std::string const& method : arguments_.methods) {
            add(*ucx_, method);
        }
        report_.add(name, time_interleaved(bootstrap_, timed, arguments_.rounds));
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
