#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`hot blocks` and `hot loops` beside a naive twin: all steps one by one, loops by what reaches what."""
import collections
import re

from _forms import json_lines, query
from _tap import DATA, add_case, case, run_cases

TRACES = {
    "usercorn": ("x86", DATA / "usercorn/x64_walk.ucir"),
    "threads": ("mips", DATA / "text/threads"),
    "i386": ("x86", DATA / "usercorn/x86_walk.ucir"),
    "AArch64": ("arm64", DATA / "usercorn/arm64_walk.ucir"),
    "MIPS": ("mips", DATA / "usercorn/mips_walk.ucir"),
    "x64dbg": ("x86", DATA / "x64dbg-samples/fib64.trace64.gz"),
    "bap": ("x86", DATA / "bap-samples/tw-x86_64.frames.gz"),
    "rvnbintrace": ("x86", DATA / "rvnbintrace-samples/tiny-fib.bin.gz"),
    "tenet": ("x86", DATA / "tenet-samples/wtf-walk64.log.gz"),
    "tfile": ("x86", DATA / "tfile-samples/work-regs.tf"),
}

# Of an instruction's text, as the processors' manuals name them: the first that matches.
FLOWS = {
    "x86": [(r"(rep\w* |bnd |notrack )*jmp\b", "jump"), (r"(bnd |notrack )*call\b", "call"), (r"(rep\w* |bnd )*i?ret", "return"),
            (r"(bnd )?j\w+|loop", "jump")],
    "arm64": [(r"blr? ", "call"), (r"ret", "return"), (r"(b|b\.\w+|cbn?z|tbn?z|br)\b", "jump")],
    "mips": [(r"(jalr?|bal|bgezal|bltzal)\b", "call"), (r"jr\s+\$ra", "return"), (r"(j|jr|b(eq|ne|gt|lt|ge|le|al)?\w*)\b(?<!break)", "jump")],
}


def flow_of(arch, text):
    if not text:
        return None
    return next((flow for pattern, flow in FLOWS[arch] if re.match(pattern, text)), "next")


class Twin:
    """Counts of addresses, passages from one instruction to the next of its thread, and what came from nowhere."""

    def __init__(self, arch, trace, words=()):
        rows, end = json_lines(query(trace, " ".join(["steps", *words]), "--json").stdout)
        self.steps, self.len, self.flow = collections.Counter(), {}, {}
        self.passages, self.entered, last = collections.Counter(), collections.Counter(), {}
        for row in rows:
            pc, thread, text = int(row["pc"], 16), row["thread"].text, row["instruction"]
            self.steps[pc] += 1
            self.len[pc] = int(row["length"].text) if row["length"] else 0
            self.flow[pc] = flow_of(arch, text)
            if thread in last:
                self.passages[last[thread], pc] += 1
            else:
                self.entered[pc] += 1
            last[thread] = pc
        self.n = len(rows)
        if arch == "mips":
            self.branches = {pc for pc in self.flow if pc + 4 in self.flow and self.flow[pc] != "next"}
            self.flow = {pc: self.flow[pc - 4] if self.flow.get(pc - 4, "next") not in ("next", None) else flow
                         for pc, flow in self.flow.items()}
        self.is_mips = arch == "mips"
        self.make_blocks()

    def is_left(self, pc, to):
        """Is the passage a transfer of control?"""
        if self.is_mips and pc in self.branches and to == pc + 4:
            return False                    # to its delay slot
        return self.flow[pc] not in ("next", None) or (self.flow[pc] is None and to != pc + self.len[pc])

    def has_unknown(self):
        """Are there transfers by instructions that nothing tells?"""
        return any(self.flow[pc] is None and to != pc + self.len[pc] for pc, to in self.passages)

    def make_blocks(self):
        left = {pc for pc, to in self.passages if self.is_left(pc, to)}
        targets = {to for pc, to in self.passages if self.is_left(pc, to)}
        left |= {pc for pc in self.steps if self.flow[pc] not in ("next", None) and not (self.is_mips and pc in self.branches)}
        self.blocks, self.block_of = [], {}
        for pc in sorted(self.steps):
            last = self.blocks[-1][-1] if self.blocks else None
            if last is None or last in left or pc in targets or last + self.len[last] != pc or not self.len[last]:
                self.blocks.append([])
            self.blocks[-1].append(pc)
            self.block_of[pc] = len(self.blocks) - 1

    def block_rows(self):
        return sorted(((sum(self.steps[pc] for pc in b), -b[0], len(b), self.steps[b[0]], b[-1] + self.len[b[-1]] - b[0])
                       for b in self.blocks), reverse=True)

    def edges(self):
        """(from or None, to): how often."""
        edges = collections.Counter({(None, self.block_of[pc]): n for pc, n in self.entered.items()})
        for (pc, to), n in self.passages.items():
            a, b, flow = self.block_of[pc], self.block_of[to], self.flow[pc]
            if not self.is_left(pc, to):
                flow = "next"
            is_next = to == pc + self.len[pc]
            if flow == "return":
                before = self.blocks[b - 1] if b else [None]
                calls = before[-1] is not None and before[-1] + self.len[before[-1]] == to and self.flow[before[-1]] == "call"
                edges[(b - 1 if calls else None, b)] += n
            elif flow == "call" and not is_next:
                edges[(None, b)] += n
            elif flow == "next" and not is_next:
                if self.blocks[b][0] == to and pc != to:
                    edges[(None, b)] += n
            elif flow == "jump" or (is_next and a != b) or (flow == "call" and is_next):
                edges[(a, b)] += n
        return edges

    def loop_rows(self):
        found = []
        edges = self.edges()
        self.nest(range(len(self.blocks)), edges, set(edges), found)
        return sorted(found, reverse=True)

    def nest(self, nodes, edges, active, found):
        reach = {a: set() for a in nodes}
        for a, b in active:
            if a in reach and b in reach:
                reach[a].add(b)
        todo = True
        while todo:
            todo = False
            for a in reach:
                more = set().union(*(reach[b] for b in reach[a]), reach[a])
                todo, reach[a] = todo or more != reach[a], more
        done = set()
        for a in sorted(reach):
            if a not in reach[a] or a in done:
                continue
            members = {b for b in reach[a] if a in reach[b]}
            done |= members
            entries = collections.Counter()
            for (x, y), n in edges.items():
                if y in members and x not in members:
                    entries[y] += n
            header = min(members, key=lambda b: (-entries[b], b))
            steps = sum(self.steps[pc] for b in members for pc in self.blocks[b])
            found.append((steps, -self.blocks[header][0], len(members), entries.total(), self.steps[self.blocks[header][0]]))
            inner = {(x, y) for x, y in active if x in members and y in members and y not in entries and y != header}
            self.nest(members, edges, inner, found)


def number(row, name):
    return int(row[name].text) if row[name] else 0


def asked(trace, question, is_cut=False):
    rows, end = json_lines(query(trace, question, "--json").stdout)
    assert end["complete"] is not is_cut, (question, end)
    return rows


def hot_is_what_the_steps_say(arch, trace):
    for words in (), ("in", "17:400"):
        if words and twin.n < 400:
            break
        twin = Twin(arch, trace, words)
        rows = asked(trace, " ".join(["hot 100k blocks", *words]))
        shown = [(number(r, "steps"), -int(r["address"], 16), number(r, "instructions"), number(r, "executions"),
                  number(r, "length")) for r in rows]
        assert shown == twin.block_rows(), (words, [x for x in zip(shown, twin.block_rows()) if x[0] != x[1]][:3])
        assert sum(s[0] for s in shown) == twin.n, words
        rows = asked(trace, " ".join(["hot loops 100k", *words]), twin.has_unknown())
        shown = [(number(r, "steps"), -int(r["address"], 16), number(r, "blocks"), number(r, "executions"),
                  number(r, "iterations")) for r in rows]
        assert shown == twin.loop_rows(), (words, [x for x in zip(shown, twin.loop_rows()) if x[0] != x[1]][:3])


for name, (arch, path) in TRACES.items():
    add_case(f"hot blocks and loops are what the steps say: {name}", hot_is_what_the_steps_say, arch, path)


@case
def a_loop_in_a_loop_has_counts_of_its_own():
    """for (i = 3; i; i--) for (j = 5; j; j--): the inner one is entered 3 times and turns 15 times."""
    code = {0x1000: ("b903000000", 5), 0x1005: ("ba05000000", 5), 0x100a: ("ffca", 2), 0x100c: ("75fc", 2), 0x100e: ("ffc9", 2),
            0x1010: ("75f3", 2), 0x1012: ("90", 1)}
    path = [0x1000] + ([0x1005] + [0x100a, 0x100c] * 5 + [0x100e, 0x1010]) * 3 + [0x1012]
    with open("nest.text", "w") as f:
        f.write("tracestub text 1 x86_64\n" + "".join(f"step {pc:x} {code[pc][0]}\n" for pc in path) + "end 0\n")
    rows = asked("nest.text", "hot loops")
    assert [(r["address"], number(r, "executions"), number(r, "iterations"), number(r, "steps")) for r in rows] == [
        ("0x1005", 1, 3, 39), ("0x100a", 3, 15, 30)], rows
    rows = asked("nest.text", "hot 2 blocks by address")
    assert [(r["address"], number(r, "instructions"), number(r, "executions")) for r in rows] == [("0x1000", 1, 1), ("0x1005", 1, 3)], rows


@case
def a_loop_that_is_jumped_over_is_not_entered():
    """do { if (x) for (j = 3; j; j--); } while (--i): x is false, then true."""
    code = {0x1000: "7404", 0x1002: "ffca", 0x1004: "75fc", 0x1006: "ffc9", 0x1008: "75f6", 0x100a: "90"}
    path = [0x1000, 0x1006, 0x1008, 0x1000] + [0x1002, 0x1004] * 3 + [0x1006, 0x1008, 0x100a]
    with open("over.text", "w") as f:
        f.write("tracestub text 1 x86_64\n" + "".join(f"step {pc:x} {code[pc]}\n" for pc in path) + "end 0\n")
    rows = asked("over.text", "hot loops by address")
    assert [(r["address"], number(r, "executions"), number(r, "iterations")) for r in rows] == [
        ("0x1000", 1, 2), ("0x1002", 1, 3)], rows


@case
def words_in_any_order_and_what_is_not_understood():
    trace = TRACES["usercorn"][1]
    want = query(trace, "hot 3 blocks first 2").stdout
    for question in "hot blocks 3 first 2", "hot 3 first 2 blocks":
        assert query(trace, question).stdout == want, question
    for question in "hot blocks loops", "hot blocks 0", "hot block", "hot blocks process 0x1000":
        done = query(trace, question)
        assert done.returncode == 2 and not done.stdout and "example: hot" in done.stderr, (question, done)


run_cases()
