// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan overlay MAIN BESIDE: both plans at the same time, neither waiting for the other.
#include "common/formats/plan/transform/overlay.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/commands/plan_output.hpp"
#include "common/tools/plan/commands/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dlmb::trace::commands {
namespace {

Plan with_own_buffers(Plan plan) {
    if (plan.buffers.empty()) {
        plan = with_buffers(plan, SIZE_MAX);
    }
    return plan;
}

class Overlay {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("MAIN", main_, "plans: a file, a folder, or - for standard input")->required();
        parser
            .add_option("BESIDE", beside_,
                        "file of the plans that run beside them, which is held in memory; -: "
                        "standard input")
            ->required();
        parser.add_option("--label", label_, "phase of the steps of BESIDE")->capture_default_str();
        parser
            .add_option("--offset", offset_,
                        "rank 0 of BESIDE is this rank; the world grows where it has too few [0, of equal worlds]")
            ->check(CLI::Range(0, most_recorded_ranks));
        output_.add(parser);
    }

    int run() {
        if (main_ == "-" && beside_ == "-") {
            throw UsageError("overlay: both plans are standard input; give one of them as a file");
        }
        if (label_.empty() || label_.find_first_of(".\n") != std::string::npos) {
            throw UsageError(fmt::format("--label '{}': must be one word without a dot", label_));
        }
        read_beside();
        TextSink const sink = output_.sink();
        std::size_t iterations = 0;
        read_plans(main_, {[&](PlanHeader header) {
                               write_rest();
                               beside_now_ = &held_[iterations++ % held_.size()];
                               begin(std::move(header), sink);
                               return true;
                           },
                           [&](Plan plan) {
                               write(with_own_buffers(std::move(plan)));
                               return true;
                           }});
        write_rest();
        output_.close();
        if (iterations < held_.size()) {
            print_error(
                fmt::format("dlmb_plan: warning: {} has {} iterations and {} has {}; the last {} are left out\n",
                            beside_, held_.size(), main_, iterations, held_.size() - iterations));
        }
        return exit_ok;
    }

private:
    struct OverlaidIteration {
        PlanHeader header;
        std::vector<Plan> plans;  // by rank
    };

    void read_beside() {
        Rank const by = offset_.value_or(0);
        read_plans(beside_, {[&](PlanHeader header) {
                                 held_.push_back({std::move(header), {}});
                                 return true;
                             },
                             [&](Plan plan) {
                                 channels_ = std::max(channels_, channels_of(plan));
                                 held_.back().plans.push_back(moved(with_own_buffers(std::move(plan)), by));
                                 return true;
                             }});
    }

    void begin(PlanHeader header, TextSink const& sink) {
        PlanHeader const& beside = beside_now_->header;
        if (!offset_ && header.world.ranks != beside.world.ranks) {
            throw UsageError(fmt::format("overlay: {} has {} ranks and {} has {}; --offset N puts rank 0 of the second "
                                         "at rank N of the first",
                                         header.file, header.world.ranks, beside.file, beside.world.ranks));
        }
        ranks_ = std::max(header.world.ranks, beside.world.ranks + offset_.value_or(0));
        if (ranks_ > most_recorded_ranks) {
            throw UsageError(fmt::format("--offset: more than {} ranks", most_recorded_ranks));
        }
        header.world.ranks = ranks_;
        auto const add = [&](auto& to, auto const& from) {
            for (auto const& [name, value] : from) {
                to[fmt::format("{}.{}", label_, name)] = value;
            }
        };
        add(header.parameters, beside.parameters);
        add(header.parameters, std::map<std::string, std::string>{{"pattern", beside.pattern},
                                                                  {"preset", beside.preset},
                                                                  {"offset", std::to_string(offset_.value_or(0))}});
        header.parameters[overlay_parameter] = to_string(OverlayNames{main_, beside_});
        add(header.statistics, beside.statistics);
        writer_.emplace(header, sink);
        next_ = 0;
    }

    void write(Plan const& main) {
        if (std::any_of(main.steps.begin(), main.steps.end(),
                        [&](Step const& step) { return phase_of(step.label) == label_; })) {
            throw UsageError(fmt::format("overlay: {} has a phase '{}' already; give the second plans another --label",
                                         main_, label_));
        }
        if (channels_ + channels_of(main) > most_channels + 1) {
            throw UsageError(
                fmt::format("overlay: the plans together have more than {} channels; number those of one plan lower",
                            most_channels + 1));
        }
        Rank const of_beside = main.me - offset_.value_or(0);
        bool const has_both = of_beside >= 0 && of_beside < beside_now_->header.world.ranks;
        Plan const nothing{main.me, {}, {}, {}};
        writer_->write(overlaid(main, has_both ? beside_now_->plans[static_cast<std::size_t>(of_beside)] : nothing,
                                label_, channels_));
        ++next_;
    }

    /// The ranks that only BESIDE has, and those between.
    void write_rest() {
        while (writer_ && next_ < ranks_) {
            write({next_, {}, {}, {}});
        }
    }

    std::string main_;
    std::string beside_;
    std::string label_{beside_phase};
    std::optional<int> offset_;
    PlanOutput output_;
    std::vector<OverlaidIteration> held_;
    int channels_ = 0;  // of all plans of BESIDE
    OverlaidIteration const* beside_now_ = nullptr;
    std::optional<PlanWriter> writer_;
    Rank ranks_ = 0;
    Rank next_ = 0;
};

}  // namespace

void add_overlay(CLI::App& program, int& exit_code) {
    add_command<Overlay>(program, "overlay", "two plans at the same time", exit_code);
}

}  // namespace dlmb::trace::commands
