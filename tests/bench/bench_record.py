#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb's own recording, `record full`, on a program of a bundled trace: how fast it records and goes back."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from os import environ

SRCDIR = Path(environ.get("TEST_SRCDIR", Path(__file__).resolve().parents[2]))
PROGRAM = SRCDIR / "tests/data/usercorn/x64_walk.elf"
N_STEPS = 5000

SCRIPT = f"""
import gdb, time
def timed(what, command):
    begin = time.perf_counter()
    gdb.execute(command, to_string=True)
    print("TIMED", what, time.perf_counter() - begin)
gdb.execute("starti", to_string=True)
gdb.execute("record full", to_string=True)
gdb.execute("set record full insn-number-max unlimited")
timed("record", "stepi {N_STEPS}")
gdb.execute("watch *(int *)($sp - 4096)", to_string=True)
timed("reverse", "reverse-continue")
"""


def main():
    if not shutil.which("gdb") or not PROGRAM.exists():
        print("record: skipped, no gdb")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/timed.py"
        Path(path).write_text(SCRIPT)
        program = shutil.copy(PROGRAM, folder)
        Path(program).chmod(0o700)
        done = subprocess.run(["gdb", "-nx", "-q", "-batch", program, "-x", path],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    times = dict(re.findall(r"TIMED (\w+) ([\d.]+)", done.stdout))
    if len(times) < 2:
        print("record: skipped, gdb cannot record here:", done.stderr.strip().splitlines()[-1:])
        return
    print("about", "record", f"gdb's own 'record full', {N_STEPS} instructions of x64_walk", sep="\t")
    for what, text in ("record", "recording"), ("reverse", "reverse-continue"):
        print("figure", "record", "gdb", f"{text}, ns a step", float(times[what]) / N_STEPS * 1e9, "", "", sep="\t")


sys.exit(main())
