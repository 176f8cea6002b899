# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""On each rank: trains a small model by DDP and prints on rank 0, as one JSON line, the losses and the median time of a step.

usage: mpirun -np N step.py BACKEND MODEL [TABLE]      BACKEND: gloo or dlmb; MODEL: as torch_step has them
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import dlmb_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

LAYERS, STEPS, WARM_UP = 16, 2000, 30  # a second or more, of which other work on the machine disturbs little
PRINTED_LOSSES = 180


class Layers(torch.nn.Module):
    """Equal linear layers that restore their input: a step sums 4 * width * width bytes per layer and computes with one sample."""

    def __init__(self, width: int):
        super().__init__()
        self.bucket_bytes = 4 * width * width
        layers = [torch.nn.Linear(width, width, bias=False) for _ in range(LAYERS)]
        for layer in layers:
            torch.nn.init.orthogonal_(layer.weight)  # nothing fades on the way through the layers
        self.layers = torch.nn.Sequential(*layers)
        self.width = width

    def inputs(self, generator: torch.Generator) -> torch.Tensor:
        return torch.randn(1, self.width, generator=generator)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return (self.layers(inputs) - inputs).square().mean()


class ActorCritic(torch.nn.Module):
    """Policy and value network of PPO (Schulman et al. 2017, arXiv 1707.06347: two hidden layers of 64 tanh, minibatches of 64 samples) for the
    376 observations and 17 actions of MuJoCo's Humanoid. A bucket holds a weight matrix: allreduces of 16 to 96 KiB."""

    SAMPLES, OBSERVATIONS, ACTIONS, HIDDEN = 64, 376, 17, 64
    bucket_bytes = 4 * HIDDEN * HIDDEN

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = self._network(self.ACTIONS), self._network(1)
        self.samples = self.SAMPLES // dist.get_world_size()

    def _network(self, outputs: int) -> torch.nn.Module:
        linear, tanh = torch.nn.Linear, torch.nn.Tanh
        return torch.nn.Sequential(
            linear(self.OBSERVATIONS, self.HIDDEN), tanh(), linear(self.HIDDEN, self.HIDDEN), tanh(), linear(self.HIDDEN, outputs)
        )

    def inputs(self, generator: torch.Generator) -> torch.Tensor:
        return torch.randn(max(self.samples, 1), self.OBSERVATIONS, generator=generator)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Not the loss of PPO, which needs an environment, but as much arithmetic."""
        actions, returns = inputs[:, : self.ACTIONS].tanh(), inputs.mean(dim=1, keepdim=True)
        return (self.policy(inputs) - actions).square().mean() + (self.value(inputs) - returns).square().mean()


def main() -> None:
    backend, name, table = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
    torch.set_num_threads(1)
    dlmb_torch.init_process_group(table)
    group = dist.new_group(backend="gloo") if backend == "gloo" else None
    torch.manual_seed(1)
    model = ActorCritic() if name == "ppo" else Layers(int(name.removeprefix("layers:")))
    # An allreduce starts when the gradients of its bucket are there. DDP has a size of its own for the first bucket.
    dist._DEFAULT_FIRST_BUCKET_BYTES = model.bucket_bytes
    network = DistributedDataParallel(model, process_group=group, bucket_cap_mb=model.bucket_bytes / 2**20, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, times = [], []
    for _ in range(WARM_UP + STEPS):
        begin = time.perf_counter_ns()
        optimizer.zero_grad(set_to_none=False)
        loss = network(model.inputs(generator))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter_ns() - begin) / 1000)
    if dist.get_rank() == 0:
        used = [each for each in dlmb_torch.report() if each["operation"] == "allreduce"]
        print(json.dumps({"step_us": statistics.median(times[WARM_UP:]), "losses": losses[:PRINTED_LOSSES], "used": used}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
