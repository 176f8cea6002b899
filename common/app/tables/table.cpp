// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tables/table.hpp"

#include "common/app/launch_calibration.hpp"
#include "common/app/sweep.hpp"
#include "common/app/tables/layouts.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

namespace dlmb::app {

std::string preamble(record::Launch const& launch, std::string_view pattern) {
    return fmt::format("# {} {}: {} ranks, {} per node; launch {}\n", launch.program, pattern, launch.world.ranks,
                       launch.world.ranks_per_node, launch.launch_id) +
           calibration_line(launch.calibration);
}

std::string note(record::Record const& cell, std::string_view title) {
    return fmt::format("# {} {} {} {}: {}: {}\n", title, cell.identity.backend, cell.identity.method,
                       cell.identity.memory, measure::name_of(cell.result.status), cell.result.reason);
}

std::optional<std::string> parameter(record::Record const& cell, std::string_view name) {
    auto const found = cell.identity.parameters.find(std::string(name));
    return found == cell.identity.parameters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Bytes> message_size(record::Record const& cell) {
    auto const text = parameter(cell, "message-size");
    return text ? std::optional(parse_bytes(*text, "message-size")) : std::nullopt;
}

std::string Series::heading(record::Record const& cell, std::string_view title) {
    if (auto const size = message_size(cell); size && title.ends_with(exact_size(*size))) {
        title.remove_suffix(exact_size(*size).size());
        title = title.substr(0, title.find_last_not_of(' ') + 1);
    }
    std::string text = fmt::format("# {}{}{}/{} {}\n", title, title.empty() ? "" : " ", cell.identity.backend,
                                   cell.identity.method, cell.identity.memory);
    if (text == last_) {
        return "";
    }
    last_ = text;
    return text;
}

std::unique_ptr<Table> make_table(Layout layout) {
    switch (layout) {
    case Layout::osu:
        return make_osu_table();
    case Layout::nccl:
        return make_nccl_table();
    case Layout::dlmb:
        break;
    }
    return make_own_table();
}

std::string figure_of_merit(record::Record const& cell) {
    if (cell.result.status != measure::Status::ok) {
        return "";
    }
    return fmt::format("DLMB-FOM {} median {:.3f} us\n", cell.cell_id,
                       cell.result.time.median / nanoseconds_per_microsecond);
}

}  // namespace dlmb::app
