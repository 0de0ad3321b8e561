# SPDX-License-Identifier: MIT
"""gdb walks recordings from start to end and back; pc and all registers are the oracle's at each position.

A recording of more than LONG positions is walked in samples; TEST_WALK says how many are walked one by one. oracle_raw.py
compares all positions of all recordings with a raw client.
"""
import os
import pathlib
import random

from _gdb import Gdb
from _recording import recordings
from _sentences import END_OF_HISTORY
from _tap import add_case, run_cases, skip_all

LONG = int(os.environ.get("TEST_WALK", 300))
SAMPLE, N_PLACES = min(LONG, 1000), 12
HERE = pathlib.Path(__file__).resolve().parent


def walking(name):
    g = Gdb(name, env={"WALK_FOLDER": str(HERE), "WALK_RECORDING": name})
    g("set trust-readonly-sections on")     # gdb reads ARM's code anew at each step, in 35 packets
    g(f"source {HERE}/_walk.py")
    return g


def walk(g, command, first, last):
    """Returns where the walk ended: at @last, or behind it if that is a delay slot."""
    g(f"walk {command} {first} {last}", 600 + abs(last - first) / 20)
    end = int(g.expect(rf"^walked {first} to (\d+), 0 differ")[1])
    assert end in (last, last + (command == "stepi")), (first, last, end)
    return end


def walk_everything(g, last):
    walk(g, "stepi", 0, last)
    g("stepi")
    g.expect(END_OF_HISTORY)
    walk(g, "reverse-stepi", last, 0)
    g("reverse-stepi")
    g.expect(END_OF_HISTORY)


def walk_samples(g, last):
    rng = random.Random(g.recording.name)
    end = walk(g, "stepi", 0, SAMPLE)
    walk(g, "reverse-stepi", end, 0)
    for _ in range(N_PLACES):
        position = rng.randrange(20, last - 20)
        g(f"monitor goto {position}")
        g("maintenance flush register-cache")
        end = walk(g, "stepi", position, position + 10)
        walk(g, "reverse-stepi", end, position - 10)
    g("monitor goto end")
    g("maintenance flush register-cache")
    walk(g, "reverse-stepi", last, last - SAMPLE)
    walk(g, "stepi", last - SAMPLE, last)


def gdb_walks(name):
    with walking(name) as g:
        last = len(g.recording.pcs()) - 1
        if last <= LONG:
            walk_everything(g, last)
        else:
            walk_samples(g, last)


def walk_all(*names):
    """The test cases of a script."""
    if not recordings():
        skip_all("no recordings")
    for name in names:
        add_case(f"{name}: gdb walks there and back", gdb_walks, name)
    run_cases()
