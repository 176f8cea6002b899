// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Single values of options and of output that we read back: numbers, sizes, lists, names with knobs, versions.
#include "common/backend_kit/backend.hpp"
#include "common/base/units.hpp"
#include "common/sizes/weights.hpp"
#include "common/tools/tune/exporters/export.hpp"
#include "patterns/dlrm_exchange/model.hpp"
#include "patterns/moe_alltoall/moving_skew.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <cmath>

namespace dlmb::fuzz {
namespace {

void read_size(std::string_view text) {
    Bytes const bytes = parse_bytes(text, "--size");
    require(parse_bytes(std::to_string(bytes), "--size") == bytes, "a size is read as another one");
}

void read_method(std::string_view text) {
    MethodChoice const method = parse_method(text);
    require(to_string(parse_method(to_string(method))) == to_string(method), "a method is read as another one");
}

void read_skew(std::string_view text) {
    Skew const skew = parse_skew(text);
    if (skew.family == Skew::Family::file) {
        return;
    }
    for (double const weight : Weights(skew, Bins{{0, 0, 1, 1, 2, 3}, 64, 2, 1}).of(0, 1, 0)) {
        require(weight > 0 && weight <= 1, "a weight is not above 0 and at most 1");
    }
}

void read_routing_skew(std::string_view text) {
    moe_alltoall::RoutingSkew const skew = moe_alltoall::parse_routing_skew(text);
    std::vector<double> weights{1, 0.5, 0.25, 0x1p-40};
    moe_alltoall::SkewMotion(skew.moving, {0, 0, 1, 1}).apply(weights, {1, 77}, 3);
    for (double const weight : weights) {
        require(weight > 0 && weight <= 4, "a weight that moves is not above 0 or too large");
    }
}

void read_list(std::string_view text) {
    dlrm_exchange::NumberRule const rule{"--rows", false, 1, dlrm_exchange::max_rows, dlrm_exchange::published_rows};
    if (!text.starts_with(dlrm_exchange::file_prefix)) {
        for (dlrm_exchange::Millionths const number : dlrm_exchange::read_numbers(text, rule)) {
            require(number >= dlrm_exchange::one, "a number below the least");
        }
    }
}

}  // namespace

void option_values(std::string_view input) {
    if (auto const number = parse_whole<double>(input)) {
        require(std::isfinite(*number), "a number is not finite");
    }
    (void)tuning::read_threshold(std::string(input));
    for (auto* const read : {read_size, read_method, read_skew, read_routing_skew, read_list}) {
        (void)accepts([&] { read(input); });
    }
    (void)accepts([&] { (void)tuning::parse_version(input); });
    (void)accepts([&] { (void)dlrm_exchange::mlp_parameters(input, "--top"); });
    (void)accepts([&] { (void)dlrm_exchange::cross_parameters(input, 512); });
}

}  // namespace dlmb::fuzz
