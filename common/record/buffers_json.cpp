// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/buffers_json.hpp"

namespace dlmb::record {

Json cache_json(measure::CacheUse const& cache) {
    return {{"mode", measure::name_of(cache.mode)}, {"slots", cache.slots},
            {"pool_bytes", cache.pool_bytes},       {"cache_bytes", cache.cache_bytes},
            {"flush_bytes", cache.flush_bytes},     {"covers_llc", cache.covers_llc}};
}

Json pages_json(std::optional<HostPages> const& pages) {
    return pages ? Json{{"pages_sampled", pages->where.sampled},
                        {"pages_elsewhere", pages->where.elsewhere},
                        {"huge_page_bytes", pages->huge_page_bytes}}
                 : Json(nullptr);
}

measure::CacheUse cache_from(Json const& line) {
    measure::CacheUse cache{.mode = measure::CacheMode::warm, .slots = 1};
    if (auto const told = line.find("cache"); told != line.end()) {
        cache.mode = read_name("cache.mode", told->at("mode"), measure::every_cache_mode);
        cache.slots = told->at("slots");
        cache.pool_bytes = told->at("pool_bytes");
        cache.cache_bytes = told->at("cache_bytes");
        cache.flush_bytes = told->at("flush_bytes");
        cache.covers_llc = told->at("covers_llc");
    }
    return cache;
}

measure::Fill fill_from(Json const& line) {
    auto const told = line.find("fill");
    return told == line.end() ? measure::Fill::random : read_name("fill", *told, measure::every_fill);
}

std::optional<HostPages> pages_from(Json const& line) {
    auto const told = line.find("host_pages");
    if (told == line.end() || told->is_null()) {
        return std::nullopt;
    }
    return HostPages{{told->at("pages_sampled"), told->at("pages_elsewhere")}, told->at("huge_page_bytes")};
}

}  // namespace dlmb::record
