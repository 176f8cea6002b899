// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The table a person reads while the program runs, in our own layout or in the one OSU or nccl-tests users know.
#pragma once

#include "common/formats/record/record.hpp"
#include "common/run/options/options.hpp"
#include "common/run/sweep.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace dlmb::run {

/// Lines that hold no figures begin with '#'. Rows stand in the order in which cells were asked for, whichever is done
/// first.
class Table {
public:
    virtual ~Table() = default;
    [[nodiscard]] virtual std::string header(record::Launch const& launch, std::string_view pattern) const = 0;
    /// A point whose cells will come: so that columns keep their width, and a row knows that another half comes.
    virtual void expect(SweepPoint const& /*point*/) {}
    /// A cell that is asked for; in the order in which they are. Those that are only added are asked for then.
    void expect_cell(std::string const& cell_id) { place_of(cell_id); }
    virtual void add(record::Record const& cell, std::string_view title) = 0;
    /// Rows of the cells so far; called when the cells that take turns are done. Widths follow from them.
    [[nodiscard]] virtual std::string ready() = 0;
    /// The rows that are left at the end.
    [[nodiscard]] virtual std::string footer() = 0;

protected:
    /// The number of a cell among those that were asked for.
    std::size_t place_of(std::string const& cell_id) {
        return places_.try_emplace(cell_id, places_.size()).first->second;
    }
    /// A cell without a time: its status and reason, as a comment. Of those that are skipped for one reason the first;
    /// the others are counted.
    [[nodiscard]] std::string note(record::Record const& cell, std::string_view title,
                                   std::optional<Bytes> size = std::nullopt);
    /// How many were skipped for the reason of a line above.
    [[nodiscard]] std::string skipped_likewise() const;

private:
    std::map<std::string, std::size_t> places_;
    std::set<std::string> reasons_;                          // why cells were skipped
    std::map<std::string, std::uint64_t> skipped_likewise_;  // cells by backend, those of the lines left out
};

/// By options.layout, options.columns and options.percentiles.
[[nodiscard]] std::unique_ptr<Table> make_table(Options const& options);

/// Prefix of lines for scripts: nothing in our own layout, "# " in those of the suites, whose readers know
/// rows and comments.
[[nodiscard]] std::string_view mark_of(TableLayout layout);

/// "DLMB-FOM <cell_id> <metric> <value> <unit>", the line that log scrapers look for; empty unless the cell is ok.
[[nodiscard]] std::string figure_of_merit(record::Record const& cell);

}  // namespace dlmb::run
