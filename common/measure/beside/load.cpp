// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/beside/load.hpp"

#include "common/backend_kit/compute.hpp"
#include "common/base/clock.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/node_layout.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/environment/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <new>
#include <sched.h>
#include <utility>

namespace dlmb::measure {
namespace {

constexpr Bytes usual_cache = Bytes{32} << 20U;
constexpr Bytes piece_bytes = Bytes{64} << 10U;  // some microseconds
constexpr auto alone_time = std::chrono::milliseconds(20);

void bind_to(std::vector<int> const& units) {
    if (units.empty()) {
        return;
    }
    std::vector<cpu_set_t> mask(static_cast<std::size_t>(units.back()) / CPU_SETSIZE + 1);
    std::size_t const bytes = mask.size() * sizeof(cpu_set_t);
    for (int const unit : units) {
        CPU_SET_S(static_cast<std::size_t>(unit), bytes, mask.data());
    }
    (void)sched_setaffinity(0, bytes, mask.data());  // they are some that the rank may use
}

std::vector<int> without(std::vector<int> units, std::vector<int> const& taken) {
    std::erase_if(units, [&](int unit) { return std::find(taken.begin(), taken.end(), unit) != taken.end(); });
    return units;
}

/// Collective. Where the ranks of this one's node are now.
std::vector<int> units_of_node(Bootstrap& bootstrap, int own) {
    std::vector<int> const all = from_every_rank(bootstrap, own);
    NodeLayout const layout = gather_layout(bootstrap);
    auto const node_of = [&](std::size_t rank) { return layout.node_of.at(rank); };
    std::vector<int> units;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (node_of(rank) == node_of(static_cast<std::size_t>(bootstrap.rank()))) {
            units.push_back(all[rank]);
        }
    }
    return units;
}

}  // namespace

BackgroundLoad::BackgroundLoad(record::Load kind, std::vector<int> units, Bytes cache_bytes)
    : kind_(kind), units_(std::move(units)),
      half_bytes_((std::max(cache_bytes, piece_bytes) + piece_bytes - 1) / piece_bytes * piece_bytes) {
    std::sort(units_.begin(), units_.end());
    half_bytes_ = cache_bytes == 0 ? usual_cache : half_bytes_;
}

void BackgroundLoad::start() {
    if (kind_ == record::Load::memory && memory_ == nullptr) {
        memory_.reset(new (std::nothrow) std::byte[2 * half_bytes_]);  // its thread writes it first, near itself
        if (memory_ == nullptr) {
            throw Error(fmt::format("--beside memory: no memory for the {} that each rank copies beside its traffic",
                                    human_bytes(2 * half_bytes_)));
        }
    }
    works_ = false;
    {
        HeldSignals const held;  // which the new thread inherits
        thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
    }
    works_.wait(false);
}

void BackgroundLoad::stop() noexcept {
    thread_ = {};
}

void BackgroundLoad::work(std::stop_token const& stop) {
    bind_to(units_);
    kind_ == record::Load::compute ? multiply(stop) : copy(stop);
}

void BackgroundLoad::multiply(std::stop_token const& stop) {
    constexpr std::uint64_t edge = HostCompute::tile_edge;
    HostCompute product(Compute{.product = ProductShape{edge, edge, edge}}, {});
    product.start();
    works_ = true;
    works_.notify_all();
    while (!stop.stop_requested()) {
        (void)product.test();  // one product: its time is over
        add(edge * edge * edge);
    }
}

void BackgroundLoad::copy(std::stop_token const& stop) {
    std::byte* from = memory_.get();
    std::byte* to = from + half_bytes_;
    if (!std::exchange(written_, true)) {
        std::memset(from, 1, 2 * half_bytes_);
    }
    works_ = true;
    works_.notify_all();
    for (Bytes at = 0; !stop.stop_requested(); at += piece_bytes) {
        if (at == half_bytes_) {
            std::swap(from, to);
            at = 0;
        }
        std::memcpy(to + at, from + at, piece_bytes);
        add(piece_bytes);
    }
}

BackgroundLoads::BackgroundLoads(Bootstrap& bootstrap, Bytes cache_bytes)
    : choice_([&] {
          int const own = sched_getcpu();
          return choose(read_affinity().units, own, units_of_node(bootstrap, own));
      }()),
      compute_(record::Load::compute, choice_.units, cache_bytes),
      memory_(record::Load::memory, choice_.units, cache_bytes) {}

BackgroundLoads::Choice BackgroundLoads::choose(std::vector<int> const& allowed, int own,
                                                std::vector<int> const& taken) {
    if (std::vector<int> free = without(allowed, taken); !free.empty()) {
        return {std::move(free), false};
    }
    std::vector<int> others = without(allowed, {own});
    if (others.empty()) {
        return {allowed, true};
    }
    return {std::move(others), true};
}

void LoadLog::Spell::begin(BackgroundLoad const* load) {
    if (load != nullptr) {
        done -= load->done();
        lasted_ns -= now_ns();
    }
}

void LoadLog::Spell::end(BackgroundLoad const* load) {
    if (load != nullptr) {
        done += load->done();
        lasted_ns += now_ns();
    }
}

double LoadLog::Spell::per_second() const {
    constexpr double nanoseconds_per_second = 1e9;
    return lasted_ns > 0 ? static_cast<double>(done) / static_cast<double>(lasted_ns) * nanoseconds_per_second : 0;
}

LoadLog::LoadLog(BackgroundLoads* loads, std::string_view beside) : shared_(loads != nullptr && loads->shares_units()) {
    if (auto const kind = record::load_of(beside); kind && loads != nullptr) {
        load_ = &loads->of(*kind);
    }
}

void LoadLog::measure_alone(Bootstrap& bootstrap) {
    if (load_ == nullptr) {
        return;
    }
    bootstrap.barrier();
    alone_.begin(load_);
    std::this_thread::sleep_for(alone_time);
    alone_.end(load_);
    bootstrap.barrier();
}

std::vector<record::Figure> LoadLog::over_ranks(Bootstrap& bootstrap) const {
    if (load_ == nullptr) {
        return {};
    }
    auto const mean = [&](double mine) {
        std::vector<double> const all = from_every_rank(bootstrap, mine);
        double sum = 0;
        for (double const each : all) {
            sum += each;
        }
        return sum / static_cast<double>(all.size());
    };
    double const alone = mean(alone_.per_second());
    double const beside = mean(beside_.per_second());
    std::int64_t const shared = reduce_over_ranks(bootstrap, shared_ ? 1 : 0, Fold::sum);
    using record::Better;
    std::vector<record::Figure> figures{{"load_rate", beside,
                                         load_->kind() == record::Load::compute ? "multiply-adds/s" : "B/s",
                                         Better::higher, "samples"}};
    if (alone > 0 && beside > 0) {
        figures.push_back({"load_slowdown", alone / beside, "of its rate alone", Better::lower, "samples"});
    }
    figures.push_back({"load_on_units_of_ranks", static_cast<double>(shared), "ranks", Better::lower, "placement"});
    return figures;
}

}  // namespace dlmb::measure
