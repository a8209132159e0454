"""Runs CPython test modules, as its own regrtest does, and says how each test
ended.

Runs as a program of the sandbox: `main.py NAME [-TEST...]`, the module without
these tests.  A line of an outcome begins with a record separator, because the
tests themselves print, too:

    RS outcome TAB test TAB detail
"""

import functools
import importlib
import os
import sys
import unittest

from test import support

# kept, because tests replace what is in os and sys
write, separator = os.write, "\x1e"


def tell(outcome, test, detail=""):
    name = test if isinstance(test, str) else test.id()
    detail = " ".join(str(detail).split())[:200]
    line = f"\n{separator}{outcome}\t{name}\t{detail}\n"
    write(1, line.encode("utf-8", "backslashreplace"))


class Result(unittest.TestResult):
    def addSuccess(self, test):
        tell("ok", test)

    def addSkip(self, test, reason):
        tell("skip", test, reason)

    def addExpectedFailure(self, test, error):
        tell("ok", test, "fails, as expected")

    def addUnexpectedSuccess(self, test):
        tell("fail", test, "unexpected success")

    def addFailure(self, test, error):
        tell("fail", test, f"{error[0].__name__}: {error[1]}")

    def addError(self, test, error):
        tell("error", test, f"{error[0].__name__}: {error[1]}")

    # each failure of a subtest, then the test itself has no outcome
    def addSubTest(self, test, subtest, error):
        if error is not None:
            tell("fail", test, f"{error[0].__name__}: {error[1]}")


def run_suite(suite):
    suite.run(Result())


def run_module(name):
    module = importlib.import_module("test." + name)
    main = getattr(module, "test_main", None)
    if main is None:
        loader = unittest.TestLoader()
        tests = loader.loadTestsFromModule(module)
        for error in loader.errors:
            tell("error", name, error.splitlines()[-1])
        main = functools.partial(support.run_unittest, tests)
    main()


def main():
    support.use_resources = {}
    support.verbose = 0
    support._run_suite = run_suite
    support.record_original_stdout(sys.stdout)
    name, *left_out = sys.argv[1:]
    support.set_match_tests(None, ["test." + test[1:] for test in left_out])
    try:
        run_module(name)
    except unittest.SkipTest as error:
        tell("skip", name, error)
    except BaseException as error:
        tell("error", name, f"{type(error).__name__}: {error}")
    tell("all of it", name + "(its end)")


main()
