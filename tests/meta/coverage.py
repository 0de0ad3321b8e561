#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each reason for a kind of branches that no test reaches (tests/tools/coverage_reasons.txt) fits a line of the source."""
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))

done = subprocess.run([sys.executable, TOP / "tests/tools/coverage.py", "--check"], capture_output=True, text=True, check=False)
for line in (done.stdout + done.stderr).splitlines():
    print(f"# {line}")
print(f"{'not ok' if done.returncode else 'ok'} 1 - each reason for a kind of lines fits one of the source")
print("1..1")
sys.exit(done.returncode)
