// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared code of the readers of all formats, and the list of formats.
#pragma once

#include "common/formats/input/json_scan.hpp"
#include "common/formats/plan/world.hpp"
#include "common/tools/plan/trace.hpp"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dlmb::trace {

using input::each_input;
using input::Input;
using input::Json;
using input::JsonPieces;
using input::scan_json;
using input::scan_json_lines;
using input::whole_number;

/// A user's values for what a trace does not say: the only way in which something missing is filled in.
struct Assumptions {
    std::optional<int> ranks;    // of the run, and of each group without a size
    std::optional<Dtype> dtype;  // of formats that tell bytes alone
    std::optional<int> root;     // rank in the group, of an operation without one
};

class Builder {
public:
    explicit Builder(Assumptions assumptions) : assumptions_(std::move(assumptions)) {}

    [[nodiscard]] Assumptions const& assumptions() const { return assumptions_; }
    /// The type for an operation of which the trace tells bytes alone. finish() refuses an assumption that no reader
    /// asked for.
    [[nodiscard]] std::optional<Dtype> const& assumed_dtype() {
        reads_dtype_ = true;
        return assumptions_.dtype;
    }
    [[nodiscard]] Trace& trace() { return trace_; }

    /// The same number for the same group.
    [[nodiscard]] TraceGroupId group(TraceGroup group);
    /// Refuses a rank that another file had; `file` is named then.
    void add(std::string_view file, RankProgram program);
    /// The run has at least this many ranks.
    void world_of(int ranks) { trace_.ranks = std::max(trace_.ranks, ranks); }
    void incomplete(std::string reason);
    void leave_out(std::string_view what, std::uint64_t times = 1) { trace_.left_out[std::string(what)] += times; }
    void note(std::string_view what, std::uint64_t times = 1) { trace_.notes[std::string(what)] += times; }

    /// The trace after the last file: groups that are everybody get their members, missing ranks are named, and what
    /// one rank sends is compared with what another expects.
    [[nodiscard]] Trace finish();
    /// The files were proved when they were written: finish() has nothing to compare.
    void is_proved() { is_proved_ = true; }

private:
    void assume_roots();
    void check_ranks();
    void check_operation(Rank rank, TraceOperation const& operation, bool is_told);
    void check_groups(RankProgram const& program);
    void forget_wrong_times();
    void forget_long_pauses(RankProgram& program);
    void fill_groups();

    Assumptions assumptions_;
    Trace trace_;
    std::set<std::string> reasons_;
    std::set<Rank> seen_;
    bool is_proved_ = false;
    bool reads_dtype_ = false;
};

/// Reads the files of one format.
class TraceReader {
public:
    explicit TraceReader(Builder& builder) : builder_(builder) {}
    TraceReader(TraceReader const&) = delete;
    TraceReader& operator=(TraceReader const&) = delete;
    TraceReader(TraceReader&&) = delete;
    TraceReader& operator=(TraceReader&&) = delete;
    virtual ~TraceReader() = default;
    virtual void read(Input& input) = 0;
    /// After the last file.
    virtual void finish() {}

protected:
    Builder& builder_;
};

/// `make` of a format.
template <class FormatReader>
std::unique_ptr<TraceReader> make_reader(Builder& builder) {
    return std::make_unique<FormatReader>(builder);
}

/// `suits`: whether a file begins like one of the format; `head` is its first 64 KiB.
struct TraceFormat {
    std::string_view name;
    std::string_view description;
    bool (*suits)(std::string_view name, std::string_view head);
    std::unique_ptr<TraceReader> (*make)(Builder& builder);
};

/// a * b; nothing for what is beyond 2^63 - 1.
[[nodiscard]] std::optional<Bytes> product(Bytes a, Bytes b);
/// The same; refuses what is beyond.
[[nodiscard]] Bytes product(Input const& input, std::string_view where, Bytes a, Bytes b);

/// The sum of the parts; refuses what is beyond 2^63 - 1.
[[nodiscard]] Bytes total(Input const& input, std::string_view where, std::span<Bytes const> parts);

/// A size in bytes or a count, which some generators write as "4096.0"; refuses what is above `most`.
[[nodiscard]] Bytes whole_text(Input const& input, std::string_view name, std::string_view text, Bytes most);

/// The number that a file name tells of its rank: "rank-3.pt.trace.json", "trace_3.json.gz", "3.json", "x.3.et".
[[nodiscard]] std::optional<Rank> rank_of_name(std::string_view name);

/// Equal parts for `ranks` ranks, or nothing where `bytes` is no multiple.
[[nodiscard]] std::optional<Bytes> equal_part(Bytes bytes, int ranks);

/// Where an exchange of `ranks` known ranks goes, if its format has equal parts alone.
void split_equally(TraceOperation& exchange, int ranks);

}  // namespace dlmb::trace
