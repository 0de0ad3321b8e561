#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tenet logs in each writer's dialect against the executions that they were made from.

The truth has a line a position: registers that changed, what the instruction read, and what it wrote over what. In two logs
a line is not a position; their map lists the position of each line.
"""
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

from _tap import DATA, TRACESTUB, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "tenet-samples"
GENERAL = {"64": ["rax", "rbx", "rcx", "rdx", "rbp", "rsp", "rsi", "rdi"] + [f"r{i}" for i in range(8, 16)],
           "32": ["eax", "ebx", "ecx", "edx", "ebp", "esp", "esi", "edi"],
           "arm64": [f"x{i}" for i in range(31)] + ["sp"]}
PC = {"64": "rip", "32": "eip", "arm64": "pc"}
NEVER = 1 << 64
FETCHED = "pin", "wtf", "qemu"    # writers that fetch bytes after the instruction


def log(name):
    path = pathlib.Path(tempfile.mkdtemp()) / f"{name}.log"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.log.gz").read_bytes()))
    return path


def kind(name):
    return next(k for k in ("arm64", "64", "32") if name.endswith(k))


class Truth:
    """An execution: registers and accesses a position, and memory at any."""

    def __init__(self, name):
        self.rows = [json.loads(line) for line in gzip.open(SAMPLES / f"oracle-{name}.jsonl.gz", "rt")]
        self.first, self.changes = {}, {}
        for t, row in enumerate(self.rows):
            for addr, data in row.get("reads", []):
                self.see(t, int(addr, 16), bytes.fromhex(data))
            for addr, old, new in row.get("writes", []):
                self.see(t, int(addr, 16), bytes.fromhex(old))
                for i, byte in enumerate(bytes.fromhex(new)):
                    self.changes.setdefault(t + 1, {})[int(addr, 16) + i] = byte

    def see(self, t, addr, data):
        for i, byte in enumerate(data):
            self.first.setdefault(addr + i, byte)

    def known_from(self, is_fetched):
        """{address: the first position at which the log tells the byte}: 0 if it is read first, else after the first write."""
        known = {}      # what the last instruction does is not in the log
        for t, row in enumerate(self.rows[:-1]):
            written = {int(a, 16) + i for a, _, new in row.get("writes", []) for i in range(len(new) // 2)}
            for addr, data in row.get("reads", []) if "syscall" not in row else []:
                for a in range(int(addr, 16), int(addr, 16) + len(data) // 2):
                    known.setdefault(a, t + 1 if is_fetched and a in written else 0)
            for a in written:
                known.setdefault(a, t + 1)
        return known

    def ranges(self):
        """What is accessed: [(address, length)]"""
        ranges = []
        for addr in sorted(self.first):
            if ranges and addr == sum(ranges[-1]):
                ranges[-1] = ranges[-1][0], ranges[-1][1] + 1
            else:
                ranges.append((addr, 1))
        return ranges

    def known(self, known_from):
        """What becomes known of each byte, and when: {position: {address: byte}}"""
        now, since, known = dict(self.first), {}, {}
        for a in now:
            since.setdefault(known_from.get(a, NEVER), []).append(a)
        for t in range(len(self.rows)):
            changes = self.changes.get(t, {})
            now.update(changes)
            known[t] = {a: now[a] for a in [*since.get(t, ()), *changes] if known_from.get(a, NEVER) <= t}
        return known

    def regs(self):
        now = {}
        for row in self.rows:
            now.update((n, int(v, 16)) for n, v in row["regs"].items())
            yield dict(now)


def texts(ranges, known, where):
    """At each of the positions, which rise: the bytes of each range in hexadecimal, ".." before they are known."""
    rows = [[".."] * length for _, length in ranges]
    place = {addr + i: (row, i) for (addr, length), row in zip(ranges, rows, strict=True) for i in range(length)}
    joined, at = ["".join(row) for row in rows], -1
    for t in where:
        is_new = False
        for at in range(at + 1, t + 1):
            for a, byte in known.get(at, {}).items():
                row, i = place[a]
                row[i], is_new = f"{byte:02x}", True
        if is_new:
            joined = ["".join(row) for row in rows]
        yield joined


def positions(name, truth):
    """The position of each line."""
    path = SAMPLES / f"{name}.map.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else list(range(len(truth.rows)))


def tool(*args, **kwargs):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, check=True, **kwargs).stdout


def compare_registers(name, path, truth):
    theirs, mine, n = list(truth.regs()), {}, 0
    where = positions(name, truth)
    lines = tool("regs", path).splitlines()
    assert len(lines) == len(where), f"{len(lines)} positions of {len(where)}"
    for position, line in enumerate(lines):
        _, _, pc, *changes = line.split()
        for change in changes:
            reg, value = change.split("=")
            mine.pop(reg, None)
            if value:
                mine[reg] = int.from_bytes(bytes.fromhex(value), "little")
        true = theirs[where[position]]
        assert int(pc, 16) == true[PC[kind(name)]], f"position {position}: pc {pc}"
        wanted = {} if name.startswith("pconly") else {reg: true[reg] for reg in GENERAL[kind(name)]}
        assert mine == wanted, f"position {position}: {set(mine.items()) ^ set(wanted.items())}"
        n += len(wanted)
    print(f"# {name}: {n} register values at {len(lines)} positions, none wrong, none unknown, no other known")


def pairs(text):
    """Bytes in hexadecimal."""
    return [text[i:i + 2] for i in range(0, len(text), 2)]


def is_part(line, text):
    """Is it the text, but for what is unknown?"""
    return line == text or all(mine in ("..", byte) for mine, byte in zip(pairs(line), pairs(text), strict=True))


def compare_memory(name, path, truth, is_all):
    """Every byte that the execution accesses, at every position."""
    where, ranges, n_known = positions(name, truth), truth.ranges(), 0
    known_from = truth.known_from(name.startswith(FETCHED)) if is_all else dict.fromkeys(truth.first, 0)
    asked = "".join(f"{k} {addr} {length}\n" for k in range(len(where)) for addr, length in ranges)
    lines = iter(tool("ask", path, input=asked).splitlines())
    for k, known in enumerate(texts(ranges, truth.known(known_from), where)):
        for (addr, length), text in zip(ranges, known, strict=True):
            line = next(lines)
            assert is_part(line, text) and (line == text or not is_all), f"position {k}, {addr:#x}: {line}, not {text}"
            n_known += length - line.count("..")
    n = len(truth.first) * len(where)
    print(f"# {name}: {n_known} of {n} bytes known at {len(where)} positions, none wrong" +
          (", none unknown that the log tells" if is_all else ""))
    assert next(lines, None) is None and n_known > n / 3, n_known


def accesses(rows):
    """{kind and address of each byte: values seen}"""
    seen = {}
    for row in rows:
        for addr, data in row.get("reads", []):
            for i, byte in enumerate(bytes.fromhex(data)):
                seen.setdefault(("R", int(addr, 16) + i), set()).add(f"{byte:02x}")
        for addr, _, new in row.get("writes", []):
            for i, byte in enumerate(bytes.fromhex(new)):
                seen.setdefault(("W", int(addr, 16) + i), set()).add(f"{byte:02x}")
    return seen


def compare_accesses(name, path, truth, is_all):
    where, n = positions(name, truth), 0
    for k, line in enumerate(tool("steps", path).splitlines()):
        rows = truth.rows[where[k]:where[k + 1]]
        true, mine = accesses(rows), set()
        for item in line.split()[1:]:
            what, addr, data = item.split(":")
            if what == "K":     # memory as it is after code that is not listed
                continue
            for i in range(0, len(data), 2):
                key = what, int(addr, 16) + i // 2
                assert key in true, f"step {k}: {item} is not one of its accesses"
                assert data[i:i + 2] == ".." or data[i:i + 2] in true[key], f"step {k}: {item}"
                mine.add(key)
        is_listed = is_all and not any("syscall" in row for row in rows)    # what the kernel did is not in the log
        assert not is_listed or mine == set(true), f"step {k}: {set(true) - mine} not there"
        n += len(mine)
    print(f"# {name}: {n} bytes of accesses, none wrong" + (", none missing" if is_all else ""))


def compare(name, votes, is_all=True):
    path, truth = log(name), Truth(name.split("-")[1].replace("gap", "walk"))
    info = tool("info", path)
    assert votes in info and "warning" not in info and "damage" not in info, info
    compare_registers(name, path, truth)
    has_calls = any("syscall" in row for row in truth.rows)    # what is seen after one is unknown before it
    compare_memory(name, path, truth, is_all and not has_calls)
    compare_accesses(name, path, truth, is_all)


# Functions of the program, from the first byte to the one after the last.
FIB, PUSH, STRINGS, FLOATS = (0x401007, 0x401035), (0x401035, 0x4010ac), (0x4010ac, 0x401114), (0x401114, 0x4011a8)
PREVIOUS, OWN = "accesses of the previous instruction (", "accesses of the line's own instruction ("

add_case("pin: read and write of the previous instruction, fetched", compare, "pin-walk64", PREVIOUS, False)
add_case("pin with a white list: gaps", compare, "pin-gap64", PREVIOUS, False)
add_case("wtf: no pc where it stays", compare, "wtf-walk64", PREVIOUS)
add_case("qiling: the line's own accesses", compare, "qiling-walk64", OWN)
add_case("panda: registers after the accesses", compare, "panda-walk64", PREVIOUS)
add_case("sogen", compare, "sogen-walk64", PREVIOUS)
add_case("qemu: upper case, no 0x", compare, "qemu-walk32", PREVIOUS)
add_case("an android tracer: AArch64, a comment", compare, "upper-arm64", PREVIOUS)


def white_listed(truth, unlisted):
    """A log in pintenet's style that leaves functions out; (text, the position of each line, lines that follow a gap).

    The first line after a gap has the last read and the last write of the code that is not listed. Bytes are fetched when a line
    is written.
    """
    names = GENERAL["64"] + ["rip"]
    regs, written, now, lines, where, gaps, last = list(truth.regs()), {}, dict(truth.first), [], [], set(), {}
    for t, row in enumerate(truth.rows):
        now.update(truth.changes.get(t, {}))
        is_listed = not any(first <= regs[t]["rip"] < end for first, end in unlisted)
        if is_listed:
            if where and where[-1] != t - 1:
                gaps.add(len(where))
            items = [f"{n}={regs[t][n]:#x}" for n in names if n == "rip" or written.get(n, 0) != regs[t][n]]
            items += [f"{kind}={addr:#x}:" + "".join(f"{now[addr + i]:02x}" for i in range(n))
                      for kind, accesses in last.items() for addr, n in accesses]
            lines.append(",".join(items) + "\n")
            where.append(t)
            written, last = regs[t], {}
        if row.get("reads"):
            last["mr"] = [(int(a, 16), len(data) // 2) for a, data in row["reads"]][:2]
        if row.get("writes"):
            last["mw"] = [(int(a, 16), len(new) // 2) for a, _, new in row["writes"]][-1:]
    return "".join(lines), where, gaps


def shown(text, gaps, calls):
    """What a log tells of each byte: {address: [(from which position, value)]}.

    An instruction read what was there when it began, unless it wrote there too. Before its first sight a byte was so from the start,
    unless that is a write; but from the last gap or system call on (calls: the positions after one) if there was one before it.
    After a gap nobody knows when the bytes of its line became so.
    """
    told, moments = {}, sorted({*gaps, *calls})
    for k, line in enumerate(text.splitlines()):
        items = [item.split("=") for item in line.split(",") if item[0] == "m"]
        accesses = [(kind, int(v.split(":")[0], 16), bytes.fromhex(v.split(":")[1])) for kind, v in items]
        written = {a for kind, addr, data in accesses if kind == "mw" for a in range(addr, addr + len(data))}
        for _, addr, data in accesses:
            for a, byte in enumerate(data, addr):
                since = k if a in written or k in gaps or not k else k - 1
                if a not in told and a not in written and k not in gaps:
                    since = max((m for m in moments if m < k), default=0)
                told.setdefault(a, []).append((since, byte))
    return told


def compare_white_list(unlisted):
    """What is seen after a gap tells nothing of the time before; what was known before is shown until something else is seen."""
    truth = Truth("walk64")
    text, where, gaps = white_listed(truth, unlisted)
    path = pathlib.Path(tempfile.mkdtemp()) / "white-list.log"
    path.write_text(text)
    calls = {k + 1 for k, t in enumerate(where) if "syscall" in truth.rows[t]}
    told, ranges, known, n_old = shown(text, gaps, calls), truth.ranges(), {}, 0
    for a, sights in told.items():
        for since, byte in sights:
            known.setdefault(since, {})[a] = byte
    lines = iter(tool("ask", path, input="".join(f"{k} {addr} {n}\n" for k in range(len(where)) for addr, n in ranges)).splitlines())
    true = texts(ranges, truth.known(dict.fromkeys(truth.first, 0)), where)
    for (k, expected), truly in zip(enumerate(texts(ranges, known, range(len(where)))), true, strict=True):
        for (addr, _), line, mine, byte in zip(ranges, lines, expected, truly):
            assert line == mine, f"position {k}, {addr:#x}: {line}, not {mine}"
            for a, x, y in zip(range(addr, addr + len(line)), pairs(line), pairs(byte)) if not is_part(line, byte) else ():
                since = max(since for since, _ in told[a] if since <= k)
                assert x in ("..", y) or any(since < g <= k for g in gaps), f"position {k}, {a:#x}: {x}, truly {y}"
                n_old += x not in ("..", y)
    assert next(lines, None) is None
    events = subprocess.run([TRACESTUB, "query", path, "events", "gap"], capture_output=True, text=True, check=True).stdout
    assert [int(row.split()[0]) + 1 for row in events.splitlines()[1:]] == sorted(gaps), events
    print(f"# {len(gaps)} gaps, {len(where)} positions: {n_old} bytes are shown as they were before a gap, none as it was after one")


add_case("functions that are not listed, one gap each", compare_white_list, [FIB, FLOATS])
add_case("functions that are not listed write what is read later", compare_white_list, [PUSH, STRINGS])


def naive(text):
    """Each position of a log in pintenet's style, read the simple way: (pc, registers, {address: byte listed on the line})."""
    regs, states = dict.fromkeys(GENERAL["64"], 0), []
    for line in text.decode().splitlines():
        listed = {}
        for item in line.split(","):
            name, value = item.split("=")
            if name in ("mr", "mw"):
                addr, data = value.split(":")
                listed.update((int(addr, 16) + i, byte) for i, byte in enumerate(bytes.fromhex(data)))
            else:
                regs[name] = int(value, 16)
        states.append((regs["rip"], {n: v for n, v in regs.items() if n != "rip"}, listed))
    return states


@case
def a_real_log_is_what_a_naive_reader_makes_of_it():
    path = log("boombox.0")
    states, mine = naive(path.read_bytes()), {}
    lines = tool("regs", path).splitlines()
    for position, (line, (pc, regs, _)) in enumerate(zip(lines, states, strict=True)):
        _, _, mine_pc, *changes = line.split()
        mine.update((n, int.from_bytes(bytes.fromhex(v), "little")) for n, v in (c.split("=") for c in changes))
        assert (int(mine_pc, 16), mine) == (pc, regs), position
    # bytes were fetched when the line was written: they are memory at its position
    asked = [(k, addr, byte) for k, (_, _, listed) in enumerate(states) for addr, byte in listed.items()]
    found = tool("ask", path, input="".join(f"{k} {addr} 1\n" for k, addr, _ in asked)).split()
    wrong = [(k, hex(addr), byte, at) for (k, addr, byte), at in zip(asked, found, strict=True) if at != f"{byte:02x}"]
    print(f"# boombox: {len(lines)} positions, {len(asked)} bytes, {len(wrong)} wrong or unknown")
    assert not wrong, wrong[:5]


@case
def addresses_alone_are_positions():
    path, truth = log("pconly-walk32"), Truth("walk32")
    assert "(no votes)" in tool("info", path)
    compare_registers("pconly-walk32", path, truth)
    asked = "".join(f"{k} {addr} 1\n" for k in (0, 1000, 2393) for addr in list(truth.first)[:50])
    assert set(tool("ask", path, input=asked).split()) == {".."}


run_cases()
