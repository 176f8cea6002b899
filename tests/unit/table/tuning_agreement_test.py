# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""lookup(), libdlmb_tuning and the Python reader give the same answers, and refuse the same tables with the same code.

usage: tuning_agreement_test.py ANSWERS_PROGRAM TABLE
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import dlmb_tuning
import random_tables

ANSWERS, TABLE = Path(sys.argv[1]), Path(sys.argv[2])
CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
TABLES, QUESTIONS, MUTANTS = 20, 500, 1200
TOKENS = ["null", "{", "}", "[", "]", '"', ",", ":", "-", "0", "1e999", "18446744073709551616", "\\u0000", "\\ud800", "true", "[[[["]


def ask(lines: list[dict]) -> list:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([ANSWERS], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def code_in_python(path: Path) -> int:
    try:
        dlmb_tuning.open_table(path)
    except dlmb_tuning.TableError as error:
        return error.code
    return 0


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(text))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:place] + text[place + rng.randint(1, 30) :]
        elif kind == 1:
            text = text[:place] + rng.choice(TOKENS) + text[place:]
        elif kind == 2:
            text = text[:place] + chr(rng.randrange(1, 0x250)) + text[place + 1 :]
        else:  # digits, where most of a table's meaning is
            digits = [index for index, character in enumerate(text) if character.isdigit()]
            place = rng.choice(digits)
            text = text[:place] + str(rng.randrange(10)) + text[place + 1 :]
    return text


class Agreement(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = Path(temporary.name) / "table.json"
        self.envelope = json.loads(TABLE.read_text(encoding="utf-8"))

    def test_on_questions_at_the_edges_of_random_rules(self) -> None:
        matched = 0
        for seed in range(TABLES):
            rng = random.Random(seed)
            rules = random_tables.random_rules(rng)
            self.path.write_text(json.dumps({**self.envelope, "rules": rules}), encoding="utf-8")
            questions = [random_tables.random_question(rules, rng) for _ in range(QUESTIONS)]
            opened, *answers = ask([{"open": str(self.path)}, *questions])
            self.assertEqual(opened, 0)
            table = dlmb_tuning.open_table(self.path)
            for question, answer in zip(questions, answers):
                choice = table.lookup(**question)
                self.assertEqual(choice and dataclasses.asdict(choice), answer, f"table {seed}: {question}")
                matched += answer is not None
        self.assertGreater(matched, TABLES * QUESTIONS // 5)
        self.assertLess(matched, TABLES * QUESTIONS * 4 // 5)

    def test_on_which_tables_are_refused_and_why(self) -> None:
        rng = random.Random(20260301)
        measured = TABLE.read_text(encoding="utf-8")
        foreign = measured.replace('"evidence":{', '"evidence":{"foreign":{"suite":"pico","statistic":"mean"},').replace('"confirmed":8', '"confirmed":0')
        foreign = re.sub(r',"ci":\[[^]]*\]', "", foreign)
        predicted = measured.replace('"evidence":{', '"evidence":{"predicted":{"fitted_nodes":64,"held_out_error":0.2},').replace('"confirmed":8', '"confirmed":0')
        predicted = re.sub(r'"launches":\d+,"confirmed"', '"launches":0,"confirmed"', predicted)
        paths = [self.path.with_name(f"{number}.json") for number in range(MUTANTS)]
        for number, path in enumerate(paths):
            path.write_text(mutated((measured, foreign, predicted)[number % 3], rng), encoding="utf-8")
        codes = ask([{"open": str(path)} for path in paths])
        for path, code in zip(paths, codes):
            self.assertEqual(code_in_python(path), code, path.read_text(encoding="utf-8"))
        self.assertEqual(set(codes), {0, -2, -3}, "mutations reach every verdict")

    def test_on_the_shared_cases_of_tables(self) -> None:
        for case in CASES["tables"]:
            table = json.loads(TABLE.read_text(encoding="utf-8"))
            for path, value in case["edits"].items():
                *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
                inner = table
                for key in outer:
                    inner = inner[key]
                inner[last] = value
            self.path.write_text(json.dumps(table), encoding="utf-8")
            with self.subTest(case["case"]):
                self.assertEqual([code_in_python(self.path), *ask([{"open": str(self.path)}])], [case["code"]] * 2)

    def test_on_the_shared_cases_of_questions(self) -> None:
        table = dlmb_tuning.open_table(TABLE)
        _, *answers = ask([{"open": str(TABLE)}, *(case["question"] for case in CASES["questions"])])
        for case, answer in zip(CASES["questions"], answers):
            with self.subTest(case["question"]):
                self.assertEqual(answer == "unknown", case["unknown"])
                if case["unknown"]:
                    with self.assertRaisesRegex(ValueError, "unknown .*; one of "):
                        table.lookup(**case["question"])
                else:
                    table.lookup(**case["question"])

    def test_on_files_that_are_not_there(self) -> None:
        self.assertEqual(ask([{"open": "no such table"}]), [code_in_python(Path("no such table"))])


class PythonReader(unittest.TestCase):
    def test_compares_the_system_when_asked_to(self) -> None:
        key = json.loads(TABLE.read_text(encoding="utf-8"))["system"]["key"]
        dlmb_tuning.open_table(TABLE, key)
        with self.assertRaises(dlmb_tuning.TableError) as raised:
            dlmb_tuning.open_table(TABLE, "another")
        self.assertEqual(raised.exception.code, -4)

    def test_refuses_operations_and_keys_that_do_not_exist(self) -> None:
        table = dlmb_tuning.open_table(TABLE)
        self.assertRaises(ValueError, table.lookup, "alltoall")
        self.assertRaises(ValueError, table.lookup, "allreduce", rank=4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
