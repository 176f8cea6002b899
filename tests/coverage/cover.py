# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of a folder tests do not reach. By default: common/backends/nccl under its unit tests and the corpus on the double.

    python3 tests/coverage/cover.py
    python3 tests/coverage/cover.py --target dlmb_backend_ucx --folder common/backends/ucx --build conformance_mpi --tests conformance_mpi

Configures build/coverage as the preset ci-gcc, builds only what is asked for, and runs gcov. A line with nothing but a
closing brace is not counted: what is left of it is the way out of an exception.

exit 0: every line is reached, or --all was not given; 1: some are not, or a test failed
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "coverage"


def run(*command, **keywords):
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=True, **keywords)


def measure(options):
    run("cmake", "--preset", "ci-gcc", "-B", BUILD, f"-DDLMB_COVER_TARGETS={options.target.replace(',', ';')}",
        f"-DCMAKE_PROJECT_INCLUDE={ROOT}/tests/coverage/instrument.cmake", stdout=subprocess.DEVNULL)
    run("cmake", "--build", BUILD, "--parallel", "2", "--target", *options.build.split(","))
    for counters in BUILD.rglob("*.gcda"):
        counters.unlink()
    run("ctest", "--test-dir", BUILD, "--tests-regex", options.tests, "--output-on-failure")


def counts(folder):
    """Line counts of every file of the folder that has code, over all objects that hold it."""
    found = {}
    for notes in sorted(BUILD.rglob("*.gcno")):
        report = run("gcov", "--json-format", "--stdout", notes, capture_output=True, text=True).stdout
        for line in report.splitlines():
            for file in json.loads(line)["files"]:
                path = (BUILD / file["file"]).resolve()
                if path.is_relative_to(ROOT / folder):
                    text = path.read_text(encoding="utf-8").splitlines()
                    lines = found.setdefault(path.relative_to(ROOT), {})
                    for entry in file["lines"]:
                        number = entry["line_number"]
                        if text[number - 1].strip() != "}":
                            lines[number] = lines.get(number, 0) + entry["count"]
    return found


def print_unreached(found):
    """Whether there are none."""
    reached = sum(count > 0 for lines in found.values() for count in lines.values())
    total = sum(len(lines) for lines in found.values())
    for path, lines in sorted(found.items()):
        text = (ROOT / path).read_text(encoding="utf-8").splitlines()
        for number in sorted(number for number, count in lines.items() if count == 0):
            print(f"{path}:{number}: {text[number - 1].strip()}")
    print(f"{reached} of {total} lines are reached ({100 * reached / max(total, 1):.1f} %)")
    return reached == total


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="dlmb_backend_nccl,dlmb_old_nccl", help="the libraries that are compiled for gcov, comma-separated")
    parser.add_argument("--folder", default="common/backends/nccl", help="their sources")
    parser.add_argument("--build", default="dlmb_fake_gpu,conformance_nccl,unit_nccl,unit_nccl_schedules,nccl_on_double,nccl_algorithms_on_double,old_nccl_on_double",
                        help="targets to build, comma-separated")
    parser.add_argument("--tests", default="^(conformance_nccl|unit_nccl|nccl_on_double|nccl_algorithms_on_double|old_nccl_on_double)", help="tests to run, as ctest --tests-regex")
    parser.add_argument("--all", action="store_true", help="exit 1 unless every line is reached")
    arguments = parser.parse_args()
    measure(arguments)
    complete = print_unreached(counts(arguments.folder))
    sys.exit(1 if arguments.all and not complete else 0)
