# SPDX-License-Identifier: BSD-2-Clause
"""Runs the test suite of pyverbs in the current folder and prints one line per test: its outcome and name."""
import os
import sys
import unittest
from importlib.machinery import SourceFileLoader

sys.path.insert(0, os.getcwd())
sys.argv[1:] = ["--dev", "uiwarp0", "--port", "1", "--gid", "0"]
from args_parser import parser  # noqa: E402

# The vendors' cards are not tested.
VENDORS = ("test_mlx5", "test_efa", "test_cuda")


class Lines(unittest.TestResult):
    def tell(self, outcome, test):
        # A test's processes may have left an incomplete line.
        print(f"\n{outcome} {test.id()}", flush=True)

    def addSuccess(self, test):
        self.tell("passed", test)

    def addSkip(self, test, reason):
        self.tell("skipped", test)

    def addFailure(self, test, error):
        self.tell("failed", test)
        print(self._exc_info_to_string(error, test), file=sys.stderr)

    addError = addFailure


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        elif not any(vendor in test.id() for vendor in VENDORS):
            yield test


tests = SourceFileLoader("tests", os.path.join(os.getcwd(), "__init__.py")).load_module()
parser.parse_args()
result = Lines()
for one in flat(unittest.defaultTestLoader.loadTestsFromModule(tests)):
    one.run(result)
