#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces made with the real library's own writer against what its own reader shows of them.

The reader's dump has all registers first, then the changes of each event: "#0 Other event (page fault): 0x1000=0x02 rip=0x...".
Replayed here in the plainest way, it gives every register and every byte of memory at every position; what of it gdb's registers
are made of follows the format's description.
"""
import gzip
import os
import pathlib
import re
import subprocess
import tempfile

from _tap import DATA, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "rvnbintrace-samples"
HEADER_LEN = 3640
REGIONS = {
    "tiny-fib": [(0, 0x10000), (0x100000, 0x3e000), (0x3fc00000, 0x4000), (0xfffc0000, 0x1000)],
    "edges": [(0, 0x2000), (0x40000, 0x3000), (0x10000, 0x1000)],
}
ENTRY = re.compile(r"(\w+)=((?:0x)?[0-9a-f]+(?: [0-9a-f]{2}(?= ))*)")


def trace(name, skip=0):
    path = pathlib.Path(tempfile.mkdtemp()) / "trace.bin"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.bin.gz").read_bytes())[skip:])
    return path


def tool(*args):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, check=True).stdout.splitlines()


def value(text):
    """A number's bytes; longer memory stands byte by byte."""
    if text.startswith("0x"):
        return bytes.fromhex(text[2:])[::-1]
    return bytes.fromhex(text)


def changes(name):
    """For each line of the dump: [(address, bytes)] and {register: bytes}."""
    with gzip.open(SAMPLES / f"{name}.oracle.gz", "rt") as file:
        for line in file:
            if re.match(r"#\d+", line):
                line = re.sub(r"^#\d+( Other event \(.*\))?:", "", line)
            memory, regs = [], {}
            for key, text in ENTRY.findall(line):
                if key.startswith("0x"):
                    memory.append((int(key, 16), value(text)))
                else:
                    regs[key] = value(text)
            yield memory, regs


def initial_memory(name, data):
    """The regions' bytes lie right before the initial registers; where, the lengths in front of the sections tell."""
    at = HEADER_LEN
    for _ in range(2):
        at += 8 + int.from_bytes(data[at:at + 8], "little")
    at += 8
    memory = {}
    for start, length in REGIONS[name]:
        memory[start] = bytearray(data[at:at + length])
        at += length
    return memory


def write(memory, addr, data):
    for i, byte in enumerate(data):
        for start, contents in memory.items():
            if start <= addr + i < start + len(contents):
                contents[addr + i - start] = byte


def tag(st):
    mantissa, exponent = int.from_bytes(st[:8], "little"), int.from_bytes(st[8:], "little") & 0x7fff
    if not exponent and not mantissa:
        return 1
    return 0 if mantissa >> 63 and 0 < exponent < 0x7fff else 2


def as_gdb(regs):
    """gdb's registers out of those of the recorder that has a register "top"."""
    found = {n: v for n, v in regs.items() if re.fullmatch(r"r\w+|cr\d|cs_shadow|mxcsr|eflags", n) and n != "rip"}
    found.update({n: regs[n] + b"\0\0" for n in ("cs", "ss", "ds", "es", "fs", "gs") if n in regs})
    for msr, name in ("msr_c0000100", "fs_base"), ("msr_c0000101", "gs_base"), ("msr_c0000080", "efer"):
        if msr in regs:
            found[name] = regs[msr]
    for i in range(16):
        if f"zmm{i}" in regs:
            found[f"xmm{i}"], found[f"ymm{i}h"] = regs[f"zmm{i}"][:16], regs[f"zmm{i}"][16:32]
    if "x87r7" not in regs:
        return found
    top = regs["top"][0] & 7
    physical = [regs[f"x87r{i}"] for i in range(8)]
    status, in_use = int.from_bytes(regs["x87status"], "little"), regs["x87tags"][0]
    last = {n: regs[f"x87last{n}"] for n in ("ip", "dp")}
    words = {"fctrl": int.from_bytes(regs["x87control"], "little"), "fstat": status & ~0x3800 | top << 11,
             "ftag": sum((tag(physical[i]) if in_use >> i & 1 else 3) << 2 * i for i in range(8)),
             "fioff": int.from_bytes(last["ip"][:4], "little"), "fiseg": int.from_bytes(last["ip"][4:6], "little"),
             "fooff": int.from_bytes(last["dp"][:4], "little"), "foseg": int.from_bytes(last["dp"][4:6], "little"),
             "fop": int.from_bytes(regs["x87opcode"], "little") & 0x7ff}
    found.update({f"st{i}": physical[(top + i) & 7] for i in range(8)})
    found.update({n: v.to_bytes(4, "little") for n, v in words.items()})
    return found


def states(path):
    regs = {}
    for line in tool("regs", path):
        _, _, pc, *shown = line.split()
        for change in shown:
            name, text = change.split("=")
            regs.pop(name, None)
            if text:
                regs[name] = bytes.fromhex(text)
        yield int(pc, 16), dict(regs)


def registers_agree(name, skip):
    regs, n = {}, 0
    ours = list(states(trace(name, skip)))
    for position, (_, changed) in enumerate(changes(name)):
        regs.update(changed)
        pc, found = ours[position]
        assert pc == int.from_bytes(regs["rip"], "little"), f"position {position}: rip {pc:x}"
        expected = as_gdb(regs)
        wrong = [r for r in expected.keys() | found.keys() if expected.get(r) != found.get(r)]
        assert not wrong, f"position {position}: {[(r, found.get(r), expected.get(r)) for r in wrong]}"
        n += len(expected)
    assert position + 1 == len(ours), f"{len(ours)} positions, the reader has {position + 1}"
    print(f"# {name}: {len(ours)} positions, {n} values, none unknown that the reader shows, none known that it does not")


def memory_agrees(name, skip):
    path = trace(name)
    memory = initial_memory(name, path.read_bytes())
    args, expected = [], []
    for position, (written, _) in enumerate(changes(name)):
        for addr, data in written:
            write(memory, addr, data)
        # all of it at some positions, what was written and what is around it at the others
        ranges = REGIONS[name] if position % 100 == 0 else [(max(a - 8, s), 24) for a, _ in written[:8]
                                                             for s, n in REGIONS[name] if s <= a < s + n - 24]
        for addr, length in ranges:
            start, contents = next((s, c) for s, c in memory.items() if s <= addr < s + len(c))
            args += [position, addr, length]
            expected.append((position, addr, bytes(contents[addr - start:addr - start + length]).hex()))
    found = tool("mem", trace(name, skip), *args)
    assert len(found) == len(expected)
    for (position, addr, text), shown in zip(expected, found):
        assert shown == text, f"position {position}, 0x{addr:x}: {shown[:80]} instead of {text[:80]}"
    print(f"# {name}: {sum(len(t) for *_, t in expected) // 2} bytes in {len(expected)} ranges")


for sample in REGIONS:
    for kind, length in ("", 0), (" without its resource header", HEADER_LEN):
        add_case(f"{sample}{kind}: registers at every position", registers_agree, sample, length)
        add_case(f"{sample}{kind}: memory over time", memory_agrees, sample, length)


@case
def what_lies_outside_of_all_regions_is_unknown():
    shown = tool("mem", trace("edges"), 72, 0x900000, 8, 73, 0x1ff8, 16)
    assert shown[0] == ".." * 8 and shown[1].endswith("9e09" + ".." * 8), shown
    info = tool("info", trace("edges"))
    assert any("outside the machine's regions" in line for line in info), info


run_cases()
