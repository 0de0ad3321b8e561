#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trace files that gdb saved: each frame's registers, memory, tracepoint and variables are what gdb itself shows for the file."""
import re
import struct

from _states import ask, run
from _states import states as positions
from _tap import DATA, add_case, run_cases

SAMPLES = DATA / "tfile-samples"
UNITS = {"b": 1, "w": 4, "g": 8}
HITS = 2            # number of the variable $hits in work-regs
G_COUNTER, G_SUM, G_TEXT, G_PT = 0x402028, 0x402030, 0x402010, 0x402000
UNAVAILABLE = "<unavailable>"


class Oracle:
    """gdb's words, a frame at a time: the answers to each command."""

    def __init__(self, sample):
        text = (SAMPLES / f"{sample}.oracle.txt").read_text()
        text = text[:text.index("==== walked")]
        self.frames = []
        for part in re.split(r"^==== frame ", text, flags=re.M)[1:]:
            number, tracepoint = re.match(r"(\d+) tracepoint (\d+)", part).groups()
            answers = dict(re.findall(r"^\(gdb\) (.*)\n((?:(?!\(gdb\)).*\n)*)", part, re.M))
            self.frames.append((int(number), int(tracepoint), answers))
        assert [n for n, _, _ in self.frames] == list(range(len(self.frames))) and len(self.frames) > 10


def path(sample):
    return SAMPLES / f"{sample}.tf"


def registers(sample):
    """By frame and name: the value; one that is unknown is not there."""
    for pc, regs in positions(path(sample)):
        yield {"rip": pc, **{name: int.from_bytes(bytes.fromhex(value), "little") for name, value in regs.items()}}


def check_registers(sample):
    known, n_values, n_unknown = list(registers(sample)), 0, 0
    for n, _, answers in Oracle(sample).frames:
        command = next(c for c in answers if c.startswith("info registers"))
        rows = dict(re.findall(r"^(\w+) +(\S+)", answers[command], re.M))
        assert len(rows) == 16, rows
        for name, value in rows.items():
            if name == "xmm0":
                whole = re.search(r"uint128 = (\S+?)}", answers[command])[1]
                value = UNAVAILABLE if UNAVAILABLE in whole else whole
            want = None if value == UNAVAILABLE else int(value, 0)
            assert known[n].get(name) == want, (n, name, value, known[n].get(name))
            n_values += want is not None
            n_unknown += want is None
    print(f"# {sample}: {n_values} values, {n_unknown} unavailable")


def shown_memory(answers):
    """What x showed: (address, bytes), None for what was not available, in units of the command."""
    for command, answer in answers.items():
        if not (unit := re.match(r"x/\d+x([bwg]) ", command)):
            continue
        size = UNITS[unit[1]]
        for addr, cells in re.findall(r"^0x([0-9a-f]+)[^:]*:\t(.*)$", answer, re.M):
            for i, cell in enumerate(cells.split("\t")):
                want = None if cell == UNAVAILABLE else int(cell, 16).to_bytes(size, "little")
                yield int(addr, 16) + i * size, size, want


def printed_memory(answers):
    """What print showed of variables whose place is known."""
    def value(expression):
        found = re.match(r"\$\d+ = (.*)$", answers[f"print {expression}"])
        return None if found[1] == UNAVAILABLE else found[1]
    counter, total, text, point = (value(e) for e in ("g_counter", "g_sum", "g_text", "g_pt"))
    yield G_COUNTER, 4, counter and struct.pack("<i", int(counter))
    yield G_SUM, 8, total and struct.pack("<Q", int(total))
    yield G_PT, 16, point and struct.pack("<iihhhh", *map(int, re.findall(r"-?\d+", point)))
    yield G_TEXT, 16, text and text.strip('"').replace("\\000", "\0").encode().ljust(16, b"\0")


def check_memory(sample):
    wanted = []
    for n, _, answers in Oracle(sample).frames:
        wanted += [(n, *w) for w in [*shown_memory(answers), *printed_memory(answers)]]
    lines = ask(path(sample), [(n, addr, length) for n, addr, length, _ in wanted])
    got = [[None if pair == ".." else int(pair, 16) for pair in re.findall("..", line)] for line in lines]
    for (n, addr, _, want), cells in zip(wanted, got):
        if want is None:
            assert None in cells, (n, hex(addr), cells)
        else:
            assert cells == list(want), (n, hex(addr), want, cells)
    n_known = sum(w[3] is not None for w in wanted)
    assert n_known > 50 and n_known < len(wanted), (n_known, len(wanted))
    print(f"# {sample}: {n_known} values, {len(wanted) - n_known} unavailable")


def check_frames(sample):
    """gdb numbers tracepoints anew, in the reverse order of the file's lines."""
    lines = [line.split() for line in run("frames", path(sample)).splitlines()]
    header = path(sample).read_bytes().split(b"\n\n")[0]
    ours = [int(n, 16) for n in re.findall(rb"^tp T(\w+):", header, re.M)][::-1]
    oracle = Oracle(sample)
    assert len(lines) == len(oracle.frames)
    for (n, tracepoint, answers), line in zip(oracle.frames, lines):
        assert (int(line[0]), int(line[1])) == (n, ours[tracepoint - 1]), line
        assert ("regs" in line) == (sample == "work-regs") and "pc" in line, line
        if "print $hits" in answers:
            want = re.match(r"\$\d+ = (.*)$", answers["print $hits"])[1]
            values = [w.split("=")[1] for w in line if w.startswith(f"${HITS}=")]
            assert (values[-1] if values else "void") == want, (n, want, line)


for name in "work-regs", "work-mem":
    add_case(f"{name}: registers", check_registers, name)
    add_case(f"{name}: memory", check_memory, name)
    add_case(f"{name}: tracepoints and variables", check_frames, name)

run_cases()
