#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export --as folded and chrome: the calls for flame graphs and for Perfetto, beside the emulator's own list of addresses.

A function's share of a flame graph is how often the program counter was in it, by the symbols that nm prints.
"""
import collections
import json
import pathlib
import subprocess

from _record import build, emulator, record
from _recording import Recording
from _tap import LIMIT, TRACESTUB, add_case, case, run_cases


def export(*argv, status=0):
    done = subprocess.run([TRACESTUB, "export", "--index", "none", *argv], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == status, done
    return done


def stacks(path):
    """{(function, ...): instructions}"""
    found = collections.Counter()
    for line in pathlib.Path(path).read_text().splitlines():
        stack, n = line.rsplit(" ", 1)
        assert int(n) > 0 and tuple(stack.split(";")) not in found, line
        found[tuple(stack.split(";"))] = int(n)
    return found


def functions(program, is_arm=False):
    lines = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout.splitlines()
    for addr, size, kind, name in (line.split() for line in lines if len(line.split()) == 4):
        if kind in "tTwW":      # a symbol of Thumb code is odd
            first = int(addr, 16) & ~is_arm
            yield range(first, first + int(size, 16)), name


def shares_are_how_often_the_pc_was_there(name):
    r = Recording(name)
    export(r.trace, "--exec", r.exec, "-o", "out.folded")
    found, want = collections.Counter(), collections.Counter()
    for stack, n in stacks("out.folded").items():
        found[stack[-1] if len(stack) > 1 else "_start"] += n
    table = list(functions(r.exec, r.arch == "arm"))
    pcs = r.pcs()[:-1]      # nothing is executed at the end
    for pc in pcs:
        want[next((f for addrs, f in table if pc in addrs), "_start")] += 1
    assert found == want and len(want) > 6, (found - want, want - found)


def shown(path):
    events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
    return [e for e in events if e["ph"] == "M"], [e for e in events if e["ph"] == "X"]


def are_nested(events):
    """Viewers drop an event that begins in another one and ends after it."""
    rows = collections.defaultdict(list)
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        row, end = rows[e["pid"], e["tid"]], e["ts"] + e["dur"]
        while row and row[-1] <= e["ts"]:
            row.pop()
        if row and end > row[-1]:
            return False
        row.append(end)
    return True


@case
def events_are_the_calls():
    r = Recording("x64_walk")
    export(r.trace, "--exec", r.exec, "--as", "chrome", "-o", "out.json")
    rows, events = shown("out.json")
    pcs, table = r.pcs(), list(functions(r.exec))
    assert [e["args"]["name"] for e in rows] == ["thread 1"] and are_nested(events) and len(events) > 100
    for e in events:
        begin, end = e["ts"], e["ts"] + e["dur"]
        assert pcs[begin] == int(e["args"]["address"], 16) and pcs[begin - 1] == int(e["args"]["from"], 16), e
        assert e["name"] == next(f for addrs, f in table if pcs[begin] in addrs), e
        assert e["args"]["kind"] == ("return" if end < len(pcs) - 1 else "open"), e
        if e["args"]["kind"] == "return":       # where the call comes back to: an x86 call has at most 7 bytes
            assert 0 < pcs[end] - pcs[begin - 1] <= 7, e


@case
def a_coroutine_has_a_row_of_its_own():
    emulator("x86_64")
    program = build("leaps.c", "leaps", "-O1 -g -static -fno-optimize-sibling-calls -w", "x86_64")
    assert record("leaps.ucir", program).returncode == 0
    export("leaps.ucir", "--as", "chrome", "-o", "leaps.json")
    rows, events = shown("leaps.json")
    assert are_nested(events) and {"f_turn", "main"} <= {e["name"] for e in events}
    tids = {e["name"]: e["tid"] for e in events}
    assert tids["f_turn"] != tids["main"] and len(rows) == len({e["tid"] for e in events}) > 1, rows
    export("leaps.ucir", "-o", "leaps.folded")
    said = subprocess.run([TRACESTUB, "query", "leaps.ucir", "when", "--json", "--quiet"], capture_output=True, text=True,
                          check=True).stdout
    found = stacks("leaps.folded")
    assert sum(found.values()) == json.loads(said.splitlines()[0])["positions"]
    assert all("main" not in stack for stack in found if "f_turn" in stack)


@case
def deeper_frames_are_one_and_threads_are_counted_apart():
    emulator("x86_64")
    pathlib.Path("deep.c").write_text("""
#include <pthread.h>
int deep(volatile int n) { return n ? 1 + deep(n - 1) : 0; }
void *run(void *n) { deep(*(int *)n); return 0; }
int main(void)
{
	int few = 9, many = 900;
	pthread_t thread;
	pthread_create(&thread, 0, run, &few);
	run(&many);
	return pthread_join(thread, 0);
}
""")
    subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", "deep", "deep.c"], check=True)
    assert record("deep.ucir", "./deep").returncode == 0
    done = export("deep.ucir", "-o", "deep.folded")
    found = stacks("deep.folded")
    left = sum(n for stack, n in found.items() if "..." in stack)
    assert f"warn: {left} instructions were executed below 512 calls" in done.stderr, done
    assert left > 300 and max(map(len, found)) == 514 and all("..." not in stack[:-1] for stack in found)
    depths = collections.Counter()
    for stack in found:
        depths[stack[0]] = max(depths[stack[0]], stack.count("deep"))
    assert sorted(depths.values())[0] == 10 and len(depths) == 2, depths


@case
def calls_are_those_of_the_whole_recording():
    done = export(Recording("x64_walk").trace, "-o", "out.folded", "--positions", "0:5", status=2)
    assert "--positions" in done.stderr and len(done.stderr.splitlines()) == 1, done


for recording in "x64_walk", "arm_walk", "mips_walk":
    add_case(f"shares are how often the pc was there: {recording}", shares_are_how_often_the_pc_was_there, recording)

run_cases()
