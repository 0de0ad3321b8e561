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

from _gdbrecord import Core, Memory
from _tap import DATA, TRACESTUB, add_case, case, run_cases

TOOL = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
SAMPLES = DATA / "gdbrecord-samples"
NAMES = "dyn64", "gdb18-sys64", "gdb18-walk64", "list-aarch64", "list-arm", "ring64", "sys64", "threads64", "walk32", "walk64"
PC = {"list-aarch64": "pc", "list-arm": "pc", "walk32": "eip"}
RAX, RCX, RIP = 0, 2, 16
LARGE = 4096


def sample(name):
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


def rax_windows(core, rows):
    """{position at which gdb shows the result of a later system call: the number that an instruction put there, or None}"""
    since, number, pc, windows = 0, None, None, {}
    for k, group in enumerate(core.groups()):
        insn, regs = core.bytes_at(pc, 5) if pc else b"", group.regs
        is_syscall = RAX not in regs and RCX in regs and regs[RCX] == regs[RIP]
        if is_syscall:
            windows.update((position, number) for position in range(since, k + 1))
        if RAX in regs or is_syscall:
            since, number = k + 1, None
            if insn[:1] == b"\xb8":
                number = int.from_bytes(insn[1:], "little")
            if insn[:2] == b"\x31\xc0":     # xor %eax,%eax
                number = 0
            if insn[:3] == b"\x4c\x89\xc8":     # mov %r9,%rax
                number = rows[k][1]["r9"]
        pc = int.from_bytes(regs[RIP], "little")
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
    windows = rax_windows(Core(path.read_bytes()), rows) if is_x64 else {}
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


def ask(path, ranges_at):
    """The bytes of ranges at positions, [(position, [(address, length)])], in hexadecimal."""
    asked = "".join(f"{k} {addr} {length}\n" for k, ranges in ranges_at for addr, length in ranges)
    return tool("ask", path, input=asked).splitlines()


def memory_texts(memory, theirs):
    """{(position, address, length): bytes} of gdb's ranges, and of what the log changes; of large ranges where that changes."""
    always, sometimes = memory.touched(), sorted({key[1:] for key in theirs})
    texts, last = {}, {}
    for k, row in enumerate(memory.positions(always + sometimes)):
        for where, text in zip(always + sometimes, row, strict=True):
            is_asked = where in always and (where[1] < LARGE or text != last.get(where))
            if is_asked or (k, *where) in theirs:
                texts[k, *where] = text
            if where[1] >= LARGE and text != last.get(where) and k:
                texts[k - 1, *where] = last[where]
            last[where] = text
    return texts


def compare_memory(name, path):
    """gdb's replay shows memory at ten positions. A naive replay, which is the same there, tells of all that the log changes."""
    memory = Memory(Core(path.read_bytes()))
    theirs = {(t, int(addr, 16), len(data) // 2): data for t, _, shown in oracle(name) for addr, data in shown if data is not None}
    texts = memory_texts(memory, theirs)
    assert theirs and texts.items() >= theirs.items(), "the naive replay is not gdb's"
    asked = "".join(f"{k} {addr} {length}\n" for k, addr, length in texts)
    for (k, addr, _), text, line in zip(texts, texts.values(), tool("ask", path, input=asked).splitlines(), strict=True):
        assert line == text, f"position {k}, {addr:#x}: {sum(a != b for a, b in zip(line, text))} digits differ"
    n_bytes, n_unknown = sum(where[2] for where in texts), sum(text.count("..") for text in texts.values())
    print(f"# {name}: {n_bytes} bytes at {len(memory.groups) + 1} positions, {n_unknown} of them unknown; {len(theirs)} ranges are gdb's")


for name in NAMES:
    path = sample(name)
    add_case(f"{name} registers", compare_registers, name, path)
    add_case(f"{name} memory", compare_memory, name, path)


def events(path, kind):
    done = subprocess.run([TRACESTUB, "query", str(path), "events", kind, "--json", "--quiet"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()[:-1]]


@case
def system_calls_are_events_with_numbers_arguments_and_results():
    calls = events(sample("walk64"), "syscall")       # of walk.c: it writes ten bytes, and asks for its pid
    assert [call["name"] for call in calls] == ["write", "getpid"], calls
    assert calls[0]["arguments"][0] == "0x1" and calls[0]["arguments"][2] == calls[0]["result"] == "0xa", calls[0]
    for name in "list-arm", "list-aarch64":     # qemu's stub ran one more instruction in that step
        call, = events(sample(name), "syscall")
        assert (call["name"], call["arguments"][2], call["result"]) == ("write", "0x8", None), call


@case
def a_signal_is_an_event_before_its_handler():
    found = events(sample("sys64"), "signal")
    assert len(found) == 1 and "30" in found[0]["text"] or "USR1" in found[0]["text"], found


@case
def the_handler_of_a_signal_is_no_instruction_s_doing():
    """sys.c: kill() with signal 10 is before `page[100]`, whose address the interrupted instruction loads into rdi. The handler has
    10 in rdi, by the kernel; the instruction runs after the handler has returned."""
    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", sample("sys64"), *words, "--exec", DATA / "gdbrecord-samples/sys64", "--json", "--quiet"],
                              capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()[:-1]]

    handler, = ask("calls", "on_signal")
    begin = handler["begin"]
    assert handler["kind"] == "handler" and handler["caller"] == "work" and handler["arguments"][0] == "0xa", handler
    back, = ask("next-exec", handler["pc"], "at", str(begin))
    assert handler["end"] == back["position"], (handler, back)
    assert [row["function"] for row in ask("stack", "at", str(begin))] == ["on_signal", "signal", "work"]
    assert [row["kind"] for row in ask("why", "$rdi", "at", str(begin))] == ["write", "unknown"]
    assert ask("why", "$rdi", "at", str(begin - 1))[0]["value"] == "0x4ded"    # the argument of kill
    stopped = ask("steps", handler["pc"], "in", f"{begin - 2}:{begin}")
    assert len(stopped) == 2 and not any(row["reads"] for row in stopped) and not stopped[0]["writes"], stopped
    assert begin - 2 not in [row["position"] for row in ask("history", "$rdi")]
    assert not any(row["position"] < begin for row in ask("flows", "page", "at", str(begin - 3)))


run_cases()
