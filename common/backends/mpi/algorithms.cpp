// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Also method algorithm: the blocking calls, each by an algorithm of the library that the user names.
#include "common/backends/mpi/algorithms.hpp"

#include "common/backends/mpi/compile_plan.hpp"
#include "common/base/error.hpp"
#include "common/base/row_named.hpp"
#include "common/base/units.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace dlmb::mpi {
namespace {

NamedValue const& offered_algorithm(CallAlgorithms const& offered, MpiCall call, std::string_view name) {
    return row_named(offered.algorithms, name, fmt::format("algorithm of {}", name_of(call)));
}

/// The call of the choice that does the operation; nullopt: it names none.
std::optional<MpiCall> call_of(Operation const& operation, LibraryAlgorithms const& choice) {
    for (auto const& [call, algorithm] : choice.algorithms) {
        if (does(call, operation)) {
            return call;
        }
    }
    return std::nullopt;
}

CallSize size_of_call(Operation const& operation, Plan const& plan) {
    auto const group = group_of(operation);
    if (!group) {
        return {};
    }
    Bytes const ranks = plan.groups.at(*group).members.size();
    CallSize size{static_cast<int>(ranks)};
    if (auto const* step = std::get_if<Collective>(&operation)) {
        size.element_bytes = size_of(step->element);
        size.elements = step->bytes / size.element_bytes / (has_parts(step->kind) ? ranks : 1);
    }
    return size;
}

/// The first failure's text; empty: all ran. Only for calls that fail on all members of a group or on none.
std::string run_once(Plan const& plan, std::span<PreparedCall const> calls, std::span<StepId const> steps) {
    std::string failure;
    for (StepId const step : collective_order(plan)) {
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
            continue;
        }
        try {
            calls[step].start_and_wait();
        } catch (CallFailed const& error) {
            if (failure.empty()) {
                failure = fmt::format("\"{}\": {}", plan.steps[step].label, error.summary());
                std::replace(failure.begin(), failure.end(), '\n', ' ');  // MPICH tells a stack of errors
            }
        }
    }
    return failure;
}

constexpr Bytes most = std::numeric_limits<std::int32_t>::max();  // what the variables of the libraries hold

std::int64_t read_setting(AlgorithmSetting setting, std::string_view text) {
    std::string const option = fmt::format("--method algorithm:{}", name_of(setting));
    if (setting == AlgorithmSetting::segment) {
        Bytes const bytes = parse_bytes(text, option);
        if (bytes > most) {
            throw UsageError(fmt::format("{}={}: expected less than 2G", option, text));
        }
        return static_cast<std::int64_t>(bytes);
    }
    std::int32_t const number = parse_whole<std::int32_t>(text).value_or(-1);
    if (number < 0) {
        throw UsageError(fmt::format("{}={}: expected a whole number from 0 up", option, text));
    }
    return number;
}

bool read_algorithm_knob(ChosenMethod& method, std::string_view knob, std::string_view value) {
    LibraryAlgorithms& choice = method.algorithms;
    for (MpiCallFacts const& facts : mpi_call_table) {
        MpiCall const call = facts.call;
        if (knob == name_of(call)) {
            choice.algorithms[call] = value;
            bool const packed = choice.exchange_call() == MpiCall::alltoall;
            method.calls = &find_direct_method(packed ? "alltoall" : "alltoallv");
            return true;
        }
    }
    for (AlgorithmSetting const setting : every_algorithm_setting) {
        if (knob == name_of(setting)) {
            choice.settings[setting] = read_setting(setting, value);
            return true;
        }
    }
    return false;
}

PreparedCall compile_by_calls(Operation const& operation, CompileContext const& context) {
    return compile_by(*context.method.calls, operation, context);
}

}  // namespace

std::vector<StepId> steps_by_algorithm(Plan const& plan, LibraryAlgorithms const& choice) {
    std::vector<StepId> steps;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        if (call_of(plan.steps[step].operation, choice)) {
            steps.push_back(step);
        }
    }
    return steps;
}

Algorithms::Algorithms() : catalogue_(find_algorithms(mpi_library_version())) {}

void Algorithms::require_offered(LibraryAlgorithms const& choice) const {
    for (auto const& [call, algorithm] : choice.algorithms) {
        auto const offered = catalogue_.calls.find(call);
        if (offered != catalogue_.calls.end()) {
            (void)offered_algorithm(offered->second, call, algorithm);
        }
    }
    for (auto const& [setting, value] : choice.settings) {
        bool const taken =
            std::any_of(choice.algorithms.begin(), choice.algorithms.end(), [&, wanted = setting](auto const& named) {
                auto const offered = catalogue_.calls.find(named.first);
                return offered == catalogue_.calls.end() || offered->second.settings.contains(wanted);
            });
        if (!taken) {
            throw UsageError(fmt::format("--method algorithm: {} is no setting of these calls in this MPI library",
                                         name_of(setting)));
        }
    }
}

std::string Algorithms::refusal(Plan const& plan, LibraryAlgorithms const& choice) const {
    if (!catalogue_.why_not.empty()) {
        return fmt::format("mpi: algorithm: {}", catalogue_.why_not);
    }
    if (choice.empty()) {
        return "mpi: algorithm: name one, for example algorithm:allreduce=ring (dlmb_info lists them)";
    }
    for (auto const& [call, algorithm] : choice.algorithms) {
        if (!catalogue_.calls.contains(call)) {
            return fmt::format("mpi: algorithm: this library offers none for {}", name_of(call));
        }
    }
    auto const segment = choice.settings.find(AlgorithmSetting::segment);
    Bytes const segment_bytes = segment == choice.settings.end() ? 0 : static_cast<Bytes>(segment->second);
    for (StepId const step : steps_by_algorithm(plan, choice)) {
        Operation const& operation = plan.steps[step].operation;
        MpiCall const call = call_of(operation, choice).value();
        std::string const& algorithm = choice.algorithms.at(call);
        CallSize const size = size_of_call(operation, plan);
        std::string const reason = catalogue_.falls_back(call, algorithm, segment_bytes, size);
        if (!reason.empty()) {
            return fmt::format("mpi: {}={} is not applicable to \"{}\" ({} ranks, {} elements): {}", name_of(call),
                               algorithm, plan.steps[step].label, size.ranks, size.elements, reason);
        }
    }
    return "";
}

GroupCommunicators const& Algorithms::prepare(Plan const& plan, LibraryAlgorithms const& choice, bool pairs) {
    bool const own = !choice.empty() && catalogue_.takes_effect == TakesEffect::in_new_communicators;
    if (!own) {
        plain_.prepare(plan, pairs);
        return plain_;
    }
    write(choice);
    GroupCommunicators& communicators = obeying_.try_emplace(choice, catalogue_.info).first->second;
    communicators.prepare(plan);
    written_.restore();
    return communicators;
}

bool Algorithms::activate(LibraryAlgorithms const& choice, bool strictly) {
    bool const in_force = choice == active_ && !strictly;
    if (catalogue_.takes_effect != TakesEffect::at_the_next_call || in_force) {
        return false;
    }
    release();
    write(choice);
    if (strictly && catalogue_.strictness) {
        written_.write(*catalogue_.strictness, catalogue_.strict);
    }
    active_ = choice;
    return true;
}

void Algorithms::release() {
    written_.restore();
    active_ = {};
}

void Algorithms::write(LibraryAlgorithms const& choice) {
    for (auto const& [call, algorithm] : choice.algorithms) {
        CallAlgorithms const& offered = catalogue_.calls.at(call);
        written_.write(offered.variable, offered_algorithm(offered, call, algorithm).value);
        for (auto const& [setting, value] : choice.settings) {
            if (auto const variable = offered.settings.find(setting); variable != offered.settings.end()) {
                written_.write(variable->second, value);
            }
        }
    }
    if (!choice.empty()) {
        read_back_[choice] = written_.as_read();
    }
}

Provenance Algorithms::facts(LibraryAlgorithms const& choice) const {
    Provenance facts;
    auto const read_back = read_back_.find(choice);
    if (read_back == read_back_.end()) {
        return facts;
    }
    facts["mpi_algorithm_family"] = catalogue_.family;
    facts["mpi_algorithm_variables"] = read_back->second;
    for (auto const& [call, algorithm] : choice.algorithms) {
        facts[fmt::format("mpi_algorithm.{}", name_of(call))] = algorithm;
        facts[fmt::format("mpi_algorithm_id.{}", name_of(call))] =
            fmt::format("{}", offered_algorithm(catalogue_.calls.at(call), call, algorithm).value);
    }
    return facts;
}

std::string applicability_test(Plan const& plan, std::span<PreparedCall const> calls, LibraryAlgorithms const& choice,
                               Algorithms& algorithms, Bootstrap& bootstrap) {
    std::vector<StepId> const steps = steps_by_algorithm(plan, choice);
    if (!any_rank(bootstrap, !steps.empty())) {
        return "mpi: algorithm: no step of this traffic makes a call that the method names";
    }
    algorithms.activate(choice, true);
    std::string const failure = run_once(plan, calls, steps);
    algorithms.release();
    std::string const first = first_refusal(bootstrap, failure);
    return first.empty() ? "" : fmt::format("mpi: the algorithm is not applicable to {}", first);
}

Method algorithm() {
    return {.info = {algorithm_method, "the blocking calls by an algorithm that the library has for them",
                     collective_operations, "CALL=NAME (what this library offers)"},
            .compile = compile_by_calls,
            .read_knob = read_algorithm_knob,
            .kind = MethodKind::algorithm};
}

}  // namespace dlmb::mpi
