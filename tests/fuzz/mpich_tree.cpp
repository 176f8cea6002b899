// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The selection tree in MPICH's library, which an export splices rules into.
#include "common/formats/table/table_file.hpp"
#include "common/tools/tune/exporters/export.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {
namespace {

/// A rule that an export would splice in.
tuning::TuningTable one_rule() {
    tuning::TuningTable table;
    table.system.key = "key";
    table.system.cpu = "cpu";
    tuning::Rule& rule = table.rules.emplace_back();
    rule.id = "r001";
    rule.scope = "mpi";
    rule.when.operation = tuning::TunedOperation::allreduce;
    rule.when.bytes = tuning::ByteInterval{1024, 65536};
    rule.when.ranks = tuning::CountInterval{4, 8};
    rule.choose.backend = "mpi";
    rule.choose.method = "algorithm:allreduce=ring";
    rule.choose.algorithm = tuning::Algorithm{"mpich", "ring", std::nullopt};
    return table;
}

}  // namespace

void mpich_tree(std::string_view input) {
    static tuning::TuningTable const table = one_rule();
    static MemoryFile const file;
    file.hold(input);
    (void)accepts([&] {
        auto const made = to_mpich(table, {}, tuning::read_mpich(file.path()));
        require(!made.files.empty(), "an export without a file");
    });
    // Also what does not stand in a library that the marks are found in.
    (void)accepts([&] {
        (void)to_mpich(table, {},
                       {std::string(input), {"MPIR_Allreduce_intra_ring", "MPIR_Allreduce_intra_smp"}, "x", ""});
    });
}

}  // namespace dlmb::fuzz
