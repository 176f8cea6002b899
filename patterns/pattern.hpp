// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The interface of a pattern. A pattern is a pure function from (parameters, world, draw) to plans. The only thing that
// a rank may need from others are counts of what they will send. Those are pure functions too: plans and tests compute
// them for all ranks, a launch exchanges them once at set-up.
#pragma once

#include "common/base/philox.hpp"
#include "common/formats/plan/osu_program.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/plan/plan_source.hpp"
#include "common/formats/plan/world.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlmb {

struct ModelShape;   // common/formats/model_shape/model_file.hpp
struct Parallelism;  // patterns/model_parameters.hpp

/// Counts that `from` sends to `to` (world ranks) at set-up: usually the rows or bytes that will follow.
struct SetupCounts {
    Rank from = 0;
    Rank to = 0;
    std::vector<std::uint64_t> counts;
    bool operator==(SetupCounts const&) const = default;
};

/// Facts of a draw that one rank knows without asking others.
struct RankSetup {
    std::vector<SetupCounts> counts_to_send;  // sorted by `to`; the rank itself included where it is its own peer
    std::vector<std::uint64_t> statistics;    // summed element-wise over ranks, then read by Pattern::statistics
};

/// A record of several draws has the mean of a figure, the figure of each draw ("hot_expert.draw_3"), or both.
enum class OverDraws : std::uint8_t { mean, each, mean_and_each };

/// One figure of a draw, over all ranks: {"gini_expert", 0.24}.
struct Statistic {
    std::string name;
    double value = 0;
    OverDraws over_draws = OverDraws::mean;
};

using ParameterValue = std::string;  // as written on the command line or in a preset; the pattern reads it strictly

/// Values by parameter name. What a pattern is made of has every parameter of its type.
using Parameters = std::map<std::string, ParameterValue, std::less<>>;

/// The statistic of traffic whose messages are counted: in one iteration over all ranks, answers left out. Such cells
/// get message_rate_per_s.
inline constexpr char const* window_messages = "window_messages";

class Pattern {
public:
    virtual ~Pattern() = default;
    /// Pure: any rank may ask about any source.
    [[nodiscard]] virtual RankSetup setup_of(Rank source, Draw draw) const = 0;
    /// The plan of `me`: `own` is setup_of(me, draw), `received_counts` are the counts sent to `me`, sorted by `from`.
    [[nodiscard]] virtual Plan build(Rank me, Draw draw, RankSetup const& own,
                                     std::span<SetupCounts const> received_counts) const = 0;
    /// Names and values, from RankSetup::statistics summed over all ranks.
    [[nodiscard]] virtual std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const = 0;
    /// Operations that the plans of any rank may hold, without Compute. The first one names a backend's default method.
    /// The same on all ranks.
    [[nodiscard]] virtual std::vector<OperationUse> operations() const = 0;
    /// Whether plans of one seed depend on the index of the draw; if not, a launch compiles one draw only.
    [[nodiscard]] virtual bool draws_differ() const { return false; }
    /// How many draws there are at most.
    [[nodiscard]] virtual std::uint32_t most_draws() const { return std::numeric_limits<std::uint32_t>::max(); }
    /// Parameters that may leave a choice to the pattern (--tp 0), with what they are in this world. Given these values
    /// the pattern is the same.
    [[nodiscard]] virtual Parameters resolved() const { return {}; }
    /// Remarks for the user on these parameters in this world: parts that are not equal, for example. One line each.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
    /// Whether the plans have steps of the phase beside_phase (formats/plan/transform/overlay.hpp), which may run on a
    /// backend of their own.
    [[nodiscard]] virtual bool runs_beside() const { return false; }
    /// How the program of OSU Micro-Benchmarks for this traffic measures it; of traffic that they do not have, as a
    /// collective of long messages.
    [[nodiscard]] virtual OsuProgram osu_program() const { return {}; }
};

/// A pattern whose plans follow from the parameters alone: ranks exchange nothing at set-up, and all draws are equal.
/// `resolved`, `remarks`: as those of Pattern.
class FixedPattern : public Pattern {
public:
    FixedPattern(std::vector<OperationUse> operations, std::function<Plan(Rank)> plan_of, Parameters resolved = {},
                 std::vector<std::string> remarks = {})
        : operations_(std::move(operations)), plan_of_(std::move(plan_of)), resolved_(std::move(resolved)),
          remarks_(std::move(remarks)) {}

    [[nodiscard]] RankSetup setup_of(Rank /*source*/, Draw /*draw*/) const final { return {}; }
    [[nodiscard]] Plan build(Rank me, Draw /*draw*/, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const final {
        return plan_of_(me);
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        return {};
    }
    [[nodiscard]] std::vector<OperationUse> operations() const final { return operations_; }
    [[nodiscard]] Parameters resolved() const final { return resolved_; }
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

private:
    std::vector<OperationUse> operations_;
    std::function<Plan(Rank)> plan_of_;
    Parameters resolved_;
    std::vector<std::string> remarks_;
};

/// All ranks' plans, one after the other; the pattern must stay. Of all ranks at once it keeps only the counts that
/// ranks exchange at set-up.
[[nodiscard]] PlanSource plans_of(Pattern const& pattern, WorldShape const& world, Draw draw);

/// sizes: the command line and the default may say [MIN:]MAX, a sweep over MIN, 2 MIN, 4 MIN ... up to MAX.
enum class ParameterKind : std::uint8_t { plain, sizes };

/// One parameter: an option of the program (`--hidden`) and a key of its presets ("hidden").
struct ParameterInfo {
    std::string_view name;   // long option without dashes, also the preset key
    std::string_view help;   // with unit
    std::string_view value;  // default
    ParameterKind kind = ParameterKind::plain;
};

struct Preset {
    std::string name;
    std::string source;  // where the numbers come from
    Parameters values;   // only those it sets
};

/// Parameters that follow from a model and from the ranks that divide it.
struct ModelDerived {
    Parameters values;
    Parameters missing;               // needed parameters that the model does not tell: by name, the line that says so
    std::vector<std::string> unused;  // parts of --parallel that divide nothing here: "ep=8"
};

/// A kind of traffic, as data: what a program, the conformance tests and the plan printer need to know.
struct PatternType {
    std::string_view name;     // "moe_alltoall"
    std::string_view summary;  // one line
    std::span<ParameterInfo const> parameters;
    std::span<std::string_view const>
        phases;                     // labels before the dot, in reporting order; empty: as the plans have them
    std::string_view presets_json;  // content of presets.json
    /// Throws UsageError naming the parameter, its value and what would be right.
    std::unique_ptr<Pattern> (*make)(Parameters const&, WorldShape const&);
    /// The parameters that follow from --model FILE and --parallel. Throws UsageError that names what of the model this
    /// pattern does not know. nullptr: none follows.
    ModelDerived (*of_model)(ModelShape const&, Parallelism const&) = nullptr;
    /// Parameters that set the compute steps beside which messages travel. Of two cells that differ in nothing else,
    /// the one without compute steps tells how much of its communication the other one hides. Empty: overlap is not
    /// measured.
    std::span<std::string_view const> compute_parameters{};
    /// The one of these that says, by another value than "none", that the host computes beside the operation. Then a
    /// call that returns when the operation is complete leaves nothing to hide. Empty: computations are steps of their
    /// own.
    std::string_view computes_beside{};
    /// The parameter that is given the time that the same cell took without compute steps, in us;
    /// empty: none is, with these parameters. nullptr: with none. Without that time it is "auto", and computes for 0.
    std::string_view (*set_by_communication)(Parameters const&) = nullptr;
    /// False: traffic with these parameters has no size (a barrier), and every parameter of sizes is 0. nullptr: all
    /// has.
    bool (*has_sizes)(Parameters const&) = nullptr;
    /// Whether the plans are those of the file that parameter `plan` names ("-": standard input of rank 0), which may
    /// be an overlay of two (Pattern::runs_beside()).
    bool reads_plans = false;
    /// Parameters without which nobody knows what traffic it is: titles name them also where they have their defaults.
    /// nullptr: preset and swept values say it.
    std::vector<std::string_view> (*named)(Parameters const&) = nullptr;
};

[[nodiscard]] bool has_parameter(PatternType const& type, std::string_view name);
/// Whether the parameter is one of type.compute_parameters.
[[nodiscard]] bool sets_compute(PatternType const& type, std::string_view parameter);

/// Presets in file order. Throws UsageError when the file breaks its own rules (unknown parameter, two of one name).
[[nodiscard]] std::vector<Preset> presets_of(PatternType const& type);

/// Defaults, then the preset (empty: none), then `overrides`. Throws UsageError on unknown names with the nearest ones.
[[nodiscard]] Parameters resolve(PatternType const& type, std::string_view preset, Parameters const& overrides);

}  // namespace dlmb
