#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording is asked while the server still reads it: runs wait at the edge, can be interrupted, and get there."""
import os
import re
import time

from _long import FRAMES, LOOPS, MARK, N, SLOW, SLOW_N, START, STEPS, TRACE, make_slow, run_cases_on_long
from _rsp import Rsp
from _server import Server
from _tap import case


def position(r):
    """The session's position and the last position; None while that is unknown."""
    r.send("qRcmd," + b"when".hex())
    text = ""
    while (reply := r.receive()) and reply != "OK":
        text += bytes.fromhex(reply.removeprefix("O")).decode()
        if not reply.startswith("O"):
            break
    found = re.search(r"position (\d+)(?: of (\d+))?", text)
    assert found[2] or "read so far" in text, text
    return int(found[1]), found[2] and int(found[2])


@case
def a_watchpoint_that_is_not_read_yet_is_waited_for():
    with Server(SLOW, "--index", "none") as server, Rsp(server.address) as r:
        assert len(r.ask("g")) > 100
        assert r.ask(f"Z2,{MARK:x},8") == "OK"
        reply = r.ask("c")
        assert f"watch:{MARK:x};" in reply, reply
        assert position(r) == (SLOW_N, SLOW_N)
        assert r.ask("bc").startswith(f"T05watch:{MARK:x};")
        assert position(r) == (SLOW_N - 1, SLOW_N)
        assert "replaylog:begin" in r.ask("bc")


@case
def a_run_that_waits_is_interrupted_and_goes_on():
    with Server(SLOW, "--index", "none") as server, Rsp(server.address) as r:
        r.send("c")
        r.socket.sendall(b"\x03")
        while (reply := r.receive()).startswith("O"):
            pass
        assert reply.startswith("T02") or "replaylog:end" in reply, reply
        pos, last = position(r)
        assert pos <= SLOW_N and last in (None, SLOW_N)
        assert "replaylog:end" in r.ask("c")
        assert position(r) == (SLOW_N, SLOW_N)


@case
def steps_go_over_the_edge():
    with Server(SLOW, "--index", "none") as server, Rsp(server.address) as r:
        r.ask("qRcmd," + b"goto 1048570".hex())     # the first edge is at 2**20
        pos, _ = position(r)
        for i in range(1, 4):
            reply = r.ask("s")
            assert reply.startswith("T05"), reply
            assert position(r)[0] == min(pos + i, SLOW_N)
        assert r.ask(f"vCont;r{START:x},{START + STEPS:x}:1;c").startswith("T05")
        assert r.ask("bs").startswith("T05")


def ask_for_tracepoints(r):
    r.ask("QTinit")
    assert r.ask(f"QTDP:1:{START:x}:E:0:0-") == "OK"
    assert r.ask("QTDP:-1:%x:RFFFFFF" % START) == "OK"
    assert r.ask(f"QTBuffer:size:{1 << 40:x}") == "OK"


@case
def tracepoints_that_wait_are_interrupted():
    with Server(SLOW, "--index", "none") as server, Rsp(server.address) as r:
        ask_for_tracepoints(r)
        r.send("QTStart")
        r.socket.sendall(b"\x03")
        r.send("qTStatus")
        assert r.receive() == "OK"
        status = r.receive()
        assert status.startswith("T0;tstop:") and "tframes:0;" in status, status
        assert r.ask("QTStart") == "OK"
        assert r.ask("qTStatus").startswith("T1;")
        assert r.ask("QTStop") == "OK"
        assert r.ask("qTStatus").startswith("T0;tstop:")


@case
def tracepoints_over_all_of_it_wait_until_it_has_been_read():
    with Server(TRACE, "--index", "none") as server, Rsp(server.address) as r:
        ask_for_tracepoints(r)
        assert r.ask("QTStart") == "OK"
        while "T0" not in (status := r.ask("qTStatus")):
            assert status.startswith("T1;"), status
            assert "tnotrun:0" in status or "tframes" in status, status
            notes = bytes.fromhex(re.search("notes:([0-9a-f]*)", status)[1]).decode()
            assert re.search("has been read(; read so far: [0-9]+ %)?$|collecting, position", notes), notes
            time.sleep(0.05)
        assert f"tframes:{LOOPS * FRAMES + 1:x};" in status, status
        assert position(r)[1] == N
        assert r.ask(f"QTFrame:{LOOPS * FRAMES:x}") == f"F{LOOPS * FRAMES:x}T1"


@case
def the_index_of_a_server_that_read_all_is_used_by_the_next():
    with Server(SLOW) as server, Rsp(server.address) as r:
        r.ask("c")
        assert position(r) == (SLOW_N, SLOW_N)
    assert os.path.exists(f"{SLOW}.tsindex")
    with Server(SLOW) as server, Rsp(server.address) as r:
        assert position(r) == (0, SLOW_N), "nothing is left to be read"


@case
def a_server_that_ends_early_leaves_what_it_read():
    os.remove(f"{SLOW}.tsindex")
    with Server(SLOW) as server, Rsp(server.address) as r:
        position(r)
    left = [name for name in os.listdir(".") if name.startswith(f"{SLOW}.tsindex")]
    assert len(left) == 1, left
    with Server(SLOW) as server, Rsp(server.address) as r:
        r.ask("c")
        assert position(r) == (SLOW_N, SLOW_N)


run_cases_on_long(make_slow)
