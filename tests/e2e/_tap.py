# SPDX-License-Identifier: MIT
"""Test cases as functions, results as TAP.

    from _tap import TRACESTUB, case, run_cases, skip

    @case
    def info_names_the_format():
        assert "usercorn" in ...

    run_cases()

A case passes when it returns, is skipped when it calls skip(why), and fails on
any other exception. The name of a case is its function's name with spaces.
Paths come from the environment that tests/run makes, or from where this file
is, so that a script can be started by hand. Of the environment: with TEST_TIMES each case also
tells its seconds, on the clock and on the processor with its children; TEST_CASES is a pattern of names: only those run.
"""
import fnmatch
import os
import pathlib
import sys
import time
import traceback

SRCDIR = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
TRACESTUB = os.environ.get("TRACESTUB", str(SRCDIR / "tracestub"))
DATA = SRCDIR / "tests/data"
LIMIT = 240         # seconds that anything may take: more is a hang, also on a machine that is busy with other work

# Built with AddressSanitizer? (The name of its entry is in every tracestub: "record" refuses such programs.)
IS_SANITIZED = b"__asan_report" in pathlib.Path(TRACESTUB).read_bytes()

_cases = []


class Skip(Exception):
    """Why a case cannot run here."""


def skip(why):
    raise Skip(why)


def case(function):
    add_case(function.__name__.replace("_", " "), function)
    return function


def add_case(name, function, *args):
    """One case of a table: add_case(f"{sample} walks back", walk_back, sample)."""
    _cases.append((name, function, args))


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def seconds():
    return time.monotonic(), sum(os.times()[:4])


def tell_times(since):
    clock, processor = (now - then for now, then in zip(seconds(), since))
    print(f"# {clock:.2f} s, of the processor {processor:.2f} s", flush=True)


def run_cases():
    failed = False
    cases = [c for c in _cases if fnmatch.fnmatch(c[0], os.environ.get("TEST_CASES", "*"))]
    print(f"1..{len(cases)}", flush=True)
    for n, (name, function, args) in enumerate(cases, 1):
        started = seconds()
        try:
            function(*args)
            print(f"ok {n} - {name}", flush=True)
        except Skip as why:
            print(f"ok {n} - {name} # SKIP {why}", flush=True)
        except Exception:
            failed = True
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {n} - {name}", flush=True)
        if "TEST_TIMES" in os.environ:
            tell_times(started)
    sys.exit(failed)
