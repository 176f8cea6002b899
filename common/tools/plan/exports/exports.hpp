// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans as files for other programs. No label of a plan is written, so that a file has no name, path or host of the run
// that its plan was made of.
#pragma once

#include "common/formats/plan/plan_source.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::trace {

/// Features of the plans that a format does not hold, each with the number of steps that have it, over all ranks.
using Losses = std::map<std::string, std::uint64_t>;

/// Takes the files of an export; `name` is empty where a format has one file. Pieces of one file come one after the
/// other.
using FileSink = std::function<void(std::string_view name, std::string_view piece)>;

/// `folder`: a file per rank. `write` is for plans that validate() accepts; it throws UsageError for those that the
/// format cannot hold at all.
struct ExportFormat {
    std::string_view name;
    std::string_view description;
    bool folder = false;
    Losses (*write)(PlanSource const& plans, FileSink const& sink) = nullptr;
};

[[nodiscard]] std::span<ExportFormat const> all_export_formats();

/// Chakra execution traces, schema 0.0.4: RANK of `plan.RANK.et`, and `comm_group.json`. What ASTRA-sim runs stays a
/// collective; everything else is messages (common/formats/plan/messages.hpp).
[[nodiscard]] Losses write_chakra(PlanSource const& plans, FileSink const& sink);
/// {"format": ..., "losses": [{"what": ..., "steps": ...}]}
[[nodiscard]] std::string losses_json(std::string_view format, Losses const& losses);

/// Steps of one phase alone; a step waits for those that it waited for over others. Throws UsageError where no plan has
/// the phase. The source refers to `plans`.
[[nodiscard]] PlanSource only_phase(PlanSource const& plans, std::string const& phase);

/// Counts, over the plans of all ranks, what a format does not hold.
class LossCounter {
public:
    void add(std::string_view what, bool lost = true) {
        if (lost) {
            ++losses_[std::string(what)];
        }
    }
    /// Adds features that no format here holds.
    void add_common(Step const& step);
    [[nodiscard]] Losses take() { return std::move(losses_); }

private:
    Losses losses_;
};

/// A Send or Recv of no bytes.
[[nodiscard]] bool is_empty_message(Operation const& operation);
/// An exchange in which the rank gives itself something.
[[nodiscard]] bool keeps_bytes(Plan const& plan, Operation const& operation);

}  // namespace dlmb::trace
