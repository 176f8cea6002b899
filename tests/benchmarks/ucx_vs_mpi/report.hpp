// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The comparison's table: a line per case, and per group and method the geometric means of the ratios
// and the worst. Ratios are of medians and of least times: the latter are what a quiet machine comes closest to.
#pragma once

#include "tests/benchmarks/ucx_vs_mpi/contest.hpp"

#include <string>
#include <vector>

namespace dlmb::benchmark {

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

}  // namespace dlmb::benchmark
