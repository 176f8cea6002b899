# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""dlmb_autotune --ranks N [--for CONSUMER,...] [--budget TIME] -o FOLDER [-- LAUNCHER OPTIONS]"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dlmb_launch.autotune import observations, points, report, request, traffic
from dlmb_launch.autotune.campaign import Campaign, LaunchFailed, Stopped
from dlmb_launch.autotune.outcome import HELD, UNSEEN, WRONG, Finisher, reserve_s
from dlmb_launch.autotune.plain_program import Plain
from dlmb_launch.autotune.points import Consumer
from dlmb_launch.autotune.report import Findings, describe
from dlmb_launch.autotune.request import Clock, Request
from dlmb_launch.autotune.tune_program import TuneProgram, chosen_rules, undecided_lines
from dlmb_launch.autotune.tuner import Tuner
from dlmb_launch.sweep import launchers
from dlmb_launch.sweep.driver import duration
from dlmb_launch.sweep.process import Interrupts, Process
from dlmb_launch.sweep.state import Folder
from dlmb_results import program
from dlmb_results.arguments import Parser
from dlmb_results.files import write_output

_START_TIMEOUT_S = 60


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="dlmb_autotune",
        description="Measures which algorithms are faster than the library's own choice here, and writes files by which programs use them.",
        epilog="exit codes: 0 files that act, or none; 1 files that do not act as the table says, or launches that fail; "
        "64 bad usage, 69 no launcher or program or a folder in use, 70 a fault of the program, 74 cannot write; 77 nothing can be tuned here, or not all of the "
        "files could be seen to act; 128+N stopped by signal N: the same command goes on",
    )
    parser.add_argument("--ranks", type=int, required=True, metavar="N", help="ranks of the programs that are to run faster")
    parser.add_argument("--nodes", type=int, default=1, metavar="N", help="that they run on, equally many on each (default: 1)")
    parser.add_argument("--for", dest="consumers", metavar="LIST", help="openmpi, mpich, ucx, ucc, nccl; default: the MPI library here")
    parser.add_argument("--budget", default="20m", metavar="TIME", help="as 20m, 90s or 1h30m, for all runs into one folder (default: 20m)")
    parser.add_argument("-o", "--output", type=Path, default=Path("tuned"), metavar="FOLDER", help="default: tuned")
    parser.add_argument("--operations", metavar="LIST", help="of allreduce, allgather, reduce_scatter, broadcast, alltoall, sendrecv; default: all")
    parser.add_argument("--sizes", metavar="SIZES", help="as 8:1M (doubling), 64K, or a list, as dlmb_collective --message-size (default: 8:1M)")
    parser.add_argument("--workload", metavar="PLAN|PRESET", help="operations and sizes of a plan (--plan jsonl) or a folder of plans, or PROGRAM:PRESET")
    parser.add_argument("--timing", choices=("stream", "isolated"), default="stream", help="calls back to back, or alone (default: stream)")
    parser.add_argument("--beside", default=request.NO_LOAD, metavar="LOAD|PLAN", help="compute or memory: what a thread beside each rank does in all "
                        "measurements, as dlmb_collective --beside; or a file of plans (--plan jsonl), which a dlmb_replay of as many ranks repeats "
                        "meanwhile: the table and the gain hold for programs that have the like (default: none)")
    parser.add_argument("--commutative", action="store_true", help="programs reduce with operations that commute (all of MPI's own do): also "
                        "files for algorithms that are wrong for others")
    parser.add_argument("--machine", type=Path, help="TOML file that says how to launch here; default: found out")
    parser.add_argument("--build", type=Path, help="folder of the programs; default: where dlmb_info is in PATH")
    parser.add_argument("--dry-run", action="store_true", help="print the plan with estimates of time, and stop")
    parser.add_argument("launcher", nargs="*", metavar="-- OPTIONS", help="further options of the launcher")
    return parser.parse_args(arguments)


def _request(options: argparse.Namespace, machine: launchers.Machine, build: Path, info: dict[str, Any]) -> tuple[Request, list[str]]:
    """And what people should know of it."""
    if not 2 <= options.ranks <= 1 << 20:
        raise program.UsageError(f"--ranks {options.ranks}: a number from 2 up")
    if options.nodes < 1 or options.ranks % options.nodes != 0:
        raise program.UsageError(f"--nodes {options.nodes}: {options.ranks} ranks do not divide over them")
    if options.workload and options.sizes:
        raise program.UsageError("--sizes: the workload says its sizes; leave one of --workload and --sizes out")
    wanted = points.chosen(options.consumers, info)
    if options.commutative and all(consumer.name != "openmpi" for consumer in wanted):
        raise program.UsageError("--commutative: no export but openmpi depends on it; leave it out")
    plan = None if options.beside in (request.NO_LOAD, *request.LOADS) else Path(options.beside)
    beside = traffic.name_of(plan) if plan else options.beside
    if beside != request.NO_LOAD and any(consumer.backend == "nccl" for consumer in wanted):
        raise program.UsageError("--beside: loads the host, and nccl runs on the GPU; leave one of the two out")
    points.require_unset(wanted, {**os.environ, **dict(machine.variables)})
    use = points.use_of(options.workload, options.ranks, build) if options.workload else None
    operations = points.parse_operations(options.operations) if options.operations else None
    machine = replace(machine, arguments=(*machine.arguments, *options.launcher))
    cautions, accept = [], ["quick"]  # short cells: the launch is what is tested
    if beside in request.LOADS:
        cautions.append(f"measured, before and after, with a load beside each rank (--beside {beside}): it holds for programs that have one")
    processes = options.ranks
    if plan:
        cautions.append(f"measured, before and after, beside the traffic of {plan} (--beside {beside}): it holds for programs that have such traffic")
        processes *= 2
        machine = replace(machine, bind="none" if options.machine is None else machine.bind)  # two launches would take the same cores
    cores = len(os.sched_getaffinity(0))
    if "SLURM_JOB_ID" not in os.environ and options.nodes == 1 and processes > cores:
        cautions.append(f"{processes} ranks share {cores} cores: what is found holds for programs that share cores alike, not with a core per rank")
        machine = replace(machine, oversubscribe=True, bind="none" if options.machine is None else machine.bind)
    if machine.oversubscribe:
        accept.append("oversubscribed")
    asked = Request(
        ranks=options.ranks,
        nodes=options.nodes,
        consumers=tuple(wanted),
        weights=request.points(tuple(wanted), operations, points.parse_sizes(options.sizes or "8:1M"), use, options.ranks),
        weighted=use is not None,
        budget_s=request.parse(options.budget),
        timing=options.timing,
        beside=beside,
        traffic=plan,
        build=build,
        machine=machine,
        output=options.output,
        accept=tuple(accept),
        commutative=options.commutative,
    )
    return asked, cautions


def _plain(asked: Request, launcher: launchers.Launcher, beside: traffic.Traffic) -> Plain:
    variables = {**dict(launcher.variables), **dict(asked.machine.variables)}
    command = [*launcher.command(asked.machine, asked.world), str(asked.build / "dlmb_plain_mpi")]
    return Plain(command, variables, beside.why_ended)


def _startup_s(asked: Request, plain: Plain, interrupts: Interrupts) -> float:
    """The time of a launch that does next to nothing. Such a launch also shows whether ranks start at all."""
    log = asked.campaign / "start.log"
    try:
        log.unlink(missing_ok=True)
        began = time.monotonic()
        outcome = Process([*plain.command, "allreduce", "8", "1"], plain.variables, log).wait(_START_TIMEOUT_S, interrupts)
        seconds = time.monotonic() - began
        if outcome.interrupted:
            raise Stopped(interrupts.received)
        if outcome.exit_code != 0:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
            raise LaunchFailed(f"{asked.ranks} ranks of {plain.command[-1]} do not start: {last[0]} ({log})")
    except OSError as error:
        raise program.OutputError(f"{log}: {error.strerror}") from None
    return seconds


def _usable(found: list[Consumer], info: dict[str, Any]) -> list[Consumer]:
    usable = []
    for consumer in found:
        reason = points.why_not(consumer, info)
        if reason:
            print(f"{consumer.name}: cannot be tuned here: {reason}")
        else:
            usable.append(consumer)
    return usable


def _run(arguments: list[str] | None) -> int:
    options = _parse(arguments)
    machine = launchers.read_machine(options.machine)
    build = Path(options.build or machine.build or launchers.default_build()).expanduser()
    info = launchers.info(build)
    asked, cautions = _request(options, machine, build, info)
    usable = _usable(list(asked.consumers), info)
    if not usable:
        return program.NOTHING_CAN_RUN
    weights = {key: weight for key, weight in asked.weights.items() if any(key[0] == consumer.backend for consumer in usable)}
    asked = replace(asked, consumers=tuple(usable), weights=weights)
    if not weights:
        return program.NOTHING_CAN_RUN
    launcher = launchers.find(asked.machine, build)
    launchers.require_room(asked.machine, asked.world, launcher)
    for caution in cautions:
        print(f"note: {caution}")
    if options.dry_run:
        print("\n".join(describe(asked, info, launcher)))
        return program.OK
    with Folder(asked.campaign).held():
        request.require_same(asked)
        return _tune(asked, cautions, launcher)


def _tune(asked: Request, cautions: list[str], launcher: launchers.Launcher) -> int:
    interrupts = Interrupts()
    clock = Clock(asked.campaign / "spent.json", asked.budget_s)
    beside = traffic.Traffic(asked.traffic, asked.build, asked.campaign)
    plain = _plain(asked, launcher, beside)
    tune = TuneProgram(asked.build, plain.variables, launcher.without_world(asked.machine), asked.commutative)
    campaign = Campaign(asked, interrupts, beside.why_ended)
    try:
        if reason := beside.begin(launcher, asked.machine, asked.world, interrupts):
            raise LaunchFailed(reason)
        startup = _startup_s(asked, plain, interrupts)
        tuner = Tuner(asked, campaign, clock, tune, startup)
        tuner.run(lambda operations: reserve_s(operations, asked.budget_s, startup))
        if not tuner.build():
            needed = duration(max(tuner.least_budget_s(), asked.budget_s))
            raise LaunchFailed(f"nothing can be decided in {duration(asked.budget_s)}; launches here take so long that one size needs about {needed}")
        measured = tuner.measured()
        table, outcomes = Finisher(asked, campaign, clock, tune, plain, interrupts, startup).run(tuner.table, measured)
        clock.keep()
    except Stopped as stopped:
        clock.keep()
        print(f"stopped by signal {stopped.args[0]}; the same command goes on from here", flush=True)
        return program.SIGNAL_BASE + stopped.args[0]
    finally:
        beside.end()
    write_output(asked.output / "table.json", table.read_bytes())
    standings = tuner.standings(measured)
    rules = {one.consumer.name: chosen_rules(table, one.consumer.backend) for one in outcomes}
    skipped = len([key for key in asked.weights if key not in standings])
    found = Findings(
        asked, cautions, observations.noise(measured), standings, undecided_lines(tuner.printed), skipped, outcomes, rules, clock.spent_s
    )
    write_output(asked.output / "report.md", report.page(found))
    print("\n".join(report.summary(found)))
    return _exit_code([one.verified for one in outcomes if one.folder])


def _exit_code(verified: list[int]) -> int:
    if WRONG in verified or any(code not in (HELD, WRONG, UNSEEN, -1) for code in verified):
        return program.FAILED
    return program.OK if all(code == HELD for code in verified) else program.NOTHING_CAN_RUN


def main(arguments: list[str] | None = None) -> int:
    return program.run("dlmb_autotune", lambda: _run(arguments))
