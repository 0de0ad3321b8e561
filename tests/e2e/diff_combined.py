#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub diff` of two formats, two load addresses and two interleavings of two threads at once.

The program is made up: its steps and what they write are a function of thread and turn of it, so that the positions of what was
planted follow from the order in which this script writes the steps. UCIR version 2 has it at BASE, where a map names its file;
BAP's frames have it at OTHER_BASE, where a module load does. Then a real one, which gdb and tracers of Tenet have recorded.
"""
import json
import pathlib
import random
import subprocess

from _frames import Frames, mem, reg
from _tap import DATA as SAMPLES, TRACESTUB, add_case, case, run_cases
from _ucir2 import end, frame, jmp, keyframe, map_, step, ucir2, write
from _ucir2 import reg as ucir_reg

BASE, OTHER_BASE, LEN = 0x555555554000, 0x7f0000001000, 0x4000
DATA = 0x2000               # in the program; eight bytes a thread
N_STEPS = 3000              # of each thread: some chunks of steps
EXTRA = 0x3000              # where the program has code that B alone executes, ...
MORE = 10001                # ... and the turns of that
RBX = 37                    # as Unicorn numbers it
NOP = bytes.fromhex("0f1f4000")


class Step:
    """What step @turn of @thread does; addresses are relative to the program."""

    def __init__(self, thread, turn, pc=None):
        self.thread, self.turn = thread, turn
        self.pc = random.Random(turn << 2 | thread).randrange(1000) * 4 if pc is None else pc
        self.value = turn * 7 + thread
        self.pointer = self.pc if turn % 5 == 0 else None       # stored: an address of the program


def schedule(threads, seed):
    """The threads' steps one after the other, in turns of random lengths; each thread's own order stays."""
    rnd = random.Random(seed)
    left = {1: list(threads[1]), 2: list(threads[2])}
    order = [left[1].pop(0)]
    while left[1] or left[2]:
        thread = rnd.choice([t for t in left if left[t]])
        n = rnd.randrange(1, 40)
        order += left[thread][:n]
        left[thread] = left[thread][n:]
    return order


def write_ucir(path, order):
    ops = [keyframe(7, 1, map_(BASE, LEN, 7, b"exe", b"/opt/prog"), write(BASE, NOP * 1000), write(BASE + EXTRA, NOP * 5),
                    ucir_reg(RBX, 0), jmp(BASE + order[0].pc)),
           keyframe(7, 2, ucir_reg(RBX, 0), jmp(BASE))]
    for s in order:
        more = [ucir_reg(RBX, s.value)]
        if s.pointer is not None:
            more.append(write(BASE + DATA + 8 * s.thread, (BASE + s.pointer).to_bytes(8, "little")))
        ops.append(frame(7, s.thread, jmp(BASE + s.pc), *more, step(4)))
    path.write_bytes(ucir2("x86_64", *ops, end(0, 0)))


def write_frames(path, order):
    file = Frames(version=2, arch=9, machine=64, tracer=("qemu", "6.2.0-tracewrap"), path="/home/prog")
    file.modload("/home/prog", OTHER_BASE, OTHER_BASE + LEN - 1)
    for s in order:
        post = [reg("RBX", s.value, 8, True)]
        if s.pointer is not None:
            post.append(mem(OTHER_BASE + DATA + 8 * s.thread, (OTHER_BASE + s.pointer).to_bytes(8, "little"), True))
        file.std(OTHER_BASE + s.pc, s.thread, NOP, [], post)
    path.write_bytes(file.close())


def diff(a, b, *options):
    done = subprocess.run([TRACESTUB, "diff", a, b, "--quiet", "--json", "--all", *options], capture_output=True, text=True, timeout=60)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert not done.stderr and rows[-1] == {"complete": True, "rows": len(rows) - 1, "total": len(rows) - 1}, done
    assert done.returncode == (1 if rows[:-1] else 0), done
    return [tuple(v for k, v in r.items() if k not in ("function", "file", "line", "old_bytes", "new_bytes")) for r in rows[:-1]]


def recordings(edit=None):
    """Paths of both, and the orders in which their steps stand."""
    threads = {t: [Step(t, i) for i in range(N_STEPS)] for t in (1, 2)}
    others = {t: [Step(t, i) for i in range(N_STEPS)] for t in (1, 2)}
    if edit:
        edit(others)
    orders = schedule(threads, 1), schedule(others, 2)
    paths = pathlib.Path("prog.ucir"), pathlib.Path("prog.frames")
    write_ucir(paths[0], orders[0])
    write_frames(paths[1], orders[1])
    return paths, orders


def at(order, thread, turn):
    return next(k for k, s in enumerate(order) if (s.thread, s.turn) == (thread, turn))


@case
def the_same_execution_has_no_differences():
    (a, b), _ = recordings()
    for pair in (a, b), (b, a):
        rows = diff(*pair, "--rebase")
        assert rows == [], rows[:9]
    assert diff(a, b)[0][4] == "path"


@case
def what_was_planted_is_found_and_nothing_else():
    def edit(threads):
        threads[1][600].value = 0x1234
        threads[1][1500].pointer += 8
        threads[2][900:900] = [Step(2, MORE + i, EXTRA + 4 * i) for i in range(5)]

    (a, b), (order, other) = recordings(edit)
    inserted = at(order, 2, 900)
    first, last = at(other, 2, MORE), at(other, 2, MORE + 4)
    k, m = at(order, 1, 600), at(order, 1, 1500)
    k2, m2 = at(other, 1, 600), at(other, 1, 1500)
    place = f"{BASE + DATA + 8:#x},8"
    want = [(k, k + 1, k2, k2 + 1, "register", "$rbx", f"{600 * 7 + 1:#x}", "0x1234"),
            (m, m + 1, m2, m2 + 1, "memory", place, f"{BASE + Step(1, 1500).pc:#x}", f"{OTHER_BASE + Step(1, 1500).pc + 8:#x}"),
            (inserted, inserted, first, last + 1, "path", None, None, None)]
    rows = diff(a, b, "--rebase")
    assert rows == sorted(want), (rows[:9], sorted(want))


def a_real_program_differs_where_its_recorders_do(tracer):
    """
    gdb's replay is wrong about r8: walk64.wrong.tsv has the true values. The kernel leaves the flags in r11, and gdb stepped
    the program, with TF set. It had another process number.
    """
    a, b = SAMPLES / "gdbrecord-samples/walk64.core.gz", SAMPLES / f"tenet-samples/{tracer}-walk64.log.gz"
    rows = diff(a, b)
    wrong = [line.split("\t") for line in (SAMPLES / "gdbrecord-samples/walk64.wrong.tsv").read_text().splitlines()[1:]]
    firsts = [(int(first), f"{int(gdb, 16):#x}", f"{int(true, 16):#x}") for first, _, reg, gdb, true in wrong if reg == "r8"]
    assert len(firsts) > 10
    want = [(max(k - 1, 0), k, max(k - 1, 0), k, "register", "$r8", old, new) for k, old, new in firsts]
    assert [row for row in rows if row[5] == "$r8"] == want, rows
    done = subprocess.run([TRACESTUB, "query", a, "events", "syscall", "--json", "--quiet"], capture_output=True, text=True, timeout=60)
    calls = {(e["position"], e["name"]) for e in map(json.loads, done.stdout.splitlines()[:-1])}
    others = [row for row in rows if row[5] != "$r8"]
    assert [row[5] for row in others] == ["$r11", "$r11", "$rax"], others
    for k, end, k2, end2, kind, what, old, new in others:
        assert (k, end) == (k2, end2) == (k, k + 1) and kind == "register", others
        if what == "$r11":
            assert int(old, 16) ^ int(new, 16) == 0x100 and any(k == at for at, _ in calls), (others, calls)
        else:
            assert (k, "getpid") in calls, (others, calls)


for name in "pin", "wtf", "panda", "sogen":
    add_case(f"a real program differs where its recorders do: gdb's and {name}", a_real_program_differs_where_its_recorders_do, name)

run_cases()
