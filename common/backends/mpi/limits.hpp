// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The sizes above which a transfer takes another path. Parameters, so that a test reaches those paths with small
// buffers.
#pragma once

#include "common/base/units.hpp"

namespace dlmb::mpi {

struct Limits {
    Bytes call_bytes = 2'147'483'647;    // largest count or displacement of a call that takes int
    Bytes chunk_bytes = Bytes{1} << 30;  // largest point-to-point message; larger blocks travel as several
    int channels = 32'767;               // that fit the tags of the library; every library has these
};

}  // namespace dlmb::mpi
