// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which steps touch the same bytes. Delivered regions of a sound plan are disjoint, so they are sorted once and every
// sent region looks up those that it meets: O(n log n) in the number of blocks.
#include "common/plan/precedence.hpp"
#include "common/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb::validation {
namespace {

struct Access {
    BufferId buffer = 0;
    Bytes begin = 0;
    Bytes end = 0;
    StepId step = 0;
};

/// What the steps read before and write during the iteration, outside shared buffers.
class Accesses {
public:
    explicit Accesses(Plan const& plan) : plan_(plan) {
        for (std::size_t step = 0; step < plan.steps.size(); ++step) {
            step_ = static_cast<StepId>(step);
            std::visit(*this, plan.steps[step].operation);
        }
    }

    void operator()(Exchange const& exchange) {
        for (Block const& block : exchange.send) {
            add(reads, {exchange.send_buffer, block.offset}, block.bytes);
        }
        for (Block const& block : exchange.recv) {
            add(writes, {exchange.recv_buffer, block.offset}, block.bytes);
        }
    }
    void operator()(Send const& step) { add(reads, {step.buffer, step.to.offset}, step.to.bytes); }
    void operator()(Recv const& step) { add(writes, {step.buffer, step.from.offset}, step.from.bytes); }
    void operator()(AllReduce const& step) {
        add(reads, step.send, step.bytes);
        add(writes, step.recv, step.bytes);
    }
    void operator()(ReduceScatter const& step) {
        add(reads, step.send, step.bytes);
        add(writes, step.recv, step.bytes / ranks(step.group));
    }
    void operator()(AllGather const& step) {
        add(reads, step.send, step.bytes / ranks(step.group));
        add(writes, step.recv, step.bytes);
    }
    void operator()(Broadcast const& step) {
        bool const is_root = plan_.groups[step.group].members[static_cast<std::size_t>(step.root)] == plan_.me;
        add(is_root ? reads : writes, step.data, step.bytes);
    }
    void operator()(Compute const& /*step*/) {}

    std::vector<Access> reads;
    std::vector<Access> writes;

private:
    [[nodiscard]] Bytes ranks(GroupId group) const { return plan_.groups[group].members.size(); }
    void add(std::vector<Access>& list, Region const& region, Bytes bytes) const {
        if (bytes > 0 && !plan_.buffers[region.buffer].shared) {
            list.push_back({region.buffer, region.offset, region.offset + bytes, step_});
        }
    }

    Plan const& plan_;
    StepId step_ = 0;
};

/// A collective may work in place, in the one form that libraries know: its own part stays where it is.
struct InPlace {
    Plan const& plan;

    bool operator()(AllReduce const& step) const { return step.send == step.recv; }
    bool operator()(ReduceScatter const& step) const {
        return own_part(step.send, step.bytes, step.group) == step.recv;
    }
    bool operator()(AllGather const& step) const { return own_part(step.recv, step.bytes, step.group) == step.send; }
    template <class Other>
    bool operator()(Other const& /*step*/) const {
        return false;
    }
    [[nodiscard]] Region own_part(Region const& whole, Bytes bytes, GroupId group) const {
        Bytes const part = bytes / plan.groups[group].members.size();
        auto const me = static_cast<Bytes>(rank_in(plan.groups[group], plan.me).value());
        return {whole.buffer, whole.offset + me * part};
    }
};

class RegionChecker {
public:
    RegionChecker(Plan const& plan, Problems& problems) : plan_(plan), problems_(problems), accesses_(plan) {}

    void check() {
        if (check_writes()) {
            for (Access const& read : accesses_.reads) {
                check_read(read);
            }
        }
    }

private:
    /// Once per pair of steps, not once per pair of blocks.
    void fail(StepId step, StepId other, std::string_view verb, std::string_view what, BufferId buffer) {
        if (said_.emplace(step, other).second) {
            report(problems_, plan_, step,
                   fmt::format("{} {} {} in buffer \"{}\"", verb, name_of(plan_, other), what,
                               plan_.buffers[buffer].name));
        }
    }

    /// Sorts the written regions; true when they are disjoint.
    bool check_writes() {
        std::sort(accesses_.writes.begin(), accesses_.writes.end(), [](Access const& a, Access const& b) {
            return std::tie(a.buffer, a.begin) < std::tie(b.buffer, b.begin);
        });
        Access const* farthest = nullptr;
        for (Access const& write : accesses_.writes) {
            bool const same_buffer = farthest != nullptr && farthest->buffer == write.buffer;
            if (same_buffer && write.begin < farthest->end) {
                auto const [earlier, later] = std::minmax(farthest->step, write.step);
                fail(later, earlier, "overwrites what", "delivers", write.buffer);
            }
            if (!same_buffer || write.end > farthest->end) {
                farthest = &write;
            }
        }
        return said_.empty();
    }

    void check_read(Access const& read) {
        auto const& writes = accesses_.writes;
        auto const ends_before = [](Access const& write, Access const& wanted) {
            return write.buffer != wanted.buffer ? write.buffer < wanted.buffer : write.end <= wanted.begin;
        };
        auto write = std::lower_bound(writes.begin(), writes.end(), read, ends_before);
        for (; write != writes.end() && write->buffer == read.buffer && write->begin < read.end; ++write) {
            if (write->step > read.step) {
                fail(write->step, read.step, "overwrites what", "sends", read.buffer);
            } else if (write->step < read.step && !waits_for(plan_, read.step, write->step)) {
                fail(read.step, write->step, "does not wait for what", "delivers", read.buffer);
            } else if (write->step == read.step && !std::visit(InPlace{plan_}, plan_.steps[read.step].operation)) {
                fail(read.step, read.step, "receives where", "sends", read.buffer);
            }
        }
    }

    Plan const& plan_;
    Problems& problems_;
    Accesses accesses_;
    std::set<std::pair<StepId, StepId>> said_;
};

}  // namespace

void check_regions(Plan const& plan, Problems& problems) {
    RegionChecker(plan, problems).check();
}

}  // namespace dlmb::validation
