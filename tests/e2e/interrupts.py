#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A whole machine in gdb: user code, interrupts, and a page that moves to another frame."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from _server import Server
from _tap import SRCDIR, TRACESTUB, case, run_cases, skip_all

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/machine_trace"
GDB = shutil.which("gdb-multiarch") or shutil.which("gdb")


def trace(levels=4):
    path = f"{tempfile.mkdtemp()}/trace.bin"
    subprocess.run([TOOL, str(levels), path], check=True)
    return path


def session(*commands, path=None, options=()):
    """What gdb prints for each command."""
    with Server(path or trace(), "--quiet", *options) as server:
        argv = [GDB, "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", "set confirm off", "-ex", f"target remote {server.address}",
                "-ex", f"source {SRCDIR}/gdbinit"]
        for command in commands:
            argv += ["-ex", "echo \\n----\\n", "-ex", command]
        run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    found = [part.strip() for part in run.stdout.split("\n----\n")[1:]]
    assert len(found) == len(commands), run.stdout
    return found


def expect(found, patterns):
    for text, pattern in zip(found, patterns, strict=True):
        assert re.search(pattern, text), f"expected {pattern!r}, got {text!r} in {found}"


@case
def user_code_is_disassembled_and_stepped():
    expect(session("x/3i $pc", "stepi", "stepi", "stepi", "print/x $cs", "info registers cr3"),
           ["inc +%rax(.|\n)*mov +%eax,0x600000(.|\n)*jmp +0x401000", "0x0*401003", "0x0*40100a", "0x0*401000", "= 0x33",
            r"cr3 +0x[0-9a-f]+05"])


@case
def a_step_passes_through_an_interrupt():
    # position 13 is the store of round 5, which faults
    expect(session("break *0x401003 if $rax == 5", "continue", "stepi", "print/x $cs", "print/x $cr2", "stepi", "stepi",
                   "print *(int *) 0x600000", "stepi", "print *(int *) 0x600000", "reverse-stepi", "reverse-stepi", "reverse-stepi",
                   "reverse-stepi", "when"),
           ["Breakpoint 1", "Breakpoint 1, 0x0*401003", "0xffffffff80001000", "= 0x10", "= 0x600000", "0xffffffff80001001", "0x0*401003",
            "= 4", "0x0*40100a", "= 5", "0x0*401003", "0xffffffff80001001", "0xffffffff80001000", "0x0*401003",
            "position 13 (.|\n)*interrupt: page fault"])


@case
def interrupts_are_found_in_both_directions():
    expect(session("goto next-interrupt", "when", "goto next-interrupt", "when", "monitor goto next-interrupt",
                   "goto previous-interrupt", "when"),
           ["0x0*401003", "position 13 (.|\n)*interrupt: page fault", "0x0*401000", "interrupt: hw interrupt 32",
            "there is no interrupt after position 27", "0x0*401003", "interrupt: page fault"])


@case
def info_counts_interrupts():
    path = trace()
    text = subprocess.run([TRACESTUB, "info", path], capture_output=True, text=True, check=True).stdout
    assert re.search("^interrupts +2$", text, re.M), text
    facts = json.loads(subprocess.run([TRACESTUB, "info", "--json", path], capture_output=True, check=True).stdout)
    assert facts["interrupts"] == 2 and facts["format"] == "rvnbintrace", facts


@case
def a_watch_goes_back_over_the_move_of_its_page():
    for levels in 4, 5:
        expect(session("goto end", "watch *(int *) 0x600000", *["reverse-continue"] * 9, path=trace(levels)),
               ["0x0*401000", "Hardware watchpoint"] + [rf"Old value = {n}\nNew value = {n - 1}\n" for n in range(12, 3, -1)])


@case
def a_watch_goes_forwards_over_the_move_of_its_page():
    expect(session("watch *(int *) 0x600000", *["continue"] * 7),
           ["Hardware watchpoint"] + [rf"Old value = {n}\nNew value = {n + 1}\n" for n in range(7)])


@case
def an_index_file_brings_interrupts_and_memory_back():
    path = trace()
    options = "--index", f"{path}.kept"
    subprocess.run([TRACESTUB, "index", path, *options], capture_output=True, check=True)
    assert os.path.exists(f"{path}.kept")
    expect(session("goto next-interrupt", "when", "print *(int *) 0x600000", "x/i 0xffffffff80001001", path=path, options=options),
           ["0x0*401003", "interrupt: page fault", "= 4", "iretq"])


@case
def a_filter_leaves_the_kernel_out():
    # the store that faulted, then the store
    expect(session("monitor filter user", "break *0x401003 if $rax == 5", "continue", "stepi", "stepi", "print *(int *) 0x600000"),
           ["", "Breakpoint", "0x0*401003", "0x0*401003", "0x0*40100a", "= 5"])


if not GDB:
    skip_all("no gdb")
run_cases()
