// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks divide a model, and the parameters of a pattern that follow from both.
#pragma once

#include "common/base/error.hpp"
#include "common/formats/model_shape/model_file.hpp"
#include "patterns/pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace dlmb {

/// Ranks that divide a model; 0: not given.
struct Parallelism {
    std::uint64_t tp = 0;  // tensor
    std::uint64_t pp = 0;  // pipeline
    std::uint64_t ep = 0;  // expert
    std::uint64_t cp = 0;  // context, or sequence
    std::uint64_t dp = 0;  // data
};

struct ParallelPart {
    std::string_view name;
    std::uint64_t Parallelism::*ranks;
};
inline constexpr std::array parallel_parts{ParallelPart{"tp", &Parallelism::tp}, ParallelPart{"pp", &Parallelism::pp},
                                           ParallelPart{"ep", &Parallelism::ep}, ParallelPart{"cp", &Parallelism::cp},
                                           ParallelPart{"dp", &Parallelism::dp}};

/// "tp=8,pp=4". Throws UsageError that names `option`.
[[nodiscard]] Parallelism parse_parallelism(std::string_view text, std::string_view option);

/// The vocabulary as Megatron-LM pads it for `tp` ranks, also for one: the next multiple of 128 tp
/// (calculate_padded_vocab_size() in vocab_utils.py; --make-vocab-size-divisible-by is 128 there).
[[nodiscard]] std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp);

/// Derives parameters from a model for one combination of given ones. A given element, and given ranks of a part of
/// --parallel, take the place of what the model and --parallel say, and what is given does not follow. Throws
/// UsageError for a needed parameter that is neither told nor given.
[[nodiscard]] ModelDerived derive(PatternType const& type, ModelShape model, Parallelism parallel,
                                  Parameters const& given);

/// Adds up the parameters that a pattern takes from a model. Sizes that are 0 are left out, or missing where needed.
class ModelParameters {
public:
    /// `used`: the parts of --parallel that the parameters follow from.
    ModelParameters(ModelShape const& model, Parallelism const& parallel, std::initializer_list<std::string_view> used);

    /// `what`: the words for it where the model does not tell it.
    ModelParameters& needed(std::string_view parameter, std::uint64_t value, std::string_view what);
    ModelParameters& optional(std::string_view parameter, std::uint64_t value);
    /// `value()` throws UsageError where it does not follow from the model; that is said where the parameter is not
    /// given.
    template <class Value>
    ModelParameters& computed(std::string_view parameter, Value const& value) {
        try {
            derived_.values.insert_or_assign(std::string(parameter), fmt::format("{}", value()));
        } catch (UsageError const& error) {
            derived_.missing.insert_or_assign(std::string(parameter), error.what());
        }
        return *this;
    }
    ModelParameters& text(std::string_view parameter, std::string_view value);
    /// Left out where models are not trained in it.
    ModelParameters& element();

    [[nodiscard]] ModelDerived derived() const { return derived_; }

private:
    ModelShape const& model_;
    ModelDerived derived_;
};

}  // namespace dlmb
