// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/exporters/export.hpp"

#include <nlohmann/json.hpp>

namespace dlmb::tuning {

std::string_view name_of(LostReason reason) {
    switch (reason) {
    case LostReason::operation_not_tunable:
        return "operation_not_tunable";
    case LostReason::key_not_expressible:
        return "key_not_expressible";
    case LostReason::size_ignored:
        return "size_ignored";
    case LostReason::range_limit:
        return "range_limit";
    case LostReason::unknown_algorithm:
        return "unknown_algorithm";
    case LostReason::other_slice:
        return "other_slice";
    case LostReason::other_backend:
        break;
    }
    return "other_backend";
}

std::string to_json(std::vector<Lost> const& lost) {
    std::string text = "[";
    for (Lost const& one : lost) {
        nlohmann::ordered_json const line{{"rule", one.rule}, {"why", name_of(one.why)}, {"detail", one.detail}};
        text += (text.size() > 1 ? ",\n " : "\n ") + line.dump();
    }
    return text + (lost.empty() ? "]\n" : "\n]\n");
}

}  // namespace dlmb::tuning
