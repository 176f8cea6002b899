// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/element_name.hpp"

#include <algorithm>
#include <iterator>

namespace dlmb {
namespace {

struct Synonym {
    std::string_view name;
    Element element;
};

constexpr Synonym synonyms[] = {
    {"byte", Element::byte},     {"uint8", Element::byte}, {"int8", Element::byte},   {"char", Element::byte},
    {"int32", Element::int32},   {"int", Element::int32},  {"int64", Element::int64}, {"fp8", Element::fp8},
    {"fp8e4m3", Element::fp8},   {"fp16", Element::fp16},  {"half", Element::fp16},   {"bf16", Element::bf16},
    {"bfloat16", Element::bf16}, {"fp32", Element::fp32},  {"float", Element::fp32},  {"fp64", Element::fp64},
    {"double", Element::fp64},
};

}  // namespace

std::optional<Element> element_named(std::string_view name) {
    auto const* const found = std::find_if(std::begin(synonyms), std::end(synonyms),
                                           [&](Synonym const& synonym) { return synonym.name == name; });
    return found == std::end(synonyms) ? std::nullopt : std::optional(found->element);
}

}  // namespace dlmb
