#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text traces in each dialect against the executions that they are of.

A truth has a line a position: registers that changed since the line before of that thread, the instruction's bytes, what it read,
and what it wrote over what. It was recorded by a debugger (ptrace, qemu's gdb stub, Spike's own), or is what the dialect's
lines were made from. A map lists the position of each line where lines are not positions. In every dialect what is known must be
true; how much must be known at the least is in the case.
"""
import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile

from _tap import DATA, add_case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "text-samples"
PCS = "rip", "eip", "pc"


def rows_of(truth):
    return [json.loads(line) for line in gzip.open(SAMPLES / f"oracle-{truth}.jsonl.gz", "rt")]


def log(name):
    path = pathlib.Path(tempfile.mkdtemp()) / name
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.gz").read_bytes()))
    return path


def tool(*args, **kwargs):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, check=True, **kwargs).stdout


def where(name, n):
    """The true position of each line that is one."""
    path = SAMPLES / (name.rsplit(".", 1)[0] + ".map.json.gz")
    return [p for p in json.loads(gzip.decompress(path.read_bytes())) if p is not None] if path.exists() else list(range(n))


def states(rows):
    """{thread: registers} at each position, and which thread is next."""
    now = {}
    for row in rows:
        tid = row.get("tid", 0)
        now.setdefault(tid, {}).update((n, int(v, 16)) for n, v in row["regs"].items())
        yield tid, dict(now[tid])


def compare_registers(name, rows, least, order="little", but=()):
    truths, threads, n, wrong = list(states(rows)), {}, 0, []
    lines = tool("regs", log(name)).splitlines()
    places = where(name, len(rows))
    for position, line in enumerate(lines[:len(places)]):
        _, tid, pc, *changes = line.split()
        mine = threads.setdefault(tid, {})
        for change in changes:
            reg, value = change.split("=")
            mine.pop(reg, None)
            if value:
                mine[reg] = value
        true = truths[places[position]][1]
        assert int(pc, 16) == next(true[r] for r in PCS if r in true), f"position {position}: pc {pc}"
        for reg, value in mine.items():
            if reg not in true or reg in but or ".." in value:
                continue
            if int.from_bytes(bytes.fromhex(value), order) != true[reg]:
                wrong.append(f"position {position}, {reg}: {value}, not {true[reg]:x}")
            n += 1
    assert not wrong, f"{len(wrong)} of {n} wrong: {wrong[:3]}"
    print(f"# {name}: {n} register values at {len(lines)} positions, none wrong")
    assert len(lines) >= len(places) - 1 and n >= least, f"{n} values, {len(lines)} of {len(places)} positions"


def number(addr):
    return addr if isinstance(addr, int) else int(addr, 16)


def memory(rows):
    """{address: byte} before position 0 as far as the truth tells, and changes a position."""
    first, changes, now = {}, {}, {}
    for t, row in enumerate(rows):
        for addr, data in row.get("reads", []):
            for i, byte in enumerate(bytes.fromhex(data)):
                a = number(addr) + i
                if a not in now:
                    first[a] = now[a] = byte
        for addr, old, new in row.get("writes", []):
            for i, (b, c) in enumerate(zip(bytes.fromhex(old), bytes.fromhex(new))):
                a = number(addr) + i
                if a not in now:
                    first[a] = b
                now[a] = c
                changes.setdefault(t + 1, {})[a] = c
    return first, changes


def compare_memory(name, rows, least):
    """Every byte that the execution accesses, at every position that the log has."""
    first, changes = memory(rows)
    places, ranges = where(name, len(rows)), []
    for addr in sorted(first):
        if ranges and addr == sum(ranges[-1]):
            ranges[-1] = ranges[-1][0], ranges[-1][1] + 1
        else:
            ranges.append((addr, 1))
    path = log(name)
    n_positions = len(tool("regs", path).splitlines())
    places = places[:n_positions]
    answers = iter(tool("ask", path, input="".join(f"{k} {a} {n}\n" for k in range(len(places)) for a, n in ranges)).splitlines())
    now, at, n_known = dict(first), 0, 0
    for k, place in enumerate(places):
        while at < place:
            at += 1
            now.update(changes.get(at, {}))
        for a, n in ranges:
            text = next(answers)
            for i in range(n):
                byte = text[2 * i:2 * i + 2]
                if byte != "..":
                    assert int(byte, 16) == now[a + i], f"position {k}, {a + i:#x}: {byte}, not {now[a + i]:02x}"
                    n_known += 1
    total = len(first) * len(places)
    print(f"# {name}: {n_known} of {total} bytes known, none wrong")
    assert n_known >= least * total, f"{n_known} of {total}"


def compare_accesses(name, rows, is_all):
    """What each step reads and writes."""
    places, n, missing = where(name, len(rows)), 0, 0
    for k, line in enumerate(tool("steps", log(name)).splitlines()):
        if k + 1 >= len(places):
            break
        true = {}
        for row in rows[places[k]:places[k + 1]]:
            for what, accesses in ("R", row.get("reads", [])), ("W", [(a, new) for a, _, new in row.get("writes", [])]):
                for addr, data in accesses:
                    for i, byte in enumerate(bytes.fromhex(data)):
                        true.setdefault((what, number(addr) + i), set()).add(f"{byte:02x}")
        mine = set()
        for item in line.split()[1:]:
            what, addr, data = item.split(":")
            for i in range(0, len(data), 2):
                key = what, int(addr, 16) + i // 2
                if what == "K":
                    continue
                assert key in true, f"step {k}: {item} is not one of its accesses {true}"
                assert data[i:i + 2] == ".." or data[i:i + 2] in true[key], f"step {k}: {item}, true {true[key]}"
                mine.add(key)
        if not any("syscall" in row for row in rows[places[k]:places[k + 1]]):
            missing += len(set(true) - mine)
        n += len(mine)
    print(f"# {name}: {n} bytes of accesses, none wrong, {missing} missing")
    assert not is_all or (not missing and n), f"{missing} missing"


def compare(name, truth, least_regs, least_memory=None, is_all=False, unlisted=(), **kwargs):
    rows = [row for k, row in enumerate(rows_of(truth)) if k not in unlisted]
    info = tool("info", log(name))
    assert "damage" not in info and (name.startswith("block")) == (", a line a block" in info), info
    compare_registers(name, rows, least_regs, **kwargs)
    if least_memory is not None:
        compare_memory(name, rows, least_memory)
        compare_accesses(name, rows, is_all)


def dumps(text):
    """The dumps of a log of QEMU: thread, pc, and registers, None where two threads waited at one address."""
    waiting, now, unsure = {}, None, set()
    for line in text.splitlines():
        trace = re.search(r"Trace (\d+): 0x\w+ \[\w+/(\w+)/", line)
        fields = re.findall(r"(?:\bx\d+/)?\b([a-zA-Z]+\d*)\s*[= ]\s*([0-9a-f]{8,16})\b", line)
        if trace:
            waiting[int(trace[1])] = int(trace[2], 16)
            unsure.discard(int(trace[1]))
        elif re.match(r" pc  |EAX=", line):
            if now:
                yield now
            now = [None, None, {}]
        if trace or not now:
            continue
        for name, value in fields:
            name = {"eip": "pc", "efl": "eflags", "s0": "fp"}.get(name.lower(), name.lower())
            if name != "pc":
                now[2][name] = int(value, 16)
                continue
            now[1] = int(value, 16)
            mine = [t for t, pc in waiting.items() if pc == now[1]]
            unsure |= set(mine) if len(mine) > 1 else set()
            now[0] = mine[0]
            del waiting[mine[0]]
        if now[0] in unsure:
            now[2] = None
    yield now


def compare_dumps(name, least):
    """A log of QEMU beside its own dumps, each of which is that of the thread whose Trace line has its address."""
    path, threads, n = log(name), {}, 0
    lines = tool("regs", path).splitlines()
    truths = list(dumps(path.read_text()))
    assert len(lines) == len(truths), f"{len(lines)} positions, {len(truths)} dumps"
    for line, (thread, at, true) in zip(lines, truths):
        position, tid, pc, *changes = line.split()
        assert (int(tid), int(pc, 16)) == (thread + 1, at), f"position {position}: thread {tid} at {pc}, not {thread + 1} at {at:x}"
        mine = threads.setdefault(tid, {})
        for change in changes:
            reg, value = change.split("=")
            mine[reg] = int.from_bytes(bytes.fromhex(value), "little") if value else None
        for reg, value in mine.items():
            if value is not None and true and reg in true:
                assert value == true[reg], f"position {position}, {reg}: {value:x}, not {true[reg]:x}"
                n += 1
    print(f"# {name}: {n} register values at {len(lines)} positions, none wrong")
    assert n >= least, n


CASES = [
    ("Spike --log-commits -l: with the instruction that traps", "both-rv64fd.log", "rv64fd", 500),
    ("CVA6", "cva6.dasm", "walk-riscv64", 2000, 0.3, True),
    ("Ibex", "ibex.log", "walk-riscv32", 2000, 0.5, True),
    ("CV32E40P", "cv32e40p.log", "walk-rv32im", 2000, 0.3, True),
    ("execlog, AArch64", "made-aarch64.log", "walk-aarch64", 2000, 0.1, True),
    ("unidbg", "unidbg-walk.log", "walk-aarch64", 1000, 0.2),
    ("unidbg without addresses", "unidbg-old-walk.log", "walk-aarch64", 1000),
    ("unidbg as trace-ui patches it", "unidbg-patched-walk.log", "walk-aarch64", 1000, 0.2),
    ("GumTrace", "calls-walk.log", "walk-aarch64", 1000, 0.2),
    ("QBDI", "qbdi-walk.log", "walk-aarch64", 1000, 0.2),
    ("QEMU -d cpu, AArch64", "cpu-aarch64.log", "walk-aarch64", 10000),
    ("QEMU -d cpu, ARM", "cpu-arm.log", "walk-arm", 4000),
    ("QEMU -d cpu, RISC-V", "cpu-riscv64.log", "walk-riscv64", 10000),
    ("Tenet++", "insn-walk64.trace", "walk-x86_64", 5000, 0.5, True),
    ("Tenet++ of blocks: no access is an instruction's", "block-walk64.trace", "walk-x86_64", 1500, 0.2),
    ("Tarmac, ES style", "es-walk-a64.tarmac", "walk-aarch64", 1000, 0.5),
    ("Tarmac, Fast Models style", "fm-walk-a32.tarmac", "walk-arm", 1000, 0.5),
    ("Tarmac, gem5 style", "gem5-walk-a64.tarmac", "walk-aarch64", 1000, 0.5),
]
for words, *args in CASES:
    add_case(words, compare, *args)

# the ecall has no commit line: its state is no position
add_case("Spike --log-commits", compare, "commits-rv64fd.log", "rv64fd", 500, None, False, [50])
add_case("Spike --log-commits, 32 bits", compare, "commits-rv32.log", "rv32", 500, None, False, [48])

add_case("QEMU -d cpu, i386", compare_dumps, "cpu-i386.log", 3000)
# between a Trace line and its dump there are lines of the other thread
add_case("QEMU -d cpu, RISC-V: dumps of two threads", compare_dumps, "threads-riscv64.log", 10000)

run_cases()
