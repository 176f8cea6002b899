# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a PyTorch program that knows nothing of DLMB: allreduces over its own NCCL, each checked.

Started by mpirun; ranks share the GPU, which NCCL allows to ranks of different hosts."""

import os
import sys

import torch
import torch.distributed

SIZES_B = (4096, 65536, 131072, 1048576)  # of fp32


def main() -> int:
    rank, ranks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    os.environ |= {"NCCL_HOSTID": f"host-{rank}", "NCCL_IB_DISABLE": "1", "NCCL_P2P_DISABLE": "1", "NCCL_NVLS_ENABLE": "0",
                   "NCCL_MAX_CTAS": "2", "NCCL_SOCKET_IFNAME": "lo"}
    torch.cuda.set_device(0)
    torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:29517", rank=rank, world_size=ranks)
    for size in SIZES_B:
        tensor = torch.full((size // 4,), float(rank + 1), device="cuda")
        torch.distributed.all_reduce(tensor)
        if not torch.all(tensor == ranks * (ranks + 1) / 2).item():
            print(f"allreduce of {size} B is wrong")
            return 1
    print(f"PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}: all sums are right")
    torch.distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
