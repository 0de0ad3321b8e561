#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor when, monitor goto; and when and goto of gdbinit, after which gdb shows the new place at once."""
from _gdb import Gdb
from _tap import SRCDIR, case, run_cases


def check(g, k):
    """All that gdb shows is of position k: pc, frame and memory."""
    assert g.position() == k
    g("when")
    g.expect(rf"position {k} of {len(g.recording.pcs()) - 1}\b")


@case
def goto_refreshes_registers_frames_and_memory():
    with Gdb("x64_walk") as g:
        g(f"source {SRCDIR}/gdbinit")
        written = g.positions("bump + 24")[0]       # behind the instruction that stores the sum
        assert g.value("total") == 0
        g(f"goto {written}")
        assert g.value("total") == 69
        check(g, written)
        g("backtrace")
        g.expect(r"#0 .*bump \(by=34\)")
        g.expect(r"#1 .*rt_main")
        g(f"goto {written - 1}")
        assert g.value("total") == 35
        g("x/wd &total")
        g.expect("35$")
        check(g, written - 1)
        g(f"goto {g.positions('*fib')[5]}")
        g("backtrace")
        g.expect(r"#0  fib \(n=")
        g("info threads")
        g.expect("fib")


@case
def goto_to_the_ends_and_to_percentages():
    with Gdb("x64_walk") as g:
        g(f"source {SRCDIR}/gdbinit")
        last = len(g.recording.pcs()) - 1
        for where, k in (("end", last), ("begin", 0), ("50%", last // 2), ("100%", last), ("0%", 0), ("7", 7)):
            g(f"goto {where}")
            check(g, k)
        g("stepi")
        check(g, 8)
        g("reverse-stepi")
        check(g, 7)


@case
def goto_nowhere_says_why_and_stays():
    with Gdb("x64_walk") as g:
        g(f"source {SRCDIR}/gdbinit")
        g("stepi 5")
        for where in "99999", "-9", "101%", "nonsense", "0x10g", "":
            g(f"goto {where}")
            g.expect("position|percentage|example: goto")
            check(g, 5)


@case
def when_and_goto_have_help_and_refuse_other_targets():
    with Gdb("x64_walk", connect=None) as g:
        g(f"source {SRCDIR}/gdbinit")
        for command in "when", "goto":
            g(f"help {command}")
            g.expect("position")
        for command in "when", "goto 3":
            g(command)
            g.expect("tracestub|recording")


@case
def monitor_commands():
    with Gdb("x64_walk") as g:
        g("monitor help")
        for command in "when", "goto", "info", "maps", "threads":
            g.expect(rf"monitor {command}\b")
        g("monitor info")
        g.expect("usercorn")
        g("monitor nonsense")
        g.expect("nonsense")
        assert g.position() == 0


run_cases()
