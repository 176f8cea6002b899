# Copyright (c) 2026 The DLMB developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Python writes of environment variables: as tests/shared/variables.txt says, which holds the programs to it, too."""

import re
import unittest
from pathlib import Path

from dlmb_results.variables import recorded

LINES = [line for line in (Path(__file__).parent.parent / "shared/variables.txt").read_text().splitlines() if not line.startswith("#")]


class Variables(unittest.TestCase):
    def test_values_hashes_and_what_looks_like_credentials_are_written_as_by_the_programs(self):
        for line in LINES:
            kind, variable = line.split(" ", 1)
            name, value = variable.split("=", 1)
            name = "UCX_TLS" if name == "*" else name
            expected = {"value": re.escape(value), "hash": "<hash [0-9a-f]{6}>", "redacted": "<redacted>", "nothing": ".*"}
            self.assertRegex(recorded({name: value})[name], rf"\A{expected[kind]}\Z", line)
        self.assertGreater(len(LINES), 50)

    def test_of_others_a_hash_that_tells_values_apart(self):
        self.assertNotEqual(recorded({"OMPI_MCA_user_choice": "hunter2"}), recorded({"OMPI_MCA_user_choice": "hunter3"}))

    def test_names_of_no_library_that_look_like_credentials_are_redacted(self):
        for name in ("HF_TOKEN", "ssh_key"):
            self.assertEqual(recorded({name: "hunter2"}), {name: "<redacted>"})


if __name__ == "__main__":
    unittest.main()
