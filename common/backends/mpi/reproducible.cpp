// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method reproducible: allreduce and reduce_scatter whose operands are added in one fixed tree, whoever comes first and
// whatever the library would do. MPI_Allreduce may add in another order in each call (MPI 4.0, section 6.9.1, only
// advises against it). The algorithm is `fixed_tree` of backend_kit; the messages are MPI_Isend and MPI_Irecv, and the
// host adds.
#include "common/backend_kit/host_reduce.hpp"
#include "common/backends/mpi/messages.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/formats/plan/algorithms/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace dlmb::mpi {
namespace {

using algorithms::Action;
using algorithms::Area;
using algorithms::MicroStep;

class FixedTree {
public:
    FixedTree(Operation const& operation, CompileContext const& context)
        : collective_(algorithms::shaped_step(context.plan, operation).value()),
          micro_(algorithms::fixed_tree(collective_.shape, {})), scratch_(micro_.scratch_bytes),
          comm_(context.comm(collective_.group)), tag_(context.next_tag(comm_)), idle_(context.idle) {
        bases_ = {context.address(collective_.input), context.address(collective_.output), scratch_.data()};
        for (std::size_t i = 0; i < micro_.steps.size(); ++i) {
            prepare(i, context.limits);
        }
        left_.reserve(micro_.steps.size());
    }
    void start() {
        std::fill(states_.begin(), states_.end(), PostState::waiting);
        left_.clear();
        for (std::size_t i = 0; i < micro_.steps.size(); ++i) {
            left_.push_back(i);
        }
        (void)test();
    }
    void idle() const { idle_(); }

    /// Steps are looked at in order until none can go on.
    [[nodiscard]] bool test() {
        for (bool moved = true; moved && !left_.empty();) {
            moved = false;
            for (std::size_t const step : left_) {
                moved = advance(step) || moved;
            }
            std::erase_if(left_, [&](std::size_t step) { return states_[step] == PostState::done; });
        }
        return left_.empty();
    }

private:
    enum class PostState : std::uint8_t { waiting, posted, done };
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    static bool is_message(MicroStep const& step) {
        return step.action == Action::send || step.action == Action::receive;
    }

    void prepare(std::size_t i, CallLimits const& limits) {
        MicroStep const& step = micro_.steps[i];
        std::vector<NativeMessage> messages;
        std::size_t before = none;
        if (is_message(step)) {
            bool const outgoing = step.action == Action::send;
            append_messages(at(outgoing ? step.left : step.to), step.bytes, step.peer, outgoing, limits, messages);
            for (std::size_t earlier = i; earlier-- > 0 && before == none;) {
                MicroStep const& other = micro_.steps[earlier];
                before = other.action == step.action && other.peer == step.peer ? earlier : none;
            }
        }
        requests_.emplace_back(messages.size(), MPI_REQUEST_NULL);
        messages_.push_back(std::move(messages));
        before_.push_back(before);
        states_.push_back(PostState::waiting);
    }

    [[nodiscard]] std::byte* at(Area const& area) const {
        return bases_[static_cast<std::size_t>(area.space)] + area.offset;
    }

    /// MPI matches messages of one pair in the order in which they are posted.
    [[nodiscard]] bool may_start(std::size_t i) const {
        bool const in_order = before_[i] == none || states_[before_[i]] != PostState::waiting;
        auto const& after = micro_.steps[i].after;
        return in_order && std::all_of(after.begin(), after.end(),
                                       [&](std::uint32_t each) { return states_[each] == PostState::done; });
    }

    /// True: the step started or ended.
    bool advance(std::size_t i) {
        if (states_[i] == PostState::posted) {
            states_[i] = test_all(requests_[i]) ? PostState::done : PostState::posted;
            return states_[i] == PostState::done;
        }
        if (states_[i] == PostState::done || !may_start(i)) {
            return false;
        }
        MicroStep const& step = micro_.steps[i];
        if (is_message(step)) {
            for (std::size_t k = 0; k < messages_[i].size(); ++k) {
                post(messages_[i][k], tag_, comm_, requests_[i][k]);
            }
            states_[i] = PostState::posted;
            return true;
        }
        if (step.action == Action::copy) {
            std::memcpy(at(step.to), at(step.left), step.bytes);
        } else {
            host_reduce(at(step.to), at(step.left), at(step.right), step.bytes, collective_.shape.element,
                        collective_.reduction);
        }
        states_[i] = PostState::done;
        return true;
    }

    algorithms::ShapedStep collective_;
    algorithms::MicroPlan micro_;
    std::vector<std::byte> scratch_;
    MPI_Comm comm_;
    int tag_;
    Idle idle_;
    std::array<std::byte*, 3> bases_{};                 // by Space
    std::vector<std::vector<NativeMessage>> messages_;  // by step
    std::vector<std::vector<MPI_Request>> requests_;    // by step
    std::vector<std::size_t> before_;                   // by step: the message to or from the same peer before it
    std::vector<PostState> states_;
    std::vector<std::size_t> left_;
};

PreparedCall compile_reproducible(Operation const& operation, CompileContext const& context) {
    return PreparedCall(FixedTree(operation, context));
}

/// Parts are cut into messages of any size.
std::string refusal_of_nothing(Operation const& /*operation*/, Plan const& /*plan*/, ChosenMethod const& /*method*/,
                               CallLimits const& /*limits*/) {
    return "";
}

}  // namespace

Method reproducible() {
    constexpr OperationSet operations{OperationKind::all_reduce, OperationKind::reduce_scatter};
    return {.info = {.name = "reproducible",
                     .description =
                         "MPI_Isend and MPI_Irecv, added by the host in one fixed tree: the same bits in every call",
                     .operations = operations,
                     .stable = {.over_arrival = operations}},
            .compile = compile_reproducible,
            .refusal = refusal_of_nothing,
            .posts_later = true,
            .host_memory = true};
}

}  // namespace dlmb::mpi
