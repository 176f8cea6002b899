// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict fill --ranks N --fill OPS: how much extra work fits into the bubbles of a pipeline schedule. The answers
// are the statistics of dlmb_pipeline_p2p --bubble-fill, which runs the same plan.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/run_program.hpp"
#include "common/base/command_line/siblings.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/predict/commands/price_options.hpp"
#include "common/tools/predict/commands/run_predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlmb::predict::commands {
namespace {

constexpr int most_fill_copies = 4096;
constexpr int most_pipeline_ranks = 65536;

/// The header of the plans that dlmb_pipeline_p2p makes with these options. Throws UsageError where it refuses them.
PlanHeader ask_pipeline(std::vector<std::string> const& options) {
    constexpr std::chrono::seconds most{600};
    std::string const name = "dlmb_pipeline_p2p";
    std::vector<std::string> arguments{sibling_program(name).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    // The header; the plans of many ranks behind it would take seconds.
    Finished const finished = run_program(arguments, most, "\n{\"");
    if (finished.exit_code == exit_ok) {
        return read_plan_header(name, finished.output);
    }
    std::string const mark = name + ": error: ";
    std::size_t const at = finished.output.find(mark);
    std::string const why = at == std::string::npos ? fmt::format("ended with exit code {}", finished.exit_code)
                                                    : finished.output.substr(at + mark.size());
    std::string const text = fmt::format("{}: {}", name, why.substr(0, why.find('\n')));
    if (finished.exit_code == exit_usage) {
        throw UsageError(text);
    }
    throw Error(text);
}

class FillBubbles {
    /// The statistics of the pattern for so many copies of the work, by name.
    struct FillAnswer {
        int copies;
        std::map<std::string, double> statistics;

        [[nodiscard]] double operator[](char const* name) const {
            auto const found = statistics.find(name);
            return found == statistics.end() ? 0 : found->second;
        }
    };
    struct Item {
        std::string text;  // with its time
        int count;
        std::string separator;  // before the next one
    };

public:
    void add_options(CLI::App& parser) {
        parser.add_option("--ranks", ranks_, "number of ranks")->required()->check(CLI::Range(1, most_pipeline_ranks));
        parser.add_option("--preset", preset_, "preset of dlmb_pipeline_p2p");
        parser
            .add_option("--fill", fill_,
                        "operations as --bubble-fill of dlmb_pipeline_p2p has them; those without a time, such as "
                        "allreduce:4M, are priced")
            ->required();
        parser_ = &parser;
        parser.allow_extras();
        parser.footer("What is not listed here are options of dlmb_pipeline_p2p.");
        price_.add_to(parser);
        parser.add_flag("--json", json_, "print one JSON object");
    }

    int run() {
        return unless_refused([this] { return answered(); });
    }

private:
    int answered() {
        read_items();
        int const fits = largest_that_fits();
        std::vector<FillAnswer> answers{answer(1)};
        for (int const copies : {fits, fits + 1}) {
            if (copies > 1 && copies < beyond()) {
                answers.push_back(answer(copies));
            }
        }
        if (json_) {
            print_json(fits, answers);
        } else {
            print_text(fits, answers);
        }
        return exit_ok;
    }

    /// Items without a time get their price. A count stands behind the time: forward.compute@20x3.
    void read_items() {
        bool priced = false;
        for (std::size_t begin = 0; begin < fill_.size();) {
            std::size_t const end = std::min(fill_.find_first_of("+/", begin), fill_.size());
            std::string text = fill_.substr(begin, end - begin);
            std::size_t const times = text.find('x', std::min(text.find('@'), text.size()));
            auto const count = times == std::string::npos ? 1 : parse_whole<int>(text.substr(times + 1)).value_or(0);
            if (count < 1 || count > most_fill_copies) {
                throw UsageError(
                    fmt::format("--fill: '{}': expected a count from 1 to {} behind the x", text, most_fill_copies));
            }
            text.erase(std::min(times, text.size()));
            if (text.find('@') == std::string::npos) {
                priced = true;
                constexpr double least_us = 0.001;  // that three digits can say
                text += fmt::format("@{:.3f}", std::max(price_of(text), least_us));
            }
            items_.push_back({text, count, fill_.substr(end, 1)});
            begin = end + 1;
        }
        if (items_.empty()) {
            throw UsageError("--fill: names no work; give such as forward.compute@20 or allreduce:4M");
        }
        if (!priced && price_.given()) {
            throw UsageError("--fill: each item has its time; leave out --model, --bandwidth and --alpha-us");
        }
    }

    [[nodiscard]] std::string fill_of(int copies) const {
        std::string made;
        for (Item const& item : items_) {
            made += fmt::format("{}x{}{}", item.text, std::int64_t{item.count} * copies, item.separator);
        }
        return made;
    }

    double price_of(std::string const& item) {
        auto const colon = item.find(':');
        std::string const operation = item.substr(0, colon);  // a size has dots, too
        auto const collective = collective_named(operation.substr(operation.find('.') + 1));
        if (colon == std::string::npos || !collective || !price_.given()) {
            throw UsageError(fmt::format("--fill: '{}' has no time; add @MICROSECONDS, or --model or --bandwidth for a "
                                         "collective with bytes",
                                         item));
        }
        auto const all = planned("").parameters;
        auto const number = [&](char const* name) { return parse_whole<int>(all.at(name)).value_or(1); };
        int const inner = std::max(number("tp") * number("cp"), 1);
        int const stages = number("pp") > 0 ? number("pp") : std::max(ranks_ / inner, 1);
        int const copies = ranks_ / std::max(stages * number("tp"), 1);
        if (copies < 2) {
            throw UsageError(fmt::format("--fill: '{}': nothing is communicated where a stage has one copy; add "
                                         "@MICROSECONDS, or give more --ranks or a smaller --pp",
                                         item));
        }
        auto const bytes = static_cast<double>(parse_bytes(item.substr(colon + 1), "--fill"));
        double const us = price_.price()(*collective, bytes, copies);
        if (std::isinf(us)) {
            throw UsageError(
                fmt::format("--fill: '{}': the model prices no algorithm of it over {} ranks", item, copies));
        }
        return us;
    }

    [[nodiscard]] FillAnswer answer(int copies) const { return {copies, planned(fill_of(copies)).statistics}; }

    [[nodiscard]] PlanHeader planned(std::string const& bubble_fill) const {
        std::vector<std::string> options = parser_->remaining();
        options.insert(options.end(), {"--ranks", std::to_string(ranks_), "--compute", "busy", "--plan", "jsonl"});
        for (auto const& [option, value] : {std::pair{"--preset", preset_}, std::pair{"--bubble-fill", bubble_fill}}) {
            if (!value.empty()) {
                options.insert(options.end(), {option, value});
            }
        }
        return ask_pipeline(options);
    }

    /// The fewest copies that cannot be asked for: no item may have a larger count.
    [[nodiscard]] int beyond() const {
        int largest = 1;
        for (Item const& item : items_) {
            largest = std::max(largest, item.count);
        }
        return most_fill_copies / largest + 1;
    }

    /// 0: not even once. By doubling and halving: with more work no end is earlier.
    [[nodiscard]] int largest_that_fits() const {
        auto const fits = [&](int copies) {
            FillAnswer const found = answer(copies);
            return found["filled_makespan_us"] <= found["ideal_makespan_us"];
        };
        int least = 0;
        int most = 1;
        while (most < beyond() && fits(most)) {
            least = most;
            most = std::min(2 * most, beyond());
        }
        while (most - least > 1) {
            int const middle = least + (most - least) / 2;
            (fits(middle) ? least : most) = middle;
        }
        return least;
    }

    /// Whether --fill takes no count that would not fit.
    [[nodiscard]] bool more_may_fit(int fits) const { return fits + 1 == beyond(); }

    void print_text(int fits, std::vector<FillAnswer> const& answers) const {
        FillAnswer const& one = answers.front();
        fmt::print("the schedule takes {:.3f} us, of which a rank idles {:.3f} us; this work fits {}{} times\n\n",
                   one["ideal_makespan_us"], one["bubble_us"], more_may_fit(fits) ? "at least " : "", fits);
        fmt::print("{:>6}{:>14}{:>14}{:>16}{:>12}\n", "times", "fill us", "of bubble %", "makespan us", "later us");
        for (FillAnswer const& each : answers) {
            fmt::print("{:>6}{:>14.3f}{:>14.1f}{:>16.3f}{:>12.3f}\n", each.copies, each["fill_us"],
                       100 * each["bubble_utilisation"], each["filled_makespan_us"],
                       each["filled_makespan_us"] - each["ideal_makespan_us"]);
        }
    }

    void print_json(int fits, std::vector<FillAnswer> const& answers) const {
        nlohmann::ordered_json json{{"schema", "dlmb.fill/1.1"},
                                    {"ranks", ranks_},
                                    {"makespan_us", answers.front()["ideal_makespan_us"]},
                                    {"bubble_us", answers.front()["bubble_us"]},
                                    {"fits", fits},
                                    {"more_may_fit", more_may_fit(fits)},
                                    {"fills", nlohmann::ordered_json::array()}};
        for (FillAnswer const& each : answers) {
            json["fills"].push_back({{"times", each.copies},
                                     {"bubble_fill", fill_of(each.copies)},
                                     {"fill_us", each["fill_us"]},
                                     {"bubble_utilisation", each["bubble_utilisation"]},
                                     {"makespan_us", each["filled_makespan_us"]}});
        }
        fmt::print("{}\n", json.dump(2));
    }

    CLI::App* parser_ = nullptr;
    int ranks_ = 1;
    std::string preset_;
    std::string fill_;
    PriceOptions price_;
    std::vector<Item> items_;
    bool json_ = false;
};

}  // namespace

void add_fill(CLI::App& program, int& exit_code) {
    add_command<FillBubbles>(program, "fill", "How much extra work fits into the bubbles of a pipeline schedule",
                             exit_code);
}

}  // namespace dlmb::predict::commands
