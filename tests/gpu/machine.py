# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests/gpu/run finds on the GPU machine. Nothing is where it is on other machines, so every place is looked at."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

DRIVER_FOLDERS = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/cuda/compat")
OLDEST_GXX = 12


class Unusable(Exception):
    """This machine or the folder lacks something; the text says what."""


@dataclass
class Driver:
    gpus: int = 0
    compute_capability: str = "90"  # of the first GPU
    folder: Path | None = None  # of libcuda.so.1, where the loader does not find it by itself


def find_driver() -> Driver:
    """Without a driver there are no GPUs."""
    for folder in (None, *map(Path, DRIVER_FOLDERS)):
        try:
            library = ctypes.CDLL(str(folder / "libcuda.so.1") if folder else "libcuda.so.1")
        except OSError:
            continue
        count, device, major, minor = (ctypes.c_int(0) for _ in range(4))
        if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0:
            return Driver()
        driver = Driver(gpus=count.value, folder=folder)
        if count.value > 0 and library.cuDeviceGet(ctypes.byref(device), 0) == 0:
            major_and_minor = ((75, major), (76, minor))  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
            if all(library.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0 for number, value in major_and_minor):
                driver.compute_capability = f"{major.value}{minor.value}"
        return driver
    return Driver()


def site_packages(*parts: str) -> list[Path]:
    """Folders of this name in Python's NVIDIA packages: this Python's, and those of virtual environments beside it."""
    try:
        package = importlib.util.find_spec("nvidia")
    except (ModuleNotFoundError, ValueError):
        package = None
    bases = [Path(folder) for folder in (package.submodule_search_locations or [])] if package else []
    for pattern in ("opt/*/.venv/lib/python3*", "opt/*/lib/python3*", "usr/local/lib/python3*", "usr/lib/python3*"):
        for python in sorted(Path("/").glob(pattern)):
            bases += [python / "site-packages" / "nvidia", python / "dist-packages" / "nvidia"]
    return [folder for base in bases for folder in sorted(base.glob("/".join(parts))) if folder.is_dir()]


def find_nvcc() -> Path | None:
    known = [os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    known += [str(file) for pattern in ("usr/local/cuda-*/bin/nvcc", "opt/*/bin/nvcc") for file in sorted(Path("/").glob(pattern))]
    known += [str(folder / "nvcc") for folder in site_packages("*", "bin")]
    for file in known:
        if file and Path(file).exists():
            return Path(file)
    return None


def toolkit_folders(nvcc: Path | None) -> list[Path]:
    return list(dict.fromkeys([nvcc.parents[1], nvcc.resolve().parents[1]])) if nvcc else [Path("/usr/local/cuda")]


def find_nccl(nvcc: Path | None) -> Path | None:
    """The folder with include/nccl.h and the library: $NCCL_ROOT, Python's package, the toolkit, the system."""
    known = [Path(os.environ["NCCL_ROOT"])] if os.environ.get("NCCL_ROOT") else []
    known += [*site_packages("nccl"), *site_packages("cu13"), *toolkit_folders(nvcc), Path("/usr/local"), Path("/usr")]
    for folder in known:
        libraries = (file for part in ("lib", "lib64", "lib/x86_64-linux-gnu") for file in (folder / part).glob("libnccl.so*"))
        if (folder / "include" / "nccl.h").exists() and any(libraries):
            return folder
    return None


def cuda_library_folders(nvcc: Path | None) -> list[Path]:
    """Of cuBLAS and the CUDA runtime, which UCX and the programs load at run time."""
    folders = [root / part for root in toolkit_folders(nvcc) for part in ("lib64", "lib", "targets/x86_64-linux/lib")]
    folders += [*site_packages("cu13", "lib"), *site_packages("cublas", "lib"), *site_packages("cuda_runtime", "lib")]
    return [folder for folder in folders if any(folder.glob("libcudart.so*")) or any(folder.glob("libcublas.so*"))]


def major_version(compiler: str) -> int:
    try:
        text = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout
        return int(text.split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


def find_gxx() -> str:
    """The system's own where it is new enough."""
    names = [name for name in ("g++", "g++-12", "g++-13", "g++-14", "g++-15") if shutil.which(name)]
    for name in names:
        if major_version(name) >= OLDEST_GXX:
            return shutil.which(name) or name
    raise Unusable(f"g++ {OLDEST_GXX} or later was not found" + (f", only {', '.join(names)}" if names else ""))


def find_generator() -> str:
    if shutil.which("cmake") is None:
        raise Unusable("cmake was not found")
    if shutil.which("ninja"):
        return "Ninja"
    if shutil.which("make"):
        return "Unix Makefiles"
    raise Unusable("neither ninja nor make was found")


def shared_memory_settings() -> dict[str, str]:
    """Where /dev/shm is missing or small, Open MPI and UCX take files in a temporary folder."""
    enough = 512 << 20
    try:
        if shutil.disk_usage("/dev/shm").free >= enough:
            return {}
    except OSError:
        pass
    folder = os.environ.get("TMPDIR", "/tmp")
    return {"OMPI_MCA_btl_vader_backing_directory": folder, "UCX_POSIX_DIR": folder}
