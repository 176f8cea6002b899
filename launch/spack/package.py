# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""DLMB for Spack 1.x, from a checkout: this file in packages/dlmb/ of a repository, then `spack dev-build dlmb@0.1.0` in the
checkout. Spack itself never ran it in this project's tests."""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage

FEATURES = ("mpi", "ucx", "ucc", "cuda", "nccl", "hwloc", "archive", "torch")


class Dlmb(CMakePackage):
    """Deep Learning communication Micro-Benchmarks: the communication of deep-learning models over MPI, UCX and NCCL."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("mpi", default=True, description="Backend mpi, and start-up of ranks")
    variant("ucx", default=True, description="Backend ucx")
    variant("ucc", default=False, when="+ucx", description="Backend ucc")
    variant("cuda", default=False, description="GPU memory")
    variant("nccl", default=False, when="+cuda", description="Backend nccl")
    variant("hwloc", default=True, description="Topology and binding in records")
    variant("archive", default=True, description="compressed files and archives of traces and plans")
    variant("torch", default=False, when="+mpi", description="Process group of PyTorch")
    variant("tools", default=True, description="Python packages of dlmb_compare and dlmb_plot")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja@1.10:", type="build")
    depends_on("pkgconfig", type="build", when="+hwloc")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.10:")
    depends_on("fmt@8:")
    depends_on("eigen@3.3:")
    depends_on("openssl@1.1.1:")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("ucx@1.14:", when="+ucc")
    depends_on("ucc@1.8:", when="+ucc")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.19:", when="+nccl")
    depends_on("hwloc@2.4:", when="+hwloc")
    depends_on("libarchive@3.4:", when="+archive")
    depends_on("py-torch@1.13:", type=("build", "run"), when="+torch")
    depends_on("py-pybind11", type="build", when="+torch")
    depends_on("python@3.11:", type="run")
    depends_on("py-numpy@1.21:", type="run", when="+tools")
    depends_on("py-scipy@1.7:", type="run", when="+tools")
    depends_on("py-matplotlib@3.5:", type="run", when="+tools")

    conflicts("%gcc@:11", msg="C++20 as of g++ 12")

    generator("ninja")

    def cmake_args(self):
        features = [self.define(f"DLMB_WITH_{feature.upper()}", self.spec.satisfies(f"+{feature}")) for feature in FEATURES]
        return [*features, self.define("BUILD_TESTING", self.run_tests)]
