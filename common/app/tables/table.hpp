// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The table a person reads while the program runs, in our own layout or in the one OSU or nccl-tests users know.
#pragma once

#include "common/app/options/options.hpp"
#include "common/app/sweep.hpp"
#include "common/record/record.hpp"

#include <memory>
#include <string>

namespace dlmb::app {

/// Lines that hold no figures begin with '#'.
class Table {
public:
    virtual ~Table() = default;
    [[nodiscard]] virtual std::string header(record::Launch const& launch, std::string_view pattern) const = 0;
    /// A point whose cells will come: so that columns keep their width, and a row knows that another half comes.
    virtual void expect(SweepPoint const& /*point*/) {}
    virtual void add(record::Record const& cell, std::string_view title) = 0;
    /// What can be printed of the cells so far; asked for when those that take turns are done. Widths follow from them.
    [[nodiscard]] virtual std::string ready() = 0;
    /// What is left at the end.
    [[nodiscard]] virtual std::string footer() = 0;
};

/// By options.layout, options.columns and options.percentiles.
[[nodiscard]] std::unique_ptr<Table> make_table(Options const& options);

/// "DLMB-FOM <cell_id> <metric> <value> <unit>", the line that log scrapers look for; empty unless the cell is ok.
[[nodiscard]] std::string figure_of_merit(record::Record const& cell);

}  // namespace dlmb::app
