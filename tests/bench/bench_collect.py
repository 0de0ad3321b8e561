#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracepoints over a finished recording: hits a second, with and without conditions and actions.

Beside it what a client reaches that stops at each hit itself, with a breakpoint and "c".
"""
import collections
import os
import pathlib
import subprocess
import sys
import time

SRCDIR = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
TRACESTUB = os.environ.get("TRACESTUB", str(SRCDIR / "tracestub"))
TRACE = SRCDIR / "tests/data/usercorn/x64_lib.ucir"
sys.path.insert(0, str(SRCDIR / "tests/e2e"))
from _rsp import Rsp    # noqa: E402

N_POINTS, N_TURNS, N_SAMPLES = 64, 5, 4000
RIP = 16

# Agent expressions: "reg 7; const8 0; less_unsigned; log_not; end" is true of any stack pointer, and so is the same of the byte
# that is on top of the stack.
TRUE_OF_REGISTER = "260007220015" "0e27"
TRUE_OF_MEMORY = "260007" "17" "220015" "0e27"
FALSE_OF_REGISTER = "2600072200" "1527"


def condition(code):
    return f":X{len(code) // 2:x},{code}" if code else ""


def action(code):
    return f"X{len(code) // 2:08X},{code}"


CASES = (
    ("nothing collected", "", ""),
    ("registers", "", "R07"),
    ("registers, 64 bytes of stack", "", "R07" + action("2600070d402927")),
    ("a condition on a register, true", TRUE_OF_REGISTER, "R07"),
    ("a condition on memory, true", TRUE_OF_MEMORY, "R07"),
    ("a condition on a register, never true", FALSE_OF_REGISTER, "R07"),
)


def hot_addresses(r, n_frames):
    counts = collections.Counter()
    for i in range(N_SAMPLES):
        r.ask(f"QTFrame:{i * n_frames // N_SAMPLES:x}")
        counts[int.from_bytes(bytes.fromhex(r.ask(f"p{RIP:x}")), "little")] += 1
    r.ask("QTFrame:ffffffff")
    return [pc for pc, _ in counts.most_common(N_POINTS)]


def status(r):
    run, *items = r.ask("qTStatus").split(";")
    return run, dict(i.split(":", 1) for i in items)


def run(r, addresses, code, collected):
    """Seconds that it takes, and how many frames there are then."""
    r.ask("QTinit")
    for n, pc in enumerate(addresses, 1):
        assert r.ask(f"QTDP:{n:x}:{pc:016x}:E:0:0{condition(code)}{'-' if collected else ''}") == "OK"
        if collected:
            assert r.ask(f"QTDP:-{n:x}:{pc:016x}:{collected}") == "OK"
    begin = time.perf_counter()
    assert r.ask("QTStart") == "OK"
    while (now := status(r))[0] == "T1":
        pass
    took = time.perf_counter() - begin
    assert now[1]["tstop"].endswith(":0"), now  # the text before it says: the end of the recording
    return took, int(now[1]["tframes"], 16)


def stop_at_each(r, addresses):
    for pc in addresses:
        r.ask(f"Z0,{pc:x},1")
    n, begin = 0, time.perf_counter()
    while "replaylog" not in r.ask("c") and time.perf_counter() - begin < 1:
        n += 1
    return n / (time.perf_counter() - begin)


def show(column, what, value):
    print("figure", "collect", column, what, value, "", "", sep="\t")


def main():
    server = subprocess.Popen([TRACESTUB, "serve", "--quiet", "--index", "none", "127.0.0.1:0", str(TRACE)], stderr=subprocess.PIPE,
                              text=True)
    try:
        address = server.stderr.readline().split()[-1]
        with Rsp(address) as r:
            n_frames = int(status(r)[1]["tframes"], 16)
            addresses = hot_addresses(r, n_frames)
            n_hits = run(r, addresses, "", "")[1]
            print("about", "collect", f"{N_POINTS} tracepoints, {n_hits} hits in {n_frames - 1} instructions, best of {N_TURNS}",
                  sep="\t")
            for what, code, collected in CASES:
                best, n = min(run(r, addresses, code, collected) for _ in range(N_TURNS))
                show("hits/s", what, n_hits / best)
                show("frames", what, n)
        with Rsp(address) as r:
            show("hits/s", "a client that stops at each", stop_at_each(r, addresses))
    finally:
        server.terminate()
        server.communicate()


main()
