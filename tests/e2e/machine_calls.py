#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls and stack of a whole machine: a kernel that is interrupted, interrupts, and switches between two processes.

The machine runs random programs, whose calls it notes as it makes them: nothing is taken from the trace. An interrupt pushes
five words on the kernel's stack, or on one of its own (as a non-maskable one), or where the stack pointer is if the kernel was
interrupted; `int 0x80` does so, and leaves the address after itself there, and `syscall` moves to the kernel's stack later.
None of them is a call, and what the kernel calls then is nested in nothing of the program. Both processes have their stack at
the same addresses.

A recording may begin anywhere. Calls that were made before are in no row and no stack; those after it are the same, and nested
in those that were seen only.
"""
import json
import os
import random
import struct
import subprocess

from _machine import KERNEL, USER, Machine
from _tap import TRACESTUB, add_case, run_cases

KERNEL_CODE = 0xffffffff81000000
USER_STACK = 0x7ffffffde000
FRAME = 5 * 8       # rip, cs, flags, rsp, ss


class Stack:
    def __init__(self, top, physical):
        self.top, self.sp, self.physical = top, top, physical
        self.calls = []         # that are open, outermost first: row, slot, return address

    def words(self, *values):
        """The memory that these words, pushed in this order, change."""
        out = {}
        for value in values:
            self.sp -= 8
            out[self.physical + (self.sp & 0xfff)] = struct.pack("<Q", value)
        return out


class Process:
    def __init__(self, i):
        self.cr3 = 0x1000 + i * 0x2000
        self.user = Stack(USER_STACK + 0xff0, 0x8000 + i * 0x4000)
        self.kernel = Stack(0xffff888000000000 + (i << 24) + 0x4ff0, 0x9000 + i * 0x4000)
        self.pc = 0x401000 + i * 0x100000
        self.interrupted = []   # pc, stack and its stack pointer, calls of the new stack then
        self.stack = self.user


class Program:
    """One random run; rows: what `calls` should say; stacks: the open calls' positions at each position.

    The recording begins after @n_before acts.
    """

    def __init__(self, seed, n_before):
        self.random = random.Random(seed)
        self.m = Machine(cr3=0x1000)
        self.processes = [Process(0), Process(1)]
        self.p = self.processes[0]
        # below the first kernel's stack, as near as a large frame
        self.nmi = Stack(self.p.kernel.top - 0x3000, 0x10000)
        self.rows, self.stacks, self.is_recording = [], [], False
        self.m.regs.update(rip=self.p.pc, rsp=self.p.stack.sp)
        for _ in range(n_before):
            self.act()
        self.begin_here()
        for _ in range(1500):
            self.act()
        self.note_stack()

    def begin_here(self):
        self.is_recording = True
        self.rows, self.stacks = [], []
        for stack in [self.nmi] + [stack for p in self.processes for stack in (p.user, p.kernel)]:
            stack.calls = [(None, slot, ret) for _, slot, ret in stack.calls]

    def note_stack(self):
        self.stacks.append([row["position"] for row, *_ in reversed(self.p.stack.calls) if row])

    def emit(self, regs, memory={}, what=None):
        """An event of the recording; before it begins, its first state."""
        if not self.is_recording:
            self.m.regs.update(regs)
            for addr, data in memory.items():
                self.m.put(addr, data)
            return
        if what:
            self.m.other(what, regs, memory)
        else:
            self.m.step(regs, memory)

    def do(self, pc, memory={}, **regs):
        """A step to @pc."""
        self.note_stack()
        self.emit({"rip": pc, "rsp": self.p.stack.sp, **regs}, memory)
        self.p.pc = pc

    @property
    def is_kernel(self):
        return self.p.stack is not self.p.user

    def next_pc(self):
        return self.p.pc + self.random.choice((1, 2, 4, 7))

    def act(self):
        r = self.random
        act = r.choices((self.plain, self.push, self.call, self.ret, self.interrupt, self.nmi_comes, self.int80, self.syscall,
                         self.back, self.switch), (20, 10, 20, 18, 4, 1, 1, 1, 12, 4))[0]
        act()

    def plain(self):
        self.do(self.next_pc())

    def push(self):
        stack = self.p.stack
        if stack.sp > stack.top - 0xc00:
            self.do(self.next_pc(), stack.words(self.random.getrandbits(64)))

    def call(self):
        stack = self.p.stack
        if stack.sp < stack.top - 0x800:
            return
        pc, ret = self.p.pc, self.next_pc() + 1
        target = (KERNEL_CODE if self.is_kernel else self.p.pc & ~0xfffff) + self.random.randrange(256) * 0x100
        row = {"position": len(self.stacks), "begin": len(self.stacks) + 1, "end": None, "kind": "open",
               "depth": 1 + sum(bool(seen) for seen, *_ in stack.calls), "pc": hex(pc), "address": hex(target)}
        self.rows.append(row)
        self.do(target, stack.words(ret))
        stack.calls.append((row, stack.sp, ret))

    def ret(self):
        stack = self.p.stack
        base = self.p.interrupted[-1][3] if self.p.interrupted else 0
        if len(stack.calls) <= base:
            return
        row, slot, ret = stack.calls[-1]
        if stack.sp != slot:
            stack.sp = slot
            self.do(self.next_pc())
        self.note_stack()
        stack.sp += 8
        self.emit({"rip": ret, "rsp": stack.sp})
        self.p.pc = ret
        stack.calls.pop()
        if row:
            row.update(end=len(self.stacks), kind="return")

    def enter(self, stack, handler, back, what):
        """Five words are pushed, aligned to 16 bytes."""
        p = self.p
        self.note_stack()
        old, old_sp = p.stack, p.stack.sp
        p.interrupted.append((back, old, old_sp, len(stack.calls)))
        stack.sp &= ~15
        memory = stack.words(0x2b, old_sp, 0x246, KERNEL if old is not p.user else USER, back)
        regs = {"rip": handler, "rsp": stack.sp}
        if old is p.user:
            regs["cs"] = KERNEL
        self.emit(regs, memory, what)
        p.stack, p.pc = stack, handler

    def interrupt(self):
        if len(self.p.interrupted) < 4:
            stack = self.p.stack if self.is_kernel else self.p.kernel
            self.enter(stack, KERNEL_CODE + 0x100000, self.p.pc, "hw interrupt 32")

    def nmi_comes(self):
        if self.p.stack is not self.nmi and self.is_kernel:
            self.nmi.sp = self.nmi.top
            self.enter(self.nmi, KERNEL_CODE + 0x110000, self.p.pc, "hw interrupt 2")

    def int80(self):
        if not self.is_kernel:
            self.enter(self.p.kernel, KERNEL_CODE + 0x120000, self.p.pc + 2, None)

    def syscall(self):
        p = self.p
        if self.is_kernel:
            return
        back = p.pc + 2
        self.do(KERNEL_CODE + 0x130000, rcx=back, cs=KERNEL)
        p.interrupted.append((back, p.stack, p.stack.sp, 0))
        self.note_stack()
        p.stack, p.pc = p.kernel, p.pc + 4
        self.emit({"rip": p.pc, "rsp": p.stack.sp})

    def back(self):
        """iret, or what comes back from syscall: when all calls since then have returned."""
        p = self.p
        if not p.interrupted or len(p.stack.calls) > p.interrupted[-1][3]:
            return
        self.note_stack()
        pc, stack, sp, _ = p.interrupted.pop()
        if stack is not p.stack:
            p.stack.sp = p.stack.top
        p.stack, p.pc, stack.sp = stack, pc, sp
        self.emit({"rip": pc, "rsp": sp, "cs": USER if stack is p.user else KERNEL})

    def switch(self):
        """The kernel goes on with the other process, in the kernel or, the first time, out of it."""
        p = self.p
        if p.stack is not p.kernel:
            return
        other = self.processes[p is self.processes[0]]
        self.do(self.next_pc(), cr3=other.cr3)
        self.note_stack()
        if other.stack is other.user:       # it never ran
            other.interrupted.append((other.pc, other.user, other.user.sp, 0))
            other.stack, other.pc = other.kernel, p.pc
            other.kernel.sp -= FRAME
        self.emit({"rip": other.pc, "rsp": other.stack.sp})
        self.p = other


def query(trace, *words):
    got = subprocess.run([TRACESTUB, "query", "--index", "none", "--json", "--quiet", trace, *words], capture_output=True, text=True)
    assert got.returncode in (0, 1), got
    rows = [json.loads(line) for line in got.stdout.splitlines()]
    assert rows[-1]["complete"], rows[-1]
    return rows[:-1]


def calls_and_stacks_are_those_that_were_made(seed, n_before):
    program = Program(seed, n_before)
    trace = program.m.save()
    try:
        got = [{key: row[key] for key in program.rows[0]} for row in query(trace, "calls")]
        for a, b in zip(got, program.rows):
            assert a == b, f"{a}, not {b}"
        assert len(got) == len(program.rows) > 100, (len(got), len(program.rows))
        assert {"return", "open"} >= {row["kind"] for row in got}
        for p in sorted(random.Random(seed).sample(range(len(program.stacks)), 12)):
            assert [row["position"] for row in query(trace, "stack", "at", str(p))] == [p] + program.stacks[p], p
    finally:
        os.unlink(trace)


for _seed in range(6):
    add_case(f"calls and stacks of machine {_seed} are those that were made", calls_and_stacks_are_those_that_were_made, _seed, 0)
for _seed in range(6, 12):
    add_case(f"the same of machine {_seed}, whose recording begins inside of calls", calls_and_stacks_are_those_that_were_made, _seed,
             100 * _seed)
run_cases()
