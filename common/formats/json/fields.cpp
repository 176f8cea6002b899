// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/json/fields.hpp"

#include "common/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

namespace dlmb::json {

std::string Place::text() const {
    if (above_ == nullptr) {
        return std::string(name_);
    }
    std::string const above = above_->above_ == nullptr ? std::string() : above_->text();
    if (index_) {
        return fmt::format("{}[{}]", above, *index_);
    }
    return above.empty() ? std::string(name_) : fmt::format("{}.{}", above, name_);
}

void refuse(Place const& place, std::string_view why) {
    throw UsageError(fmt::format("{}: {}", place.text(), why));
}

Json finite(double value, Place const& place) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("field {} is not a finite number", place.text()));
    }
    return value;
}

namespace detail {

void refuse_word(Place const& place, std::string_view word, std::vector<std::string_view> const& known) {
    refuse(place, fmt::format("'{}' is none of {}", word, fmt::join(known, ", ")));
}

void refuse_field(Place const& place, std::string_view field, std::vector<std::string_view> const& known) {
    std::set<std::string_view> const sorted(known.begin(), known.end());
    refuse(place, fmt::format("unknown field '{}'; it has {}", field, fmt::join(sorted, ", ")));
}

void refuse_number(Place const& place, std::int64_t least, std::uint64_t most) {
    refuse(place, fmt::format("must be a whole number from {} to {}", least, most));
}

std::string text_at(Json const& json, Place const& place) {
    if (!json.is_string()) {
        refuse(place, "must be a text");
    }
    auto text = json.get<std::string>();
    if (text.find('\0') != std::string::npos) {
        refuse(place, "holds a zero byte, which ends a text in C");
    }
    return text;
}

}  // namespace detail
}  // namespace dlmb::json
