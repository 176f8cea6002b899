// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/nearby_nics.hpp"

namespace dlmb::record {

std::vector<NearbyNic> nearby_nics(std::string const& /*pci_bus_id*/) {
    return {};
}

}  // namespace dlmb::record
