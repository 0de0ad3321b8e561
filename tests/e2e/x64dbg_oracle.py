#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces in the form of x64dbg's recorders against what the recorded executions' registers were.

The truth has a line a block: thread, then the registers that changed since the line before.
"""
import gzip
import os
import pathlib
import subprocess
import tempfile

from _tap import DATA, add_case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "x64dbg-samples"
NOT_RECORDED = {"trace64": {"fs_base", "gs_base", "fop"}, "trace32": {"fs_base", "gs_base"}}


def trace(name):
    path = pathlib.Path(tempfile.mkdtemp()) / name
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.gz").read_bytes()))
    return path


def states(path):
    """(thread, registers) a position; an unknown register is not there."""
    out = subprocess.run([TOOL, "regs", path], capture_output=True, text=True, check=True).stdout
    threads = {}
    for line in out.splitlines():
        _, tid, pc, *changes = line.split()
        regs = threads.setdefault(tid, {})
        for change in changes:
            name, value = change.split("=")
            regs.pop(name, None)
            if value:
                regs[name] = int.from_bytes(bytes.fromhex(value), "little")
        yield tid, {**regs, "rip" if path.suffix == ".trace64" else "eip": int(pc, 16)}


def truth(name):
    regs = {}
    with gzip.open(SAMPLES / f"{name}.truth.gz", "rt") as file:
        for line in file:
            tid, *changes = line.split()
            regs.update((n, int(v, 16)) for n, v in (c.split("=") for c in changes))
            yield tid, regs


def compare(name, n_blocks, warning):
    path = trace(name)
    n = 0
    for position, ((tid, mine), (their_tid, theirs)) in enumerate(zip(states(path), truth(name.split(".")[0]), strict=True)):
        assert tid == their_tid, f"position {position}: thread {tid}, not {their_tid}"
        for reg, value in theirs.items():
            if reg in NOT_RECORDED[path.suffix[1:]]:
                assert reg not in mine, f"{reg} is known"
                continue
            assert mine.get(reg) == value, f"position {position}: {reg} is {mine.get(reg)}, not {value:#x}"
            n += 1
    assert position == n_blocks - 1
    print(f"# {name}: {n} register values at {n_blocks} positions, none wrong, none unknown")
    out = subprocess.run([TOOL, "info", path], capture_output=True, text=True, check=True).stdout
    print("# " + out.replace("\n", "\n# "))
    assert out.count("warning") == bool(warning) and warning in out and "damage" not in out, out


add_case("a 64-bit program", compare, "fib64.trace64", 484, "")
add_case("a 32-bit program", compare, "fib32.trace32", 470, "")
add_case("a list, with pages", compare, "list64.trace64", 4000, "")
add_case("threads without their flag", compare, "threads-flagless.trace64", 4200, "thread id has no flag")
run_cases()
