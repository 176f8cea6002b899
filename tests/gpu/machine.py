# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/gpu/run finds on the GPU machine and in the folder that tests/gpu/prepare made."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
from pathlib import Path


class Unusable(Exception):
    """This machine or the folder lacks something; the text says what."""


def count_gpus() -> int:
    """As the driver counts them; 0 without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    works = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
    return count.value if works else 0


def find_nccl() -> Path:
    """The folder with include/nccl.h and lib/libnccl.so.2: $NCCL_ROOT, or Python's package nvidia-nccl-cu13."""
    if os.environ.get("NCCL_ROOT"):
        return Path(os.environ["NCCL_ROOT"])
    try:
        package = importlib.util.find_spec("nvidia.nccl")
    except ModuleNotFoundError:
        package = None
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / "include" / "nccl.h").exists():
            return Path(folder)
    raise Unusable("NCCL with its header was not found: set NCCL_ROOT, or run this with a Python that has nvidia-nccl-cu13")


def find_nvcc() -> str:
    nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(nvcc).exists():
        raise Unusable("nvcc was not found: set CUDACXX to it")
    return nvcc


def is_loadable(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class Kit:
    """The prepared folder: where its tools and libraries are, and the environment in which they work from there."""

    def __init__(self, folder: Path) -> None:
        self.usr = folder / "root" / "usr"
        self.ucx = folder / "ucx"
        self.fallback = folder / "fallback"  # libraries that most systems have
        if not (self.ucx / "lib" / "cmake").is_dir():
            raise Unusable(f"{folder} is no folder of tests/gpu/prepare")
        self.mpirun = str(self.usr / "bin" / "mpirun.openmpi")

    def config(self, package: str) -> Path:
        """The folder of a package's CMake configuration."""
        for base in (self.usr, self.ucx):
            for file in sorted(base.glob(f"**/{package}*onfig.cmake")):
                return file.parent
        raise Unusable(f"the prepared folder has no CMake configuration of {package}")

    def environment(self) -> dict[str, str]:
        libraries = [self.ucx / "lib", *sorted(self.usr.glob("lib/*-linux-gnu")), *sorted(self.usr.glob("lib/*/openmpi/lib"))]
        if not all(is_loadable(file.name) for file in self.fallback.glob("lib*.so.[0-9]")):
            libraries.append(self.fallback)
        known = os.environ.get("LD_LIBRARY_PATH")
        return os.environ | {
            "LD_LIBRARY_PATH": ":".join([*map(str, libraries), *([known] if known else [])]),
            "OPAL_PREFIX": str(self.usr),
            "OPAL_SYSCONFDIR": str(self.usr.parent / "etc" / "openmpi"),
            "PMIX_MCA_pcompress_base_silence_warning": "1",
            "PMIX_PREFIX": ":".join(map(str, self.usr.glob("lib/*/pmix2"))),
            "PKG_CONFIG_LIBDIR": ":".join(map(str, sorted(self.usr.glob("lib/*/pkgconfig")))),
            "PKG_CONFIG_SYSROOT_DIR": str(self.usr.parent),
            "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
            "GTEST_COLOR": "no",
            "OMPI_MCA_plm": "isolated",  # this node only: the usual one looks for ssh
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }

    def cmake_options(self) -> list[str]:
        packages = {"fmt_DIR": "fmt-", "CLI11_DIR": "CLI11", "nlohmann_json_DIR": "nlohmann_json", "GTest_DIR": "GTest", "ucx_DIR": "ucx-"}
        options = {name: self.config(package) for name, package in packages.items()}
        options |= {
            "MPI_CXX_COMPILER": self.usr / "bin" / "mpicxx.openmpi",
            "MPIEXEC_EXECUTABLE": self.mpirun,
            "OPENSSL_ROOT_DIR": self.usr,
            "PKG_CONFIG_EXECUTABLE": self.usr / "bin" / "pkgconf",
            "CMAKE_CUDA_COMPILER": find_nvcc(),
            "NCCL_ROOT": find_nccl(),
        }
        return [f"-D{name}={value}" for name, value in options.items()]
