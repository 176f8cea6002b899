// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's plan on its own: its groups, its steps, the batches of its messages, and the regions of its buffers.
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/ready_queue.hpp"
#include "common/formats/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace dlmb {
namespace validation {
namespace {

/// A group contains the rank, names no rank twice and is listed once.
void check_group(Plan const& plan, std::size_t id, Problems& problems) {
    auto const fail = [&](std::string const& text) {
        problems.push_back({plan.me, 0, fmt::format("rank {} group {} {}", plan.me, id, text)});
    };
    std::vector<Rank> sorted = plan.groups[id].members;
    if (!std::is_sorted(sorted.begin(), sorted.end())) {
        std::sort(sorted.begin(), sorted.end());
    }
    if (!sorted.empty() && sorted.front() < 0) {
        fail(fmt::format("names rank {}", sorted.front()));
    }
    if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        fail(fmt::format("names rank {} twice", *twice));
    }
    if (!std::binary_search(sorted.begin(), sorted.end(), plan.me)) {
        fail("does not contain the rank");
    }
    // Two ids of one group would let ranks post on different communicators what is matched here as one group.
    auto const here = plan.groups.begin() + static_cast<std::ptrdiff_t>(id);
    if (auto const same = std::find(plan.groups.begin(), here, *here); same != here) {
        fail(fmt::format("repeats group {}", same - plan.groups.begin()));
    }
}

/// Blocks of one step that share bytes. They usually lie in peer order; sorts only when they do not.
bool overlapping(std::vector<Block> blocks) {
    auto const by_offset = [](Block const& a, Block const& b) { return a.offset < b.offset; };
    if (!std::is_sorted(blocks.begin(), blocks.end(), by_offset)) {
        std::sort(blocks.begin(), blocks.end(), by_offset);
    }
    auto const touch = [](Block const& a, Block const& b) { return b.offset - a.offset < a.bytes; };
    return std::adjacent_find(blocks.begin(), blocks.end(), touch) != blocks.end();
}

constexpr Bytes payload_word_bytes = 8;

/// Every step for itself: ids in range, waits for earlier steps only, blocks in order and inside their buffer, whole
/// elements.
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
            bool const apart = exchange.scattered.has_value();
            check_blocks(exchange.send, exchange.send_buffer, ranks, "send", apart);
            check_blocks(exchange.recv, exchange.recv_buffer, ranks, "recv", apart);
        }
        if (exchange.scattered) {
            Bytes const row_bytes = exchange.scattered->row_bytes;
            if (check_row_bytes(row_bytes)) {
                check_side(exchange.scattered->sent, row_bytes, exchange.send, exchange.send_buffer, "send");
                check_side(exchange.scattered->received, row_bytes, exchange.recv, exchange.recv_buffer, "recv");
            }
        }
    }
    void operator()(Send const& step) { check_messages(step, step.to, "send"); }
    void operator()(Recv const& step) { check_messages(step, step.from, "recv"); }
    void operator()(Put const& step) {
        if (std::size_t const targets = is_read(step.kind) ? 0 : step.send.size(); step.targets.size() != targets) {
            fail(fmt::format("names {} targets for its {} blocks and has to name {}", step.targets.size(),
                             step.send.size(), targets));
        }
        check_signals(step, step.send, name_of(step.kind));
    }
    void operator()(WaitSignal const& step) { check_signals(step, step.recv, name_of(step.kind)); }
    void operator()(Collective const& step) {
        Bytes const ranks = group_size(step.group);
        bool sound = ranks > 0 && rank_in(plan_.groups[step.group], plan_.me).has_value() && check_shares(step, ranks);
        sound = sound && (!has_root(step.kind) || (check_peer(step.root, ranks, "root") && check_root_regions(step)));
        if (sound && step.kind == OperationKind::broadcast) {
            check_region(step.send, step.bytes, step.element, "data");
        } else if (sound) {
            CollectiveSides const sides = sides_of(plan_, step);
            check_region(step.send, sides.sent, step.element, "send");
            check_region(step.recv, sides.received, step.element, "recv");
        }
    }
    void operator()(Barrier const& step) { (void)group_size(step.group); }
    void operator()(Compute const& step) {
        if (step.busy_ns < 0) {
            fail(fmt::format("computes for {} ns", step.busy_ns));
        }
        if (step.conversion) {
            for (RowBlock const& block : step.conversion->blocks) {
                constexpr std::uint64_t most_numbers = std::uint64_t{1} << 59U;  // their bytes are below 2^64
                if (block.row_numbers > 0 && block.rows > most_numbers / block.row_numbers) {
                    fail(fmt::format("converts {} rows of {} numbers", block.rows, block.row_numbers));
                    return;
                }
                check_region({step.conversion->numbers, block.numbers}, step.conversion->number_bytes(block),
                             step.conversion->element, "numbers");
                check_region({step.conversion->packed, block.packed}, step.conversion->packed_bytes(block),
                             Element::byte, "packed");
            }
            check_origins(step.conversion->origins, step.conversion->rows());
        }
        if (step.rearrangement) {
            check_rows(*step.rearrangement);
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

    /// `apart`: their rows are, so that only check_side() knows places in the buffer.
    void check_blocks(std::vector<Block> const& blocks, BufferId buffer, Bytes ranks, std::string_view side,
                      bool apart) {
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
            sound = apart || check_bounds(buffer, block.offset, block.bytes, side);
            previous = block.peer;
        }
        if (sound && overlapping(blocks)) {
            fail(fmt::format("{}: blocks overlap in buffer \"{}\"", side, plan_.buffers[buffer].name));
        }
    }

    void check_messages(auto const& step, Block const& block, std::string_view side) {
        if (Bytes const ranks = group_size(step.group); ranks > 0) {
            check_peer(block.peer, ranks, side);
        }
        if (check_window(step.window, block.bytes, side)) {
            check_bounds(step.buffer, block.offset, step.window.span(block.bytes), side);
        }
        if (step.channel < 0) {
            fail(fmt::format("{}: channel {} is below 0", side, step.channel));
        }
    }

    /// Each signal has the next blocks, all of its peer, and all blocks are of one.
    void check_signals(auto const& step, std::vector<Block> const& blocks, std::string_view side) {
        if (!check_bounds(step.buffer, 0, 0, side)) {
            return;
        }
        Bytes const ranks = group_size(step.group);
        std::size_t next = 0;
        for (Signal const& signal : step.signals) {
            if (ranks == 0 || !check_peer(signal.peer, ranks, side)) {
                return;
            }
            if (signal.blocks > blocks.size() - next) {
                fail(fmt::format("{}: the signals have more than its {} blocks", side, blocks.size()));
                return;
            }
            for (std::size_t const end = next + signal.blocks; next < end; ++next) {
                Block const& block = blocks[next];
                if (block.peer != signal.peer || block.bytes == 0) {
                    fail(fmt::format("{}: {} B of peer {} are of a signal of peer {}", side, block.bytes, block.peer,
                                     signal.peer));
                    return;
                }
                if (!check_bounds(step.buffer, block.offset, block.bytes, side)) {
                    return;
                }
            }
        }
        if (next != blocks.size()) {
            fail(fmt::format("{}: no signal has block {}", side, next));
        } else if (overlapping(blocks)) {
            fail(fmt::format("{}: blocks overlap in buffer \"{}\"", side, plan_.buffers[step.buffer].name));
        }
    }

    /// Messages of a window lie apart from each other or all in one place.
    bool check_window(MessageWindow const& window, Bytes bytes, std::string_view side) {
        Bytes const stride = window.stride;
        Bytes const most = (std::numeric_limits<Bytes>::max() - bytes) / std::max<Bytes>(stride, 1);
        if (window.messages == 0) {
            fail(fmt::format("{}: has a window of no message", side));
        } else if (stride > 0 && (stride < bytes || stride % payload_word_bytes != 0 || window.messages - 1 > most)) {
            fail(fmt::format("{}: {} messages of {} B do not lie {} B apart", side, window.messages, bytes, stride));
        } else {
            return true;
        }
        return false;
    }

    void check_rows(Rearrangement const& rows) {
        if (!check_row_bytes(rows.row_bytes)) {
            return;
        }
        for (RowRun const& run : rows.runs) {
            bool const sound = check_places({run.rows, run.from, run.from_stride}, rows.row_bytes, rows.from, "from") &&
                               check_places({run.rows, run.to, run.to_stride}, rows.row_bytes, rows.to, "to");
            if (!sound) {
                return;
            }
        }
        check_origins(rows.origins, rows.rows());
    }

    /// Runs have all rows of the blocks, and none has rows of two.
    void check_side(ScatteredSide const& side, Bytes row_bytes, std::vector<Block> const& blocks, BufferId buffer,
                    std::string_view name) {
        auto run = side.runs.begin();
        for (Block const& block : blocks) {
            Bytes left = block.bytes;
            for (; left > 0 && run != side.runs.end(); ++run) {
                if (!check_places(*run, row_bytes, buffer, name)) {
                    return;
                }
                if (run->rows > left / row_bytes) {
                    break;
                }
                left -= run->rows * row_bytes;
            }
            if (left > 0) {
                fail(fmt::format("{}: runs of rows of {} B do not fill the {} B of peer {}", name, row_bytes,
                                 block.bytes, block.peer));
                return;
            }
        }
        if (run != side.runs.end()) {
            fail(fmt::format("{}: names places of more rows than travel", name));
            return;
        }
        check_origins(side.origins, side.rows());
    }

    bool check_row_bytes(Bytes row_bytes) {
        bool const sound = row_bytes != 0 && row_bytes % payload_word_bytes == 0;
        if (!sound) {
            fail(fmt::format("moves rows of {} B, no multiple of {}", row_bytes, payload_word_bytes));
        }
        return sound;
    }

    void check_origins(std::vector<Bytes> const& origins, std::uint64_t rows) {
        if (!origins.empty() && origins.size() != rows) {
            fail(fmt::format("names the origins of {} of its {} rows", origins.size(), rows));
        }
    }

    bool check_places(RowPlaces const& run, Bytes row_bytes, BufferId buffer, std::string_view side) {
        Bytes const most = (std::numeric_limits<Bytes>::max() - row_bytes) / std::max<Bytes>(run.stride, 1);
        if (run.rows == 0 || (run.rows > 1 && run.stride < row_bytes) || run.stride % payload_word_bytes != 0 ||
            run.first % payload_word_bytes != 0 || run.rows - 1 > most) {
            fail(fmt::format("{}: {} rows of {} B do not lie {} B apart from offset {} on", side, run.rows, row_bytes,
                             run.stride, run.first));
            return false;
        }
        return check_bounds(buffer, run.first, (run.rows - 1) * run.stride + row_bytes, side);
    }

    bool check_shares(Collective const& step, Bytes ranks) {
        if (step.shares.empty()) {
            return whole_elements(step.bytes, step.element, has_parts(step.kind) ? ranks : 1);
        }
        if (!has_parts(step.kind)) {
            fail(fmt::format("names shares, which {} does not have", name_of(step.kind)));
            return false;
        }
        if (step.shares.size() != ranks) {
            fail(fmt::format("names {} shares for a group of {} ranks", step.shares.size(), ranks));
            return false;
        }
        Bytes left = step.bytes;
        bool fits = true;
        for (Bytes const share : step.shares) {
            if (!whole_elements(share, step.element, 1)) {
                return false;
            }
            fits = fits && share <= left;
            left -= fits ? share : 0;
        }
        if (!fits || left > 0) {
            fail(fmt::format("has {} B, its shares have {}", step.bytes,
                             fits ? fmt::format("{} B", step.bytes - left) : std::string("more")));
        }
        return fits && left == 0;
    }

    /// A rank that has one side only names its region on both; a broadcast has one side on all ranks.
    bool check_root_regions(Collective const& step) {
        bool const is_broadcast = step.kind == OperationKind::broadcast;
        bool const has_both = !is_broadcast && world_rank(plan_, step.group, step.root) == plan_.me;
        if (!has_both && step.send != step.recv) {
            fail(is_broadcast ? "names two regions" : "names two regions on a rank that is not the root");
            return false;
        }
        return true;
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

int batch_of(Operation const& operation) {
    if (auto const* send = std::get_if<Send>(&operation)) {
        return send->batch;
    }
    auto const* recv = std::get_if<Recv>(&operation);
    return recv == nullptr ? -1 : recv->batch;
}

bool wait_alike(Step const& a, Step const& b) {
    return std::is_permutation(a.after.begin(), a.after.end(), b.after.begin(), b.after.end());
}

struct BufferAccess {
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
        if (exchange.scattered) {
            for (RowPlaces const& run : exchange.scattered->sent.runs) {
                add_rows(reads, exchange.send_buffer, run, exchange.scattered->row_bytes);
            }
            for (RowPlaces const& run : exchange.scattered->received.runs) {
                add_rows(writes, exchange.recv_buffer, run, exchange.scattered->row_bytes);
            }
            return;
        }
        add_blocks(reads, exchange.send_buffer, exchange.send);
        add_blocks(writes, exchange.recv_buffer, exchange.recv);
    }
    void operator()(Send const& step) { add_window(reads, step, step.to); }
    void operator()(Recv const& step) { add_window(writes, step, step.from); }
    void operator()(Put const& step) { add_blocks(reads, step.buffer, step.send); }
    void operator()(WaitSignal const& step) { add_blocks(writes, step.buffer, step.recv); }
    void operator()(Collective const& step) {
        CollectiveSides const sides = sides_of(plan_, step);
        add(reads, step.send, sides.sent);
        add(writes, step.recv, sides.received);
    }
    void operator()(Barrier const& /*step*/) {}
    void operator()(Compute const& step) {
        if (step.conversion) {
            Conversion const& conversion = *step.conversion;
            bool const packs = conversion.direction == PackDirection::pack;
            for (RowBlock const& block : conversion.blocks) {
                add(packs ? reads : writes, {conversion.numbers, block.numbers}, conversion.number_bytes(block));
                add(packs ? writes : reads, {conversion.packed, block.packed}, conversion.packed_bytes(block));
            }
        }
        if (step.rearrangement) {
            Rearrangement const& rows = *step.rearrangement;
            for (RowRun const& run : rows.runs) {
                add_rows(reads, rows.from, {run.rows, run.from, run.from_stride}, rows.row_bytes);
                add_rows(writes, rows.to, {run.rows, run.to, run.to_stride}, rows.row_bytes);
            }
        }
    }

    std::vector<BufferAccess> reads;
    std::vector<BufferAccess> writes;

private:
    void add(std::vector<BufferAccess>& list, Region const& region, Bytes bytes) const {
        if (bytes > 0 && !plan_.buffers[region.buffer].shared) {
            list.push_back({region.buffer, region.offset, region.offset + bytes, step_});
        }
    }
    void add_blocks(std::vector<BufferAccess>& list, BufferId buffer, std::span<Block const> blocks) const {
        for (Block const& block : blocks) {
            add(list, {buffer, block.offset}, block.bytes);
        }
    }
    void add_rows(std::vector<BufferAccess>& list, BufferId buffer, RowPlaces const& run, Bytes row_bytes) const {
        bool const adjacent = run.stride == row_bytes;
        for (std::uint64_t row = 0; row < (adjacent ? 1 : run.rows); ++row) {
            add(list, {buffer, run.first + row * run.stride}, row_bytes * (adjacent ? run.rows : 1));
        }
    }
    void add_window(std::vector<BufferAccess>& list, auto const& step, Block const& block) const {
        Bytes const places = step.window.stride == 0 ? 1 : step.window.messages;
        for (Bytes place = 0; place < places; ++place) {
            add(list, {step.buffer, block.offset + place * step.window.stride}, block.bytes);
        }
    }

    Plan const& plan_;
    StepId step_ = 0;
};

/// A collective may work in place, in the one form that libraries know: its own part stays where it is. Of an exchange
/// every block may be replaced by the one that comes for it.
bool works_in_place(Plan const& plan, StepId step) {
    if (auto const* exchange = std::get_if<Exchange>(&plan.steps[step].operation)) {
        return exchange->in_place();
    }
    auto const* collective = std::get_if<Collective>(&plan.steps[step].operation);
    return collective != nullptr && sides_of(plan, *collective).in_place;
}

/// Nothing overwrites a region that another step delivered, or one that an earlier step sends.
class RegionChecker {
public:
    RegionChecker(Plan const& plan, Problems& problems) : plan_(plan), problems_(problems), accesses_(plan) {}

    void check() {
        if (check_writes()) {
            for (BufferAccess const& read : accesses_.reads) {
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
        std::sort(accesses_.writes.begin(), accesses_.writes.end(), [](BufferAccess const& a, BufferAccess const& b) {
            return std::tie(a.buffer, a.begin) < std::tie(b.buffer, b.begin);
        });
        BufferAccess const* farthest = nullptr;
        for (BufferAccess const& write : accesses_.writes) {
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

    void check_read(BufferAccess const& read) {
        auto const& writes = accesses_.writes;
        auto const ends_before = [](BufferAccess const& write, BufferAccess const& wanted) {
            return write.buffer != wanted.buffer ? write.buffer < wanted.buffer : write.end <= wanted.begin;
        };
        auto write = std::lower_bound(writes.begin(), writes.end(), read, ends_before);
        for (; write != writes.end() && write->buffer == read.buffer && write->begin < read.end; ++write) {
            if (write->step > read.step) {
                fail(write->step, read.step, "overwrites what", "sends", read.buffer);
            } else if (write->step < read.step && !waits_for(plan_, read.step, write->step)) {
                fail(read.step, write->step, "does not wait for what", "delivers", read.buffer);
            } else if (write->step == read.step && !works_in_place(plan_, read.step)) {
                fail(read.step, read.step, "receives where", "sends", read.buffer);
            }
        }
    }

    Plan const& plan_;
    Problems& problems_;
    Accesses accesses_;
    std::set<std::pair<StepId, StepId>> said_;
};

/// The steps of a batch wait for the same steps.
void check_batches(Plan const& plan, Problems& problems) {
    std::map<int, StepId> batches;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        int const batch = batch_of(plan.steps[step].operation);
        if (batch < 0) {
            continue;
        }
        auto const [place, is_first] = batches.try_emplace(batch, step);
        if (!is_first && !wait_alike(plan.steps[step], plan.steps[place->second])) {
            report(problems, plan, step,
                   fmt::format("is in batch {} with {}, but does not wait for the same steps", batch,
                               name_of(plan, place->second)));
        }
    }
}

}  // namespace
}  // namespace validation

std::vector<PlanProblem> validate_rank(Plan const& plan) {
    std::vector<PlanProblem> problems;
    for (std::size_t id = 0; id < plan.groups.size(); ++id) {
        validation::check_group(plan, id, problems);
    }
    validation::StepChecker checker(plan, problems);
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        checker.check(step);
    }
    if (problems.empty()) {
        validation::check_batches(plan, problems);
        validation::RegionChecker(plan, problems).check();
    }
    return problems;
}

}  // namespace dlmb
