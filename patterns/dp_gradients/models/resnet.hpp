// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// ResNet-50 (arXiv 1512.03385, table 1) as torchvision registers it (torchvision/models/resnet.py).
#pragma once

#include "patterns/dp_gradients/models/model.hpp"

namespace dlmb::dp_gradients {

/// A unit is a bottleneck block. Convolutions have no bias; every one is followed by a batch norm.
[[nodiscard]] Model resnet_50();

}  // namespace dlmb::dp_gradients
