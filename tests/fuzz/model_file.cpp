// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A model's config.json (--model, dlmb_info --lint-model), and what is said of its sizes.
#include "common/run/info/info.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

#include <nlohmann/json.hpp>

namespace dlmb::fuzz {

void model_file(std::string_view input) {
    static MemoryFile const file;
    file.hold(input);
    (void)accepts([&] {
        ModelShape const model = read_model(file.path());
        require(model.hidden > 0 || !model.recommendation.tables.empty(), "no model");
        require(model.hidden <= std::uint64_t{1} << 32, "a size that is none");
        for (Parallelism const& parallel : {Parallelism{}, Parallelism{8, 4, 8, 2, 2}}) {
            require(!run::lint_text(run::lint_json(model, parallel)).empty(), "nothing was said");
        }
    });
}

}  // namespace dlmb::fuzz
