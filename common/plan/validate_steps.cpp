// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What can be said of each step alone: ids, block lists, bounds, elements. Nothing here compares two steps, and groups
// are taken as they are (validate_groups.cpp).
#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::validation {
namespace {

/// Blocks of one step that share bytes. They usually lie in peer order; sorts only when they do not.
bool overlapping(std::vector<Block> blocks) {
    auto const by_offset = [](Block const& a, Block const& b) { return a.offset < b.offset; };
    if (!std::is_sorted(blocks.begin(), blocks.end(), by_offset)) {
        std::sort(blocks.begin(), blocks.end(), by_offset);
    }
    auto const touch = [](Block const& a, Block const& b) { return b.offset - a.offset < a.bytes; };
    return std::adjacent_find(blocks.begin(), blocks.end(), touch) != blocks.end();
}

class StepChecker {
public:
    StepChecker(Plan const& plan, Problems& problems) : plan_(plan), problems_(problems) {}

    void check(StepId step) {
        step_ = step;
        for (StepId const earlier : plan_.steps[step].after) {
            if (earlier >= plan_.steps.size()) {
                fail(fmt::format("waits for step {}, the plan has {} steps", earlier, plan_.steps.size()));
            } else if (earlier >= step) {
                fail(fmt::format("waits for step {}, which is not an earlier one", earlier));
            }
        }
        std::visit(*this, plan_.steps[step].operation);
    }

    void operator()(Exchange const& exchange) {
        if (Bytes const ranks = group_size(exchange.group); ranks > 0) {
            check_blocks(exchange.send, exchange.send_buffer, ranks, "send");
            check_blocks(exchange.recv, exchange.recv_buffer, ranks, "recv");
        }
    }
    void operator()(Send const& send) { check_message(send.group, send.buffer, send.to, send.channel, "send"); }
    void operator()(Recv const& recv) { check_message(recv.group, recv.buffer, recv.from, recv.channel, "recv"); }
    void operator()(AllReduce const& step) {
        if (group_size(step.group) > 0 && whole_elements(step.bytes, step.element, 1)) {
            check_region(step.send, step.bytes, step.element, "send");
            check_region(step.recv, step.bytes, step.element, "recv");
        }
    }
    void operator()(ReduceScatter const& step) {
        if (Bytes const ranks = group_size(step.group); ranks > 0 && whole_elements(step.bytes, step.element, ranks)) {
            check_region(step.send, step.bytes, step.element, "send");
            check_region(step.recv, step.bytes / ranks, step.element, "recv");
        }
    }
    void operator()(AllGather const& step) {
        if (Bytes const ranks = group_size(step.group); ranks > 0 && whole_elements(step.bytes, step.element, ranks)) {
            check_region(step.send, step.bytes / ranks, step.element, "send");
            check_region(step.recv, step.bytes, step.element, "recv");
        }
    }
    void operator()(Broadcast const& step) {
        if (Bytes const ranks = group_size(step.group); ranks > 0 && whole_elements(step.bytes, step.element, 1)) {
            check_peer(step.root, ranks, "root");
            check_region(step.data, step.bytes, step.element, "data");
        }
    }
    void operator()(Compute const& step) {
        if (step.busy_ns < 0) {
            fail(fmt::format("computes for {} ns", step.busy_ns));
        }
    }

private:
    void fail(std::string const& text) { report(problems_, plan_, step_, text); }

    /// 0 when the step's group does not exist: said once, and the step is left alone.
    Bytes group_size(GroupId group) {
        if (group >= plan_.groups.size()) {
            fail(fmt::format("uses group {}, the plan has {} groups", group, plan_.groups.size()));
            return 0;
        }
        return plan_.groups[group].members.size();
    }

    bool check_peer(Rank peer, Bytes ranks, std::string_view side) {
        bool const in_group = peer >= 0 && static_cast<Bytes>(peer) < ranks;
        if (!in_group) {
            fail(fmt::format("{}: peer {} is not in the group of {} ranks", side, peer, ranks));
        }
        return in_group;
    }

    bool check_bounds(BufferId buffer, Bytes offset, Bytes bytes, std::string_view side) {
        if (buffer >= plan_.buffers.size()) {
            fail(fmt::format("{}: uses buffer {}, the plan has {} buffers", side, buffer, plan_.buffers.size()));
            return false;
        }
        Bytes const size = plan_.buffers[buffer].bytes;
        bool const inside = offset <= size && bytes <= size - offset;
        if (!inside) {
            fail(fmt::format("{}: {} B at offset {} are outside buffer \"{}\" of {} B", side, bytes, offset,
                             plan_.buffers[buffer].name, size));
        }
        return inside;
    }

    void check_blocks(std::vector<Block> const& blocks, BufferId buffer, Bytes ranks, std::string_view side) {
        bool sound = check_bounds(buffer, 0, 0, side);
        Rank previous = -1;
        for (Block const& block : blocks) {
            if (!sound || !check_peer(block.peer, ranks, side)) {
                return;
            }
            if (block.peer == previous) {
                fail(fmt::format("{}: lists peer {} twice", side, block.peer));
            } else if (block.peer < previous) {
                fail(fmt::format("{}: block of peer {} stands after that of peer {}", side, block.peer, previous));
            }
            if (block.bytes == 0) {
                fail(fmt::format("{}: lists a block of 0 B for peer {}", side, block.peer));
            }
            sound = check_bounds(buffer, block.offset, block.bytes, side);
            previous = block.peer;
        }
        if (sound && overlapping(blocks)) {
            fail(fmt::format("{}: blocks overlap in buffer \"{}\"", side, plan_.buffers[buffer].name));
        }
    }

    void check_message(GroupId group, BufferId buffer, Block const& block, int channel, std::string_view side) {
        if (Bytes const ranks = group_size(group); ranks > 0) {
            check_peer(block.peer, ranks, side);
        }
        check_bounds(buffer, block.offset, block.bytes, side);
        if (channel < 0) {
            fail(fmt::format("{}: channel {} is below 0", side, channel));
        }
    }

    bool whole_elements(Bytes bytes, Element element, Bytes parts) {
        bool const whole = bytes % size_of(element) == 0 && bytes / size_of(element) % parts == 0;
        if (!whole) {
            fail(fmt::format("{} B are not a whole number of {} in each of {} parts", bytes, name_of(element), parts));
        }
        return whole;
    }

    void check_region(Region const& region, Bytes bytes, Element element, std::string_view side) {
        if (check_bounds(region.buffer, region.offset, bytes, side) && region.offset % size_of(element) != 0) {
            fail(fmt::format("{}: offset {} is not aligned to {}", side, region.offset, name_of(element)));
        }
    }

    Plan const& plan_;
    Problems& problems_;
    StepId step_ = 0;
};

}  // namespace

void check_steps(Plan const& plan, Problems& problems) {
    StepChecker checker(plan, problems);
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
        checker.check(static_cast<StepId>(step));
    }
}

}  // namespace dlmb::validation
