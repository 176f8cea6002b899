# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the Python programs begin and end, and what they say then: one line and an exit code, whatever happens.

Imports little: Ctrl-C must end a program quietly also while the rest is being loaded.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

OK = 0
FAILED = 1  # what was asked for was done, and something in it failed
USAGE = 64
UNAVAILABLE = 69
INTERNAL = 70  # a fault of the program itself; 1 has a meaning of its own in dlmb_compare
CANNOT_WRITE = 74
NOTHING_CAN_RUN = 77  # of a measuring program: nothing that was asked for can run here
SIGNAL_BASE = 128
INTERRUPTED = SIGNAL_BASE + signal.SIGINT

LONGEST_BEGIN, LONGEST_END = 600, 300  # characters of a message


class ProgramError(Exception):
    """What ends a program with a message of one line and an exit code of its own."""

    exit_code = INTERNAL


class UsageError(ProgramError):
    """A wrong command line or input file; the message says what, where and what to do."""

    exit_code = USAGE


class UnavailableError(ProgramError):
    """A program, launcher or package that is not here."""

    exit_code = UNAVAILABLE


class OutputError(ProgramError):
    """What was asked for cannot be written."""

    exit_code = CANNOT_WRITE


def start(program: str, module: str, hint: str = "") -> int:
    """Loads `module` and calls its main(). hint: how to install what is missing."""
    hold_standard_streams()
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not under nohup and the like
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # launch/run-python blocks it while Python itself is being loaded
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        say(program, "error", f"{error.name} is not installed for {sys.executable}{': ' if hint else ''}{hint}")
        return UNAVAILABLE
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return main()
    finally:
        if interruptible:  # what Python does at its end would show a traceback
            signal.signal(signal.SIGINT, signal.SIG_DFL)


class _Unread(io.FileIO):
    """Standard error: what cannot be written there is lost, for nobody reads it, and nothing may end for it."""

    def write(self, data: Any) -> int:
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) or 0 :]
        except OSError:
            pass
        return len(data)


def hold_standard_streams() -> None:
    """A descriptor below 3 that whoever started the program closed would go to the next file that is opened, and what is printed would
    end in it. It is opened so that printing fails. common/base/output_file.cpp does it the same way."""
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if stream == 0 else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = io.TextIOWrapper(_Unread(2, "w", closefd=False), encoding="utf-8", errors="backslashreplace", write_through=True)


def run(program: str, body: Callable[[], int]) -> int:
    """The exit code of `body`, that of the ProgramError that it raises, or that of output that cannot be written."""
    try:
        try:
            code = body()
        except SystemExit as stop:  # argparse: --help
            code = stop.code if isinstance(stop.code, int) else OK
        sys.stdout.flush()
        return code
    except ProgramError as error:
        say(program, "error", error)
        if not isinstance(error, OutputError):
            return error.exit_code
    except KeyboardInterrupt:
        say(program, "error", "interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        pass
    except OSError as error:
        say(program, "error", f"{error.filename or 'standard output'} cannot be written: {error.strerror}")
    except Exception:  # noqa: BLE001
        import traceback

        traceback.print_exc()
        say(program, "error", "internal error; please report it with the lines above")
        return INTERNAL
    forget_output()
    return CANNOT_WRITE


def forget_output() -> None:
    """What is left to be printed cannot be, and Python would try that again at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # it is no file


def say(program: str, kind: str, text: object) -> None:
    print(f"{program}: {kind}: {one_line(str(text))}", file=sys.stderr)


def one_line(text: str) -> str:
    """For one line of a terminal; common/base/error.cpp does it the same way."""
    shown = [letter if letter.isprintable() else "".join(f"\\x{byte:02x}" for byte in letter.encode(errors="surrogatepass")) for letter in text]
    if len(shown) > LONGEST_BEGIN + LONGEST_END:
        left_out = len(shown) - LONGEST_BEGIN - LONGEST_END
        shown[LONGEST_BEGIN:-LONGEST_END] = [f" ... ({left_out} characters) ... "]
    return "".join(shown)
