# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The folder that tests/gpu/prepare made, put together with what the machine has."""

from __future__ import annotations

import ctypes
import os
import tarfile
import tempfile
from pathlib import Path

import machine
from machine import Driver, Unusable

PROGRAMS = "programs.tar.xz"  # bin/ and lib/: programs that hold the same libraries are a tenth of their size together
ARCHITECTURE_FILE = "compute_capability"  # beside it: what they were built for

def is_loadable(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def unpack_programs(folder: Path) -> None:
    """Once, and all or nothing: whoever ends a run here finds no half of a program."""
    if not (folder / PROGRAMS).is_file() or (folder / "bin").is_dir():
        return
    with tempfile.TemporaryDirectory(dir=folder) as partial, tarfile.open(folder / PROGRAMS) as archive:
        archive.extractall(partial)
        for part in sorted(Path(partial).iterdir(), reverse=True):  # bin last
            part.replace(folder / part.name)


class Kit:
    """Where its tools and libraries are, and the environment in which they work from there."""

    def __init__(self, folder: Path, driver: Driver, prebuilt: bool = False) -> None:
        self.driver = driver
        self.folder = folder
        self.usr = folder / "root" / "usr"
        self.ucx = folder / "ucx"
        self.fallback = folder / "fallback"  # libraries that most systems have, each in a folder of its own
        programs = folder / "bin"
        if prebuilt:
            unpack_programs(folder)
        if prebuilt and not (programs / "dlmb_info").is_file():
            raise Unusable(f"{folder} holds no programs: make it by tests/gpu/prepare --build-only {folder.name}")
        if not prebuilt and not (self.ucx / "lib" / "cmake").is_dir():
            raise Unusable(f"{folder} is no folder of tests/gpu/prepare" + (", or is one of --build-only: give --prebuilt" if (folder / PROGRAMS).is_file() else ""))
        for tools in (self.usr / "bin", self.ucx / "bin", programs):
            for file in tools.iterdir() if tools.is_dir() else ():
                if not os.access(file, os.X_OK):  # lost on the way
                    if file.exists():  # links to what only compilers need end nowhere in a packed folder
                        file.chmod(0o755)
        self.mpirun = str(self.usr / "bin" / "mpirun.openmpi")
        self.nvcc = machine.find_nvcc()
        if not prebuilt:
            if not self.nvcc:
                raise Unusable("nvcc was not found: set CUDACXX to it")
            self.compiler = machine.find_gxx()
            self.generator = machine.find_generator()
        self.nccl = machine.find_nccl(self.nvcc)

    def config(self, package: str) -> Path:
        """The folder of a package's CMake configuration."""
        for base in (self.usr, self.ucx):
            for file in sorted(base.glob(f"**/{package}*onfig.cmake")):
                return file.parent
        raise Unusable(f"the prepared folder has no CMake configuration of {package}")

    def library_folders(self) -> list[Path]:
        folders = [self.ucx / "lib", *sorted(self.usr.glob("lib/*-linux-gnu")), *sorted(self.usr.glob("lib/*/openmpi/lib"))]
        folders += [file.parent for file in sorted(self.fallback.glob("*/lib*.so.[0-9]")) if not is_loadable(file.name)]
        folders += [Path(known) for known in os.environ.get("LD_LIBRARY_PATH", "").split(":") if known]
        if self.driver.folder:
            folders.append(self.driver.folder)
        if self.nccl:
            folders += [self.nccl / part for part in ("lib", "lib64") if any((self.nccl / part).glob("libnccl.so*"))]
        return folders + machine.cuda_library_folders(self.nvcc)

    def environment(self) -> dict[str, str]:
        return os.environ | machine.shared_memory_settings() | {
            "LD_LIBRARY_PATH": ":".join(map(str, dict.fromkeys(self.library_folders()))),
            "PATH": ":".join([os.environ.get("PATH", ""), *([str(self.nvcc.parent)] if self.nvcc else [])]),
            "OPAL_PREFIX": str(self.usr),
            "OPAL_SYSCONFDIR": str(self.usr.parent / "etc" / "openmpi"),
            "PMIX_MCA_pcompress_base_silence_warning": "1",
            "PMIX_MCA_mca_base_component_show_load_errors": "0",
            "PMIX_PREFIX": ":".join(map(str, self.usr.glob("lib/*/pmix2"))),
            "PKG_CONFIG_LIBDIR": ":".join(map(str, sorted(self.usr.glob("lib/*/pkgconfig")))),
            "PKG_CONFIG_SYSROOT_DIR": str(self.usr.parent),
            "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
            "GTEST_COLOR": "no",
            "OMPI_MCA_plm": "isolated",  # this node only: the usual one looks for ssh
            "OMPI_MCA_pml": "ob1",  # its UCX module was built with another UCX
            "OMPI_MCA_osc": "^ucx",
            "OMPI_MCA_btl": "self,vader",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }

    def cmake_options(self) -> list[str]:
        packages = {"fmt_DIR": "fmt-", "CLI11_DIR": "CLI11", "nlohmann_json_DIR": "nlohmann_json", "GTest_DIR": "GTest", "Eigen3_DIR": "Eigen3", "ucx_DIR": "ucx-"}
        options = {name: self.config(package) for name, package in packages.items()}
        options |= {
            "CMAKE_CXX_COMPILER": self.compiler,
            "CMAKE_CUDA_COMPILER": self.nvcc,
            "CMAKE_CUDA_HOST_COMPILER": self.compiler,
            "CMAKE_CUDA_ARCHITECTURES": f"{self.driver.compute_capability}-real",
            "MPI_CXX_COMPILER": self.usr / "bin" / "mpicxx.openmpi",
            "MPIEXEC_EXECUTABLE": self.mpirun,
            "OPENSSL_ROOT_DIR": self.usr,
            "PKG_CONFIG_EXECUTABLE": self.usr / "bin" / "pkgconf",
        }
        if self.nccl:
            options["NCCL_ROOT"] = self.nccl
        return [f"-D{name}={value}" for name, value in options.items()]
