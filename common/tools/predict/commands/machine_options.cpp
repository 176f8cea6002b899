// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/machine_options.hpp"

#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace dlmb::predict::commands {

void MachineOptions::add(CLI::App& parser) {
    parser.add_option("--machine", path_, "machine model of dlmb_predict fit, instead of the parameters below");
    for (LevelOption& option : level_options_) {
        parser.add_option(option.name, option.text, option.help);
    }
    parser.add_option("--eager-limit", eager_limit_,
                      "sends of more bytes end only when they are received [none: no send waits]");
    for (MachineOption& option : machine_options_) {
        parser.add_option(option.name, option.value, option.help)->capture_default_str();
    }
    parser.add_flag("--force", force_, "answer also where the held-out error of --machine is above 40 %");
}

Machine MachineOptions::machine(int ranks_per_node) {
    bool const given = std::any_of(level_options_.begin(), level_options_.end(),
                                   [](LevelOption const& option) { return !option.text.empty(); });
    bool const more =
        !eager_limit_.empty() || std::any_of(machine_options_.begin(), machine_options_.end(),
                                             [](MachineOption const& option) { return option.value != 0; });
    if (!path_.empty()) {
        if (given || more) {
            throw UsageError("time: --machine and --latency, --eager-limit ... both say what messages cost");
        }
        model_ = read_model(read_document(path_), path_);
        model_->forced = model_->forced || force_;
        return machine_of(*model_, model_->best.parameters, ranks_per_node);
    }
    if (!given) {
        throw UsageError("time: say what messages cost: --machine MODEL, or --latency, --overhead, --gap, "
                         "--gap-per-byte");
    }
    Machine machine = uniform_machine({});
    for (LevelOption const& option : level_options_) {
        read_levels(option, machine);
    }
    for (MachineOption const& option : machine_options_) {
        machine.*option.field = rounded(option.name, option.value, option.factor);
    }
    machine.ranks_per_node = ranks_per_node;
    if (!eager_limit_.empty()) {
        machine.eager_limit = parse_bytes(eager_limit_, "--eager-limit");
    }
    return machine;
}

/// A level that is not named has the value of the other one.
void MachineOptions::read_levels(LevelOption const& option, Machine& machine) {
    std::array<std::optional<double>, level_names.size()> values;
    for (std::string_view const each : words(option.text, ",")) {
        std::size_t const equals = each.find('=');
        auto const number = parse_whole<double>(equals == std::string_view::npos ? each : each.substr(equals + 1));
        auto const level = std::find(level_names.begin(), level_names.end(), each.substr(0, equals));
        if (!number || (equals != std::string_view::npos && level == level_names.end())) {
            throw UsageError(fmt::format("{} {}: expected NS, or LEVEL=NS,LEVEL=NS with the levels {}", option.name,
                                         option.text, fmt::join(level_names, ", ")));
        }
        if (equals == std::string_view::npos) {
            values.fill(number);
        } else if (auto& value = values.at(static_cast<std::size_t>(level - level_names.begin())); value) {
            throw UsageError(fmt::format("{} {}: level {} stands twice", option.name, option.text, *level));
        } else {
            value = number;
        }
    }
    for (std::size_t level = 0; level < values.size(); ++level) {
        double const value = values.at(level).value_or(values.at(1 - level).value_or(0));
        machine.levels.at(level).front().parameters.*option.field = rounded(option.name, value, option.factor);
    }
}

std::int64_t MachineOptions::rounded(char const* name, double value, double factor) {
    constexpr double most = 1e15;
    if (!(value >= 0 && value * factor <= most)) {
        throw UsageError(fmt::format("{} {}: expected nanoseconds, not negative", name, value));
    }
    return std::llround(value * factor);
}

bool MachineOptions::refuses(OperationKind kind, int nodes) const {
    auto const collective = collective_of(dlmb::name_of(kind));
    std::string const why = model_ && !model_->forced && collective ? doubt_of(*model_, *collective, nodes) : "";
    if (!why.empty()) {
        print_error(fmt::format("dlmb_predict: refused: {}; --force answers\n", why));
    }
    return !why.empty();
}

}  // namespace dlmb::predict::commands
