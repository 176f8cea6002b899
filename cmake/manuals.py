# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages and completions for bash, made of what the programs themselves say to --help.

usage: manuals.py BIN_FOLDER PREFIX      writes PREFIX/share/man/man1/dlmb_*.1 and PREFIX/share/bash-completion/completions/dlmb_*,
                                         and prints their paths
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 60
NOT_FOR_PEOPLE = ("dlmb_plain_mpi",)  # dlmb_tune and dlmb_autotune start it
TOPICS = "Documentation: the pages in share/doc/dlmb, beginning with README.md."


@dataclass
class Entry:
    names: str  # "-m,--message-size SIZES ..."
    text: str

    @property
    def options(self) -> list[str]:
        return re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", re.sub(r"\{.*?\}|[A-Z]+:\S+", "", self.names))

    @property
    def values(self) -> list[str]:
        """Where the option takes one of a few: "TEXT:{osu,nccl}", "{png,svg}"."""
        found = re.search(r"\{([\w.,+-]+)\}", self.names)
        return found[1].split(",") if found else []


@dataclass
class Page:
    """--help of a program or of a subcommand."""

    command: list[str]
    usage: str = ""
    about: list[str] = field(default_factory=list)  # paragraphs
    sections: dict[str, list[Entry]] = field(default_factory=dict)
    subcommands: list["Page"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return " ".join(self.command)

    def entries(self) -> list[Entry]:
        return [entry for entries in self.sections.values() for entry in entries if entry.names.startswith("-")]


def ask(program: Path, *arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "1000"}  # Python's argparse folds lines otherwise
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"manuals: {program} {' '.join(arguments)} ends with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def read_page(program: Path, *subcommand: str) -> Page:
    page = Page([program.name, *subcommand])
    section = None
    for line in ask(program, *subcommand, "--help").splitlines():
        heading = re.fullmatch(r"([A-Za-z][^:]*?):", line)
        if line.lower().startswith("usage:"):
            page.usage = line.split(":", 1)[1].strip()
        elif heading:
            section = page.sections.setdefault(heading[1], [])
        elif section is not None and line.startswith(" ") and line.strip():
            add_line(section, line)
        elif line.strip():
            section = None
            page.about.append(line.strip())
    for entry in page.sections.pop("Subcommands", []):
        page.subcommands.append(read_page(program, *subcommand, entry.names))
    page.sections = {name: entries for name, entries in page.sections.items() if entries}
    return page


def add_line(section: list[Entry], line: str) -> None:
    text = line.strip()
    if line.startswith("      ") and section:  # CLI11 and argparse both indent an entry by two
        section[-1].text = f"{section[-1].text} {text}".strip()
        return
    names, _, rest = text.partition("  ")
    # "-h,--help  Print this ..."; CLI11 leaves one blank where the names are long
    section.append(Entry(names, rest.strip()))


def roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def manual(page: Page, version: str) -> str:
    summary = page.about[0] if page.about else "Deep Learning communication Micro-Benchmarks"
    lines = [f'.TH {page.command[0].upper()} 1 "" "DLMB {version}" "DLMB"', ".SH NAME", f"{roff(page.command[0])} \\- {roff(summary)}"]
    lines += [".SH SYNOPSIS", roff(page.usage or page.name)]
    if page.about[1:]:
        lines.append(".SH DESCRIPTION")
        for paragraph in page.about[1:]:
            lines += [".PP", roff(paragraph)]
    lines += options_of(page, ".SH")
    for each in page.subcommands:
        lines += [f".SH {each.name.upper()}", *(roff(text) for text in each.about[:1]), ".PP", roff(each.usage), *options_of(each, ".SS")]
        for deeper in each.subcommands:
            lines += [f".SS {roff(deeper.name)}", *(roff(text) for text in deeper.about[:1]), *options_of(deeper, ".SS")]
    return "\n".join([*lines, ".SH SEE ALSO", roff(TOPICS)]) + "\n"


def options_of(page: Page, level: str) -> list[str]:
    lines = []
    for heading, entries in page.sections.items():
        lines.append(f"{level} {roff(heading)}")
        for entry in entries:
            lines += [".TP", f"\\fB{roff(entry.names)}\\fR", roff(entry.text) or "\\&"]
    return lines


def completion(page: Page, presets: list[str]) -> str:
    """A function that knows the options of the program and of its subcommands, and the values of options that take one of a few."""
    program = page.command[0]
    cases = [case_of(page, presets)]
    for each in page.subcommands:
        cases.append(case_of(each, presets))
    return "\n".join([
        f"# bash completion of {program}, made of its --help",
        f"_{program}() {{",
        "    local here=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' word",
        f"    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD - 1}}\"; do case $word in {'|'.join(each.command[-1] for each in page.subcommands) or '_'}) command=$word && break ;; esac; done",
        "    case $command in",
        *cases,
        "    esac",
        '    if [[ $before == -* && -z $words ]]; then COMPREPLY=($(compgen -f -- "$here")); else COMPREPLY=($(compgen -W "$words" -- "$here")); fi',
        '    if [[ ${#COMPREPLY[@]} -eq 0 && $here != -* ]]; then COMPREPLY=($(compgen -f -- "$here")); fi',
        "}",
        f"complete -o filenames -F _{program} {program}",
    ]) + "\n"


def case_of(page: Page, presets: list[str]) -> str:
    name = page.command[-1] if len(page.command) > 1 else "''"
    values = [(entry.options, entry.values) for entry in page.entries() if entry.values]
    values += [(["--preset"], presets)] if presets else []
    inner = [f"        {'|'.join(options)}) words={shlex.quote(' '.join(known))} ;;" for options, known in values]
    words = [each.command[-1] for each in page.subcommands] + [option for entry in page.entries() for option in entry.options]
    takes_none = [option for entry in page.entries() if re.fullmatch(r"[\w,\s-]+", entry.names) and not re.search(r" [A-Z]", entry.names) for option in entry.options]
    everything = f"words={shlex.quote(' '.join(words))}"
    return "\n".join([f"    {name})", "        case $before in", *inner,
                      *([f"        {'|'.join(takes_none)}) {everything} ;;"] if takes_none else []), "        -*) ;;", f"        *) {everything} ;;", "        esac ;;"])


def presets_of(program: Path, page: Page) -> list[str]:
    if not any("--list-presets" in entry.options for entry in page.entries()):
        return []
    return [line.split()[0] for line in ask(program, "--list-presets").splitlines() if re.match(r"[a-z0-9]\S* +\S+=", line)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


def main(arguments: list[str]) -> int:
    folder, prefix = Path(arguments[0]), Path(arguments[1])
    for program in sorted(folder.glob("dlmb_*")):
        if program.name in NOT_FOR_PEOPLE or not program.is_file() or not os.access(program, os.X_OK):
            continue
        page = read_page(program)
        version = ask(program, "--version").split()[1]  # "dlmb_tune 0.1.0 (...)"
        write(prefix / "share" / "man" / "man1" / f"{program.name}.1", manual(page, version))
        write(prefix / "share" / "bash-completion" / "completions" / program.name, completion(page, presets_of(program, page)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
