// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/c/dlmb_tuning.h"

#include "common/formats/table/query.hpp"
#include "common/formats/table/table_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The table, and what a lookup would otherwise have to make.
struct dlmb_tuning {
    explicit dlmb_tuning(dlmb::tuning::TuningTable read) : table(std::move(read)) {
        for (dlmb::tuning::Rule const& rule : table.rules) {
            params.push_back(to_json(rule.choose.params));
        }
    }

    dlmb::tuning::TuningTable const table;
    dlmb::tuning::RuleIndex const index{table};
    std::vector<std::string> params;  // of table.rules, as JSON
};

namespace dlmb::tuning {
namespace {

constexpr std::array codes{DLMB_TUNING_IO_ERROR, DLMB_TUNING_SYNTAX_ERROR, DLMB_TUNING_SCHEMA_ERROR,
                           DLMB_TUNING_SYSTEM_MISMATCH};  // by TableFault

/// A caller of an older version has a shorter struct, one of a newer version a longer one.
constexpr std::uint32_t least_query = offsetof(dlmb_tuning_query, ranks);
constexpr std::uint32_t least_choice = offsetof(dlmb_tuning_choice, algorithm);
constexpr std::uint32_t most = 4096;  // above it, struct_size was never set

std::string_view text_of(char const* text) {
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

/// The key of a C query; nothing: a name that no table has, or a number out of range. Words of tables are short enough
/// for their texts to allocate nothing.
std::optional<Key> key_of(TuningTable const& table, dlmb_tuning_query const& from) {
    auto const operation = operation_named(text_of(from.operation));
    bool valid = operation.has_value();
    auto const count = [&](std::int64_t value) {
        valid = valid && value >= -1;
        return value < 0 ? std::nullopt : std::optional{static_cast<std::uint64_t>(value)};
    };
    auto const flag = [&](std::int32_t value) {
        valid = valid && value >= -1 && value <= 1;
        return value < 0 ? std::nullopt : std::optional{value == 1};
    };
    auto const word = [&](char const* text) {
        constexpr std::size_t longest = 15;
        valid = valid && text_of(text).size() <= longest;
        return std::string(valid ? text_of(text) : std::string_view{});
    };
    Key const key{.operation = operation.value_or(TunedOperation{}),
                  .bytes = from.bytes,
                  .ranks = count(from.ranks),
                  .nodes = count(from.nodes),
                  .memory = word(from.memory),
                  .dtype = word(from.dtype),
                  .reduction = word(from.reduction),
                  .in_place = flag(from.in_place),
                  .uniform = flag(from.uniform),
                  .imbalance = from.imbalance >= 0 ? std::optional{from.imbalance} : std::nullopt};
    return valid && !unknown_word(table, key, text_of(from.scope)) ? std::optional{key} : std::nullopt;
}

dlmb_tuning_choice choice_of(dlmb_tuning const& table, Match const& match) {
    dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
    choice.method = default_method;
    choice.params = "{}";
    Rule const* rule = match.deciding();
    if (rule == nullptr) {
        return choice;
    }
    choice.backend = rule->choose.backend.c_str();
    choice.method = rule->choose.method.c_str();
    if (rule->choose.algorithm) {
        choice.algorithm = rule->choose.algorithm->name.c_str();
        choice.algorithm_family = rule->choose.algorithm->family.c_str();
        choice.algorithm_id = rule->choose.algorithm->id.value_or(-1);
    }
    choice.params = table.params[static_cast<std::size_t>(rule - table.table.rules.data())].c_str();
    choice.rule_id = rule->id.c_str();
    choice.select_rule_id = match.select == nullptr ? nullptr : match.select->id.c_str();
    choice.status = name_of(rule->status).data();  // of a literal, so it ends in a zero
    if (rule->evidence) {
        choice.evidence = rule->evidence->foreign ? "foreign" : rule->evidence->predicted ? "predicted" : "measured";
    }
    return choice;
}

bool fits(std::uint32_t struct_size, std::uint32_t least) {
    return least <= struct_size && struct_size <= most;
}

/// As much as the caller has room for; fields that only the caller knows become 0.
void copy_out(dlmb_tuning_choice choice, dlmb_tuning_choice* out) {
    std::uint32_t const size = out->struct_size;
    choice.struct_size = size;
    std::memcpy(out, &choice, std::min<std::size_t>(size, sizeof choice));
    if (size > sizeof choice) {
        std::memset(reinterpret_cast<char*>(out) + sizeof choice, 0, size - sizeof choice);
    }
}

}  // namespace
}  // namespace dlmb::tuning

extern "C" int dlmb_tuning_open(char const* path, char const* system_key, dlmb_tuning** out) {
    if (out == nullptr) {
        return DLMB_TUNING_BAD_ARGUMENT;
    }
    *out = nullptr;
    if (path == nullptr) {
        return DLMB_TUNING_BAD_ARGUMENT;
    }
    try {
        dlmb::tuning::TuningTable table = dlmb::tuning::read_table(path);
        if (system_key != nullptr) {
            require_system(table, system_key, path);
        }
        *out = std::make_unique<dlmb_tuning>(std::move(table)).release();
        return 0;
    } catch (dlmb::tuning::TableError const& error) {
        return dlmb::tuning::codes.at(static_cast<std::size_t>(error.fault()));
    } catch (std::exception const&) {  // no exception may reach C; what is left is memory that ran out
        return DLMB_TUNING_IO_ERROR;
    }
}

extern "C" int dlmb_tuning_lookup(dlmb_tuning const* table, dlmb_tuning_query const* query,
                                  dlmb_tuning_choice* choice) {
    using namespace dlmb::tuning;
    if (table == nullptr || query == nullptr || choice == nullptr || !fits(query->struct_size, least_query) ||
        !fits(choice->struct_size, least_choice)) {
        return DLMB_TUNING_BAD_ARGUMENT;
    }
    // An older caller has a shorter query, which knows nothing of the later fields: only what it has is read.
    dlmb_tuning_query known = DLMB_TUNING_QUERY_INIT;
    std::memcpy(&known, query, std::min<std::size_t>(query->struct_size, sizeof known));
    auto const key = key_of(table->table, known);
    if (!key) {
        return DLMB_TUNING_BAD_ARGUMENT;
    }
    Match const match = table->index.find(*key, text_of(known.scope));
    copy_out(choice_of(*table, match), choice);
    return match ? DLMB_TUNING_MATCH : DLMB_TUNING_NO_RULE;
}

extern "C" void dlmb_tuning_close(dlmb_tuning* table) {
    delete table;
}

extern "C" char const* dlmb_tuning_strerror(int code) {
    switch (code) {
    case DLMB_TUNING_MATCH:
        return "a rule matched, or the table was opened";
    case DLMB_TUNING_NO_RULE:
        return "no rule matched; keep the default";
    case DLMB_TUNING_IO_ERROR:
        return "the file cannot be read";
    case DLMB_TUNING_SYNTAX_ERROR:
        return "the file is not JSON; `dlmb_tune show TABLE` says where";
    case DLMB_TUNING_SCHEMA_ERROR:
        return "the file is no valid table; `dlmb_tune show TABLE` says why";
    case DLMB_TUNING_SYSTEM_MISMATCH:
        return "the table was measured on another system";
    case DLMB_TUNING_BAD_ARGUMENT:
        return "a null pointer, an unknown operation, scope, memory, dtype or reduction, or a number out of range";
    default:
        return "no code of libdlmb_tuning";
    }
}
