#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gdb's recordings and Tenet's logs cost without tracestub: gdb's `record goto` in its own file, and a plain reader of lines.

Beside them, of bench_formats: "indexing", and "registers, p50", which is a jump to any position.
"""
import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from os import environ
from pathlib import Path

DATA = Path(environ.get("TEST_SRCDIR", Path(__file__).resolve().parents[2])) / "tests/data"
N_STEPS, N_JUMPS, N_COPIES = 2301, 20, 20

SCRIPT = f"""
import gdb, time
gdb.execute("record full restore walk64.core", to_string=True)
begin = time.process_time()
for _ in range({N_JUMPS}):
    gdb.execute("record goto end", to_string=True)
    gdb.execute("record goto begin", to_string=True)
print("TIMED", (time.process_time() - begin) / {2 * N_JUMPS})
"""


def figure(name, value):
    print("figure", "naive", "others", name, value, "", "", sep="\t")


def goto():
    """Processor seconds that gdb needs to go from one end to the other."""
    if not shutil.which("gdb"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "walk64.core").write_bytes(gzip.decompress((DATA / "gdbrecord-samples/walk64.core.gz").read_bytes()))
        Path(folder, "timed.py").write_text(SCRIPT)
        done = subprocess.run(["gdb", "-nx", "-q", "-batch", DATA / "gdbrecord-samples/walk64", "-x", "timed.py"], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    times = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("TIMED")]
    return float(times[0]) if times else None


def read_log(text):
    """The state after each line, as a script would keep it; only the last one remains."""
    state = {}
    for line in text.splitlines():
        for item in line.split(","):
            name, _, value = item.partition("=")
            if name in ("mr", "mw", "mrw"):
                for access in value.split(";"):
                    addr, data = access.split(":")
                    state[int(addr, 16)] = bytes.fromhex(data)
            elif value:
                state[name] = int(value, 16)


def main():
    print("about", "naive", "gdb's recordings and Tenet's logs without tracestub", sep="\t")
    seconds = goto()
    if seconds:
        figure("gdb: record goto over 2,301 steps, us", seconds * 1e6)
        figure("gdb: record goto, million steps/s", N_STEPS / seconds / 1e6)
    text = gzip.decompress((DATA / "tenet-samples/wtf-walk64.log.gz").read_bytes()).decode() * N_COPIES
    begin = time.process_time()
    read_log(text)
    figure("tenet: lines by a script, million/s", text.count("\n") / (time.process_time() - begin) / 1e6)


sys.exit(main())
