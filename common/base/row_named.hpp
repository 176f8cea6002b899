// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables whose rows have a name that users write.
#pragma once

#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

/// The row of that name. Throws UsageError that says of which `kind` it is none and names the nearest ones, behind
/// `option`: "--to: ".
template <class Rows>
[[nodiscard]] auto const& row_named(Rows const& rows, std::string_view name, std::string_view kind,
                                    std::string_view option = "") {
    auto const found =
        std::find_if(std::begin(rows), std::end(rows), [&](auto const& row) { return row.name == name; });
    if (found == std::end(rows)) {
        std::vector<std::string> known;
        for (auto const& row : rows) {
            known.emplace_back(row.name);
        }
        throw UsageError(fmt::format("{}{}", option, unknown_name(kind, name, known)));
    }
    return *found;
}

}  // namespace dlmb
