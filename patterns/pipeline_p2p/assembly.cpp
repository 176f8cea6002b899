// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/assembly.hpp"

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/closing.hpp"
#include "patterns/pipeline_p2p/frontier.hpp"
#include "patterns/pipeline_p2p/order.hpp"
#include "patterns/pipeline_p2p/parts.hpp"
#include "patterns/pipeline_p2p/poster.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

std::string compute_label(Task const& task) {
    constexpr char const* passes[] = {"compute.forward", "compute.backward", "compute.backward_input",
                                      "compute.backward_weight"};
    return task.size() > 1 ? "compute.forward_backward" : passes[static_cast<std::size_t>(task.front().pass)];
}

class Assembler {
public:
    Assembler(Params const& params, WorldShape const& world, Rank me)
        : params_(params), rank_(me / params.stage_width()), builder_(me), budget_(params.memory_limit),
          poster_(params, world, me, builder_, budget_), closing_(params, world, me) {
        closing_.reserve(budget_);
    }

    void operator()(Task const& task) {
        for (Work const& work : task) {
            wait_for_input(work);
        }
        if (params_.computes) {
            builder_.microbatch(task.front().microbatch);
            StepId const step =
                builder_.compute(params_.durations.of(task), compute_label(task), frontier_.steps(), params_.product);
            frontier_.move_to({step});
        }
    }

    void operator()(Transfer const& transfer) {
        Transfer const ordered = in_order_of_issue(params_, rank_, transfer);
        std::vector<StepId> last = frontier_.steps();
        switch (params_.mode) {
        case Mode::separate:
            for (Message const& message : ordered) {
                Part const tensor{PartKind::data, message_bytes(params_.tensor)};
                StepId const step = poster_.post(message, tensor, -1, frontier_.steps());
                arrived(message, step, frontier_.steps());
            }
            return;
        case Mode::batched:
        case Mode::handshake_data:
            last = batches(ordered, std::move(last));
            break;
        case Mode::meta_data:
            last = stages_per_rank(params_.shape) == 1 ? one_by_one(ordered, std::move(last))
                                                       : side_by_side(ordered, last);
            break;
        }
        frontier_.move_to(gather_all(ordered, std::move(last)));
    }

    void operator()(GradientSync const& sync) { closing_.synchronise(builder_, sync, frontier_.steps()); }

    [[nodiscard]] Plan finish() && {
        builder_.microbatch(-1);
        closing_.finish(builder_, frontier_.steps());
        return std::move(builder_).finish();
    }

private:
    using Input = std::tuple<Direction, int, int, int>;
    struct Arrival {
        StepId step = 0;
        std::vector<StepId> after;
    };

    static Input key(Message const& message) {
        return {message.direction, message.pipe, message.stage, message.microbatch};
    }

    void wait_for_input(Work const& work) {
        if (work.pass == Pass::backward_weight) {
            return;
        }
        if (auto const found = arrivals_.find(key(input_of(work))); found != arrivals_.end()) {
            frontier_.wait_for(found->second.step, found->second.after);
            arrivals_.erase(found);
        }
    }

    /// Part k of every message in batch k.
    std::vector<StepId> batches(Transfer const& transfer, std::vector<StepId> last) {
        std::size_t const parts = parts_of(params_, Direction::forward).size();
        for (std::size_t k = 0; k < parts; ++k) {
            int const batch = next_batch_++;
            std::vector<StepId> steps;
            for (Message const& message : transfer) {
                steps.push_back(poster_.post(message, parts_of(params_, message.direction)[k], batch, last));
            }
            last = std::move(steps);
        }
        return last;
    }

    std::vector<StepId> one_by_one(Transfer const& transfer, std::vector<StepId> last) {
        for (Message const& message : transfer) {
            for (Part const& part : parts_of(params_, message.direction)) {
                last = {poster_.post(message, part, -1, last)};
            }
        }
        return last;
    }

    std::vector<StepId> side_by_side(Transfer const& transfer, std::vector<StepId> const& before) {
        std::vector<StepId> ends;
        for (Message const& message : transfer) {
            ends.push_back(one_by_one({message}, before).front());
        }
        return ends;
    }

    std::vector<StepId> gather_all(Transfer const& transfer, std::vector<StepId> last) {
        if (!params_.gathers()) {
            return last;
        }
        std::vector<StepId> gathers;
        for (Message const& message : transfer) {
            if (message.incoming) {
                gathers.push_back(poster_.gather(message, last));
            }
        }
        return gathers.empty() ? last : gathers;
    }

    /// In separate mode: what a later computation waits for.
    void arrived(Message const& message, StepId step, std::vector<StepId> after) {
        if (message.incoming) {
            bool const gathered = params_.gathers();
            StepId const last = gathered ? poster_.gather(message, {step}) : step;
            arrivals_.insert_or_assign(key(message), Arrival{last, std::move(after)});
        }
    }

    Params const& params_;
    int rank_;  // in the chain
    PlanBuilder builder_;
    BufferBudget budget_;
    Poster poster_;
    Closing closing_;
    Frontier frontier_;
    std::map<Input, Arrival> arrivals_;
    int next_batch_ = 0;
};

}  // namespace

Plan assemble(Params const& params, WorldShape const& world, Rank me, std::span<Action const> actions) {
    Assembler assembler(params, world, me);
    for (Action const& action : actions) {
        std::visit(assembler, action);
    }
    return std::move(assembler).finish();
}

}  // namespace dlmb::pipeline_p2p
