// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/fill.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace dlmb::pipeline_p2p {
namespace {

constexpr std::array fill_operations{OperationKind::compute, OperationKind::all_reduce, OperationKind::reduce_scatter,
                                     OperationKind::all_gather};
constexpr int most_items = 4096;
constexpr Bytes most_fill_bytes = Bytes{1} << 40;
constexpr double most_fill_us = 1e9;

[[noreturn]] void refuse_item(std::string_view item, std::string_view why) {
    throw UsageError(fmt::format("--bubble-fill: '{}' {}; write [forward.|backward.]OPERATION[:BYTES]@MICROSECONDS"
                                 "[xCOUNT], such as forward.compute@50 or allreduce:4M@300x2",
                                 item, why));
}

FillItem parse_item(std::string_view item) {
    FillItem parsed;
    std::string_view rest = item;
    for (auto const& [word, release] :
         {std::pair{std::string_view("forward."), Release::forward}, {"backward.", Release::backward}}) {
        if (rest.starts_with(word)) {
            parsed.release = release;
            rest.remove_prefix(word.size());
        }
    }
    auto const at = rest.find('@');
    if (at == std::string_view::npos) {
        refuse_item(item, "does not say how long it takes");
    }
    std::string_view const what = rest.substr(0, at);
    std::string_view time = rest.substr(at + 1);
    if (auto const times = time.find('x'); times != std::string_view::npos) {
        auto const count = parse_whole<int>(time.substr(times + 1));
        if (!count || *count < 1 || *count > most_items) {
            refuse_item(item, fmt::format("has no count from 1 to {}", most_items));
        }
        parsed.count = *count;
        time = time.substr(0, times);
    }
    auto const us = parse_whole<double>(time);
    if (!us || *us <= 0 || *us > most_fill_us) {
        refuse_item(item, "has no time above 0");
    }
    parsed.duration = std::max<Nanoseconds>(std::llround(*us * nanoseconds_per_microsecond), 1);
    auto const colon = what.find(':');
    auto const named = operation_kind_named(what.substr(0, colon));
    if (!named || std::find(fill_operations.begin(), fill_operations.end(), *named) == fill_operations.end()) {
        refuse_item(item, "is none of compute, allreduce, reduce_scatter, allgather");
    }
    parsed.operation = *named;
    if ((parsed.operation == OperationKind::compute) != (colon == std::string_view::npos)) {
        refuse_item(item, parsed.operation == OperationKind::compute ? "has bytes, but computes" : "has no bytes");
    }
    if (colon != std::string_view::npos) {
        parsed.bytes = parse_bytes(what.substr(colon + 1), "--bubble-fill");
        if (parsed.bytes < 4 || parsed.bytes % 4 != 0 || parsed.bytes > most_fill_bytes) {
            refuse_item(item, "has no bytes that are whole fp32 values, up to 1 TiB");
        }
    }
    return parsed;
}

bool is_released_by(Release release, PipelineTask const& task) {
    return std::any_of(task.begin(), task.end(), [&](StageWork const& work) {
        switch (release) {
        case Release::forward:
            return work.pass == Pass::forward;
        case Release::backward:
            return work.pass == Pass::backward || work.pass == Pass::backward_weight;
        case Release::start:
            break;
        }
        return false;
    });
}

/// Puts the items of one rank into its gaps, in the order of time.
class RankFiller {
public:
    RankFiller(std::vector<FillItem> const& items, double reserve)
        : items_(items), reserve_(reserve), waiting_(items.size()) {}

    /// `starts`: when the tasks begin. `makespan`: the end of the last gap.
    RankFill run(std::vector<PipelineTask> const& tasks, std::vector<Nanoseconds> const& starts,
                 Durations const& durations, Nanoseconds makespan) {
        for (std::size_t index = 0; index < items_.size(); ++index) {
            expected_.push_back(items_[index].count * releases(items_[index], tasks));
            if (items_[index].release == Release::start) {
                waiting_[index] = items_[index].count;
            }
        }
        Nanoseconds now = 0;
        for (std::size_t k = 0; k < tasks.size(); ++k) {
            (void)fill(k, now, starts[k]);
            now = starts[k] + durations.of(tasks[k]);
            for (std::size_t index = 0; index < items_.size(); ++index) {
                waiting_[index] += is_released_by(items_[index].release, tasks[k]) ? items_[index].count : 0;
            }
        }
        now = fill(tasks.size(), now, makespan);
        result_.inside = result_.work;
        reserve_ = 0;
        result_.end = fill(tasks.size(), now, std::numeric_limits<Nanoseconds>::max());
        result_.inside += std::clamp<Nanoseconds>(makespan - now, 0, result_.work - result_.inside);
        return std::move(result_);
    }

private:
    static int releases(FillItem const& item, std::vector<PipelineTask> const& tasks) {
        if (item.release == Release::start) {
            return 1;
        }
        return static_cast<int>(std::count_if(
            tasks.begin(), tasks.end(), [&](PipelineTask const& task) { return is_released_by(item.release, task); }));
    }

    /// From `now` to `end`, before task `k`. Returns when the last item ends.
    Nanoseconds fill(std::size_t k, Nanoseconds now, Nanoseconds end) {
        while (true) {
            auto const item = first_that_fits(end - now);
            if (item == items_.size()) {
                return now;
            }
            --waiting_[item];
            --expected_[item];
            result_.placed.push_back({k, item});
            result_.work += items_[item].duration;
            now += items_[item].duration;
        }
    }

    [[nodiscard]] std::size_t first_that_fits(Nanoseconds free) const {
        int open_phase = std::numeric_limits<int>::max();  // the first one that has items left
        for (std::size_t index = 0; index < items_.size(); ++index) {
            open_phase = expected_[index] > 0 ? std::min(open_phase, items_[index].phase) : open_phase;
        }
        for (std::size_t index = 0; index < items_.size(); ++index) {
            double const needed = (1 + reserve_) * static_cast<double>(items_[index].duration);
            if (waiting_[index] > 0 && items_[index].phase == open_phase && needed <= static_cast<double>(free)) {
                return index;
            }
        }
        return items_.size();
    }

    std::vector<FillItem> const& items_;
    double reserve_;
    std::vector<int> waiting_;   // by item: released and not placed
    std::vector<int> expected_;  // by item: not placed, released or not
    RankFill result_;
};

}  // namespace

std::vector<FillItem> parse_fill(std::string_view text) {
    std::vector<FillItem> items;
    int phase = 0;
    for (std::string_view const together : split(text, "/")) {
        for (std::string_view const item : split(together, "+")) {
            items.push_back(parse_item(item));
            items.back().phase = phase;
        }
        ++phase;
    }
    return items;
}

Filling fill_bubbles(ScheduleShape const& shape, Durations const& durations, std::vector<FillItem> const& items,
                     double reserve) {
    Timetable const timetable = ideal_timetable(shape, durations);
    Filling filling;
    filling.makespan = timetable.makespan;
    filling.filled_makespan = timetable.makespan;
    for (std::size_t rank = 0; rank < timetable.tasks.size(); ++rank) {
        auto const& tasks = timetable.tasks[rank];
        filling.bubble += timetable.makespan;
        for (PipelineTask const& task : tasks) {
            filling.bubble -= durations.of(task);
        }
        filling.ranks.push_back(
            RankFiller(items, reserve).run(tasks, timetable.starts[rank], durations, timetable.makespan));
        RankFill const& fill = filling.ranks.back();
        Bytes bytes = 0;
        for (PlacedFill const& placed : fill.placed) {
            bytes += items[placed.item].bytes;
        }
        filling.bytes = std::max(filling.bytes, bytes);
        filling.work += fill.work;
        filling.inside += fill.inside;
        filling.filled_makespan = std::max(filling.filled_makespan, fill.end);
    }
    return filling;
}

}  // namespace dlmb::pipeline_p2p
