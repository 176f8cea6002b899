// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/readers.hpp"

#include "common/base/error.hpp"
#include "common/base/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlmb {
namespace {

constexpr std::array<std::string_view, 4> pack_names{"none", "host", "cuda", "fused"};  // by Pack

}  // namespace

ParameterValue const& text_of(Parameters const& parameters, std::string_view name) {
    auto const found = parameters.find(name);
    if (found == parameters.end()) {
        throw Error(fmt::format("parameter '{}' was not resolved", name));
    }
    return found->second;
}

std::uint64_t read_unsigned(Parameters const& parameters, std::string_view name, std::uint64_t min, std::uint64_t max) {
    ParameterValue const& text = text_of(parameters, name);
    auto const value = parse_whole<std::uint64_t>(text);
    if (!value || *value < min || *value > max) {
        throw UsageError(fmt::format("--{} '{}': expected a whole number from {} to {}", name, text, min, max));
    }
    return *value;
}

Bytes read_bytes(Parameters const& parameters, std::string_view name, Bytes min, Bytes max) {
    ParameterValue const& text = text_of(parameters, name);
    Bytes const value = parse_bytes(text, fmt::format("--{}", name));
    if (value < min || value > max) {
        throw UsageError(fmt::format("--{} '{}': expected a size from {} to {} bytes", name, text, min, max));
    }
    return value;
}

double read_real(Parameters const& parameters, std::string_view name, double min, double max) {
    ParameterValue const& text = text_of(parameters, name);
    auto const value = parse_whole<double>(text);
    if (!value || *value < min || *value > max) {
        throw UsageError(fmt::format("--{} '{}': expected a number from {} to {}", name, text, min, max));
    }
    return *value;
}

std::uint64_t share_of(double share, std::uint64_t count) {
    constexpr double parts = 1e9;
    return static_cast<std::uint64_t>(std::llround(share * parts)) * count / static_cast<std::uint64_t>(parts);
}

Nanoseconds read_nanoseconds(Parameters const& parameters, std::string_view name) {
    return static_cast<Nanoseconds>(read_unsigned(parameters, name, 0, 60'000'000'000));
}

Nanoseconds read_microseconds(Parameters const& parameters, std::string_view name) {
    return std::llround(read_real(parameters, name, 0, 1e9) * nanoseconds_per_microsecond);
}

std::size_t read_choice(Parameters const& parameters, std::string_view name,
                        std::span<std::string_view const> choices) {
    ParameterValue const& text = text_of(parameters, name);
    auto const found = std::find(choices.begin(), choices.end(), text);
    if (found == choices.end()) {
        constexpr std::size_t many = 5;
        std::vector<std::string> const names(choices.begin(), choices.end());
        std::string const unknown = unknown_name(name, text, names);
        throw UsageError(fmt::format("--{} '{}': expected {}{}", name, text, fmt::join(choices, ", "),
                                     names.size() < many ? "" : unknown.substr(unknown.find("; nearest"))));
    }
    return static_cast<std::size_t>(found - choices.begin());
}

std::size_t read_choice(Parameters const& parameters, std::string_view name,
                        std::initializer_list<std::string_view> choices) {
    return read_choice(parameters, name, std::span(choices.begin(), choices.size()));
}

bool read_switch(Parameters const& parameters, std::string_view name) {
    return read_choice(parameters, name, {"on", "off"}) == 0;
}

int read_int(Parameters const& parameters, std::string_view name, int min, int max) {
    return static_cast<int>(
        read_unsigned(parameters, name, static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max)));
}

Bytes read_memory_limit(Parameters const& parameters) {
    return read_bytes(parameters, memory_limit_parameter.name, 0, std::numeric_limits<Bytes>::max());
}

Element read_element(Parameters const& parameters, std::string_view name, std::span<Element const> elements) {
    std::vector<std::string_view> names;
    for (Element const element : elements) {
        names.push_back(name_of(element));
    }
    return elements[read_choice(parameters, name, names)];
}

Element read_gradient_element(Parameters const& parameters, Element element) {
    std::size_t const gradient = read_choice(parameters, "gradient-element", {"bf16", "fp16", "fp32", "same"});
    return gradient == training_elements.size() ? element : training_elements.at(gradient);
}

Passes read_passes(Parameters const& parameters) {
    return read_enum<Passes>(parameters, "direction", {"forward", "backward", "both"});
}

std::optional<BlockFormat> read_packing(Parameters const& parameters, std::string_view name) {
    ParameterValue const& text = text_of(parameters, name);
    if (text == "none") {
        return std::nullopt;
    }
    auto const format = block_format_named(text);
    if (!format) {
        throw UsageError(fmt::format("--{} '{}': expected none, {}", name, text, block_format_names));
    }
    return format;
}

Pack read_pack(Parameters const& parameters) {
    return static_cast<Pack>(read_choice(parameters, "pack", pack_names));
}

std::string_view name_of(Pack pack) {
    return pack_names.at(static_cast<std::size_t>(pack));
}

Processor mover_of(Pack pack) {
    return pack == Pack::cuda ? Processor::device : Processor::host;
}

StepId add_exchange_of_rows(PlanBuilder& builder, Pack pack, GroupId group, RowOrder const& sent,
                            RowOrder const& received, Bytes row_bytes, std::string const& label,
                            std::vector<StepId> after) {
    if (pack == Pack::fused) {
        return builder.scattered_exchange(group, sent, received, row_bytes, label, std::move(after));
    }
    return builder.rearranged_exchange(group, sent, received, row_bytes, mover_of(pack), label, std::move(after));
}

void require_movable_rows(Pack pack, Bytes row_bytes, std::string const& because) {
    constexpr Bytes word_bytes = 8;
    if (pack != Pack::none && row_bytes % word_bytes != 0) {
        throw UsageError(fmt::format("--pack {}: rows of {} B ({}) are not a multiple of {} B", name_of(pack),
                                     row_bytes, because, word_bytes));
    }
}

std::string read_option_file(std::string_view option, std::string const& path) {
    try {
        return read_document(path);
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{} file:{}", option, error.what()));
    }
}

void require_nodes_of_skew(Skew const& skew, std::string_view text, WorldShape const& world) {
    if (skew.intra_host != 1 && world.ranks_per_node <= 0) {
        throw UsageError(
            fmt::format("--skew '{}': the {} ranks have no regular number of ranks per node", text, world.ranks));
    }
}

Skew read_skew(Parameters const& parameters, WorldShape const& world) {
    ParameterValue const& text = text_of(parameters, "skew");
    Skew skew = parse_skew(text);
    require_nodes_of_skew(skew, text, world);
    return skew;
}

}  // namespace dlmb
