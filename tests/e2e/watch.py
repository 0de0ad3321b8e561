#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""watch: who wrote a global, forwards and backwards, with the values before and after."""
from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import case, run_cases


def smallest_of_sixteen(seed):
    """What rt_main sorts to the front of its array."""
    values = []
    for _ in range(16):
        for shift in (13, -17, 5):
            seed ^= seed << shift if shift > 0 else seed >> -shift
            seed &= 0xffffffff
        values.append(seed % 1000)
    return min(values)


# Who writes "total": add_all sums a list whose head is what was pushed last, bump adds fib(9), rt_main stores the last.
LAST = smallest_of_sixteen(3 + 12345)
WRITERS = [("add_all", v) for v in (17, 27, 32, 34, 35)] + [("bump", 69), ("rt_main", LAST)]


@case
def continue_finds_each_writer():
    with Gdb("x64_walk") as g:
        g("watch total")
        g.expect("Hardware watchpoint 1: total")
        old = 0
        for function, new in WRITERS:
            g("continue")
            g.expect(rf"Old value = {old}\nNew value = {new}\n(0x[0-9a-f]+ in )?{function} ")
            old = new
        g("continue")
        g.expect(END_OF_HISTORY)


@case
def reverse_continue_finds_each_writer():
    with Gdb("x64_walk") as g:
        g("continue")
        g.expect(END_OF_HISTORY)
        assert g.value("total") == LAST
        g("watch total")
        values = [0] + [v for _, v in WRITERS]
        for function, before, after in zip([f for f, _ in WRITERS][::-1], values[-2::-1], values[:0:-1]):
            g("reverse-continue")
            g.expect(rf"Old value = {after}\nNew value = {before}\n(0x[0-9a-f]+ in )?{function} ")
            g("x/i $pc")
            g.expect(r"mov.*<total>")       # about to be executed: that is the instruction that wrote it
        g("reverse-continue")
        g.expect(END_OF_HISTORY)


@case
def a_local_is_watched_until_its_frame_ends():
    with Gdb("x64_walk") as g:
        g("break add_all")
        g("continue")
        g("watch s")
        g("continue")
        g.expect(r"New value = 0")
        g("continue")
        g.expect(r"New value = 17")
        g("continue 4")
        g.expect(r"New value = 35")
        g("continue")
        g.expect(r"Watchpoint 2 deleted because the program has left the block in")
        g.expect(r"rt_main \(")


@case
def without_hardware_watchpoints_gdb_single_steps_to_the_same_writer():
    with Gdb("x64_walk") as g:
        g("tbreak bump")
        g("continue")
        g("set can-use-hw-watchpoints 0")
        g("watch total")
        g.expect("^Watchpoint 2: total")
        g("continue")
        g.expect(r"Old value = 35\nNew value = 69\nbump ")
        g("reverse-continue")
        g.expect(r"Old value = 69\nNew value = 35\n(0x[0-9a-f]+ in )?bump ")


@case
def other_processors_stop_right_behind_the_writer_and_right_before_it():
    """Their watchpoints trap before the access, which gdb then steps over by itself, in both directions."""
    for name, store in ("x86_walk", "mov"), ("arm_walk", "str"), ("arm64_walk", "str"), ("mips_walk", "sw"):
        with Gdb(name) as g:
            g("break fib")      # behind it bump, inlined or not
            g("watch total")
            g("continue")
            while "Breakpoint 1" not in g.text:
                g("continue")
            g("delete 1")
            g("continue")
            g.expect("New value = 69")
            behind = g.position()
            g("reverse-continue")
            g.expect("Old value = 69")
            assert g.position() == behind - 1, (name, g)
            g("x/i $pc")
            g.expect(rf"\b{store}\b")


run_cases()
