# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""A data-parallel step of a small model in JAX, whose collectives are those of an MPI library (README.md).

usage: mpirun -np N python3 train.py [--width W] [--steps S]

Prints on rank 0, one JSON line: ranks, the losses, and the median time of a step and of a psum of each size, in us.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import statistics
import sys
import time
from typing import Callable

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

PSUM_FLOATS = tuple(1 << power for power in range(8, 19, 2))  # 1 KiB to 1 MiB
LAYERS = 4


def leave() -> None:
    """JAX's own exit handler calls MPI_Finalize, and its destructors free communicators afterwards, which ends the program by an
    error. Handlers run last in, first out: this one was there before JAX's, and nothing runs after it."""
    sys.stdout.flush()
    os._exit(1 if getattr(sys, "last_value", None) else 0)


def start() -> jax.sharding.Mesh:
    """MPI is started by the first collective, and has to be by the main thread. So that one runs before anything else, where
    the call itself executes it. JAX learns rank and size from the launcher."""
    atexit.register(leave)
    jax.config.update("jax_cpu_collectives_implementation", "mpi")
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.process_count(),), ("data",))
    psum(mesh, 1)()
    return mesh


def psum(mesh: jax.sharding.Mesh, floats: int) -> Callable[[], jax.Array]:
    call = jax.jit(jax.shard_map(lambda part: jax.lax.psum(part, "data"), mesh=mesh, in_specs=PartitionSpec("data"), out_specs=PartitionSpec()))
    data = on_all(mesh, jnp.ones((1, floats), jnp.float32))
    return lambda: call(data).block_until_ready()


def on_all(mesh: jax.sharding.Mesh, mine: jax.Array) -> jax.Array:
    return jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("data")), mine)


def median_us(call: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - begin) / 1000)
    return statistics.median(times[len(times) // 10:])


def train(mesh: jax.sharding.Mesh, width: int, steps: int) -> tuple[list[float], float]:
    """The losses, and the median time of a step in us. Each layer's gradients are summed by a psum of their own."""
    keys = jax.random.split(jax.random.key(0), LAYERS)
    weights = [jax.random.normal(key, (width, width)) / jnp.sqrt(width) for key in keys]
    batch = on_all(mesh, jax.random.normal(jax.random.key(jax.process_index()), (8, width)))

    def loss_of(parameters: list[jax.Array], inputs: jax.Array) -> jax.Array:
        outputs = inputs
        for weight in parameters:
            outputs = jnp.tanh(outputs @ weight)
        return jnp.mean((outputs - inputs) ** 2)

    def step(parameters: list[jax.Array], inputs: jax.Array) -> tuple[list[jax.Array], jax.Array]:
        # The derivative is that of this rank's own loss: told apart from what all ranks share, nothing is summed by itself.
        own = jax.lax.pcast(parameters, "data", to="varying")
        loss, gradients = jax.value_and_grad(loss_of)(own, inputs)
        gradients = [jax.lax.psum(gradient, "data") / mesh.size for gradient in gradients]
        return [weight - 0.1 * gradient for weight, gradient in zip(parameters, gradients)], jax.lax.pmean(loss, "data")

    run = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(PartitionSpec(), PartitionSpec("data")), out_specs=(PartitionSpec(), PartitionSpec())))
    losses, times = [], []
    for _ in range(steps):
        begin = time.perf_counter_ns()
        weights, loss = run(weights, batch)
        losses.append(float(loss))
        times.append((time.perf_counter_ns() - begin) / 1000)
    return losses, statistics.median(times[steps // 5:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--width", type=int, default=64, help="of a layer; its gradients are 4 * W * W bytes (default 64: 16 KiB)")
    parser.add_argument("--steps", type=int, default=200, help="(default 200)")
    options = parser.parse_args()
    mesh = start()
    losses, step_us = train(mesh, options.width, options.steps)
    psums = {4 * floats: round(median_us(psum(mesh, floats), 100), 1) for floats in PSUM_FLOATS}
    if jax.process_index() == 0:
        print(json.dumps({"ranks": mesh.size, "first_loss": losses[0], "last_loss": losses[-1], "step_us": round(step_us, 1), "psum_us": psums}))


if __name__ == "__main__":
    main()
