# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of README.md, CONTRIBUTING.md and docs/ exist, and those without a placeholder run.

Commands stand in blocks of ```sh, or in indented blocks that begin with a command. A command runs unless

    it has a placeholder       a word in capitals (FOLDER), "...", "your_program", a path of nobody (/path/to)
    ELSEWHERE names it         it builds or tests everything, takes hours, or needs a program of others or a GPU; each row has its reason

The commands of a page run in its order, in a folder of its own that looks like the repository after a release build (build/release/bin is the
build under test) and holds small inputs by the names that the pages use. Each must exit 0. They are given less time than a user has, and fewer
ranks, as SHORTER says; what a build has not (NEEDS) is left out, and what reads its files.

usage: documents.py exist                               every program and script that a command starts is in the repository
       documents.py run BIN_FOLDER PAGES [FEATURE...]   PAGES: readme, or others; exit 77 if none can run
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import repository

ROOT = repository.ROOT
README = ("README.md",)
OTHERS = ("CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"```sh\n(?P<fenced>.*?)```|(?<=\n\n)(?P<indented>(?:    [^\n]*\n|\n(?=    ))+)", re.DOTALL)
OF_OURS = ("./", "build/", "launch/", "tests/", "results-schema/", "tuned/")
OF_A_SYSTEM = {"for", "do", "done", "cmake", "mpirun", "python3", "cd", ".", "ctest", "jq", "mkdir", "sbatch", "reframe", "pre-commit"}
PLACEHOLDER = re.compile(r"dlmb_NAME|(?<![\w$={-])[A-Z][A-Z_]+(?![\w=-])|\.\.\.|your_program|/path/to|\bmine\.toml|\bmy\.toml")

ELSEWHERE = {
    r"(\./)?launch/quickstart": "installs, builds and measures; tests/e2e covers its parts",
    r"launch/install-dependencies": "installs packages",
    r"\./tests/run": "is what runs this test",
    r"(NCCL_TESTS=\S+ )?tests/(stress|fuzz|gpu)/": "takes minutes to hours; stages of tests/run and the GPU kit run it",
    r"cmake --(preset|workflow)": "builds; the stages of tests/run do",
    r"pre-commit ": "a program of others",
    r"reframe ": "a program of others; tests/recipes tries the recipe",
    r"(DLMB_SWEEP=\S+ )?sbatch ": "needs Slurm; tests/slurm has one",
    r"FOLDER=": "of the line for Slurm behind it",
    r"python3 -c 'import json, pickle|dlmb_plan summary nccl_trace_rank": "of a hang of the user; tests/trace has dumps",
    r".*--use-table table.json": "needs a table of this machine; tests/e2e/tuned_run.py has one",
    r"launch/ci/nightly ": "8 launches; tests/recipes tries it with doubles",
    r"tests/benchmarks/|build/(release|ci-gcc)/bin/(simulator_speed|plan_building|host_reduce|block_codec)$": "a benchmark of minutes",
    r"mpirun -np 2 build/ci-gcc/bin/": "a benchmark of minutes",
    r"launch/dlmb_sweep nightly\.toml": "a campaign of hours; tests/sweep and tests/compare do it",
    r"dlmb_tune build results/": "needs a campaign of hours; tests/tuning does it",
    r"\. tuned/env.sh|tuned/verify.sh": "runs the programs of the user, or the library many times; tests/tuning does it",
    r".*--(backend|memory) (nccl|cuda)": "needs GPUs",
    r"dlmb_compare --history history": "needs a campaign of 8 launches; tests/compare does it",
    r"(build/release/bin/)?dlmb_compare (results/nightly|osu\.jsonl)": "needs campaigns; tests/compare does it",
}
SHORTER = (
    (r"--time-limit [0-9.]+", "--time-limit 0.02"),
    (r"mpirun -np (?:[5-9]|[1-9][0-9]+)\b", "mpirun -np 4"),
    (r"(mpirun (?:-np \d+ )?)--bind-to \w+ ", r"\1"),
    (r"--map-by \w+ ", ""),
    (r"(dlmb_autotune [^#\n]*?)(?: --dry-run)?( *#.*)?(\n|$)", r"\1 --dry-run\3"),
    (r"(dlmb_sweep .*?)(?: --machine \S+)?(?: --dry-run)?( *#.*)?(\n|$)", r"\1 --machine launch/machines/small.toml --dry-run\3"),
    (r"-m 8:4M", "-m 8:16"),
    (r"(mpirun .*dlmb_(?!collective --cli)\w+ )", r"\1--time-limit 0.02 "),
    (r"--time-limit 0.02 (.*--time-limit)", r"\1"),
    (r"-i (200|160)\b", "-i 4"),
    (r"ep=8", "ep=4"),
    (r"(mpirun .*--parallel )tp=8,pp=4", r"\1tp=2,pp=2"),
    (r"mpirun -np 4 (dlmb_replay)", r"mpirun -np 2 \1"),
    (r"(dlmb_plan import .*--ranks-per-node) 8", r"\1 2"),
)
NEEDS = {"mpi": r"mpirun|dlmb_(sweep|autotune) ", "ucx": r"\bucx\b", "scipy": r"dlmb_(plot|compare) ", "archive": r"dlmb_plan (import|summary) ", "jq": r"jq "}
NOTHING_TO_TUNE = 77
# As the pages say; dlmb_guidelines ends with 1 where a library breaks a rule.
EXPECTED = {r".*dlmb_compare osu\.jsonl": (3,), r"dlmb_guidelines ": (0, 1)}


@dataclass
class Block:
    page: str
    commands: str


def blocks(pages: tuple[str, ...]) -> list[Block]:
    found = []
    for page in pages:
        for match in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
            text = match["fenced"] or "\n".join(line[4:] for line in match["indented"].splitlines())
            if match["fenced"] or begins_with_a_command(text):
                found.append(Block(page, text.strip("\n") + "\n"))
    return found


def begins_with_a_command(text: str) -> bool:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    word = lines[0].split()[0] if lines else ""
    return word in OF_A_SYSTEM or word.startswith((*OF_OURS, "dlmb_")) or re.fullmatch(r"[A-Z_]+=\S+", word) is not None


def commands_of(text: str) -> list[str]:
    """One text per command line: continued lines and loops stay whole."""
    found: list[str] = []
    loop = False
    for line in text.replace("\\\n", " ").splitlines():
        if not line.split("#")[0].strip():
            continue
        if loop:
            found[-1] += "\n" + line
        else:
            found.append(line)
        loop = (loop or line.startswith("for ")) and line != "done"
    return found


def words_of(command: str) -> list[list[str]]:
    plain = re.sub(r"\$\([^)]*\)", "answer", command)
    return [words for line in plain.splitlines() if (words := shlex.split(line, comments=True))]


def missing_in(words: list[str], programs: set[str]) -> str:
    """The first word that should be a program or a file of ours and is not; empty when there is none."""
    while words and re.fullmatch(r"\w+=\S*", words[0]):
        words = words[1:]
    if not words or PLACEHOLDER.search(words[0]):
        return ""
    if words[0] not in OF_A_SYSTEM and not words[0].startswith(OF_OURS) and words[0] not in programs:
        return words[0]
    for word in words:
        if PLACEHOLDER.search(word) or word.startswith("tuned/"):
            continue
        if "dlmb_" in word and word.startswith("build/"):
            if Path(word).name not in programs:
                return word
        elif re.match(r"(\./)?(launch|tests|plotting|results-schema|docs)/", word) and not (ROOT / word).exists():
            return word
    return ""


def exist() -> list[str]:
    programs = {path.stem for path in (ROOT / "benchmarks").glob("*.cpp")}
    programs |= {f"dlmb_{name}" for name in programs} | {path.name for path in (ROOT / "launch").glob("dlmb_*")}
    programs |= {f"fuzz_{path.stem}" for path in (ROOT / "tests" / "fuzz").glob("*.cpp")}
    found = blocks((*README, *OTHERS))
    findings = [] if found else ["the documents have no block of shell commands"]
    every = [(block.page, command) for block in found for command in commands_of(block.commands)]
    for page, command in every:
        findings += [f"{page}: '{command}': no {missing} here" for words in words_of(command) if (missing := missing_in(words, programs))]
    for row in ELSEWHERE:
        if not any(re.match(row, command) for _, command in every):
            findings.append(f"documents.py: no command is what ELSEWHERE says of '{row}'")
    return findings


def is_run(command: str) -> bool:
    return not PLACEHOLDER.search(re.sub(r"'[^']*'", "", command.split(" #")[0])) and not any(re.match(row, command) for row in ELSEWHERE)


def shorter(command: str) -> str:
    for wanted, instead in SHORTER:
        command = re.sub(wanted, instead, command)
    return command


def run(pages: tuple[str, ...], bin_folder: Path, features: set[str]) -> int:
    counts = {"ran": 0, "need more": 0}
    bad: list[str] = []
    for page in pages:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(folder, bin_folder.resolve(), page not in README)
            commands = [shorter(command) for block in blocks((page,)) for command in commands_of(block.commands) if is_run(command)]
            possible = possible_of(commands, features)
            counts["need more"] += len(commands) - len(possible)
            counts["ran"] += len(possible)
            bad += run_commands(page, possible, folder)
    print(*bad, sep="\n")
    print(f"{counts['ran']} commands ran, {counts['need more']} need what this build has not")
    return 1 if bad else 0 if counts["ran"] else repository.SKIPPED


def needs_of(command: str) -> set[str]:
    return {feature for feature, words in NEEDS.items() if re.search(words, command)}


def possible_of(commands: list[str], features: set[str]) -> list[str]:
    """Those that need no more than `features`, and no file that only others write."""
    possible: list[str] = []
    unwritten: set[str] = set()
    for command in commands:
        files = {re.sub(r"\\\$\w+", r"\\w*", re.escape(name)) for name in re.findall(r"(?:--results |-o |> )(\S+)", command)}  # of a loop: results/$side
        if needs_of(command) <= features and not any(re.search(rf"\s{name}(?!\S)", command) for name in unwritten - files):
            possible.append(command)
            unwritten -= files
        else:
            unwritten |= files
    return possible


def run_commands(page: str, commands: list[str], folder: Path) -> list[str]:
    """What was wrong. What a command sets in the shell (`. launch/small-machine.sh`) holds for those after it."""
    environment = {**os.environ, "PATH": f"{folder / 'build/release/bin'}:{os.environ['PATH']}"}
    set_up = ""
    wrong = []
    for command in commands:
        print(f"-- {page}: {command}", flush=True)
        text = ["bash", "-euo", "pipefail", "-c", f"{set_up}\n{command}"]
        done = subprocess.run(text, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        expected = next((code for row, code in EXPECTED.items() if re.match(row, command)), (0,))
        if done.returncode not in expected and not (done.returncode == NOTHING_TO_TUNE and "--dry-run" in command):
            wrong.append(f"{page}: '{command}' ends with exit code {done.returncode}:\n{done.stdout[-2000:]}")
        if command.startswith(". "):
            set_up += command + "\n"
    return wrong


# Small inputs by the names of the pages.

_MODEL = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 512,
          "vocab_size": 1024, "n_routed_experts": 8, "num_experts_per_tok": 2}  # fmt: skip
_PICO = "system,nodes,ranks_per_node,mpi,mpi_version,gpu,collective,algorithm,bytes,iterations,median_us,p10_us,p90_us,campaign,test"


def measurements() -> list[str]:
    """Of a machine of 3 us per round and 10 GB/s, as the table of PICO has them. The library's own choice is the slowest."""
    rounds = {"ring_ompi": lambda n: (2 * (n - 1), 2 * (n - 1) / n), "recursive_doubling_ompi": lambda n: (math.log2(n), math.log2(n)),
              "rabenseifner_ompi": lambda n: (2 * math.log2(n), 2 * (n - 1) / n), "default_ompi": lambda n: (2 * n, 2)}  # fmt: skip
    lines = [_PICO]
    for system in ("fugaku", "leonardo"):
        for nodes in (2, 4, 8, 16, 32, 64, 256):
            for algorithm, of_nodes in rounds.items():
                for size in (1024, 4096, 65536, 1 << 20, 1 << 24):
                    count, share = of_nodes(nodes)
                    us = 3 * count + size * share / (5_000 if algorithm == "default_ompi" else 10_000)
                    lines.append(f"{system},{nodes},1,OMPI,4.1.6,no,allreduce,{algorithm},{size},100,{us:.3f},{0.9 * us:.3f},{1.1 * us:.3f},c,1")
    return lines


def prepare(folder: Path, bin_folder: Path, with_inputs: bool) -> None:
    for build in ("release", "dev", "ci-gcc"):
        (folder / "build" / build).mkdir(parents=True)
        (folder / "build" / build / "bin").symlink_to(bin_folder)
    for linked in ("launch", "plotting", "tests", "README.md", "patterns", "results-schema"):
        (folder / linked).symlink_to(ROOT / linked)
    (folder / "results").mkdir()
    import outputs  # tests/convert: what other programs print

    (folder / "osu_allreduce.txt").write_text(outputs.OSU_ALLREDUCE, encoding="utf-8")
    (folder / "measurements.csv").write_text("\n".join(measurements()) + "\n", encoding="utf-8")
    (folder / "points.csv").write_text(f"{_PICO}\nfugaku,256,1,OMPI,4.1.6,no,allreduce,ring_ompi,65536,100,0,0,0,c,1\n", encoding="utf-8")
    if not with_inputs:
        return
    (folder / "docs" / "images").mkdir(parents=True)
    (folder / "osu_alltoall.txt").write_text(outputs.OSU_ALLREDUCE.replace("Allreduce", "All-to-All"), encoding="utf-8")
    (folder / "perftest.txt").write_text(outputs.UCC_ALLREDUCE, encoding="utf-8")
    (folder / "all_reduce.log").write_text(outputs.NCCL_ALLREDUCE, encoding="utf-8")
    (folder / "alltoall.json").write_text(json.dumps(outputs.NCCL_DOCUMENT), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(_MODEL), encoding="utf-8")
    examples = ROOT / "results-schema" / "examples"
    table = json.loads((examples / "tuning-table.json").read_text(encoding="utf-8"))
    table["rules"] = [rule for rule in table["rules"] if rule["when"].get("reduction") != "user"]
    (folder / "table.json").write_text(json.dumps(table), encoding="utf-8")
    (folder / "results" / "quickstart").mkdir()
    shutil.copy(examples / "results.jsonl", folder / "results" / "quickstart" / "example.jsonl")
    samples = ROOT / "tests" / "trace" / "samples" / "ddp"
    with tarfile.open(folder / "traces.tgz", "w:gz") as archive:
        for sample in sorted(samples.glob("*.json")):
            archive.add(sample, arcname=sample.name)
            (folder / f"{sample.name}.gz").write_bytes(gzip.compress(sample.read_bytes()))
    requests = ({"timestamp": 1000 * second, "input_length": 512, "output_length": 64, "hash_ids": [second]} for second in range(4))
    (folder / "requests.jsonl").write_text("".join(json.dumps(each) + "\n" for each in requests), encoding="utf-8")
    make(folder, bin_folder)


def make(folder: Path, bin_folder: Path) -> None:
    """Inputs that programs of the build make."""
    measure = ("--ranks", "2", "--backend", "in_process", "--operation", "allreduce,allgather,broadcast", "-m", "64:1K", "--time-limit", "0.02", "--campaign", "made")
    for _ in range(3):
        subprocess.run([bin_folder / "dlmb_collective", *measure, "--results", "collective.jsonl"], cwd=folder, capture_output=True, check=True)
    for name in ("before.jsonl", "results.jsonl"):
        shutil.copy(folder / "collective.jsonl", folder / name)
    for program, arguments, output in (("dlmb_plan", ("import", "tests/trace/samples/ddp", "-o", "plans/", "--ranks-per-node", "2"), ""),
                                       ("dlmb_pipeline_p2p", ("--preset", "quick", "--ranks", "4", "--plan", "goal"), "schedule.goal")):  # fmt: skip
        if (bin_folder / program).exists():
            done = subprocess.run([bin_folder / program, *arguments], cwd=folder, capture_output=True, text=True, check=True)
            if output:
                (folder / output).write_text(done.stdout, encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] == "run":
        pages = README if arguments[2] == "readme" else OTHERS
        return run(pages, Path(arguments[1]), {*arguments[3:], *(["jq"] if shutil.which("jq") else [])})
    findings = exist()
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
