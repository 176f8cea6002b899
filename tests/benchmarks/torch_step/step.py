# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""On each rank: trains a small model by DDP and prints on rank 0, as one JSON line, the losses and the median time of a step.

usage: mpirun -np N step.py BACKEND [TABLE]      BACKEND: gloo or dlmb; see torch_step
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time

import dlmb_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

LAYERS, STEPS, WARM_UP = 16, 150, 30


def model(width: int) -> torch.nn.Module:
    """Communication-bound: a step sums 4 * width * width bytes per layer, and computes with one sample."""
    torch.manual_seed(1)
    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(LAYERS)]
    for layer in layers:
        torch.nn.init.orthogonal_(layer.weight)  # nothing fades on the way through the layers
    return torch.nn.Sequential(*layers)


def main() -> None:
    backend, width, table = sys.argv[1], int(os.environ["TORCH_STEP_WIDTH"]), sys.argv[2] if len(sys.argv) > 2 else None
    torch.set_num_threads(1)
    dlmb_torch.init_process_group(table)
    group = dist.new_group(backend="gloo") if backend == "gloo" else None
    # A bucket holds one layer: its allreduce starts when the gradient is there. DDP has a size of its own for the first bucket.
    dist._DEFAULT_FIRST_BUCKET_BYTES = 4 * width * width
    network = DistributedDataParallel(model(width), process_group=group, bucket_cap_mb=4 * width * width / 2**20, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, times = [], []
    for _ in range(WARM_UP + STEPS):
        begin = time.perf_counter_ns()
        inputs = torch.randn(1, width, generator=generator)
        optimizer.zero_grad(set_to_none=False)
        loss = (network(inputs) - inputs).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter_ns() - begin) / 1000)
    if dist.get_rank() == 0:
        used = [each for each in dlmb_torch.report() if each["operation"] == "allreduce"]
        print(json.dumps({"step_us": statistics.median(times[WARM_UP:]), "losses": losses, "used": used}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
