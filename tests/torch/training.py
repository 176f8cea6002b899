# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""On each rank of an mpirun: a small model trains by DDP, and by FSDP where this PyTorch has it for host memory, to the losses that
gloo gives. Prints "ddp ok" and "fsdp ok" or "fsdp skipped: reason" on rank 0; exit 1 where a loss differs.

usage: mpirun -np N training.py [TABLE]
"""

from __future__ import annotations

import sys
from typing import Callable

import dlmb_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 6


def model() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))


def losses(wrap: Callable[[torch.nn.Module], torch.nn.Module], group: dist.ProcessGroup | None) -> list[float]:
    """Of each step, summed over the ranks."""
    network = wrap(model())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(dist.get_rank())
    inputs = torch.randn(32, 16, generator=generator)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = (network(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total, group=group)
        found.append(total.item())
    return found


def differ(mine: list[float], gloos: list[float]) -> bool:
    """Both sum in orders of their own. Training has to change the loss, or nothing was compared."""
    return not gloos[-1] < 0.9 * gloos[0] or any(abs(one - other) > 1e-4 * abs(other) for one, other in zip(mine, gloos))


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, flush=True)


def train_ddp(gloo: dist.ProcessGroup) -> list[float]:
    def wrap(group: dist.ProcessGroup | None) -> Callable[[torch.nn.Module], torch.nn.Module]:
        return lambda network: DistributedDataParallel(network, process_group=group, bucket_cap_mb=0.01)  # several buckets

    expected = losses(wrap(gloo), gloo)
    mine = losses(wrap(None), None)
    if differ(mine, expected):
        say(f"ddp: {mine} instead of {expected}")
        sys.exit(1)
    say("ddp ok")
    return expected


def train_fsdp(expected: list[float]) -> None:
    """All ranks together have the gradients of DDP, whose losses with gloo these have to be."""
    if int(torch.__version__.split(".")[0]) < 2:
        say("fsdp skipped: PyTorch 1.13 has it for CUDA only")
        return
    from torch.distributed.fsdp import FullyShardedDataParallel

    mine = losses(lambda network: FullyShardedDataParallel(network, device_id=torch.device("cpu"), use_orig_params=True), None)
    if differ(mine, expected):
        say(f"fsdp: {mine} instead of {expected}")
        sys.exit(1)
    say("fsdp ok")
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        say("fsdp2 skipped: this PyTorch has no fully_shard")
        return
    from torch.distributed.device_mesh import DeviceMesh

    mesh = DeviceMesh("cpu", list(range(dist.get_world_size())))
    mine = losses(lambda network: fully_shard(network, mesh=mesh), None)
    if differ(mine, expected):
        say(f"fsdp2: {mine} instead of {expected}")
        sys.exit(1)
    say("fsdp2 ok")


def main() -> None:
    torch.set_num_threads(1)
    dlmb_torch.init_process_group(sys.argv[1] if len(sys.argv) > 1 else None)
    expected = train_ddp(dist.new_group(backend="gloo"))
    train_fsdp(expected)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
