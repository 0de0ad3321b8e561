#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info threads, thread, info inferiors: one thread, which says where in the recording it stands."""
from _gdb import Gdb
from _tap import case, run_cases


@case
def one_thread_with_its_position():
    with Gdb("x64_walk") as g:
        last = len(g.recording.pcs()) - 1
        g("stepi 123")
        g("info threads")
        g.expect(rf"^\* 1 +Thread .*123.*{last}")
        g("thread 1")
        g.expect(r"\[Switching to thread 1")
        g("thread apply all backtrace 1")
        g.expect("#0 ")
        g("info inferiors")
        g.expect(r"^\* 1 +(process|Remote)")


run_cases()
