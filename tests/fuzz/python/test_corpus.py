# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every target over its seeds: what was found once stays mended, and seeds do not go stale. Needs no fuzzer."""

from __future__ import annotations

import unittest
from pathlib import Path

import targets

CORPUS = Path(__file__).resolve().parent / "corpus"


class Corpus(unittest.TestCase):
    def test_every_seed_is_read_or_refused_as_documented(self) -> None:
        for name, read in targets.TARGETS.items():
            seeds = sorted((CORPUS / name).iterdir())
            self.assertTrue(seeds, name)
            for seed in seeds:
                with self.subTest(seed=f"{name}/{seed.name}"):
                    read(seed.read_bytes())

    def test_every_folder_is_that_of_a_target(self) -> None:
        self.assertEqual({folder.name for folder in CORPUS.iterdir()}, set(targets.TARGETS))


if __name__ == "__main__":
    unittest.main()
