#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reverse-next: back over calls, to the beginning of the line before."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def reverse_next_goes_back_over_109_calls_of_fib():
    with Gdb("x64_walk") as g:
        after, line = g.recording.line("u32 seed=argc+12345"), g.recording.line("bump(fib(9))")
        g(f"tbreak walk.c:{after}")
        g("continue")
        end = g.position()
        g("reverse-next")
        g.expect(rf"^{line}\s+bump\(fib\(9\)\);")
        start = g.position()
        assert [start] == g.positions("'walk.c'::rt_main + 80"), start
        fib = [k for k in g.positions("*fib") if start < k < end]
        assert len(fib) == 109, len(fib)
        g("next")
        assert g.position() == end


@case
def reverse_next_at_the_first_line_of_a_function_goes_to_its_caller():
    with Gdb("x64_walk") as g:
        g("break bump")
        g("continue")
        g("reverse-next")
        g.expect(r"rt_main \(argc=3")
        assert g.position() == g.positions("rt_main + 80")[0]


run_cases()
