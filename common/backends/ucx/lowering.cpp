// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/lowering.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

constexpr std::uint64_t kind_of_send = Operation(Send{}).index();

/// FNV-1a over the members: group ids differ from rank to rank, members do not.
std::uint64_t fingerprint(Group const& group) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (Rank const member : group.members) {
        hash = (hash ^ static_cast<std::uint32_t>(member)) * 0x100000001B3ULL;
    }
    return hash;
}

class Lowering {
public:
    Lowering(Plan const& plan, Buffers const& buffers, bool copy_self)
        : plan_(plan), buffers_(buffers), copy_self_(copy_self) {}

    LoweredStep lower(StepId id) {
        Operation const& operation = plan_.steps[id].operation;
        out_ = {};
        out_.step = id;
        out_.kind = operation.index();
        std::visit([this](auto const& each) { add(each); }, operation);
        return std::move(out_);
    }

private:
    void add(Exchange const& exchange) {
        enter(exchange.group);
        for (Block const& block : exchange.send) {
            if (block.peer != my_place_ || !copy_self_) {
                send(block.peer, at(exchange.send_buffer, block.offset), block.bytes);
            }
        }
        for (Block const& block : exchange.recv) {
            if (block.peer != my_place_ || !copy_self_) {
                receive(block.peer, at(exchange.recv_buffer, block.offset), block.bytes);
            }
        }
        if (copy_self_) {
            copy(own_block(exchange.send), exchange.send_buffer, own_block(exchange.recv), exchange.recv_buffer);
        }
    }

    void copy(Block const& from, BufferId from_buffer, Block const& to, BufferId to_buffer) {
        if (from.bytes != to.bytes) {
            out_.problem = fmt::format("sends {} B to itself and expects {} B", from.bytes, to.bytes);
        } else if (from.bytes > 0) {
            out_.copies.push_back({at(to_buffer, to.offset), at(from_buffer, from.offset), from.bytes});
        }
    }

    void add(AllGather const& gather) {
        enter(gather.group);
        std::byte* const mine = at(gather.send.buffer, gather.send.offset);
        Bytes const part = gather.bytes / static_cast<Bytes>(group_size());
        for (int place = 0; place < group_size() && part > 0; ++place) {
            std::byte* const data = at(gather.recv.buffer, gather.recv.offset) + static_cast<Bytes>(place) * part;
            if (place != my_place_ || !copy_self_) {
                send(place, mine, part);
                receive(place, data, part);
            } else if (data != mine) {
                out_.copies.push_back({data, mine, part});
            }
        }
    }

    void add(Send const& step) {
        enter(step.group);
        out_.key = static_cast<std::uint32_t>(step.channel);
        send(step.to.peer, at(step.buffer, step.to.offset), step.to.bytes);
    }
    void add(Recv const& step) {
        enter(step.group);
        out_.key = static_cast<std::uint32_t>(step.channel);
        out_.kind = kind_of_send;
        receive(step.from.peer, at(step.buffer, step.from.offset), step.from.bytes);
    }
    void add(Compute const& step) { out_.busy_ns = step.busy_ns; }

    template <class Reducing>
    void add(Reducing const& /*step*/) {
        throw Error(fmt::format("ucx: step {} is not one that was offered", out_.step));
    }

    void enter(GroupId id) {
        group_ = &plan_.groups.at(id);
        auto const place = std::find(group_->members.begin(), group_->members.end(), plan_.me);
        if (place == group_->members.end()) {
            throw Error(fmt::format("ucx: rank {} has step {} on a group that it is not in", plan_.me, out_.step));
        }
        my_place_ = static_cast<int>(place - group_->members.begin());
        out_.key = fingerprint(*group_);
    }

    void send(Rank place, std::byte* data, Bytes bytes) {
        if (bytes > 0) {
            out_.sends.push_back({world_rank(place), ring(place - my_place_), data, bytes});
        }
    }
    void receive(Rank place, std::byte* data, Bytes bytes) {
        if (bytes > 0) {
            out_.receives.push_back({world_rank(place), ring(my_place_ - place), data, bytes});
        }
    }

    [[nodiscard]] Block own_block(std::vector<Block> const& blocks) const {
        auto const found =
            std::find_if(blocks.begin(), blocks.end(), [this](Block const& block) { return block.peer == my_place_; });
        return found == blocks.end() ? Block{} : *found;
    }
    [[nodiscard]] int group_size() const { return static_cast<int>(group_->members.size()); }
    [[nodiscard]] Rank world_rank(Rank place) const { return group_->members.at(static_cast<std::size_t>(place)); }
    [[nodiscard]] int ring(int places) const { return (places + group_size()) % group_size(); }
    [[nodiscard]] std::byte* at(BufferId buffer, Bytes offset) const { return buffers_.base.at(buffer) + offset; }

    Plan const& plan_;
    Buffers const& buffers_;
    bool copy_self_;
    Group const* group_ = nullptr;
    int my_place_ = 0;
    LoweredStep out_;
};

}  // namespace

std::optional<std::string> why_not_lowered(Plan const& plan) {
    for (Step const& step : plan.steps) {
        bool const reduces = std::holds_alternative<AllReduce>(step.operation) ||
                             std::holds_alternative<ReduceScatter>(step.operation) ||
                             std::holds_alternative<Broadcast>(step.operation);
        if (reduces) {
            return fmt::format("step \"{}\": ucx has no {} yet; mpi has", step.label, name_of(step.operation));
        }
    }
    return std::nullopt;
}

std::vector<LoweredStep> lower(Plan const& plan, Buffers const& buffers, bool copy_self) {
    Lowering lowering(plan, buffers, copy_self);
    std::vector<LoweredStep> steps;
    steps.reserve(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        steps.push_back(lowering.lower(id));
    }
    return steps;
}

}  // namespace dlmb::ucx
