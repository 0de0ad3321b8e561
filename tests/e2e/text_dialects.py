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

from _tap import DATA, TRACESTUB, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "text-samples"
PCS = "rip", "eip", "pc"


def rows_of(truth):
    return [json.loads(line) for line in gzip.open(SAMPLES / f"oracle-{truth}.jsonl.gz", "rt")]


def log(name):
    """The sample, or that without the bytes of its modules."""
    path = pathlib.Path(tempfile.mkdtemp()) / name
    text = gzip.decompress((SAMPLES / f"{name.removeprefix('bare-')}.gz").read_bytes())
    if name.startswith("bare-"):
        text = b"".join(line for line in text.splitlines(True) if not line.startswith(b"Loaded image"))
    path.write_bytes(text)
    return path


def tool(*args, program=None, **kwargs):
    args = [*args, *([log(program)] if program else [])]
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


def compare_memory(name, rows, least, program=None):
    """Every byte that the execution accesses, at every position that the log has."""
    first, changes = memory(rows)
    places, ranges = where(name, len(rows)), []
    for addr in sorted(first):
        if ranges and addr == sum(ranges[-1]):
            ranges[-1] = ranges[-1][0], ranges[-1][1] + 1
        else:
            ranges.append((addr, 1))
    path = log(name)
    n_positions = len(tool("regs", path, program=program).splitlines())
    places = places[:n_positions]
    asked = "".join(f"{k} {a} {n}\n" for k in range(len(places)) for a, n in ranges)
    answers = iter(tool("ask", path, program=program, input=asked).splitlines())
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


def compare_accesses(name, rows, listed, program=None):
    """What each step reads and writes; @listed: kinds of accesses of which none is missing."""
    places, n, missing = where(name, len(rows)), 0, 0
    for k, line in enumerate(tool("steps", log(name), program=program).splitlines()):
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
            missing += sum(what in listed for what, _ in set(true) - mine)
        n += len(mine)
    print(f"# {name}: {n} bytes of accesses, none wrong, {missing} missing")
    assert not listed or (not missing and n), f"{missing} missing"


def compare(name, truth, least_regs, least_memory=None, listed="", unlisted=(), program=None, **kwargs):
    rows = [row for k, row in enumerate(rows_of(truth)) if k not in unlisted]
    info = tool("info", log(name))
    assert "damage" not in info and (name.startswith(("block", "routine"))) == (", a line a block" in info), info
    compare_registers(name, rows, least_regs, **kwargs)
    if least_memory is not None:
        compare_memory(name, rows, least_memory, program)
        compare_accesses(name, rows, listed, program)


MIPS = dict(zip("zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra".split(),
                (f"r{i}" for i in range(32))))
NAMES = {"mips": MIPS, "arm": {"r13": "sp", "r14": "lr", "r15": "pc", "psr": "cpsr"}, "aarch64": {"pstate": "cpsr"},
         "riscv64": {"s0": "fp"}, "i386": {"eip": "pc", "efl": "eflags"}, "x86_64": {"rip": "pc", "rfl": "eflags"}}


def dumps(text, arch):
    """The dumps of a log of QEMU: thread, pc, and registers, None where two threads waited at one address."""
    waiting, now, unsure = {}, None, set()
    for line in text.splitlines():
        trace = re.search(r"Trace (\d+): 0x\w+ \[\w+/(\w+)/", line)
        fields = re.findall(r"(?:\bx\d+/)?\b([a-zA-Z]+\d*)\s*[= ]\s*(?:0x)?([0-9a-f]{8,16})\b", line)
        fields += [(name.lower() + "_base", value) for name, value in re.findall(r"^([FG]S) =\w+ (\w+)", line)]
        if trace:
            waiting[int(trace[1])] = int(trace[2], 16)
            unsure.discard(int(trace[1]))
        elif re.match(r" pc  | PC=|pc=0x|[ER]AX=|R00=", line):
            if now:
                yield now
            now = [None, None, {}]
        if trace or not now or line.startswith(("...", "Exception", "Taking")):
            continue
        for name, value in fields:
            name = re.sub(r"^([rx])0(\d)$", r"\1\2", name.lower())
            name = NAMES[arch].get(name, name)
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


def compare_dumps(name, least, arch):
    """A log of QEMU beside its own dumps, each of which is that of the thread whose Trace line has its address."""
    path, threads, n = log(name), {}, 0
    lines = tool("regs", path).splitlines()
    truths = list(dumps(path.read_text(), arch))
    assert len(lines) == len(truths), f"{len(lines)} positions, {len(truths)} dumps"
    for line, (thread, at, true) in zip(lines, truths):
        position, tid, pc, *changes = line.split()
        assert (int(tid), int(pc, 16)) == (thread + 1, at), f"position {position}: thread {tid} at {pc}, not {thread + 1} at {at:x}"
        mine = threads.setdefault(tid, {})
        for change in changes:
            reg, value = change.split("=")
            mine[reg] = int.from_bytes(bytes.fromhex(value), "big" if arch == "mips" else "little") if value else None
        for reg, value in mine.items():
            if value is not None and true and reg in true:
                assert value == true[reg], f"position {position}, {reg}: {value:x}, not {true[reg]:x}"
                n += 1
        assert not true or all(mine.get(reg) is not None for reg in true if reg in mine), f"position {position}: {mine}"
    print(f"# {name}: {n} register values at {len(lines)} positions, none wrong")
    assert n >= least, n


STACK = 1 << 13 # bytes below the first stack pointer, and above it, that are the stack


def moved(rows, top):
    """The same execution with its stack at @top: its registers, and the words that are addresses of it."""
    was = int(rows[0]["regs"]["rsp"], 16)

    def shift(value):
        return value + top - was if abs(value - was) < STACK else value

    def word(data):
        data = bytes.fromhex(data)
        return (shift(int.from_bytes(data, "little")).to_bytes(8, "little") if len(data) == 8 else data).hex()

    for row in rows:
        row = dict(row, regs={n: f"{shift(int(v, 16)):x}" for n, v in row["regs"].items()})
        row["reads"] = [[shift(number(a)), word(data)] for a, data in row.get("reads", [])]
        row["writes"] = [[shift(number(a)), word(old), word(new)] for a, old, new in row.get("writes", [])]
        yield row


def compare_moved(name, top, least, least_memory, listed, program):
    """QEMU's run has another stack, and rcx and r11 after a system call are QEMU's own."""
    rows = list(moved(rows_of("walk-x86_64"), top))
    compare_registers(name, rows, least, but=("rcx", "r11", "eflags"))
    compare_memory(name, rows, least_memory, program)
    compare_accesses(name, rows, listed, program)


def compare_execlog(name):
    """Values of memory are by the registers that lines have shown, where the program shows whole instructions."""
    rows = rows_of("walk-x86_64")
    first = next(line for line in log(name).read_text().splitlines() if "store" in line)
    at = next(k for k, row in enumerate(rows) if row.get("writes"))
    top = int(re.search(r"store, 0x(\w+)", first)[1], 16) + int(rows[0]["regs"]["rsp"], 16) - number(rows[at]["writes"][0][0])
    compare_moved(name, top, 1000, 0.5, "", None)
    compare_moved(name, top, 1000, 0.5, "RW", "walk-x86_64")


def compare_top(name):
    """QEMU's -d cpu of x86-64: memory is by the program's code and the registers."""
    top = int(re.search(r"RSP=(\w+)", log(name).read_text())[1], 16)
    compare_moved(name, top, 1000, 0.5, "W", "walk-x86_64")


def compare_buffer(name, program, addr, answer):
    """What walk.c leaves in its variables, where the log has registers alone."""
    path, done = log(name), "big" if "mips" in name else "little"
    ask = f"{len(tool('regs', path).splitlines()) - 1} {addr} 24\n"
    buffer = b"ok\n" + bytes((3 + 7 * (i + 1)) & 255 for i in range(3, 24))
    assert tool("ask", path, input=ask).strip() == 24 * "..", "what is in memory without the program's code"
    assert bytes.fromhex(tool("ask", path, program=program, input=ask).strip()) == buffer
    ask = ask.replace(f"{addr} 24", f"{answer} 4")
    # exit status 48: the low bits of the answer
    assert int.from_bytes(bytes.fromhex(tool("ask", path, program=program, input=ask).strip()), done) & 63 == 48


def compare_code(name, truth):
    """The bytes of each instruction that runs, which in_asm lines alone show: those of the last one when it has come."""
    path, rows = log(name), rows_of(truth)
    pcs = [int(line.split()[2], 16) for line in tool("regs", path).splitlines()]
    codes = [row["insn"] for row in rows if "insn" in row]
    asked = "".join(f"{k} {pc} {len(code) // 2}\n" for k, (pc, code) in enumerate(zip(pcs, codes)))
    answers = tool("ask", path, input=asked).split()
    wrong = [f"position {k}, {pc:x}: {mine}, not {code}" for k, (pc, code, mine) in enumerate(zip(pcs, codes, answers)) if mine != code]
    assert not wrong and len(answers) > 300, (len(answers), wrong[:3])


@case
def qemu_without_a_disassembler_shows_the_same_code():
    """Its in_asm lines are the address alone, and OBJD-T with the bytes of the block."""
    path = log("cpu-x86_64.log")
    code = re.compile(r"^(0x[0-9a-f]+:  )((?:[0-9a-f]{2} )+) .*(?:\n0x[0-9a-f]+:  ((?:[0-9a-f]{2} ?)+)$)?", re.M)
    text, n = code.subn(lambda m: f"{m[1]}\nOBJD-T: {(m[2] + (m[3] or '')).replace(' ', '')}", path.read_text())
    assert n > 100 and text.count("OBJD-T") == n
    other = path.with_name("objd.log")
    other.write_text(text)
    asked = "".join(f"{k} {0x401000 + at} 16\n" for k in range(0, 399, 7) for at in range(0, 0x1a0, 16))
    assert tool("ask", path, input=asked) == tool("ask", other, input=asked)


def compare_each_thread(name, truth, n_threads):
    """Threads that ran in another order: the way of each, and what its registers were made from constants."""
    rows, n = {}, 0
    for row in rows_of(truth):
        rows.setdefault(row["tid"], []).append(row)
    ways = [[int(row["regs"]["rip"], 16) for row in mine] for mine in rows.values()]
    mine = {}
    for line in tool("regs", log(name)).splitlines():
        _, tid, pc, *_ = line.split()
        mine.setdefault(tid, []).append(int(pc, 16))
    assert len(mine) == len(ways) == n_threads, mine.keys()
    for way, true in zip(mine.values(), ways):
        assert abs(len(way) - len(true)) <= 2 and all(a == b for a, b in zip(way, true)), (len(way), len(true))
        n += len(way)
    print(f"# {name}: {n} positions of {n_threads} threads")


def compare_way(name, truth):
    """A list without registers: where it goes."""
    true = [regs["pc"] for _, regs in states(rows_of(truth))]
    way = [int(line.split()[2], 16) for line in tool("regs", log(name)).splitlines()]
    assert way[:-1] == true[:len(way) - 1] and len(way) >= len(true) - 1, (len(way), len(true))
    assert "damage" not in tool("info", log(name))
    return log(name)


def parser_items():
    """Each line of parsertest.txt with what Arm's own parser says of it."""
    items = []
    for line in gzip.open(SAMPLES / "parsertest.ref.gz", "rt"):
        if line.startswith("--- Tarmac line: "):
            items.append((line[17:].rstrip(), []))
        elif line.startswith("* ") and line.split()[1] in ("InstructionEvent", "RegisterEvent", "MemoryEvent") and "fetchfail" not in line:
            items[-1][1].append((line.split()[1], dict(re.findall(r"(\w+)=(\S+)", line))))
    return [(line, events) for line, events in items if events and "cpu" not in line[:12]]


def is_a64(events):
    kind, facts = events[0]
    return (facts.get("iset") == "A64" or len(facts.get("addr", "")) > 8
            or kind == "RegisterEvent" and re.match(r"[xwsvqdz]\d|xsp", facts["reg"]) is not None)


def code_of(facts):
    data, thumb = bytes.fromhex(facts["instruction"].zfill(int(facts["width"]) // 4)), facts["iset"] == "Thumb"
    return data[1::-1] + data[:1:-1] if thumb and len(data) == 4 else data[::-1]


NOPS = {"arm": "0 clk IT (0) {:08x} e1a00000 A svc_s : NOP", "aarch64": "0 clk IT (0) {:016x} d503201f O EL1h_n : NOP"}
AGAIN = re.compile(r" *[0-9a-f]{8,16}  ") # a line that goes on with the access above it
REGISTERS = {"r13": "sp", "r14": "lr", "psr": "cpsr", "xsp": "sp"}


def parsed(arch):
    """A log of such lines, each after an instruction of its own; and what each step is to have."""
    pc, lines, wanted = 0x100000, [NOPS[arch].format(0), "0 clk R r1 1" if arch == "arm" else "0 clk R X1 1"], [[]]
    for line, events in parser_items():
        if is_a64(events) != (arch == "aarch64"):
            continue
        if events[0][0] != "InstructionEvent" and not AGAIN.match(line):
            pc += 4
            lines.append(NOPS[arch].format(pc))
            wanted.append([])
        elif events[0][0] == "InstructionEvent":
            wanted.append([])
        lines.append(line)
        wanted[-1] += events
    path = pathlib.Path(tempfile.mkdtemp()) / "parser.log"
    path.write_text("\n".join([*lines, NOPS[arch].format(4)]) + "\n")
    return path, wanted


def compare_parser(arch, n_least):
    """Lines seen in the wild, by Arm's own parser: what is known must be what it says."""
    path, wanted = parsed(arch)
    steps, positions = tool("steps", path).splitlines(), tool("regs", path).splitlines()
    now, n = {}, {"code": 0, "bytes": 0, "registers": 0}
    assert len(positions) == len(wanted) + 2, (len(positions), len(wanted)) # the last instruction, and where it led
    for k, events in enumerate(wanted):
        now.update(change.split("=") for change in positions[k + 1].split()[3:])
        true = {}
        for kind, facts in events:
            if kind == "InstructionEvent":
                pc = int(facts["pc"], 16)
                code = tool("ask", path, input=f"{k + 1} {pc} {len(code_of(facts))}\n").strip()
                assert (int(positions[k].split()[2], 16), code) == (pc, code_of(facts).hex()), (facts, positions[k], code)
                n["code"] += 1
            elif kind == "MemoryEvent" and facts.get("contents"):
                data = bytes.fromhex(facts["contents"].zfill(2 * int(facts["size"])))[::-1]
                true.update((("R" if facts["read"] == "true" else "W", int(facts["addr"], 16) + i), f"{b:02x}") for i, b in enumerate(data))
            elif kind == "RegisterEvent":
                data, off = bytes.fromhex(facts["bytes"].replace(":", ""))[::-1].hex(), 2 * int(facts["offset"])
                reg = re.sub(r"^[qsd](\d+)$", r"v\1", REGISTERS.get(facts["reg"], facts["reg"]))
                if now.get(reg):
                    assert now[reg][off:off + len(data)] == data[:len(now[reg])], (facts, now[reg])
                    n["registers"] += 1
        for what, addr, data in (item.split(":") for item in steps[k].split()[1:]):
            for i in range(0, len(data) if what in "RW" else 0, 2):
                assert data[i:i + 2] in ("..", true.get((what, int(addr, 16) + i // 2))), (events, steps[k])
                n["bytes"] += data[i] != "."
    print(f"# parsertest, {arch}: {n}")
    assert sum(n.values()) >= n_least, n


CASES = [
    ("Spike --log-commits -l: with the instruction that traps", "both-rv64fd.log", "rv64fd", 500),
    ("CVA6", "cva6.dasm", "walk-riscv64", 2000, 0.3, "RW"),
    ("Ibex", "ibex.log", "walk-riscv32", 2000, 0.5, "RW"),
    ("CV32E40P", "cv32e40p.log", "walk-rv32im", 2000, 0.3, "RW"),
    ("execlog, AArch64", "made-aarch64.log", "walk-aarch64", 2000, 0.3, "RW"),
    ("unidbg", "unidbg-walk.log", "walk-aarch64", 1000, 0.2),
    ("unidbg without addresses", "unidbg-old-walk.log", "walk-aarch64", 1000),
    ("unidbg as trace-ui patches it", "unidbg-patched-walk.log", "walk-aarch64", 1000, 0.2),
    ("GumTrace", "calls-walk.log", "walk-aarch64", 1000, 0.2),
    ("QBDI", "qbdi-walk.log", "walk-aarch64", 1000, 0.2),
    ("QEMU -d cpu, AArch64", "cpu-aarch64.log", "walk-aarch64", 10000),
    ("QEMU -d cpu, ARM", "cpu-arm.log", "walk-arm", 4000),
    ("QEMU -d cpu, RISC-V", "cpu-riscv64.log", "walk-riscv64", 10000),
    ("Tenet++", "insn-walk64.trace", "walk-x86_64", 5000, 0.5, "RW"),
    ("Tenet++ of blocks: no access is an instruction's", "block-walk64.trace", "walk-x86_64", 1500, 0.2),
    ("Tarmac, ES style", "es-walk-a64.tarmac", "walk-aarch64", 1000, 0.5),
    ("Tarmac, Fast Models style", "fm-walk-a32.tarmac", "walk-arm", 1000, 0.5),
    ("Tarmac, gem5 style", "gem5-walk-a64.tarmac", "walk-aarch64", 1000, 0.5),
]
for words, *args in CASES:
    add_case(words, compare, *args)

# the ecall has no commit line: its state is no position
add_case("Spike --log-commits", compare, "commits-rv64fd.log", "rv64fd", 500, None, "", [50])
add_case("Spike --log-commits, 32 bits", compare, "commits-rv32.log", "rv32", 500, None, "", [48])

for arch, name, n in (
        ("i386", "cpu-i386", 3000), ("x86_64", "cpu-x86_64", 7000), ("arm", "cpu-thumb", 5000), ("mips", "cpu-mips", 14000),
        ("riscv64", "cpu-riscv64-10.0.13", 10000), ("riscv64", "system-riscv64", 4800), ("aarch64", "system-aarch64", 3000),
        ("x86_64", "threads-x86_64", 1500)):
    add_case(f"QEMU -d cpu beside its own dumps, {name}", compare_dumps, f"{name}.log", n, arch)
# between a Trace line and its dump there are lines of the other thread
add_case("QEMU -d cpu, RISC-V: dumps of two threads", compare_dumps, "threads-riscv64.log", 10000, "riscv64")

for arch in "aarch64", "arm", "riscv64":
    add_case(f"QEMU -d cpu with its program, {arch}: memory by instructions", compare, f"cpu-{arch}.log", f"walk-{arch}", 4000, 0.3, "W",
             (), f"walk-{arch}")
for arch in "aarch64", "arm", "riscv64", "i386", "x86_64":
    add_case(f"QEMU -d in_asm, {arch}: the code is what its lines show", compare_code, f"cpu-{arch}.log", f"walk-{arch}")
add_case("QEMU -d cpu with its program, x86-64: memory by instructions", compare_top, "cpu-x86_64.log")
add_case("QEMU -d cpu with its program, MIPS", compare_buffer, "cpu-mips.log", "walk-mips", 0x410394, 0x410390)
add_case("QEMU -d cpu with its program, Thumb", compare_buffer, "cpu-thumb.log", "walk-thumb", 0x1126c, 0x11284)

add_case("Tenet++ of routines", compare, "routine-walk32.trace", "walk-i386", 100, 0.2)
add_case("Tenet++ of two threads: a store is there before its thread runs again", compare, "threads.trace", "thr2", 700, 0.8)
add_case("Tenet++ of two threads without code: what a store left is unknown until its thread runs again", compare,
         "bare-threads.trace", "thr2", 700, 0.7)
add_case("execlog of x86-64", compare_execlog, "real-one-x86_64.log")
add_case("execlog of x86-64, by blocks", compare_execlog, "real-blocks-x86_64.log")
add_case("execlog of two threads", compare_each_thread, "real-thr-x86_64.log", "thr2", 2)


add_case("Tarmac's lines as Arm's own parser takes them: A32, T32", compare_parser, "arm", 100)
add_case("Tarmac's lines as Arm's own parser takes them: A64", compare_parser, "aarch64", 50)


def gaps(path):
    done = subprocess.run([TRACESTUB, "query", path, "events", "gap", "--quiet", "--index", "none"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("position\t"), done
    return [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]


@case
def calls_that_are_left_out_are_a_gap():
    """A white list of Ghidra's tool leaves out functions without a mark: the line after the call is that behind it."""
    whole = log("insn-walk64.trace")
    lines = whole.read_text().splitlines(True)
    path, n, first = whole.with_name("gap.trace"), 0, next(i for i, line in enumerate(lines) if line.startswith("tid="))
    pcs = [int(re.search("rip=0x(\\w+)", line)[1], 16) for line in lines[first:]]
    for k, pc in enumerate(pcs[:-1]):
        if pcs[k + 1] - pc in range(1, 6) or pc + 5 not in pcs[k:] or "mw=0x" not in lines[first + k + 1] or "rsp=" not in lines[first + k + 1]:
            continue
        back = k + pcs[k:].index(pc + 5)
        if f":{(pc + 5).to_bytes(8, 'little').hex()}" not in lines[first + back]:
            continue # nothing returned there
        path.write_text("".join(lines[:first + k + 1] + lines[first + back:]))
        assert gaps(path) == [str(k)], (k, gaps(path))
        steps = tool("steps", path).splitlines()
        assert not re.search(" [RW]:", steps[k]), steps[k] # what the line back lists is the unlisted code's
        n += 1
    assert n >= 8, n
    assert gaps(whole) == []


@case
def spike_l_each_instruction_is_one_step_the_one_that_traps_too():
    path = compare_way("list-rv64fd.log", "rv64fd")
    events = subprocess.run([TRACESTUB, "query", path, "events", "--quiet"], capture_output=True, text=True, check=True).stdout
    assert [line.split("\t")[0] for line in events.splitlines()[1:] if "\t" in line] == ["50"], events


run_cases()
