#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line without a valid command: usage on stderr, status 2."""
import subprocess

from _tap import TRACESTUB, case, run_cases


def run(*args):
    return subprocess.run([TRACESTUB, *args], capture_output=True, text=True, timeout=60)


@case
def no_command_is_refused_with_the_usage_on_stderr():
    done = run()
    assert done.returncode == 2, done
    assert done.stdout == "", done
    assert "usage: tracestub" in done.stderr, done


run_cases()
