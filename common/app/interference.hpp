// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What traffic costs that runs beside other traffic (patterns/beside.hpp), against what each takes alone.
#pragma once

#include "common/record/record.hpp"

#include <map>
#include <string>

namespace dlmb::app {

/// The cells of a launch that ran alone.
class Interference {
public:
    /// Of a cell without traffic beside it, or without the rest.
    void add_alone(record::Record const& cell);

    /// Adds, where the launch has measured both alone and the cell is ok, with medians `main`, `beside` and `together`:
    ///   main_alone_us      main
    ///   beside_alone_us    beside
    ///   interference       together / max(main, beside); 1: the longer one does not feel the other
    ///   overlap_share      (main + beside - together) / min(main, beside); 1: the shorter one costs no time, 0: as
    ///                      much as one after the other, below 0: more
    void complete(record::Record& together) const;

private:
    struct Alone {
        std::map<std::string, double> us;  // by method
        std::string standard;              // the method that "default" stands for
    };
    /// Of the same method, else of the default, by which traffic is done that a method does not change; 0: not
    /// measured.
    [[nodiscard]] double alone_us(std::string const& key, std::string const& method) const;
    /// Of the only method; 0: there are none or several.
    [[nodiscard]] double alone_us(std::string const& key) const;

    std::map<std::string, Alone> alone_;  // by traffic and backend
};

/// "# alone 812.000 us, beside alone 640.000 us: interference 1.318, overlap share 0.548"; empty without such figures.
[[nodiscard]] std::string interference_line(record::Record const& cell);

}  // namespace dlmb::app
