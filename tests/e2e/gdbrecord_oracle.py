#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb's recordings against gdb's own replay of them, at every position.

Of x86-64 gdb's replay is wrong about rax before system calls. Where that is, the log tells: read here once more, in the
plainest way. There the true execution counts, as far as it is known.
"""
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

from _tap import DATA, TRACESTUB, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "gdbrecord-samples"
NAMES = "dyn64", "list-aarch64", "list-arm", "ring64", "sys64", "threads64", "walk32", "walk64"
PC = {"list-aarch64": "pc", "list-arm": "pc", "walk32": "eip"}
# gdb's numbers of registers: bytes of their values in the log of x86-64 up to mxcsr.
SIZES = [8] * 17 + [4] * 7 + [10] * 8 + [4] * 8 + [16] * 16 + [4]
RAX, RCX, RIP = 0, 2, 16


def core(name):
    path = pathlib.Path(tempfile.mkdtemp()) / f"{name}.core"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.core.gz").read_bytes()))
    return path


def tool(*args, **kwargs):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, check=True, **kwargs).stdout


def oracle(name):
    """A line a position, with all registers; None for those that gdb does not have."""
    now = {}
    for line in gzip.open(SAMPLES / f"{name}.oracle.gz", "rt"):
        row = json.loads(line)
        now.update((reg, None if v is None else int(v, 16)) for reg, v in row["regs"].items())
        yield row["t"], dict(now), row.get("mem", [])


def segments(data):
    """(kind, offset, address, length) of an x86-64 core's segments."""
    for i in range(int.from_bytes(data[56:58], "little")):
        head = data[64 + 56 * i:120 + 56 * i]
        yield tuple(int.from_bytes(head[a:b], "little") for a, b in ((0, 4), (8, 16), (16, 24), (32, 40)))


def code(data, addr, length):
    for kind, off, start, n in segments(data):
        if kind == 1 and start <= addr < start + n:
            return data[off + addr - start:][:length]
    return b""


def groups(data):
    """Groups of the log of an x86-64 core: {register: value}."""
    _, off, _, length = next(s for s in segments(data) if s[0] == 0 and s[3])
    at, end, group = off + 4, off + length, {}
    while at < end:
        kind, at = data[at], at + 1
        if kind == 0:
            yield group
            at, group = at + 8, {}
        elif kind == 1:
            reg = int.from_bytes(data[at:at + 4], "big")
            group[reg] = int.from_bytes(data[at + 4:at + 4 + SIZES[reg]], "little")
            at += 4 + SIZES[reg]
        else:
            at += 12 + int.from_bytes(data[at:at + 4], "big")


def rax_windows(data, rows):
    """{position at which gdb shows the result of a later system call: the number that an instruction put there, or None}"""
    since, number, pc, windows = 0, None, None, {}
    for k, group in enumerate(groups(data)):
        insn = code(data, pc, 5) if pc else b""
        is_syscall = RAX not in group and RCX in group and group[RCX] == group[RIP]
        if is_syscall:
            windows.update((position, number) for position in range(since, k + 1))
        if RAX in group or is_syscall:
            since, number = k + 1, None
            if insn[:1] == b"\xb8":
                number = int.from_bytes(insn[1:], "little")
            if insn[:2] == b"\x31\xc0":     # xor %eax,%eax
                number = 0
            if insn[:3] == b"\x4c\x89\xc8":     # mov %r9,%rax
                number = rows[k][1]["r9"]
        pc = group[RIP]
    return windows


def truth(name):
    """{(position, register): value} where gdb's replay is wrong."""
    path, found = SAMPLES / f"{name}.wrong.tsv", {}
    for line in path.read_text().splitlines()[1:] if path.exists() else []:
        first, last, reg, _, value = line.split("\t")
        for k in range(int(first), int(last) + 1):
            found[k, reg] = int(value, 16)
    return found


def compare_registers(name, path):
    rows, is_x64 = list(oracle(name)), name.endswith("64") and not name.startswith("list")
    windows = rax_windows(path.read_bytes(), rows) if is_x64 else {}
    true, mine, n, n_numbers = truth(name), {}, 0, 0
    for line in tool("regs", path).splitlines():
        k, _, pc, *changes = line.split()
        for change in changes:
            reg, value = change.split("=")
            mine[reg] = int.from_bytes(bytes.fromhex(value), "little") if value else None
        t, theirs, _ = rows[int(k)]
        assert t == int(k) and int(pc, 16) == theirs[PC.get(name, "rip")], f"position {k}: pc {pc}"
        for reg, value in mine.items():
            expected = theirs.get(reg)
            if reg == "rax" and t in windows:
                assert value in (None, true.get((t, reg), value)), f"position {k}: rax {value:#x}, truly {true[t, reg]:#x}"
                assert value == windows[t], f"position {k}: rax {value}, the program put {windows[t]} there"
                n_numbers += value is not None
            elif expected is not None:
                assert value == expected, f"position {k}: {reg} {value}, gdb has {expected:#x}"
                n += 1
    assert int(k) == len(rows) - 1, f"{k} positions of {len(rows)}"
    print(f"# {name}: {n} register values at {len(rows)} positions; rax known at {n_numbers} of {len(windows)} before calls")


def compare_memory(name, path):
    asked, expected = [], []
    for t, _, memory in oracle(name):
        for addr, data in memory:
            if data is not None:
                asked.append(f"{t} {int(addr, 16)} {len(data) // 2}\n")
                expected.append(data)
    assert asked
    for question, data, line in zip(asked, expected, tool("ask", path, input="".join(asked)).splitlines(), strict=True):
        assert line == data, f"{question}: {sum(a != b for a, b in zip(line, data))} digits differ"


for name in NAMES:
    path = core(name)
    add_case(f"{name} registers", compare_registers, name, path)
    add_case(f"{name} memory", compare_memory, name, path)


def events(path, kind):
    done = subprocess.run([TRACESTUB, "query", str(path), "events", kind, "--json", "--quiet"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()[:-1]]


@case
def system_calls_are_events_with_numbers_arguments_and_results():
    calls = events(core("walk64"), "syscall")       # of walk.c: it writes ten bytes, and asks for its pid
    assert [call["name"] for call in calls] == ["write", "getpid"], calls
    assert calls[0]["arguments"][0] == "0x1" and calls[0]["arguments"][2] == calls[0]["result"] == "0xa", calls[0]
    for name in "list-arm", "list-aarch64":     # qemu's stub ran one more instruction in that step
        call, = events(core(name), "syscall")
        assert (call["name"], call["arguments"][2], call["result"]) == ("write", "0x8", None), call


@case
def a_signal_is_an_event_before_its_handler():
    found = events(core("sys64"), "signal")
    assert len(found) == 1 and "30" in found[0]["text"] or "USR1" in found[0]["text"], found


run_cases()
