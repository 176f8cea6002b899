// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/lowering.hpp"

#include "common/backend_kit/blobs.hpp"
#include "common/base/error.hpp"
#include "common/base/hash.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace dlmb::ucx {
namespace {

/// The device pays some microseconds per piece, for a kernel and a message, whatever its size: a few pieces per part
/// are enough that it reduces one while the next is on its way. A chain is better the more pieces it has.
algorithms::Knobs knobs_for(MemoryKind kind, algorithms::Shape const& shape, algorithms::Knobs chosen) {
    constexpr Bytes pieces_on_device = 4;
    bool const in_parts = shape.kind != OperationKind::broadcast && shape.kind != OperationKind::reduce;
    if (works_on_device(kind) && chosen.segment == 0 && in_parts) {
        chosen.segment =
            std::max(algorithms::default_segment, (shape.part() + pieces_on_device - 1) / pieces_on_device);
    }
    return chosen;
}

}  // namespace

Expected<std::vector<StepMethod>, Unsupported> step_methods(Plan const& plan, Buffers const& buffers,
                                                            ChosenMethods const& methods) {
    std::vector<StepMethod> made(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute || has_signals(step.operation)) {
            continue;  // no messages (puts.hpp)
        }
        Method const& method = methods.method_for(kind);
        if (!method.by_algorithm) {
            made[id].messages = &method;
            continue;
        }
        made[id].collective = algorithms::shaped_step(plan, step.operation);
        if (!made[id].collective) {
            return Unsupported{fmt::format("step \"{}\": ucx {} takes exchanges of equal, packed blocks only",
                                           step.label, method.info.name)};
        }
        algorithms::Shape const& shape = made[id].collective->shape;
        algorithms::Algorithm const algorithm = algorithms::find(method.info.name, kind);
        made[id].micro = algorithm(shape, knobs_for(buffers.kind, shape, methods.knobs_of(method).algorithm));
    }
    return made;
}

namespace {

constexpr ucp_tag_t no_tag = 0;
constexpr auto kind_of_send = static_cast<std::uint64_t>(OperationKind::send);

/// Over the members: group ids differ from rank to rank, members do not.
std::uint64_t fingerprint(Group const& group) {
    std::uint64_t hash = fnv1a_start;
    for (Rank const member : group.members) {
        hash = fnv1a(hash, static_cast<std::uint32_t>(member));
    }
    return hash;
}

/// Ranks must agree on this besides the sizes of messages.
std::uint64_t fingerprint(algorithms::ShapedStep const& collective) {
    auto const element = static_cast<std::uint64_t>(collective.shape.element);
    return reduces(collective.shape.kind) ? 1 + element * 256 + static_cast<std::uint64_t>(collective.reduction) : 0;
}

class StepLowering {
public:
    StepLowering(Plan const& plan, Buffers const& buffers, std::uint64_t first_operation)
        : plan_(plan), buffers_(buffers), first_operation_(first_operation) {}

    LoweredStep lower(StepId id, StepMethod const& method, std::byte* scratch) {
        Operation const& operation = plan_.steps[id].operation;
        out_ = {};
        out_.step = id;
        out_.kind = static_cast<std::uint64_t>(kind_of(operation));
        if (method.collective) {
            add_micro(*method.collective, method.micro, scratch);
        } else {
            std::visit([this](auto const& each) { add(each); }, operation);
        }
        return std::move(out_);
    }

private:
    void add_micro(algorithms::ShapedStep const& collective, algorithms::MicroPlan const& micro, std::byte* scratch) {
        enter(collective.group);
        out_.key ^= fingerprint(collective);
        // A barrier has no buffers.
        auto const base = [this](Region const& region) { return buffers_.base.empty() ? nullptr : at(region); };
        std::array<std::byte*, 3> const bases{base(collective.input), base(collective.output), scratch};
        auto const at = [&bases](algorithms::Area area) {
            return bases.at(static_cast<std::size_t>(area.space)) + area.offset;
        };
        for (algorithms::MicroStep const& step : micro.steps) {
            std::size_t index = 0;
            switch (step.action) {
            case algorithms::Action::send:
                index = out_.sends.size();
                send(step.peer, at(step.left), step.bytes);
                break;
            case algorithms::Action::receive:
                index = out_.receives.size();
                receive(step.peer, at(step.to), step.bytes);
                break;
            case algorithms::Action::copy:
            case algorithms::Action::reduce:
                index = out_.work.size();
                bool const reduces = step.action == algorithms::Action::reduce;
                out_.work.push_back({at(step.to), at(step.left), reduces ? at(step.right) : nullptr, step.bytes,
                                     collective.shape.element, collective.reduction});
                break;
            }
            out_.micro.push_back({step.action, static_cast<std::uint32_t>(index), step.after});
        }
    }

    void add(Exchange const& exchange) {
        enter(exchange.group);
        Block const from = own_block(exchange.send);
        Block const to = own_block(exchange.recv);
        if (from.bytes != to.bytes) {
            out_.problem = fmt::format("sends {} B to itself and expects {} B", from.bytes, to.bytes);
        }
        for (Block const& block : exchange.send) {
            if (block.peer != my_place_) {
                send(block.peer, at(exchange.send_buffer, block.offset), block.bytes);
            }
        }
        for (Block const& block : exchange.recv) {
            if (block.peer != my_place_) {
                receive(block.peer, at(exchange.recv_buffer, block.offset), block.bytes);
            }
        }
        if (from.bytes > 0) {
            out_.work.push_back({.to = at(exchange.recv_buffer, to.offset),
                                 .left = at(exchange.send_buffer, from.offset),
                                 .bytes = from.bytes});
        }
    }

    void add(Collective const& step) {
        if (reduces(step.kind) || step.kind == OperationKind::broadcast) {
            throw Error(fmt::format("ucx: step {} is done by algorithms only and has none", out_.step));
        }
        add(direct_blocks(plan_, step));
    }
    void add(Barrier const& /*step*/) {
        throw Error(fmt::format("ucx: step {} is done by algorithms only and has none", out_.step));
    }
    void add(Send const& step) {
        enter(step.group);
        out_.key = static_cast<std::uint32_t>(step.channel);
        add_window(out_.sends, step, step.to, own_tag(), ring(step.to.peer - my_place_));
    }
    void add(Recv const& step) {
        enter(step.group);
        out_.key = static_cast<std::uint32_t>(step.channel);
        out_.kind = kind_of_send;
        add_window(out_.receives, step, step.from, no_tag, ring(my_place_ - step.from.peer));
    }
    void add(Compute const& /*step*/) {}
    void add(Put const& /*step*/) {}
    void add(WaitSignal const& /*step*/) {}

    void enter(GroupId id) {
        group_ = &plan_.groups.at(id);
        auto const place = rank_in(*group_, plan_.me);
        if (!place) {
            throw Error(fmt::format("ucx: rank {} has step {} on a group that it is not in", plan_.me, out_.step));
        }
        my_place_ = *place;
        out_.key = fingerprint(*group_);
    }

    void send(Rank place, std::byte* data, Bytes bytes) {
        if (bytes > 0) {
            out_.sends.push_back({data, bytes, own_tag(), nullptr, world_rank(place), ring(place - my_place_)});
        }
    }
    void receive(Rank place, std::byte* data, Bytes bytes) {
        if (bytes > 0) {
            out_.receives.push_back({data, bytes, no_tag, nullptr, world_rank(place), ring(my_place_ - place)});
        }
    }

    /// An empty message is sent, too.
    void add_window(std::vector<Transfer>& messages, auto const& step, Block const& block, ucp_tag_t tag,
                    int distance) {
        for (Bytes message = 0; message < step.window.messages; ++message) {
            messages.push_back({at(step.buffer, block.offset + message * step.window.stride), block.bytes, tag, nullptr,
                                world_rank(block.peer), distance});
        }
    }
    [[nodiscard]] ucp_tag_t own_tag() const { return send_tag(first_operation_, out_.step, plan_.me); }

    [[nodiscard]] Block own_block(std::vector<Block> const& blocks) const {
        auto const found =
            std::find_if(blocks.begin(), blocks.end(), [this](Block const& block) { return block.peer == my_place_; });
        return found == blocks.end() ? Block{} : *found;
    }
    [[nodiscard]] int group_size() const { return static_cast<int>(group_->members.size()); }
    [[nodiscard]] Rank world_rank(Rank place) const { return group_->members.at(static_cast<std::size_t>(place)); }
    [[nodiscard]] int ring(int places) const { return (places + group_size()) % group_size(); }
    [[nodiscard]] std::byte* at(Region const& region) const { return at(region.buffer, region.offset); }
    [[nodiscard]] std::byte* at(BufferId buffer, Bytes offset) const { return buffers_.base.at(buffer) + offset; }

    Plan const& plan_;
    Buffers const& buffers_;
    std::uint64_t first_operation_;
    Group const* group_ = nullptr;
    int my_place_ = 0;
    LoweredStep out_;
};

/// A sender's description of one message. Travels as bytes between ranks of one launch, hence of one build.
struct SendInfo {
    std::uint64_t kind = 0;
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
    std::uint64_t tag = 0;
};

/// Sends of one kind and key from one peer, taken in the sender's plan order.
struct Queue {
    std::vector<SendInfo> sends;
    std::size_t taken = 0;
};
using PeerSends = std::map<std::tuple<Rank, std::uint64_t, std::uint64_t>, Queue>;

std::vector<PeerBlob> describe_sends(std::vector<LoweredStep> const& steps) {
    std::map<Rank, std::vector<SendInfo>> by_peer;
    for (LoweredStep const& step : steps) {
        for (Transfer const& message : step.sends) {
            by_peer[message.peer].push_back({step.kind, step.key, message.bytes, message.tag});
        }
    }
    std::vector<PeerBlob> outgoing;
    for (auto const& [peer, sends] : by_peer) {
        outgoing.push_back({peer, blob_of(sends)});
    }
    return outgoing;
}

PeerSends read_sends(std::vector<PeerBlob> const& incoming) {
    PeerSends peer_sends;
    for (PeerBlob const& each : incoming) {
        for (SendInfo const& sent : values_in<SendInfo>(each.blob)) {
            peer_sends[{each.peer, sent.kind, sent.key}].sends.push_back(sent);
        }
    }
    return peer_sends;
}

/// Gives `message` the tag of the next send that fits. Returns what does not fit.
std::string take(PeerSends& peer_sends, LoweredStep const& step, Transfer& message) {
    Queue& queue = peer_sends[{message.peer, step.kind, step.key}];
    if (queue.taken == queue.sends.size()) {
        return fmt::format("expects {} B from rank {}, which sends nothing there", message.bytes, message.peer);
    }
    SendInfo const& sent = queue.sends[queue.taken++];
    message.tag = sent.tag;
    return sent.bytes == message.bytes
               ? ""
               : fmt::format("expects {} B from rank {}, which sends {} B", message.bytes, message.peer, sent.bytes);
}

std::string left_over(PeerSends const& peer_sends, Rank me) {
    for (auto const& [who, queue] : peer_sends) {
        if (queue.taken < queue.sends.size()) {
            return fmt::format("ucx: rank {} sends {} B to rank {}, which does not expect it", std::get<0>(who),
                               queue.sends[queue.taken].bytes, me);
        }
    }
    return "";
}

std::string describe(Plan const& plan, LoweredStep const& step, std::string_view problem) {
    return fmt::format("ucx: rank {} step {} \"{}\" {}", plan.me, step.step, plan.steps[step.step].label, problem);
}

}  // namespace

std::vector<LoweredStep> lower(Plan const& plan, Buffers const& buffers, std::vector<StepMethod> const& methods,
                               std::vector<std::byte*> const& scratch, std::uint64_t first_operation) {
    StepLowering lowering(plan, buffers, first_operation);
    std::vector<LoweredStep> steps;
    steps.reserve(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        steps.push_back(lowering.lower(id, methods[id], scratch[id]));
    }
    return steps;
}

ucp_tag_t send_tag(std::uint64_t first_operation, StepId step, Rank me) {
    return make_tag(TagKind::payload, first_operation + step, me);
}

std::string match(Bootstrap& bootstrap, Plan const& plan, std::vector<LoweredStep>& steps) {
    PeerSends peer_sends = read_sends(bootstrap.exchange(describe_sends(steps)));
    std::string first;
    for (LoweredStep& step : steps) {
        std::string problem = step.problem;
        for (Transfer& message : step.receives) {
            std::string const mismatch = take(peer_sends, step, message);
            problem = problem.empty() ? mismatch : problem;
        }
        if (first.empty() && !problem.empty()) {
            first = describe(plan, step, problem);
        }
    }
    return first.empty() ? left_over(peer_sends, plan.me) : first;
}

}  // namespace dlmb::ucx
