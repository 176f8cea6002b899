// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Strict readers of parameters for patterns; `name` is the parameter. All throw UsageError that names it, the value and
// what would be right.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "common/sizes/skew.hpp"
#include "patterns/pattern.hpp"

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dlmb {

/// The value as it is written.
[[nodiscard]] ParameterValue const& text_of(Parameters const& parameters, std::string_view name);
[[nodiscard]] std::uint64_t read_unsigned(Parameters const& parameters, std::string_view name, std::uint64_t min,
                                          std::uint64_t max);
[[nodiscard]] int read_int(Parameters const& parameters, std::string_view name, int min, int max);
[[nodiscard]] Bytes read_bytes(Parameters const& parameters, std::string_view name, Bytes min, Bytes max);
[[nodiscard]] double read_real(Parameters const& parameters, std::string_view name, double min, double max);
/// floor(share * count), the share taken to the billionth: 0.29 of 100 are 29, also where the double is below 0.29.
/// share: from 0 to 1; count: up to 2^33.
[[nodiscard]] std::uint64_t share_of(double share, std::uint64_t count);
/// Whole nanoseconds, up to a minute.
[[nodiscard]] Nanoseconds read_nanoseconds(Parameters const& parameters, std::string_view name);
/// Microseconds, up to 1e9.
[[nodiscard]] Nanoseconds read_microseconds(Parameters const& parameters, std::string_view name);
[[nodiscard]] bool read_switch(Parameters const& parameters, std::string_view name);  // on or off

/// The place of the value among `choices`.
[[nodiscard]] std::size_t read_choice(Parameters const& parameters, std::string_view name,
                                      std::span<std::string_view const> choices);
[[nodiscard]] std::size_t read_choice(Parameters const& parameters, std::string_view name,
                                      std::initializer_list<std::string_view> choices);
/// The enumerator at that place.
template <class Enum>
[[nodiscard]] Enum read_enum(Parameters const& parameters, std::string_view name,
                             std::initializer_list<std::string_view> choices) {
    return static_cast<Enum>(read_choice(parameters, name, choices));
}

/// The parameter of patterns whose steps share buffers beyond a limit (BufferBudget), and its value.
inline constexpr ParameterInfo memory_limit_parameter{
    "memory-limit",
    "bytes of buffers per rank that steps have for themselves; later steps share buffers, which are not checked", "1G"};
[[nodiscard]] Bytes read_memory_limit(Parameters const& parameters);

/// Element types that models are trained and served in.
inline constexpr std::array training_elements{Element::bf16, Element::fp16, Element::fp32};
[[nodiscard]] Element read_element(Parameters const& parameters, std::string_view name,
                                   std::span<Element const> elements);
/// The parameter "gradient-element": bf16, fp16, fp32, or same as `element`.
[[nodiscard]] Element read_gradient_element(Parameters const& parameters, Element element);

/// The passes that an iteration has, of --direction.
enum class Passes { forward, backward, both };
[[nodiscard]] Passes read_passes(Parameters const& parameters);

/// The format that numbers travel in; nothing for "none".
[[nodiscard]] std::optional<BlockFormat> read_packing(Parameters const& parameters, std::string_view name);

/// The parameter of patterns whose rows lie in another order than they travel: who moves them.
enum class Pack { none, host, cuda, fused };
inline constexpr ParameterInfo pack_parameter{"pack",
                                              "who moves rows to and from where they travel: none; host, cuda: steps "
                                              "of their own; fused: the exchange (README of the pattern)",
                                              "none"};
[[nodiscard]] Pack read_pack(Parameters const& parameters);
/// Throws UsageError unless rows of `row_bytes` can be moved and checked. `because`: what makes them so long: "--hidden
/// 3 of bf16".
void require_movable_rows(Pack pack, Bytes row_bytes, std::string const& because);
[[nodiscard]] std::string_view name_of(Pack pack);
/// The processor that does the steps that move rows, for `host` and `cuda`.
[[nodiscard]] Processor mover_of(Pack pack);
/// An exchange of rows whose moves `pack` does: not none.
StepId add_exchange_of_rows(PlanBuilder& builder, Pack pack, GroupId group, RowOrder const& sent,
                            RowOrder const& received, Bytes row_bytes, std::string const& label,
                            std::vector<StepId> after);

/// The whole file of an option whose value is file:PATH.
[[nodiscard]] std::string read_option_file(std::string_view option, std::string const& path);

/// Throws UsageError where intra_host lacks a regular number of ranks per node. text: of the option, for the message.
void require_nodes_of_skew(Skew const& skew, std::string_view text, WorldShape const& world);
/// The parameter "skew", with the same check.
[[nodiscard]] Skew read_skew(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb
