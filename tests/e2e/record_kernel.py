#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory that the kernel takes away or changes through a file: the recording holds what the program prints of it, and nothing is
unexplained; bytes that read() left as they were count as written."""
import json
import re
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, add_case, case, run_cases


def ask(*words):
    done = subprocess.run([TRACESTUB, "query", "kernel.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def what_the_kernel_changed(*options):
    done = record("kernel.ucir", build("kernel_memory.c", "kernel_memory"), options=options)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 11 and "unexplained 0" in done.stderr, done
    out = [w for w in ask("events", "syscall") if w["name"] == "write" and w["arguments"][0] == "0x1"]
    assert len(out) == 2 * len(lines), out
    asked = [w for k in range(len(lines)) for w in ("-ex", f"goto {out[2 * k]['position']}", "-ex", f"x/32xb {lines[k][1]}")]
    shown = subprocess.run([TRACESTUB, "gdb", "kernel.ucir", "--", "-batch", *asked], capture_output=True, text=True,
                           timeout=LIMIT).stdout
    rows = ["".join(re.findall(r"\t0x(..)", line)) for line in shown.splitlines() if "\t0x" in line]
    held = ["".join(rows[i:i + 4]) for i in range(0, len(rows), 4)]
    assert held == [found for *_, found in lines], list(zip(lines, held))


add_case("what the kernel changed", what_the_kernel_changed)
add_case("what the kernel changed, with QEMU", what_the_kernel_changed, "--with", "qemu")


@case
def the_same_value_is_a_write():
    done = record("kernel.ucir", build("kernel_memory.c", "kernel_memory"))
    addr = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("same ")][0]
    rows = ask("history", f"{addr},4")
    reads = {e["position"] for e in ask("events", "syscall") if e["name"] == "read"}
    assert any(r["position"] in reads and r["old"] == r["new"] == "0x7a7a7a7a" for r in rows), rows


run_cases()
