#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two gdbs on one server: each has its own position, breakpoints and end; 64 raw clients get right answers at once."""
from concurrent.futures import ThreadPoolExecutor

from _gdb import Gdb
from _recording import Recording
from _rsp import Rsp
from _sentences import END_OF_HISTORY
from _server import Server
from _tap import case, run_cases

N_CLIENTS = 64


@case
def two_gdbs_do_not_disturb_each_other():
    recording = Recording("x64_walk")
    with Server(recording.trace) as server, Gdb("x64_walk", server=server) as a, Gdb("x64_walk", server=server) as b:
        a("break bump")
        b("continue")
        b.expect(END_OF_HISTORY)
        assert a.position() == 0
        a("continue")
        a.expect(r"Breakpoint 1, bump \(by=34\)")
        at = a.position()
        assert b.position() == len(recording.pcs()) - 1
        b("reverse-continue")                   # a's breakpoint is not b's
        b.expect(END_OF_HISTORY)
        assert b.position() == 0
        for k in range(1, 20):
            b("stepi")
            a("reverse-stepi")
            assert (a.position(), b.position()) == (at - k, k)
        assert a.value("total") == 35 and b.value("total") == 0
        a("detach")
        b("stepi")
        assert b.position() == 20
        b("watch total")
        b("continue")
        b.expect("New value = 17")


@case
def a_long_run_of_one_does_not_hold_up_the_other():
    with Server(Recording("x64_lib").trace) as server, \
            Gdb("x64_lib", server=server) as a, Gdb("x64_lib", server=server) as b:
        a("set can-use-hw-watchpoints 0")
        a("watch counter if counter == 123456")     # single steps, for minutes
        a.start("continue")
        for k in range(1, 30):
            b("stepi", 10)
            assert b.position() == k
        a.interrupt()
        a.finish(10)
        a.expect("SIGINT")


@case
def clients_at_random_places_at_once():
    recording = Recording("x64_walk")
    pcs = recording.pcs()

    def walk(n):
        k = len(pcs) * n // N_CLIENTS
        with Rsp(server.address) as r:
            r.ask("qSupported:swbreak+")
            r.ask("qRcmd," + f"goto {k}".encode().hex())
            for step, packet in [(1, "s")] * 40 + [(-1, "bs")] * 60 + [(1, "s")] * 20:
                if not 0 <= k + step < len(pcs):
                    break
                k += step
                r.ask(packet)
                assert int.from_bytes(bytes.fromhex(r.ask("p10")), "little") == pcs[k], (n, k)
        return n

    with Server(recording.trace) as server, ThreadPoolExecutor(N_CLIENTS) as pool:
        assert list(pool.map(walk, range(N_CLIENTS))) == list(range(N_CLIENTS))


run_cases()
