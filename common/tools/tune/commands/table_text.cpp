// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/commands/table_text.hpp"

#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/build/decision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dlmb::tuning::commands {
std::string columns_text(std::vector<TextRow> const& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (TextRow const& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    std::string text;
    for (TextRow const& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            line += fmt::format("  {:<{}}", row[column], widths[column]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string exact_bytes(Bytes bytes) {
    char const* unit = "";
    for (char const* larger : {" K", " M", " G"}) {
        if (bytes == 0 || bytes % 1024 != 0) {
            break;
        }
        bytes /= 1024;
        unit = larger;
    }
    return fmt::format("{}{}", bytes, unit);
}

std::string method_text(Choice const& choice) {
    std::string text = choice.method;
    if (auto const& algorithm = choice.algorithm) {
        std::string const id = algorithm->id ? fmt::format(" {}", *algorithm->id) : "";
        text += fmt::format(", {} ({}{})", algorithm->name, algorithm->family, id);
    }
    return choice.params == ChoiceParams{} ? text : fmt::format("{} {}", text, to_json(choice.params));
}

std::string gain_text(Rule const& rule) {
    if (!rule.evidence) {
        return "-";
    }
    if (rule.evidence->foreign) {
        return fmt::format("{:.1f} % [not known]", rule.evidence->gain * 100);
    }
    return gain_text(rule.evidence->gain, rule.evidence->gain_low, rule.evidence->gain_high);
}

std::string gain_text(double gain, double low, double high) {
    return low <= gain_of_no_interval ? fmt::format("{:.1f} % [not known]", gain * 100)
                                      : fmt::format("{:.1f} % [{:.1f}, {:.1f}]", gain * 100, low * 100, high * 100);
}

std::string evidence_text(Rule const& rule) {
    if (!rule.evidence) {
        return "hand-written";
    }
    Evidence const& evidence = *rule.evidence;
    std::string const times = fmt::format("{} -> {} us, {} sizes", human_us(evidence.default_ns),
                                          human_us(evidence.choice_ns), evidence.sizes.size());
    if (evidence.foreign) {
        return fmt::format("foreign: {}, {}s of {}, {} launches", times, evidence.foreign->statistic,
                           evidence.foreign->suite, evidence.launches);
    }
    if (auto const& predicted = evidence.predicted) {
        return fmt::format("predicted: {}, fitted on up to {} nodes, error {}", times, predicted->fitted_nodes,
                           predicted->held_out_error ? fmt::format("{:.0f} %", *predicted->held_out_error * 100)
                                                     : std::string("not known"));
    }
    return fmt::format("{}, {} + {} launches", times, evidence.launches, evidence.confirmed);
}

}  // namespace dlmb::tuning::commands
