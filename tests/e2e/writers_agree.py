#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""why, last-write, history and last-change name the same step as the one that wrote a register, whatever was asked before.

All are asked of one process, about random registers, parts of registers and flags at random positions.  QUESTIONS=N asks N
of each recording, SEED=N others than usual; QUESTIONS_TRACE=FILE asks about that recording only.
"""
import json
import os
import random
import re
import subprocess

from _record import LIMIT, build, record
from _rsp import Rsp
from _server import Server
from _slice import Recorded
from _tap import DATA, TRACESTUB, add_case, case, run_cases

N = int(os.environ.get("QUESTIONS", 60))
SEED = os.environ.get("SEED", "1")
SAMPLES = ("usercorn/v2_threads.ucir", "usercorn/x64_fpu.ucir", "usercorn/arm64_walk.ucir", "gdbrecord-samples/dyn64.core.gz",
           "gdbrecord-samples/list-aarch64.core.gz", "x64dbg-samples/threads-flagless.trace64.gz",
           "text-samples/threads-x86_64.log.gz", "rvnbintrace-samples/tiny-fib.bin.gz", "programs/static/story.frames.gz")
PARTS = "al ah bl cx si dil r8d r9w eax ebx ecx edx xmm0 ymm1 w0 w8 w30 x29 v0 d0 r0 r1 sp lr".split()
FLAGS = "CF PF AF ZF SF DF OF".split()
NO_STEP = -1


class Asked:
    def __init__(self, trace):
        self.server = Server(str(trace), "--index", "none", "--quiet")
        self.rsp = Rsp(self.server.address)
        self.rsp.ask("qSupported:swbreak+;hwbreak+;xmlRegisters=i386")

    def registers(self):
        xml = Recorded.description(self, "target.xml")
        names = [n for n in Recorded.place(xml) if n not in ("rip", "eip", "pc", "cpsr")]   # why leaves T of cpsr out
        return [f"${n}" for n in names + PARTS] + (FLAGS if "eflags" in names else [])

    def answers(self, *commands):
        """The rows of each; None where the recording has no such register."""
        self.rsp.send(*("qRcmd," + c.encode().hex() for c in commands))
        for _ in commands:
            text, is_known = "", True
            while is_known and (got := self.rsp.receive()) != "OK":
                is_known = got[0] != "E"
                text += bytes.fromhex(got[1:]).decode() if is_known else ""
            yield list(rows_of(text)) if is_known else None

    def close(self):
        self.rsp.close()
        self.server.close()


def rows_of(text):
    names = []
    for line in text.splitlines():
        if line.startswith("#"):
            names = line.split()
        elif re.match(r"(\d+|-)  ", line) and names:
            yield dict(zip(names, re.split(r"\s{2,}", line.strip())))


def step(row):
    return int(row["position"]) if row.get("position", "-") != "-" else NO_STEP


def writers(why, last_write, history, last_change):
    """Where each says that the register was written last; of why, None if what it has is not a writer."""
    begun = [row for row in why if row["depth"] == "0"]
    by_why = max(map(step, begun), default=NO_STEP)
    has_no_step = any(step(row) == NO_STEP and row["kind"] not in ("start", "map") for row in begun)
    return None if has_no_step else by_why, *(max(map(step, rows), default=NO_STEP) for rows in (last_write, history, last_change))


def agree(name):
    asked, rng, wrong, n_written = Asked(DATA / name), random.Random(SEED + name), [], 0
    registers = asked.registers()
    n = int(re.search(r"of (\d+)", "".join(console(asked, "when")))[1])
    for _ in range(N):
        what, at = rng.choice(registers), rng.randrange(1, min(n, 100000) + 1)
        found = list(asked.answers(f"why {what} at {at} depth 1", f"last-write {what} at {at}", f"history {what} in 0:{at} last 1 at {at}",
                                   f"last-change {what} at {at}"))
        if None in found:
            continue
        why, last, history, changed = writers(*found)
        n_written += last != NO_STEP
        if last != history or changed > last or why not in (None, last):
            wrong.append((what, at, why, last, history, changed))
    asked.close()
    print(f"# {name}: {n_written} were written")
    assert n_written, "nothing was compared"
    assert not wrong, f"{len(wrong)} wrong, as (what, at, why, last-write, history, last-change): {wrong[:10]}"


def console(asked, command):
    asked.rsp.send("qRcmd," + command.encode().hex())
    while (got := asked.rsp.receive()) != "OK":
        yield bytes.fromhex(got[1:]).decode()


@case
def what_was_asked_before_does_not_matter():
    """The step's code is not in the recording, which lists r8 with the value that it had: of that there is no change."""
    asked = Asked(DATA / "gdbrecord-samples/dyn64.core.gz")
    _, why, last = asked.answers("history $mxcsr in 0:4659 last 1", "why $r8 at 5369 depth 1", "last-write $r8 at 5369")
    asked.close()
    assert (step(why[0]), step(last[0])) == (5235, 5235), (why, last)


@case
def a_signal_writes_registers_while_another_thread_runs():
    asked = Asked(DATA / "usercorn/v2_threads.ucir")
    why, last = asked.answers("why $sp at 7", "last-write $sp at 7")
    asked.close()
    assert [(step(row), row["kind"], row["place"]) for row in why] == [(4, "input", "$sp")], why
    assert step(last[0]) == 4, last


def rows(*words):
    done = subprocess.run([TRACESTUB, "query", "late.ucir", *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def a_call_that_returns_after_another_threads_steps_writes_its_registers(*options):
    """The result is the value that was there.  rcx and r11 are written by the call's instruction, at its own step."""
    assert record("late.ucir", build("late.c", "late"), options=options).returncode == 0
    call = [row for row in rows("events", "syscall") if row["name"] == "read" and row["result"] == "0x0"][-1]
    at, thread = call["position"], call["thread"]
    shown = rows("steps", "in", f"{at - 60000}:{at + 1}")
    own = [row for row in shown if row["thread"] == thread][-1]
    assert own["instruction"] == "syscall" and own["position"] < at - 3000 and shown[-1]["position"] == at, (own, at)
    for what, step_of in ("$rax", at), ("$ecx", own["position"]), ("$r11", own["position"]):
        found = [row["position"] for question in (f"last-write {what}", f"history {what} in 0:{at + 1} last 1", f"why {what} depth 1")
                 for row in rows(*question.split(), "thread", str(thread), "at", str(at + 1))]
        assert found == [step_of] * 3, (what, step_of, found)


add_case("a late result", a_call_that_returns_after_another_threads_steps_writes_its_registers)
add_case("a late result, with QEMU", a_call_that_returns_after_another_threads_steps_writes_its_registers, "--with", "qemu")
for sample in SAMPLES if "QUESTIONS_TRACE" not in os.environ else [os.environ["QUESTIONS_TRACE"]]:
    add_case(sample, agree, sample)
run_cases()
