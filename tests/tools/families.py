#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the costly traces of tests/e2e/_hostile.py cost: seconds, memory and index for one, two and four times as much.

    tests/tools/families.py [TRACESTUB [FAMILY...]]

A factor is what four times the items take beside two times, after what the smallest trace takes (start, buffers) has been
subtracted: 2 is linear, 4 is quadratic.  Figures below a tenth of a second or 2 MB have none.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/e2e"))

import _hostile  # noqa: E402

# Items of the smallest size; the largest stays within the formats' bounds.
SIZES = {"x64_threads": 4000, "x64_sessions": 400, "x64_damage": 20000, "x64_nested": 20000, "x64_json": 120000,
         "ucir_maps": 50000, "ucir_calls": 100000, "ucir_processes": 50000, "ucir_two_tasks": 200000, "ucir_two_tasks_late": 200000,
         "ucir_syscalls": 1000000, "ucir_counts": 1000000,
         "tf_ranges": 200000, "tf_nested": 200000, "tf_lines": 80000, "tf_frames": 300000, "tf_tracepoints": 300000,
         "rvn_events": 1500000, "rvn_regions": 16000, "rvn_registers": 15000, "rvn_continued": 500000, "rvn_interrupts": 100000,
         "bap_threads": 4000, "bap_modules": 50000, "bap_operands": 100000, "text_steps": 100000,
         "tenet_gaps": 100000, "tenet_accesses": 5000, "tenet_damage": 200000, "gdb_files": 7500, "gdb_groups": 300000}


def measure(program, name, trace, out):
    """Seconds of the processor, bytes of memory at most, bytes of index."""
    before = time.monotonic()
    command = ["info"] if name.startswith("tf_") else ["index", "--index", out]    # gdb's trace files have no index
    proc = subprocess.Popen([program, *command, trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = proc.stderr.read().decode()
    _, status, used = os.wait4(proc.pid, 0)
    proc.returncode = os.waitstatus_to_exitcode(status)
    if proc.returncode:
        print(f"    status {proc.returncode} after {time.monotonic() - before:.1f} s: {said.strip().splitlines()[-1]}")
    size = out.stat().st_size if out.exists() else 0
    out.unlink(missing_ok=True)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, size


def factor(values, least):
    first, second, third = values
    return f"{(third - first) / (second - first) - 1:6.1f}" if second - first > least else "     -"


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "tracestub").resolve()
    names = sys.argv[2:] or sorted(_hostile.FAMILIES)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    print(f"{'family':20} {'items':>8} {'trace':>7}   {'seconds':^20} {'factor':6} {'MB':^20} {'factor':6} {'index, MB':^20} factor")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            n, rows, length = SIZES.get(name, 10000), [], 0
            trace, out = pathlib.Path(folder) / "trace", pathlib.Path(folder) / "index"
            for k in 1, 2, 4:
                with open(trace, "wb") as file:     # not written here: a child's peak of memory begins with its parent's
                    subprocess.run([sys.executable, _hostile.__file__, name, str(n * k)], stdout=file, check=True)
                length = length or trace.stat().st_size
                rows.append(measure(program, name, trace, out))
            seconds, memory, index = zip(*rows)
            print(f"{name:20} {n:8} {length / 1e6:7.2f}   " + " ".join(f"{t:6.2f}" for t in seconds) + factor(seconds, 0.1) + "  " +
                  " ".join(f"{m / 1e6:6.0f}" for m in memory) + factor(memory, 2e6) + "  " +
                  " ".join(f"{b / 1e6:6.2f}" for b in index) + factor(index, 1e5), flush=True)


main()
