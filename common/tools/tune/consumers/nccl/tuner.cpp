// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the plugin answers, whatever version of the interface asks: the forced choice, else the first matching rule of
// the file that dlmb_tune export --to nccl writes. A pure function of what all ranks know, so that they agree. Nothing
// here fails: an error of a tuner would fail the collective.
#include "common/base/units.hpp"
#include "common/tools/tune/consumers/nccl/tuner_abi.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::nccl_tuner {
namespace {

/// In one word, so that a thread never sees half of one that is forced. Aligned as one: clang calls libatomic
/// otherwise.
struct alignas(8) Choice {
    std::int16_t algorithm = -1;  // none
    std::int16_t protocol = 0;
    std::int32_t channels = 0;
};
static_assert(std::atomic<Choice>::is_always_lock_free);

std::array<std::atomic<Choice>, function_count> forced{};  // on all communicators of the process; by Function
std::atomic<bool> forcing{false};                          // any
std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> honoured{0};
std::atomic<std::uint64_t> refused{0};

/// In the order of the file.
struct TunerRule {
    int function = 0;  // Function
    std::uint64_t min_bytes = 0;
    std::uint64_t max_bytes = 0;
    int algorithm = 0;
    int protocol = 0;
    int channels = -1;
    std::int64_t nodes = -1;
    std::int64_t ranks = -1;
};

// By number, see tuner_abi.hpp.
constexpr std::array<std::string_view, function_count> functions{"broadcast", "reduce", "allgather", "reducescatter",
                                                                 "allreduce"};

/// A text of the file in a line of the log: printable and short.
std::string quoted(std::string_view text) {
    constexpr std::size_t most = 64;
    std::string shown = "'";
    for (char const character : text.substr(0, most)) {
        shown += character >= ' ' && character <= '~' ? character : '?';
    }
    return shown + (text.size() > most ? "...'" : "'");
}

template <class Number>
Number number(std::string_view text, Number least, Number most) {
    auto const value = parse_whole<Number>(text);
    if (!value || *value < least || *value > most) {
        throw std::runtime_error(quoted(text) + " is no number that can stand here");
    }
    return *value;
}

std::int64_t count_or_any(std::string_view text) {
    return number<std::int64_t>(text, -1, std::numeric_limits<std::int64_t>::max());
}

template <std::size_t count>
int index_of(std::string_view name, std::array<std::string_view, count> const& names) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::runtime_error(quoted(name) + " is not known");
    }
    return static_cast<int>(found - names.begin());
}

TunerRule parse_rule(std::string_view line) {
    auto const columns = split(line, ",");
    if (columns.size() < 8 || columns.size() > 10) {
        throw std::runtime_error("has " + std::to_string(columns.size()) + " columns, 8 to 10 are expected");
    }
    constexpr auto most_bytes = std::numeric_limits<std::uint64_t>::max();
    TunerRule rule;
    rule.function = index_of(columns[0], functions);
    rule.min_bytes = number<std::uint64_t>(columns[1], 0, most_bytes);
    rule.max_bytes = number<std::uint64_t>(columns[2], rule.min_bytes, most_bytes);
    rule.algorithm = index_of(columns[3], algorithm_names);
    rule.protocol = index_of(columns[4], protocol_names);
    rule.channels = number<int>(columns[5], -1, std::numeric_limits<int>::max());
    rule.nodes = count_or_any(columns[6]);
    rule.ranks = count_or_any(columns[7]);
    for (std::size_t column = 8; column < columns.size(); ++column) {
        if (columns[column] != "-1") {
            throw std::runtime_error("pipelined operations and registered must be -1");
        }
    }
    return rule;
}

/// The CSV: collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks[,pipelined operations[,registered]].
/// Bytes are NCCL's nBytes, both ends included; -1: any, of channels: NCCL's own number. The first line that matches
/// holds; # begins a comment line. Throws std::runtime_error "line 3: ..." for anything that is not as above: half a
/// table would be worse than none. So is a file without end: one of more than 16 MiB is refused.
std::vector<TunerRule> read_rules(std::string const& path) {
    constexpr std::size_t most_bytes = std::size_t{16} << 20;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 65536> piece{};
    while (file && text.size() <= most_bytes) {
        file.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (!file.eof()) {
        throw std::runtime_error(text.empty() ? "cannot be read" : "larger than 16 MiB");
    }
    std::vector<TunerRule> rules;
    std::string_view left = text;
    for (int count = 1; !left.empty(); ++count) {
        std::string_view const line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(line.size() + 1, left.size()));
        if (line.empty() || line.front() == '#') {
            continue;
        }
        try {
            rules.push_back(parse_rule(line));
        } catch (std::runtime_error const& error) {
            throw std::runtime_error("line " + std::to_string(count) + ": " + error.what());
        }
    }
    return rules;
}

void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

/// One communicator's view. NCCL may ask from a thread of its own: const after it is made.
class TunerContext {
public:
    /// Reads the file that DLMB_NCCL_TABLE names. Without one, or with one that is not right, it has no rules and says
    /// so in NCCL's log.
    TunerContext(std::size_t ranks, std::size_t nodes, Logger logger)
        : ranks_(static_cast<std::int64_t>(ranks)), nodes_(static_cast<std::int64_t>(nodes)) {
        auto const say = [&](int level, char const* what, char const* path, char const* why) {
            if (logger != nullptr) {
                logger(level, log_tuning, __FILE__, __LINE__, "DLMB tuner: %s %s: %s", what, path, why);
            }
        };
        char const* const path = std::getenv("DLMB_NCCL_TABLE");
        if (path == nullptr) {
            say(log_information, "no rules", "", "DLMB_NCCL_TABLE is not set");
            return;
        }
        try {
            rules_ = read_rules(path);
            say(log_information, "table", path, (std::to_string(rules_.size()) + " rules").c_str());
        } catch (std::exception const& error) {
            say(log_warning, "no rules from", path, error.what());
        }
    }

    /// Versions 3 and later. A cost of 0 is the lowest, so it decides. What NCCL forbids is left, and counted.
    void write(int function, std::uint64_t bytes, float* costs, int algorithms, int protocols, int* channels) const {
        Choice const choice = choose(function, bytes);
        if (choice.algorithm < 0) {
            return;
        }
        if (choice.algorithm >= algorithms || choice.protocol >= protocols) {
            return count(refused);
        }
        float& cost = costs[choice.algorithm * protocols + choice.protocol];
        if (cost == forbidden) {
            return count(refused);
        }
        cost = 0.0F;
        // Whatever is not 0 here overrides NCCL's own number.
        if (choice.channels > 0) {
            *channels = choice.channels;
        }
        count(honoured);
    }

    /// Version 2: no costs, so what NCCL can run is known only as far as the two flags say.
    void write(int function, std::uint64_t bytes, bool has_collnet, bool has_nvls, int* algorithm, int* protocol,
               int* channels) const {
        Choice const choice = choose(function, bytes);
        if (choice.algorithm < 0) {
            return;
        }
        bool const needs_collnet = choice.algorithm == collnet_direct || choice.algorithm == collnet_chain;
        bool const needs_nvls = choice.algorithm == nvls || choice.algorithm == nvls_tree;
        // pat came with version 3.
        if ((needs_collnet && !has_collnet) || (needs_nvls && !has_nvls) || choice.algorithm > nvls_tree) {
            return count(refused);
        }
        *algorithm = choice.algorithm;
        *protocol = choice.protocol;
        if (choice.channels > 0) {
            *channels = choice.channels;
        }
        count(honoured);
    }

private:
    [[nodiscard]] Choice choose(int function, std::uint64_t bytes) const {
        count(calls);
        if (forcing.load(std::memory_order_acquire)) {
            bool const known = function >= 0 && function < function_count;
            return known ? forced[static_cast<std::size_t>(function)].load() : Choice{};
        }
        auto const found = std::find_if(rules_.begin(), rules_.end(), [&](TunerRule const& rule) {
            return function == rule.function && rule.min_bytes <= bytes && bytes <= rule.max_bytes &&
                   (rule.ranks == -1 || rule.ranks == ranks_) && (rule.nodes == -1 || rule.nodes == nodes_);
        });
        return found == rules_.end() ? Choice{}
                                     : Choice{static_cast<std::int16_t>(found->algorithm),
                                              static_cast<std::int16_t>(found->protocol), std::max(found->channels, 0)};
    }

    std::int64_t ranks_;
    std::int64_t nodes_;
    std::vector<TunerRule> rules_;
};

constexpr char const* plugin_name = "DLMB";

Result init(void** context, std::size_t ranks, std::size_t nodes, Logger logger) {
    try {
        *context = new TunerContext(ranks, nodes, logger);
    } catch (...) {
        *context = nullptr;  // no memory: no choice
    }
    return success;
}

Result init_v2(std::size_t ranks, std::size_t nodes, Logger logger, void** context) {
    return init(context, ranks, nodes, logger);
}

Result init_v5(void** context, std::uint64_t, std::size_t ranks, std::size_t nodes, Logger logger, void*, void*) {
    return init(context, ranks, nodes, logger);
}

Result destroy(void* context) {
    delete static_cast<TunerContext*>(context);
    return success;
}

Result get_v2(void* context, int function, std::size_t bytes, int has_collnet, int has_nvls, int /*pipe_ops*/,
              int* algorithm, int* protocol, int* channels) {
    if (context != nullptr) {
        static_cast<TunerContext const*>(context)->write(function, bytes, has_collnet != 0, has_nvls != 0, algorithm,
                                                         protocol, channels);
    }
    return success;
}

Result get_v4(void* context, int function, std::size_t bytes, int /*pipe_ops*/, float** costs, int algorithms,
              int protocols, int /*registered*/, int* channels) {
    if (context != nullptr) {
        static_cast<TunerContext const*>(context)->write(function, bytes, reinterpret_cast<float*>(costs), algorithms,
                                                         protocols, channels);
    }
    return success;
}

Result get_v3(void* context, int function, std::size_t bytes, int pipe_ops, float** costs, int algorithms,
              int protocols, int* channels) {
    return get_v4(context, function, bytes, pipe_ops, costs, algorithms, protocols, 0, channels);
}

int force(int function, int algorithm, int protocol, int channels) {
    if (function < 0 || function >= function_count || algorithm < 0 || algorithm >= algorithm_count || protocol < 0 ||
        protocol >= protocol_count || channels < 0) {
        return -1;
    }
    forced[static_cast<std::size_t>(function)].store(
        {static_cast<std::int16_t>(algorithm), static_cast<std::int16_t>(protocol), channels});
    forcing.store(true, std::memory_order_release);
    return 0;
}

void clear() {
    forcing.store(false, std::memory_order_release);
    for (std::atomic<Choice>& each : forced) {
        each.store({});
    }
}

Counters counters() {
    return {calls.load(), honoured.load(), refused.load()};
}

}  // namespace
}  // namespace dlmb::nccl_tuner

namespace tuner = dlmb::nccl_tuner;

extern "C" {
// The names are NCCL's.
// NOLINTBEGIN(readability-identifier-naming)
extern tuner::PluginV2 const ncclTunerPlugin_v2;
extern tuner::PluginV3 const ncclTunerPlugin_v3;
extern tuner::PluginV4 const ncclTunerPlugin_v4;
extern tuner::PluginV5 const ncclTunerPlugin_v5;
extern tuner::PluginV6 const ncclTunerPlugin_v6;
extern tuner::Control const dlmb_nccl_tuner_control;
tuner::PluginV2 const ncclTunerPlugin_v2{tuner::plugin_name, tuner::init_v2, tuner::get_v2, tuner::destroy};
tuner::PluginV3 const ncclTunerPlugin_v3{tuner::plugin_name, tuner::init_v2, tuner::get_v3, tuner::destroy};
tuner::PluginV4 const ncclTunerPlugin_v4{tuner::plugin_name, tuner::init_v2, tuner::get_v4, tuner::destroy};
tuner::PluginV5 const ncclTunerPlugin_v5{tuner::plugin_name, tuner::init_v5, tuner::get_v4, tuner::destroy};
tuner::PluginV6 const ncclTunerPlugin_v6{tuner::plugin_name, tuner::init_v5, tuner::get_v4, tuner::destroy, nullptr};
tuner::Control const dlmb_nccl_tuner_control{tuner::control_version, sizeof(tuner::Control), tuner::force, tuner::clear,
                                             tuner::counters};
// NOLINTEND(readability-identifier-naming)
}
