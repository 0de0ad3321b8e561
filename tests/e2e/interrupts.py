#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Interrupts and exceptions of a machine are events, which goto and info find.

    position  pc       instruction
    0         0x1000   nop
    1         0x1001   a page fault
    2         0x2000   iretq
    3         0x1001   nop
    4         0x1002   a hardware interrupt
    5         0x2000   iretq
    6         0x1002   nop
"""
import json
import os
import re
import subprocess
import tempfile

from _machine import KERNEL, USER, Machine, Session
from _tap import SRCDIR, TRACESTUB, case, run_cases


def make():
    m = Machine(cr0=1)      # addresses are physical
    m.put(0x1000, b"\x90" * 4)
    m.put(0x2000, b"\x48\xcf")
    m.regs["rip"] = 0x1000
    m.step({"rip": 0x1001})
    for pc, what in (0x1001, "page fault"), (0x1002, "hw interrupt 32"):
        m.other(what, {"rip": 0x2000, "cs": KERNEL}, {0x3000: what.encode()})
        m.step({"rip": pc, "cs": USER})
        m.step({"rip": pc + 1})
    return m


def go(g, where):
    """What "when" says there."""
    g(f"goto {where}")
    return g("when")


@case
def goto_finds_interrupts_in_both_directions():
    with Session(make()) as g:
        g(f"source {SRCDIR}/gdbinit")
        assert re.search("position 1 of 7.*pc 0x1001\ninterrupt: page fault", go(g, "next-interrupt")), g.text
        g("stepi")
        g.expect("0x0*2000 in")
        g("x/s 0x3000")
        g.expect("page fault")
        assert re.search("position 4 of 7.*\ninterrupt: hw interrupt 32", go(g, "next-interrupt")), g.text
        assert "position 1 of 7" in go(g, "previous-interrupt"), g.text
        g("monitor goto previous-interrupt")
        g.expect("there is no interrupt before position 1")
        assert "interrupt" not in go(g, "3"), g.text


@case
def an_index_file_brings_them_back():
    with tempfile.TemporaryDirectory() as folder:
        options = "--index", f"{folder}/index"
        trace = make().save()
        subprocess.run([TRACESTUB, "index", trace, *options], check=True, capture_output=True)
        text = subprocess.run([TRACESTUB, "info", trace, *options], check=True, capture_output=True, text=True).stdout
        assert re.search("^interrupts +2$", text, re.M), text
        os.unlink(trace)


@case
def info_counts_them():
    trace = make().save()
    facts = json.loads(subprocess.run([TRACESTUB, "info", "--json", "--index", "none", trace], check=True, capture_output=True).stdout)
    assert facts["interrupts"] == 2 and facts["format"] == "rvnbintrace", facts
    os.unlink(trace)


run_cases()
