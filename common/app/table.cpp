// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/table.hpp"

#include "common/app/table_layouts.hpp"
#include "common/base/units.hpp"

#include <fmt/core.h>

namespace dlmb::app {

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
