#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tfind over a recording that no tracepoint has made: trace frame k is position k."""
from _gdb import Gdb
from _tap import SRCDIR, case, run_cases


def frame(g):
    return g.value("$trace_frame")


@case
def frame_k_is_position_k_and_the_session_stays_where_it_is():
    with Gdb("x64_walk") as g:
        pcs = g.recording.pcs()
        g("stepi 7")
        g("tstatus")
        g.expect(f"Collected {len(pcs)} trace frames")
        for k in (0, 1234, len(pcs) - 1, 1, 5000):
            g(f"tfind {k}")
            g.expect(f"Found trace frame {k}, tracepoint 1")
            assert g.address("$pc") == pcs[k]
            g("monitor when")
            g.expect("position 7 of")
        g(f"tfind {len(pcs)}")
        g.expect("failed to find")
        g("tfind end")
        g.expect("No longer looking at any trace frame")
        assert g.position() == 7
        g("stepi")
        assert g.position() == 8


@case
def registers_and_memory_are_those_of_the_frame():
    with Gdb("x64_walk") as g:
        names = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip"]
        values = None
        for k, (pc, changed) in enumerate(g.recording.oracle()):
            values = {**(values or {}), **changed}
            if k % 1500 == 3:
                g(f"tfind {k}")
                assert g.address("$pc") == pc
                for name in names[:-1]:
                    assert g.address(f"${name}") == values[name], (k, name)
        bump = g.positions("bump")[0]
        g(f"tfind {bump}")
        assert g.value("total") == 35
        g("tfind end")
        assert g.value("total") == 0


@case
def every_form_finds_what_the_oracle_has_next():
    with Gdb("x64_walk") as g:
        pcs = g.recording.pcs()
        fib = g.address("&fib")
        end = fib + 0x3c

        def expected(at, holds):
            return next((k for k in range(at + 1, len(pcs)) if holds(pcs[k])), None)

        for start in (0, 1000, 1010, 6000):
            for command, holds in ((f"pc {fib}", lambda pc: pc == fib),
                                   (f"range {fib}, {end}", lambda pc: fib <= pc <= end),
                                   (f"outside {fib}, {end}", lambda pc: not fib <= pc <= end),
                                   ("tracepoint 1", lambda pc: True),
                                   ("", lambda pc: True)):
                g(f"tfind {start}")
                g(f"tfind {command}")
                k = expected(start, holds)
                assert frame(g) == (start if k is None else k), (start, command, g.text)
        g("tfind 1010")
        g("tfind -")
        assert frame(g) == 1009
        g("tfind start")
        assert frame(g) == 0
        g("tfind line fib")
        assert fib <= pcs[frame(g)] <= end
        g("tfind none")
        assert frame(g) == -1


@case
def goto_frame_makes_it_the_live_position():
    with Gdb("x64_walk") as g:
        g(f"source {SRCDIR}/gdbinit")
        g("tfind pc bump")
        k = frame(g)
        g("reverse-stepi")
        g.expect("Cannot execute this command while looking at trace frames")
        g("goto frame")
        assert g.position() == k and frame(g) == -1
        g("reverse-stepi")
        assert g.position() == k - 1
        g("goto frame")
        g.expect("no trace frame is selected")
        assert g.position() == k - 1


@case
def stepping_asks_nothing_more_than_without_tracepoints():
    with Gdb("x64_walk", log=True) as g:
        n = len(g.packets("qTStatus"))
        for command in "stepi", "reverse-stepi", "next", "break fib", "continue", "reverse-continue":
            g(command)
        assert len(g.packets("qTStatus")) == n
        assert not g.packets("QT"), g.packets("QT")


run_cases()
