// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning tables: the readers in C++ and in C accept the same ones and answer alike; what is written is read as the
// same; every exporter takes what the reader accepts.
#include "common/formats/table/c/dlmb_tuning.h"
#include "common/formats/table/query.hpp"
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/exporters/export.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <memory>
#include <optional>

namespace dlmb::fuzz {
namespace {

std::string_view text_of(char const* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

/// Both readers, asked at both ends of a rule.
void ask(tuning::TuningTable const& table, dlmb_tuning const* opened, tuning::Rule const& rule) {
    tuning::When const& when = rule.when;
    auto const interval = when.bytes.value_or(tuning::ByteInterval{0, tuning::no_limit});
    std::string const operation(name_of(when.operation));
    for (Bytes const bytes : {interval.min, interval.max}) {
        std::string const backend = rule.scope == tuning::select_scope ? "" : rule.scope;
        tuning::Key key;
        key.operation = when.operation;
        key.bytes = bytes;
        key.memory = when.memory;
        key.dtype = when.dtype;
        key.reduction = when.reduction;
        dlmb_tuning_query asked = DLMB_TUNING_QUERY_INIT;
        asked.operation = operation.c_str();
        asked.scope = backend.empty() ? nullptr : rule.scope.c_str();
        asked.bytes = bytes;
        asked.memory = when.memory.c_str();
        asked.dtype = when.dtype.c_str();
        asked.reduction = when.reduction.c_str();
        if (when.ranks && when.ranks->min <= std::uint64_t{INT64_MAX}) {
            key.ranks = when.ranks->min;
            asked.ranks = static_cast<std::int64_t>(when.ranks->min);
        }
        tuning::Rule const* const expected = lookup(table, key, backend).deciding();
        dlmb_tuning_choice choice = DLMB_TUNING_CHOICE_INIT;
        int const code = dlmb_tuning_lookup(opened, &asked, &choice);
        require(code == (expected == nullptr ? DLMB_TUNING_NO_RULE : DLMB_TUNING_MATCH), "the readers differ");
        require(text_of(choice.rule_id) == (expected == nullptr ? "" : expected->id), "the readers chose two rules");
    }
}

void export_all(tuning::TuningTable const& table) {
    for (char const* const version : {"4.1.4", "5.0.8"}) {
        (void)accepts([&] { (void)to_open_mpi(table, complete({}, table, "mpi", tuning::mpi_keys), version); });
    }
    (void)accepts([&] { (void)to_nccl(table, complete({}, table, "nccl", tuning::nccl_keys), "plugin.so"); });
    (void)accepts([&] { (void)to_ucx(table, complete({}, table, "ucx", tuning::keys_of_ucx("1.17.0")), "1.17.0"); });
    (void)accepts([&] { (void)to_ucc(table, complete({}, table, "ucc", tuning::ucc_keys)); });
}

}  // namespace

void tuning_table(std::string_view input) {
    std::optional<tuning::TuningTable> table;
    (void)accepts([&] { table = tuning::parse_table(input, "table.json"); });
    static MemoryFile const file;
    file.hold(input);
    dlmb_tuning* opened = nullptr;
    int const code = dlmb_tuning_open(file.path().c_str(), nullptr, &opened);
    std::unique_ptr<dlmb_tuning, void (*)(dlmb_tuning*)> const owner(opened, dlmb_tuning_close);
    require((code == 0) == table.has_value(), "the reader in C accepts another table");
    if (!table) {
        return;
    }
    std::string const written = to_json(*table);
    require(tuning::parse_table(written, "again") == *table, "a table is read as another one");
    for (tuning::Rule const& rule : table->rules) {
        ask(*table, opened, rule);
    }
    export_all(*table);
}

}  // namespace dlmb::fuzz
