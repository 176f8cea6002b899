// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/environment/cpu_quota.hpp"

#include "common/memory/control_groups.hpp"

#include <fstream>
#include <string>

namespace dlmb::measure {

namespace fs = std::filesystem;

namespace {

/// Adds what one cpu.stat says; false: it knows no quota.
bool add(fs::path const& path, record::QuotaUse& use) {
    constexpr Nanoseconds per_microsecond = 1000;
    std::ifstream file(path);
    std::string key;
    bool known = false;
    for (std::uint64_t number = 0; file >> key >> number;) {
        known = known || key == "nr_periods";
        use.periods += key == "nr_periods" ? number : 0;
        use.throttled += key == "nr_throttled" ? number : 0;
        if (key == "throttled_usec") {  // version 2
            use.throttled_ns += static_cast<Nanoseconds>(number) * per_microsecond;
        } else if (key == "throttled_time") {  // version 1
            use.throttled_ns += static_cast<Nanoseconds>(number);
        }
    }
    return known;
}

}  // namespace

QuotaReader::QuotaReader(fs::path const& root) {
    for (fs::path const& group : control_groups("cpu", root)) {
        if (record::QuotaUse unused; add(group / "cpu.stat", unused)) {
            files_.push_back(group / "cpu.stat");
        }
    }
}

std::optional<record::QuotaUse> QuotaReader::read() const {
    if (files_.empty()) {
        return std::nullopt;
    }
    record::QuotaUse sum;
    for (fs::path const& path : files_) {
        (void)add(path, sum);
    }
    return sum;
}

}  // namespace dlmb::measure
