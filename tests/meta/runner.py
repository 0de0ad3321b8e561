#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/run itself: small trees of fake test programs, and what it says of them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))

TAP = 'printf "1..2\\nok 1 - a\\nok 2 - b\\n"'


def run(scripts, *options):
    """Run fake tests {path: shell text}; gives (status, lines of output)."""
    tree = pathlib.Path(tempfile.mkdtemp())
    for name, text in scripts.items():
        path = tree / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name.endswith(".py") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    built = [f"tests/{name}" for name in scripts if not name.endswith(".py")]
    done = subprocess.run([sys.executable, TOP / "tests/run", "--srcdir", tree, "--builddir", tree,
                           *options, *built], capture_output=True, text=True)
    shutil.rmtree(tree)
    return done.returncode, done.stdout.splitlines()


def fails_with(shell, what, total):
    status, lines = run({"fuzz/fuzz_x": shell})
    return status == 1 and lines[-1] == total and any(what in line for line in lines)


def counts_all_kinds():
    status, lines = run({
        "unit/test_a": TAP + " >$CK_TAP_LOG_FILE_NAME; echo 'not ok - only noise on stdout'",
        "fuzz/fuzz_b": TAP,
        "e2e/c.py": "print('ok 1 - x # SKIP no gdb'); print('ok 2'); print('1..2')",
        "e2e/_helper.py": "raise SystemExit(1)",
        "meta/d.py": "print('1..0 # SKIP not here')",
    })
    return status == 0 and lines[-1] == "5 passed, 0 failed, 2 skipped" and len(lines) == 7


def failed_result_fails_and_shows_output():
    return fails_with('echo "1..2"; echo ok 1; echo not ok 2 - wrong; echo noise; exit 1', "noise",
                      "1 passed, 1 failed")


def death_by_signal_fails():
    return fails_with(f"{TAP}; kill -SEGV $$", "died by SIGSEGV", "2 passed, 1 failed")


def no_result_fails():
    return fails_with("true", "no result", "0 passed, 1 failed")


def fewer_results_than_planned_fail():
    return fails_with("echo 1..3; echo ok 1; echo ok 2", "2 results, but the plan is 3", "2 passed, 1 failed")


def missing_plan_fails():
    return fails_with("echo ok 1", "no plan", "1 passed, 1 failed")


def bad_status_without_failed_result_fails():
    return fails_with(f"{TAP}; exit 3", "exit status 3", "2 passed, 1 failed")


def sanitizer_report_fails():
    report = 'log=${ASAN_OPTIONS##*log_path=}; echo "heap-use" >${log%%:*}.77'
    return fails_with(f"{TAP}; {report}", "heap-use", "2 passed, 1 failed")


def hang_is_killed_with_its_children():
    mark = f"{time.time():.6f}"
    status, lines = run({"fuzz/fuzz_x": f"trap '' TERM; sleep 1000{mark} & echo $!; wait; wait; wait"},
                        "--timeout", "1")
    child = next(int(line) for line in lines if re.fullmatch(r"\d+", line))
    try:
        os.kill(child, 0)
        gone = mark.encode() not in pathlib.Path(f"/proc/{child}/cmdline").read_bytes()
    except (ProcessLookupError, FileNotFoundError):
        gone = True
    return status == 1 and gone and any("killed after 1 s" in line for line in lines)


def pattern_selects():
    tests = {"unit/test_a": "exit 1", "fuzz/fuzz_b": TAP}
    return (run(tests, "--only", "fuzz/*")[1][-1] == "2 passed, 0 failed"
            and run(tests, "--only", "zzz")[0] == 1)


def durations_are_printed():
    lines = run({"fuzz/fuzz_x": f"sleep 0.3; {TAP}"})[1]
    return bool(re.fullmatch(r"ok +fuzz/fuzz_x +2 passed, 0 failed  (0\.[3-9]|[1-9][0-9]*\.[0-9]) s, of the processor 0\.[01] s", lines[0]))


CASES = [counts_all_kinds, failed_result_fails_and_shows_output, death_by_signal_fails, no_result_fails,
         fewer_results_than_planned_fail, missing_plan_fails, bad_status_without_failed_result_fails,
         sanitizer_report_fails, hang_is_killed_with_its_children, pattern_selects,
         durations_are_printed]

print(f"1..{len(CASES)}")
results = [case() for case in CASES]
for n, (case, good) in enumerate(zip(CASES, results), 1):
    print(f"{'' if good else 'not '}ok {n} - {case.__name__.replace('_', ' ')}")
sys.exit(not all(results))
