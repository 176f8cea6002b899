// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/c/handle.hpp"
#include "common/tuning/read_table.hpp"
#include "common/tuning/write_table.hpp"

#include <memory>

namespace {

int code_of(dlmb::tuning::TableFault fault) {
    switch (fault) {
    case dlmb::tuning::TableFault::io:
        return DLMB_TUNING_IO_ERROR;
    case dlmb::tuning::TableFault::syntax:
        return DLMB_TUNING_SYNTAX_ERROR;
    case dlmb::tuning::TableFault::schema:
        return DLMB_TUNING_SCHEMA_ERROR;
    case dlmb::tuning::TableFault::system:
        break;
    }
    return DLMB_TUNING_SYSTEM_MISMATCH;
}

}  // namespace

dlmb_tuning::dlmb_tuning(dlmb::tuning::TuningTable read) : table(std::move(read)) {
    for (dlmb::tuning::Rule const& rule : table.rules) {
        params.push_back(to_json(rule.choose.params));
    }
}

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
        return code_of(error.fault());
    } catch (std::exception const&) {  // no exception may reach C; what is left is memory that ran out
        return DLMB_TUNING_IO_ERROR;
    }
}

extern "C" void dlmb_tuning_close(dlmb_tuning* table) {
    delete table;
}
