# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""On each rank of an mpirun: every operation of the process group `dlmb` gives what gloo gives. Prints one line per failure on
standard output and "ok" on rank 0; exit 1 after a failure.

usage: mpirun -np N operations.py [TABLE [ALGORITHM]]      ALGORITHM: some allreduce must have run by it
"""

from __future__ import annotations

import gc
import itertools
import sys
import traceback
from typing import Callable, Iterator

import dlmb_torch
import torch
import torch.distributed as dist

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64)
SIZES = ((0,), (1,), (7, 3), (4096,), (65536,))
REDUCTIONS = (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX)

failures: list[str] = []


def tensor(shape: tuple[int, ...], kind: torch.dtype, salt: int = 0, rank: int | None = None) -> torch.Tensor:
    """Small whole numbers, so that every order of summing gives the same."""
    count = torch.Size(shape).numel()
    mine = dist.get_rank() if rank is None else rank
    return ((torch.arange(count) * (mine + 1) + salt) % 3 + 1).to(kind).reshape(shape)


def apart(value: torch.Tensor) -> torch.Tensor:
    """The same numbers, not one behind the other."""
    return torch.stack([value.flatten(), torch.zeros_like(value).flatten()], dim=1)[:, 0]


def expect(what: str, got: torch.Tensor, wanted: torch.Tensor) -> None:
    if got.shape != wanted.shape or got.dtype != wanted.dtype or not torch.equal(got, wanted):
        failures.append(f"rank {dist.get_rank()}: {what}: {got.flatten()[:8].tolist()} instead of {wanted.flatten()[:8].tolist()}")


def same_as(gloo: dist.ProcessGroup, what: str, operation: Callable[[object, torch.dtype], list[torch.Tensor]], kind: torch.dtype) -> None:
    """gloo has no bfloat16 in older versions and no int8 products in others: float64 holds these numbers exactly. It divides
    by the size of empty tensors."""
    got = operation(None, kind)
    if what.endswith("(0,)"):
        for one in got:
            expect(f"{what} {kind}", one, torch.empty(0, dtype=kind))
        return
    wanted = operation(gloo, torch.float64 if kind.is_floating_point else torch.int64)
    for place, (one, other) in enumerate(zip(got, wanted)):
        expect(f"{what} {kind} [{place}]", one, other.to(kind))


def reductions(shape: tuple[int, ...]) -> Iterator[tuple[str, Callable[..., list[torch.Tensor]]]]:
    ranks, me = dist.get_world_size(), dist.get_rank()
    for reduction in REDUCTIONS:
        def all_reduce(group: object, kind: torch.dtype, reduction: object = reduction) -> list[torch.Tensor]:
            data = tensor(shape, kind)
            dist.all_reduce(data, reduction, group=group)
            return [data]

        def strided(group: object, kind: torch.dtype, reduction: object = reduction) -> list[torch.Tensor]:
            data = apart(tensor(shape, kind)) if group is None else tensor(shape, kind).flatten()
            if group is None and data.numel() > 1 and data.is_contiguous():
                failures.append("the strided tensor is not strided")
            dist.all_reduce(data, reduction, group=group)
            return [data.flatten()]

        def reduce(group: object, kind: torch.dtype, reduction: object = reduction) -> list[torch.Tensor]:
            data = tensor(shape, kind)
            dist.reduce(data, ranks - 1, reduction, group=group)
            return [data] if me == ranks - 1 else []

        yield f"all_reduce {reduction}", all_reduce
        yield f"all_reduce strided {reduction}", strided
        yield f"reduce {reduction}", reduce


def moves(shape: tuple[int, ...]) -> Iterator[tuple[str, Callable[..., list[torch.Tensor]]]]:
    ranks, me = dist.get_world_size(), dist.get_rank()

    def broadcast(group: object, kind: torch.dtype) -> list[torch.Tensor]:
        data = tensor(shape, kind)
        dist.broadcast(data, ranks - 1, group=group)
        return [data]

    def all_gather(group: object, kind: torch.dtype) -> list[torch.Tensor]:
        data = [torch.empty(shape, dtype=kind) for _ in range(ranks)]
        dist.all_gather(data, tensor(shape, kind), group=group)
        return data

    def gather(group: object, kind: torch.dtype) -> list[torch.Tensor]:
        data = [torch.empty(shape, dtype=kind) for _ in range(ranks)] if me == 0 else None
        dist.gather(tensor(shape, kind), data, 0, group=group)
        return data or []

    def scatter(group: object, kind: torch.dtype) -> list[torch.Tensor]:
        data = torch.empty(shape, dtype=kind)
        dist.scatter(data, [tensor(shape, kind, each) for each in range(ranks)] if me == ranks - 1 else None, ranks - 1, group=group)
        return [data]

    def all_gather_object(group: object, kind: torch.dtype) -> list[torch.Tensor]:
        data: list[object] = [None] * ranks
        dist.all_gather_object(data, {"rank": me}, group=group)
        return [torch.tensor([each["rank"] for each in data]).to(kind)]  # type: ignore[index]

    yield from (("broadcast", broadcast), ("all_gather", all_gather), ("gather", gather), ("scatter", scatter),
                ("all_gather_object", all_gather_object))


def without_gloo(shape: tuple[int, ...], kind: torch.dtype) -> None:
    """What gloo has not, or not in all versions; computed from what the other ranks give."""
    ranks, me = dist.get_world_size(), dist.get_rank()
    count = torch.Size(shape).numel()
    given = [tensor((ranks, *shape), kind, 0, rank) for rank in range(ranks)]  # what each rank has
    total = torch.stack([each.to(torch.float64) for each in given]).sum(0).to(kind)

    output = torch.empty(shape, dtype=kind)
    dist.reduce_scatter(output, list(given[me].unbind(0)))
    expect(f"reduce_scatter {kind} {shape}", output, total[me])
    if count:
        output, whole = torch.empty(count, dtype=kind), given[me].flatten().clone()
        scatter_tensor = getattr(dist, "reduce_scatter_tensor", None) or dist._reduce_scatter_base
        scatter_tensor(output, whole)
        expect(f"reduce_scatter_tensor {kind} {shape}", output, total[me].flatten())
        scatter_tensor(whole[me * count:(me + 1) * count], whole)
        expect(f"reduce_scatter_tensor in place {kind} {shape}", whole[me * count:(me + 1) * count], total[me].flatten())

        gather_tensor = getattr(dist, "all_gather_into_tensor", None) or dist._all_gather_base
        wanted = torch.cat([each[0].flatten() for each in given])
        output = torch.empty(ranks * count, dtype=kind)
        gather_tensor(output, given[me][0].flatten())
        expect(f"all_gather_into_tensor {kind} {shape}", output, wanted)
        output = torch.zeros(ranks * count, dtype=kind)
        output[me * count:(me + 1) * count] = given[me][0].flatten()
        gather_tensor(output, output[me * count:(me + 1) * count])
        expect(f"all_gather_into_tensor in place {kind} {shape}", output, wanted)

        output = torch.empty(ranks * count, dtype=kind)
        dist.all_to_all_single(output, given[me].flatten())
        expect(f"all_to_all_single {kind} {shape}", output, torch.cat([each[me].flatten() for each in given]))
    outputs = [torch.empty(shape, dtype=kind) for _ in range(ranks)]
    dist.all_to_all(outputs, list(given[me].unbind(0)))
    for rank, output in enumerate(outputs):
        expect(f"all_to_all {kind} {shape} [{rank}]", output, given[rank][me])

    # Rank r sends r + p rows to rank p: the parts of no two ranks are equal, and rank 0 sends itself nothing.
    sent, received = [me + rank for rank in range(ranks)], [rank + me for rank in range(ranks)]
    rows = torch.full((sum(sent), 3), me, dtype=kind)
    output = torch.empty((sum(received), 3), dtype=kind)
    dist.all_to_all_single(output, rows, received, sent)
    expect(f"all_to_all_single with splits {kind}", output, torch.cat([torch.full((rank + me, 3), rank, dtype=kind) for rank in range(ranks)]))


def coalesced() -> None:
    ranks, me = dist.get_world_size(), dist.get_rank()
    group = dist.distributed_c10d._get_default_group()
    several = [tensor((count,), torch.float32) for count in (1, 5, 0, 1000)]
    wanted = [torch.stack([tensor((count,), torch.float32, 0, rank) for rank in range(ranks)]).sum(0) for count in (1, 5, 0, 1000)]
    group.allreduce_coalesced(several, dist.AllreduceCoalescedOptions()).wait()
    for got, right in zip(several, wanted):
        expect("all_reduce_coalesced", got, right)
    if hasattr(dist, "_coalescing_manager") and hasattr(group, "allgather_into_tensor_coalesced"):
        outputs = [torch.empty(ranks * count) for count in (3, 8)]
        group.allgather_into_tensor_coalesced(outputs, [tensor((count,), torch.float32) for count in (3, 8)]).wait()
        for output, count in zip(outputs, (3, 8)):
            expect("all_gather_into_tensor coalesced", output, torch.cat([tensor((count,), torch.float32, 0, rank) for rank in range(ranks)]))
        outputs = [torch.empty(count) for count in (3, 8)]
        group.reduce_scatter_tensor_coalesced(outputs, [tensor((ranks * count,), torch.float32) for count in (3, 8)]).wait()
        for output, count in zip(outputs, (3, 8)):
            total = torch.stack([tensor((ranks * count,), torch.float32, 0, rank) for rank in range(ranks)]).sum(0)
            expect("reduce_scatter_tensor coalesced", output, total[me * count:(me + 1) * count])


def messages() -> None:
    """Large ones in a circle: every rank sends before it receives, which blocking sends would not survive."""
    ranks, me = dist.get_world_size(), dist.get_rank()
    if ranks == 1:
        return
    right, left = (me + 1) % ranks, (me - 1) % ranks
    for count in (0, 5, 1 << 18):
        out, into = [torch.full((count,), float(me * 10 + tag)) for tag in (0, 1)], [torch.empty(count) for _ in (0, 1)]
        works = [dist.isend(out[tag], right, tag=tag) for tag in (0, 1)]
        works += [dist.irecv(into[tag], left, tag=tag) for tag in (1, 0)]  # the other way round: tags tell them apart
        dist.barrier()  # a collective among open messages
        for work in works:
            work.wait()
        for tag in (0, 1):
            expect(f"irecv {count} tag {tag}", into[tag], torch.full((count,), float(left * 10 + tag)))
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, out[0], right), dist.P2POp(dist.irecv, into[0], left)])
    for work in works:
        work.wait()
    expect("batch_isend_irecv", into[0], torch.full((1 << 18,), float(left * 10)))
    strided = torch.zeros(10, 2)
    if me == 0:
        for _ in range(ranks - 1):
            source = dist.recv(strided[:, 0])
            expect("recv from any, strided", strided, torch.stack([torch.full((10,), float(source)), torch.zeros(10)], 1))
    else:
        dist.send(torch.full((10,), float(me)), 0)


def groups() -> None:
    ranks, me = dist.get_world_size(), dist.get_rank()
    if ranks < 3:
        return
    members = [0, ranks - 1]
    group = dist.new_group(members)
    if me in members:
        data = torch.tensor([float(me)])
        dist.all_reduce(data, group=group)
        expect("all_reduce in a group", data, torch.tensor([float(ranks - 1)]))
    dist.barrier()


def dropped() -> None:
    """A group that the program drops before its operations are done."""
    group = dist.new_group(backend="dlmb")
    data = [torch.ones(1 << 20) for _ in range(8)]
    works = [dist.all_reduce(each, group=group, async_op=True) for each in data]
    dist.destroy_process_group(group)
    del group
    gc.collect()
    for each, work in zip(data, works):
        work.wait()
        expect("all_reduce of a dropped group", each, torch.full((1 << 20,), float(dist.get_world_size())))


def refusals() -> None:
    """Wrong tensors are refused before anything is sent, so that the group works afterwards."""
    ranks = dist.get_world_size()
    cases: list[tuple[str, Callable[[], object]]] = [
        ("Complex", lambda: dist.distributed_c10d._get_default_group().allreduce([torch.zeros(2, dtype=torch.complex64)]).wait()),
        ("Bool cannot be reduced", lambda: dist.all_reduce(torch.zeros(2, dtype=torch.bool))),
        ("AVG takes floating-point", lambda: dist.all_reduce(torch.zeros(2, dtype=torch.int32), dist.ReduceOp.AVG)),
        ("reduction is not offered", lambda: dist.all_reduce(torch.zeros(2, dtype=torch.int32), dist.ReduceOp.BXOR)),
        ("sparse", lambda: dist.broadcast(torch.zeros(2, 2).to_sparse(), 0)),
        ("whose sum is the 4 rows", lambda: dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [4] + [0] * (ranks - 1), [3] + [0] * (ranks - 1))),
    ]
    for word, call in cases:
        try:
            call()
            failures.append(f"no refusal that says '{word}'")
        except RuntimeError as error:
            # PyTorch 2 itself refuses sparse tensors for all process groups without CUDA.
            if word.lower() not in str(error).lower() or not str(error).startswith(("dlmb: ", "Could not run 'c10d::")):
                failures.append(f"a refusal without '{word}': {error}")
    average = torch.full((3,), float(dist.get_rank()))
    dist.all_reduce(average, dist.ReduceOp.AVG)
    expect("AVG", average, torch.full((3,), (ranks - 1) / 2))


def main() -> int:
    table = sys.argv[1] if len(sys.argv) > 1 else None
    dlmb_torch.init_process_group(table)
    gloo = dist.new_group(backend="gloo")
    for shape, kind in itertools.product(SIZES, TYPES):
        for name, operation in itertools.chain(reductions(shape), moves(shape)):
            if shape == (0,) and name == "all_gather_object":
                continue
            same_as(gloo, f"{name} {shape}", operation, kind)
        without_gloo(shape, kind)
    for check in (coalesced, messages, groups, dropped, refusals):
        check()
    if len(sys.argv) > 2 and not any(sys.argv[2] in used["method"] and used["rule"] and used["calls"] for used in dlmb_torch.report()):
        failures.append(f"nothing ran by {sys.argv[2]}: {dlmb_torch.report()}")
    print("".join(f"{failure}\n" for failure in failures), end="", flush=True)
    failed = torch.tensor([len(failures)])
    dist.all_reduce(failed)
    if dist.get_rank() == 0 and not failed.item():
        print("ok", flush=True)
    dist.destroy_process_group()
    return int(failed.item() != 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        raise
