// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A tuning table under which the sizes of a plan decide that its operations change between backends and methods.
#pragma once

#include "common/formats/table/table.hpp"

#include <string>

namespace dlmb::conformance {

/// Every operation goes by its size to mpi, `other`, mpi by another method, `other` by another method. Where `other` is
/// mpi only methods change.
[[nodiscard]] tuning::TuningTable alternating_table(std::string const& other);

}  // namespace dlmb::conformance
