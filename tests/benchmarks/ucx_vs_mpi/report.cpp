// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/ucx_vs_mpi/report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

namespace dlmb::benchmark {

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

}  // namespace dlmb::benchmark
