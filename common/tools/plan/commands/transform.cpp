// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_plan transform LIST PLAN: the same bytes between the same ranks in other messages, or in another order.
#include "common/formats/plan/transform/transform.hpp"

#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/formats/plan_file/plan_buffers.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/plan/commands/plan_output.hpp"
#include "common/tools/plan/commands/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace dlmb::trace::commands {
namespace {

/// Whether a step puts rows of a tensor in another order.
bool moves_rows(Step const& step) {
    auto const* exchange = std::get_if<Exchange>(&step.operation);
    auto const* compute = std::get_if<Compute>(&step.operation);
    return (exchange != nullptr && exchange->scattered) || (compute != nullptr && moved_by(*compute));
}

/// The plans of one iteration. They are held until a rank has shown that each transformation applies, or to the last
/// one where a transformation needs all.
class TransformedIteration {
public:
    TransformedIteration(PlanHeader header, std::vector<Transform> const& transforms, TextSink const& sink)
        : header_(std::move(header)), transforms_(transforms), sink_(sink) {}

    void add(Plan plan) {
        if (plan.buffers.empty()) {
            plan = with_buffers(plan, SIZE_MAX);
        }
        for (Step const& step : plan.steps) {
            auto const kind = kind_of(step.operation);
            if (kind != OperationKind::compute) {
                kinds_.insert(kind);
            }
            if (moves_rows(step)) {
                refuse_moved_rows(step);
            }
        }
        computes_ = computes_ || computes(plan);
        held_.push_back(std::move(plan));
        if (writer_ || (why_not().empty() && !needs_all_ranks(transforms_))) {
            write();
        }
    }
    void end() {
        if (std::string const reason = why_not(); !reason.empty()) {
            throw UsageError(fmt::format("{}: {}", header_.file, reason));
        }
        write();
    }

private:
    void refuse_moved_rows(Step const& step) const {
        for (Transform const& transform : transforms_) {
            if (transform.kind != Transform::Kind::reorder) {
                throw UsageError(fmt::format("{}: step \"{}\" moves rows (--pack); such steps can only be reordered, "
                                             "not {}",
                                             header_.file, step.label, transform.text));
            }
        }
    }
    /// Empty: every transformation applies to what is known of the plans.
    [[nodiscard]] std::string why_not() const {
        std::vector<OperationUse> uses;
        std::transform(kinds_.begin(), kinds_.end(), std::back_inserter(uses),
                       [](OperationKind kind) { return OperationUse{kind}; });
        for (Transform const& transform : transforms_) {
            std::string const reason = why_not_applicable(transform, uses);
            if (!reason.empty()) {
                return fmt::format("{}: {}", transform.text, reason);
            }
            if (transform.kind == Transform::Kind::reorder && !computes_) {
                return "reorder: these plans have no computations; give them a time first";
            }
        }
        return "";
    }
    void write() {
        std::vector<Plan> const plans = transformed(std::exchange(held_, {}), transforms_);
        if (needs_all_ranks(transforms_)) {
            if (auto const problems = validate(plans); !problems.empty()) {
                throw UsageError(fmt::format("{}: the ranks do not fit together after the transformation, as their "
                                             "steps wait for each other in different ways: {}",
                                             header_.file, problems.front().text));
            }
        }
        for (Plan const& plan : plans) {
            if (auto const problems = validate_rank(plan); !problems.empty()) {
                throw UsageError(fmt::format("{}: after the transformation, {}", header_.file, problems.front().text));
            }
        }
        if (!writer_) {
            writer_.emplace(header_, sink_);
        }
        for (Plan const& plan : plans) {
            writer_->write(plan);
        }
    }

    PlanHeader header_;
    std::vector<Transform> const& transforms_;
    TextSink const& sink_;
    std::set<OperationKind> kinds_;
    bool computes_ = false;
    std::vector<Plan> held_;
    std::optional<PlanWriter> writer_;
};

class TransformPlans {
public:
    void add_options(CLI::App& parser) {
        parser
            .add_option("LIST", list_,
                        "what is done, in order: some of bucket:BYTES, fuse, split:PARTS, overlap[:PARTS], reorder, "
                        "puts, joined by commas")
            ->required();
        parser.add_option("PLAN", plan_, "plans: a file, a folder, or - for standard input")->required();
        output_.add(parser);
    }

    int run() {
        std::vector<Transform> const transforms = parse_transforms(list_);
        TextSink const sink = output_.sink();
        std::optional<TransformedIteration> iteration;
        auto const end = [&] {
            if (iteration) {
                iteration->end();
            }
        };
        read_plans(plan_, {[&](PlanHeader header) {
                               end();
                               std::string& done = header.parameters["transform"];
                               done += (done.empty() || done == "none" ? "" : ",") + list_;
                               iteration.emplace(header, transforms, sink);
                               return true;
                           },
                           [&](Plan plan) {
                               iteration->add(std::move(plan));
                               return true;
                           }});
        end();
        output_.close();
        return exit_ok;
    }

private:
    std::string list_;
    std::string plan_;
    PlanOutput output_;
};

}  // namespace

void add_transform(CLI::App& program, int& exit_code) {
    add_command<TransformPlans>(program, "transform", "the same bytes in other messages, or in another order",
                                exit_code);
}

}  // namespace dlmb::trace::commands
