#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A crash is a stop with its signal, in both directions; an exit is told with its status, and the session goes on.

x64_crash ends with a store to address 0x10 (prog.c: `int *w = (int *)0x10; ... *w = s`), at 0x4012fc by the oracle.
"""
from _gdb import Gdb
from _recording import Recording
from _rsp import Rsp
from _sentences import END_OF_HISTORY
from _server import Server
from _tap import case, run_cases

PC, ADDR = 0x4012fc, 0x10


@case
def continue_stops_with_the_signal_where_the_instruction_failed():
    with Gdb("x64_crash") as g:
        g("continue")
        g.expect("Program received signal SIGSEGV, Segmentation fault")
        assert g.address("$pc") == PC
        g("info program")
        g.expect("stopped with signal SIGSEGV")
        assert g.value("$_siginfo.si_signo") == 11
        assert g.value("$_siginfo._sifields._sigfault.si_addr") == ADDR
        g("monitor when")
        g.expect("^fault: the last instruction did not complete, address 0x10$")
        g("continue")
        g.expect(END_OF_HISTORY)
        g("stepi")
        g.expect(END_OF_HISTORY)
        g("reverse-stepi")
        assert g.address("$pc") == PC, "the instruction that failed is the last one"
        g("stepi")
        g.expect("SIGSEGV")


@case
def for_an_lldb_that_goes_backwards_the_signal_is_a_text():
    """lldb 21 refuses to go backwards from a stop by a signal; lldb 20 is the first that sends swbreak+."""
    text = "signal SIGSEGV".encode().hex()
    for features, is_text in (("swbreak+", True), ("xmlRegisters=i386", False)):
        with Server(Recording("x64_crash").trace) as server, Rsp(server.address) as r:     # greets as lldb does
            r.ask(f"qSupported:{features}")
            stop = r.ask("c")
            assert stop.startswith("T0b") and (f"reason:exception;description:{text};" in stop) == is_text, stop
            back = r.ask("bc")
            assert "replaylog:begin" in back, back


@case
def away_from_it_there_is_no_siginfo():
    with Gdb("x64_crash") as g:
        g("print $_siginfo")
        g.expect("Unable to read siginfo|no signal with an address")


@case
def catch_signal_and_handle_do_what_they_say():
    with Gdb("x64_crash", log=True) as g:
        g("catch signal SIGSEGV")
        g("continue")
        g.expect("Catchpoint 1 .signal SIGSEGV")
        g("delete 1")
        g("monitor goto begin")
        g("maintenance flush register-cache")
        g("handle SIGSEGV nostop print")
        g("continue")
        g.expect("SIGSEGV")
        g.expect(END_OF_HISTORY)
        g("monitor goto begin")
        g("maintenance flush register-cache")
        g("handle SIGSEGV nostop noprint pass")
        g("continue")
        g.expect_not("SIGSEGV")
        g.expect(END_OF_HISTORY)
        assert "b" in g.packets("QPassSignals")[-1].split(":")[1].split(";"), "the server was told"


@case
def a_breakpoint_on_the_way_still_comes_first():
    with Gdb("x64_crash") as g:
        g(f"break *{PC:#x}")
        g("continue")
        g.expect("Breakpoint 1, ")
        g("continue")
        g.expect("Program received signal SIGSEGV")
        g("reverse-continue")
        g.expect("Breakpoint 1, ")


@case
def an_exit_is_told_and_the_process_stays():
    with Gdb("x64_walk") as g:
        g("continue")
        g.expect("^exit: the process has ended, status 21$")    # total & 0x3f, as rt_main returns it
        g.expect(END_OF_HISTORY)
        g("reverse-stepi")
        g.expect_not("exited")
        g.position()


@case
def the_siginfo_is_claimed_only_where_there_may_be_one():
    for name, is_claimed in ("x64_crash", True), ("x64_walk", False):
        with Gdb(name) as g, Rsp(g.server.address) as r:
            assert ("qXfer:siginfo:read+" in r.ask("qSupported:swbreak+")) == is_claimed
            assert (r.ask("qXfer:siginfo:read::0,100") == "") == (not is_claimed)


@case
def a_format_that_does_not_record_an_event_says_so():
    with Gdb("x64_crash") as g:
        g("monitor goto next-signal")
        g.expect("this format does not record signals")
        g("monitor goto next-gap")
        g.expect("there is no gap after position 0")


run_cases()
