#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""^C stops a run that would take minutes, where nothing was missed; others are served meanwhile.

What is promised is 100 ms.  A busy machine may take longer, so that more than two seconds fail.
"""
import re
import statistics
import time

from _raw import HOT_PC, LONG_TRACE, Quiet, serve, slow_condition
from _tap import add_case, case, run_cases

N = 211384
TOO_LONG = 2


def position(r):
    return int(re.search(r"\d+", r.position())[0])


def interrupt(r):
    """The reply to ^C, and how long it took."""
    started = time.monotonic()
    r.put(b"\x03")
    return r.receive(), time.monotonic() - started


def is_interrupted(command, start):
    with serve(LONG_TRACE) as server, Quiet(server.address) as r, Quiet(server.address) as other:
        r.go(start)
        assert r.ask(f"Z0,{HOT_PC},1" + slow_condition()) == "OK"
        times, here = [], start
        for _ in range(3):
            r.send(command)
            assert not r.has_something(), r.data
            for _ in range(10):
                asked = time.monotonic()
                assert other.ask("g") != ""
                times.append(time.monotonic() - asked)
            reply, took = interrupt(r)
            assert reply.startswith("T02"), reply
            assert "replaylog" not in reply and "swbreak" not in reply
            assert took < TOO_LONG, took
            there = position(r)
            assert there < here if command == "bc" else there > here, (here, there)
            here = there
        assert statistics.median(times) < TOO_LONG, times
        # where it stopped is a place like any other
        r.ask(f"z0,{HOT_PC},1")
        assert r.ask("s").startswith("T05") and r.ask("bs").startswith("T05")
        assert position(r) == here


add_case("forwards", is_interrupted, "c", 0)
add_case("backwards", is_interrupted, "bc", N)
add_case("vCont", is_interrupted, "vCont;c", 0)


@case
def an_interrupted_run_goes_on_to_the_stop_that_it_was_on_its_way_to():
    """A breakpoint behind some thousand hits of the hot one; interrupted on the way there again and again."""
    condition = ";X3,220027"
    with serve(LONG_TRACE) as server:
        with Quiet(server.address) as r:
            r.ask("Z2,40c140,8")
            right = r.ask("c")
            assert "watch" in right
            where = position(r)
        with Quiet(server.address) as r:
            r.ask("Z2,40c140,8")
            r.ask(f"Z0,{HOT_PC},1{condition}")
            for n in range(100000):
                r.send("c")
                reply = interrupt(r)[0]
                assert position(r) <= where
                if not reply.startswith("T02"):
                    break
                r.ask("qfThreadInfo")
            assert reply == right
            assert position(r) == where


@case
def all_of_many_long_runs_are_interrupted():
    with serve(LONG_TRACE) as server:
        clients = [Quiet(server.address) for _ in range(32)]
        for r in clients:
            r.run_long()
        with Quiet(server.address) as other:
            assert other.ask("s").startswith("T05")
        assert not clients[-1].has_something()
        for r in clients:
            reply, took = interrupt(r)
            assert reply.startswith("T02")
            assert took < TOO_LONG, took
        for r in clients:
            r.close()


@case
def a_range_step_is_interrupted():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.ask(f"Z0,{HOT_PC},1" + slow_condition())
        r.send("vCont;r0,ffffffffffffffff")
        assert not r.has_something(), r.data
        reply, took = interrupt(r)
        assert reply.startswith("T02") and took < TOO_LONG, (reply, took)
        assert 0 < position(r) < N


run_cases()
