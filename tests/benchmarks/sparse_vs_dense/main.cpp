// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// sparse_vs_dense [--rounds N] [--elements N] [--density D]
//
// The communication of each algorithm of dlmb_sparse_allreduce over the mpi backend against that of the dense
// allreduce of the same gradients, in turns in one launch; by default 4 MiB of gradients at density 0.001. Beside it
// what the selection costs that the sparse ones need and the dense one does not: a pass over all gradients with a
// threshold, and the exact threshold, both on one core. Not a test: it prints and decides nothing.
#include "common/backends/mpi/mpi_backend.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "patterns/sparse_allreduce/gradients.hpp"
#include "patterns/sparse_allreduce/sparse_allreduce.hpp"
#include "tests/benchmarks/collective_overhead/contest.hpp"
#include "tests/benchmarks/over_mpi.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace dlmb::benchmark {
namespace {

struct Arguments {
    int rounds = 101;
    std::string elements = "1048576";
    std::string density = "0.001";
};

Arguments read(std::span<char*> words) {
    Arguments arguments;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        std::string_view const word = words[i];
        std::string const value = i + 1 < words.size() ? words[i + 1] : "";
        if (word == "--rounds" && parse_whole<int>(value).value_or(0) > 0) {
            arguments.rounds = *parse_whole<int>(value);
        } else if (word == "--elements") {
            arguments.elements = value;
        } else if (word == "--density") {
            arguments.density = value;
        } else {
            throw UsageError(fmt::format("{} {}: expected --rounds N, --elements N or --density D", word, value));
        }
    }
    return arguments;
}

struct Case {
    std::string name;
    Parameters parameters;
    std::uint32_t iteration = 1;  // of iteration 0 the thresholds are estimated and the regions made
};

std::vector<Case> cases() {
    return {{"dense", {{"algorithm", "dense"}}},
            {"topk_allgather", {{"algorithm", "topk_allgather"}}},
            {"gtopk", {{"algorithm", "gtopk"}}},
            {"recursive_sparse", {{"algorithm", "recursive_sparse"}}},
            {"oktopk", {}},
            {"oktopk, estimating", {}, 0},
            {"oktopk --no-balance", {{"no-balance", "on"}}}};
}

/// A plan with its memory, compiled.
struct Ready {
    Plan plan;
    std::vector<std::vector<std::byte>> memory;  // of zeros: sums stay ordinary numbers however often they run
    Buffers buffers;
    std::unique_ptr<CompiledPlan> compiled;
};

class Comparison {
public:
    Comparison(Bootstrap& bootstrap, Arguments arguments)
        : bootstrap_(bootstrap), arguments_(std::move(arguments)), backend_(mpi::make_backend({bootstrap}).value()) {}

    void run() {
        std::vector<std::unique_ptr<Ready>> ready;
        std::vector<Loop> loops;
        for (Case const& each : cases()) {
            loops.emplace_back([&plan = *ready.emplace_back(compile(each))->compiled](int iterations) {
                for (int i = 0; i < iterations; ++i) {
                    plan.launch();
                    plan.finish();
                }
            });
        }
        constexpr int burst = 5;
        auto const times = compare(bootstrap_, loops, arguments_.rounds, burst);
        backend_->quiesce();
        print_on_rank_0(bootstrap_,
                        fmt::format("{} fp32 gradients, density {}, {} ranks; medians of {} rounds in turns\n",
                                    arguments_.elements, arguments_.density, bootstrap_.size(), arguments_.rounds));
        print_on_rank_0(bootstrap_, fmt::format("{:<22} {:>14} {:>10}\n", "communication", "time (us)", "to dense"));
        for (std::size_t i = 0; i < times.size(); ++i) {
            print_on_rank_0(bootstrap_,
                            fmt::format("{:<22} {:>14.1f} {:>10.3f}\n", cases()[i].name,
                                        statistics::median(times[i]) / 1000, median_ratio(times[i], times[0])));
        }
        selection();
    }

private:
    [[nodiscard]] Parameters with_sizes(Parameters parameters) const {
        parameters.emplace("elements", arguments_.elements);
        parameters.emplace("density", arguments_.density);
        return resolve(sparse_allreduce::type(), "", parameters);
    }
    [[nodiscard]] WorldShape world() const { return {bootstrap_.size(), bootstrap_.size()}; }

    std::unique_ptr<Ready> compile(Case const& each) {
        auto const pattern = sparse_allreduce::type().make(with_sizes(each.parameters), world());
        auto ready = std::make_unique<Ready>();
        ready->plan = build_one(*pattern, bootstrap_.rank(), {1, each.iteration});
        for (Buffer const& buffer : ready->plan.buffers) {
            ready->buffers.base.push_back(ready->memory.emplace_back(buffer.bytes).data());
        }
        auto compiled = backend_->compile(ready->plan, ready->buffers, {});
        if (!compiled) {
            throw Error(compiled.error().reason);
        }
        ready->compiled = std::move(compiled.value());
        return ready;
    }

    /// On rank 0, while the others wait.
    void selection() {
        if (bootstrap_.rank() == 0) {
            auto const params = sparse_allreduce::read_params(with_sizes({}), world());
            sparse_allreduce::Gradients const gradients(params);
            std::vector<float> const all = gradients.all(0, {1, 1});
            sparse_allreduce::SparseVector picks = gradients.large(0, {1, 1});
            double const threshold = sparse_allreduce::least_magnitude(sparse_allreduce::largest(picks, params.k));
            auto const limit = static_cast<float>(threshold);
            std::size_t found = 0;
            double const scan_us = best_us([&] {
                picks.clear();
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if (std::fabs(all[i]) >= limit) {
                        picks.push_back({static_cast<std::uint32_t>(i), all[i]});
                    }
                }
                found = picks.size();
            });
            std::vector<float> magnitudes(all.size());
            double const estimate_us = best_us([&] {
                std::transform(all.begin(), all.end(), magnitudes.begin(), [](float each) { return std::fabs(each); });
                auto const last = magnitudes.begin() + static_cast<std::ptrdiff_t>(params.k - 1);
                std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>{});
            });
            print_on_rank_0(bootstrap_,
                            fmt::format("selection              {:>14.1f} us: one pass with a threshold, {} picks\n"
                                        "                       {:>14.1f} us: the exact threshold\n",
                                        scan_us, found, estimate_us));
        }
        bootstrap_.barrier();
    }

    template <class Work>
    static double best_us(Work const& work) {
        double best = std::numeric_limits<double>::max();
        for (int repetition = 0; repetition < 7; ++repetition) {
            Nanoseconds const start = now_ns();
            work();
            best = std::min(best, static_cast<double>(now_ns() - start) / nanoseconds_per_microsecond);
        }
        return best;
    }

    Bootstrap& bootstrap_;
    Arguments arguments_;
    std::unique_ptr<Backend> backend_;
};

}  // namespace
}  // namespace dlmb::benchmark

int main(int argc, char** argv) {
    return dlmb::benchmark::over_mpi("sparse_vs_dense", argc, argv, [](dlmb::Bootstrap& bootstrap, auto words) {
        auto const arguments = dlmb::benchmark::read(words);
        dlmb::benchmark::Comparison(bootstrap, arguments).run();
    });
}
