#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A raw client walks every recording there and back; the whole reply to "g" is the oracle's at each position.

And `tracestub info` agrees with the oracle.
"""
import itertools
import json
import subprocess

from _raw_oracle import Expected, layout
from _recording import Recording, recordings
from _rsp import Rsp
from _server import Server
from _tap import TRACESTUB, add_case, run_cases, skip_all


BATCH = 32      # steps at once
LONG = 20000    # a longer recording is looked at everywhere forwards only


def walk(r, packet, replies, faults=(), looked=1):
    """One step in front of each position: the whole state is as expected, and it is no end of the recording. The
    stops with these ordinals are those of a memory fault (SIGSEGV), all others ordinary ones. Of the batches that are
    no multiple of @looked, only the last position is looked at."""
    k = 0
    for batch in itertools.count():
        expected = list(itertools.islice(replies, BATCH))
        if not expected:
            return
        if batch % looked:
            k += len(expected)
            found = r.ask_all([packet] * (len(expected) - 1))
            assert all(stop.startswith("T05") and "replaylog" not in stop for stop in found), (packet, k, found)
            expected = expected[-1:]
            k -= 1
        found = r.ask_all([packet, "g"] * len(expected))
        for stop, state, wanted in zip(found[::2], found[1::2], expected):
            k += 1
            assert stop.startswith("T0b" if k in faults else "T05") and "replaylog" not in stop, (packet, k, stop)
            assert state == wanted, (packet, k, state, wanted)


CRASHES = "x64_crash",      # its last instruction is a load from address 0x10 (crash.c)


def a_raw_client_walks_there_and_back(name):
    recording = Recording(name)
    with Server(recording.trace) as server, Rsp(server.address) as r:
        r.ask("qSupported:multiprocess+;swbreak+;hwbreak+")
        expected = Expected(recording, layout(r))
        replies = expected.forwards()
        assert r.ask("g") == next(replies)
        n = len(recording.pcs()) - 1
        walk(r, "s", replies, {n} if name in CRASHES else ())
        assert "replaylog:end" in r.ask("s")
        walk(r, "bs", expected.backwards(), looked=8 if n > LONG else 1)
        assert "replaylog:begin" in r.ask("bs")


def info_agrees(name):
    recording = Recording(name)
    done = subprocess.run([TRACESTUB, "info", "--json", recording.trace], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    info, pcs = json.loads(done.stdout), recording.pcs()
    assert info["format"] == "usercorn", info
    assert info["positions"] == len(pcs) - 1, (info, len(pcs))
    assert int(info["pc_first"], 16) == pcs[0] and int(info["pc_last"], 16) == pcs[-1], (info, pcs[0], pcs[-1])
    assert info["threads"] == 1 and not info["truncated"], info


if not recordings():
    skip_all("no recordings")
for sample in recordings():
    add_case(f"{sample}: info agrees with the oracle", info_agrees, sample)
    add_case(f"{sample}: a raw client walks there and back", a_raw_client_walks_there_and_back, sample)
run_cases()
