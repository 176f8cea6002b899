// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tune/consumers/export_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dlmb::app::tune {

void ExportOptions::add_to(CLI::App& parser) {
    parser.add_option("table", table, "tuning table (JSON)")->required()->option_text("TABLE");
    parser.add_option("--to", consumer, fmt::format("one of {}", fmt::join(consumer_names(), ", ")))->required();
    parser.add_option("--nodes", nodes, "rules for this number of nodes, where the format has no key for it");
    parser.add_option("--memory", slice.memory, "rules for this memory, likewise");
    parser.add_option("--element", slice.dtype, "rules for this element, likewise");
    parser.add_option("--reduction", slice.reduction, "rules for this reduction, likewise");
    parser.add_option("--library-version", library_version,
                      "of the library that reads the files, as 4.1.4; default: what the table says");
    parser.add_option("--library", library, "libmpich.so that programs run with; default: the one of this build");
}

ExportRequest ExportOptions::request() const {
    ExportRequest request{consumer, slice, library_version, library};
    if (nodes != 0) {
        request.slice.nodes = nodes;
    }
    return request;
}

}  // namespace dlmb::app::tune
