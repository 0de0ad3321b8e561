#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""UCIR version 2 in gdb: threads that share memory, signals, a crash, on RISC-V and PowerPC.

Both programs do the same. main calls f, which sets total to 7; a second thread runs g, which sets it to 5 just before. A signal
interrupts f after its first instruction; the handler sets seen to 9. Then main returns to address 0, where it crashes. What is
expected was worked out by hand from the instructions.

    step    thread 1                    thread 2
    0-2     main: prologue, call f      (PowerPC has one instruction more: one is added to what follows)
    3       f: the address of total
    4                                   g: the address of total
            SIGUSR1
    5-8     handler, sigreturn
    9       f: 7
    10, 11                              g: 5, total = 5
    12      f: total = 7
    13                                  g: exits
    14      f returns
    ...     main: epilogue, returns
"""
import re
import shutil
import struct
import subprocess
import tempfile
import json
import pathlib

from _gdb import Gdb
from _sentences import END_OF_HISTORY
from _tap import SRCDIR, TRACESTUB, add_case, case, run_cases, skip
from _ucir2 import elf, end, exit_, frame, jmp, keyframe, map_, note, reg, read, signal, step, syscall, thread_end, ucir2, write

CODE, DATA, STACK = 0x10000, 0x20000, 0x7000
TOTAL, SEEN = DATA, DATA + 4


class Machine:
    """A processor: the code of the program, and how its registers are numbered."""

    def __init__(self, name, is_big, machine, flags, words, sp, link, n_extra):
        self.name, self.is_big, self.n_extra = name, is_big, n_extra
        self.sp, self.link = sp, link
        self.order = ">" if is_big else "<"
        code = bytearray(0x100)
        for addr, word in words.items():
            struct.pack_into(self.order + "I", code, addr - CODE, word)
        self.code = bytes(code)
        self.elf = elf(machine, flags, is_big, CODE, self.code, DATA,
                       {"main": (CODE, 0x20), "f": (CODE + 0x40, 0x10), "handler": (CODE + 0x60, 0x10),
                        "g": (CODE + 0x80, 0x10), "total": (TOTAL, 4), "seen": (SEEN, 4)})

    def i32(self, value):
        return struct.pack(self.order + "I", value)

    def i64(self, value):
        return struct.pack(self.order + "Q", value)


RISCV = Machine("riscv64", False, 243, 0, {
    0x10000: 0xff010113,    # addi sp,sp,-16
    0x10004: 0x00113423,    # sd ra,8(sp)
    0x10008: 0x038000ef,    # jal f
    0x1000c: 0x00813083,    # ld ra,8(sp)
    0x10010: 0x01010113,    # addi sp,sp,16
    0x10014: 0x00008067,    # ret
    0x10040: 0x000207b7,    # f: lui a5,0x20
    0x10044: 0x00700713,    # li a4,7
    0x10048: 0x00e7a023,    # sw a4,0(a5)
    0x1004c: 0x00008067,    # ret
    0x10060: 0x00900713,    # handler: li a4,9
    0x10064: 0x00e7a223,    # sw a4,4(a5)
    0x10068: 0x08b00893,    # li a7,139
    0x1006c: 0x00000073,    # ecall
    0x10080: 0x000207b7,    # g: lui a5,0x20
    0x10084: 0x00500713,    # li a4,5
    0x10088: 0x00e7a023,    # sw a4,0(a5)
    0x1008c: 0x00000073,    # ecall
}, sp=3, link=2, n_extra=0)

PPC = Machine("ppc64", True, 21, 2, {
    0x10000: 0x7c0802a6,    # mflr r0
    0x10004: 0xf8010010,    # std r0,16(r1)
    0x10008: 0xf821ffe1,    # stdu r1,-32(r1)
    0x1000c: 0x48000035,    # bl f
    0x10010: 0x38210020,    # addi r1,r1,32
    0x10014: 0xe8010010,    # ld r0,16(r1)
    0x10018: 0x7c0803a6,    # mtlr r0
    0x1001c: 0x4e800020,    # blr
    0x10040: 0x3d200002,    # f: lis r9,2
    0x10044: 0x39400007,    # li r10,7
    0x10048: 0x91490000,    # stw r10,0(r9)
    0x1004c: 0x4e800020,    # blr
    0x10060: 0x39400009,    # handler: li r10,9
    0x10064: 0x91490004,    # stw r10,4(r9)
    0x10068: 0x380000ac,    # li r0,172
    0x1006c: 0x44000002,    # sc
    0x10080: 0x3d200002,    # g: lis r9,2
    0x10084: 0x39400005,    # li r10,5
    0x10088: 0x91490000,    # stw r10,0(r9)
    0x1008c: 0x44000002,    # sc
}, sp=3, link=74, n_extra=1)


def start(m, sp, pc, *ops):
    """All registers of a thread, and what else."""
    count = range(1, 33) if m is RISCV else [*range(2, 34), 74, 75, 76, 77, 79]
    return [*(reg(n, sp if n == m.sp else 0) for n in count), jmp(pc), *ops]


def memory(m, path):
    return [map_(CODE - 0x1000, 0x2000, 5, b"exe", path), write(CODE - 0x1000, m.elf[:0x1000 + len(m.code)]),
            map_(DATA, 0x1000, 3), map_(STACK, 0x1000, 3, b"stack")]


def riscv_main():
    a4, a5, a7, a0 = 15, 16, 18, 11
    return dict(
        begin=[reg(3, 0x7ef0), step(4), write(0x7ef8, bytes(8)), step(4), reg(2, 0x1000c), step(4), jmp(0x10040)],
        load=[reg(a5, DATA), step(4)], seven=[reg(a4, 7), step(4)], five=[reg(a4, 5), step(4)],
        nine=[reg(a4, 9), step(4)], number=[reg(a7, 139), step(4)],
        before=[reg(a4, 0), reg(a7, 0), reg(a0, 0), reg(3, 0x7ef0), reg(2, 0x1000c)], first=a0,
        last=[jmp(0x1000c), read(0x7ef8, 8), reg(2, 0), step(4), reg(3, 0x7f00), step(4), step(4), jmp(0)])


def ppc_main():
    r0, r3, r9, r10, lr = 2, 5, 11, 12, 74
    return dict(
        begin=[reg(r0, 0), step(4), write(0x7f10, bytes(8)), step(4), write(0x7ee0, bytes.fromhex("0000000000007f00")),
               reg(3, 0x7ee0), step(4), reg(lr, 0x10010), step(4), jmp(0x10040)],
        load=[reg(r9, DATA), step(4)], seven=[reg(r10, 7), step(4)], five=[reg(r10, 5), step(4)],
        nine=[reg(r10, 9), step(4)], number=[reg(r0, 172), step(4)],
        before=[reg(r10, 0), reg(r0, 0), reg(r3, 0), reg(3, 0x7ee0), reg(lr, 0x10010)], first=r3,
        last=[jmp(0x10010), reg(3, 0x7f00), step(4), read(0x7f10, 8), reg(r0, 0), step(4), reg(lr, 0), step(4), step(4), jmp(0)])


def build(m, path=b"/nowhere/prog"):
    p = riscv_main() if m is RISCV else ppc_main()
    return ucir2(
        m.name, note(3, path), note(6, b"by hand"),
        keyframe(1, 1, *start(m, 0x7f00, CODE), *memory(m, path)),
        frame(1, 1, *p["begin"], *p["load"]),
        keyframe(1, 2, *start(m, 0x7800, CODE + 0x80)),
        frame(1, 2, *p["load"]),
        frame(1, 1, signal(10, -6, 1, 25, reg(m.sp, 0x7e00), reg(m.link, 0x100c0), reg(p["first"], 10), write(0x7e00, b"frame")),
              jmp(CODE + 0x60), *p["nine"], write(SEEN, m.i32(9)), step(4), *p["number"], step(4),
              syscall(139 if m is RISCV else 172, 0, [], *p["before"]), jmp(CODE + 0x44), *p["seven"]),
        frame(1, 2, *p["five"], write(TOTAL, m.i32(5)), step(4)),
        frame(1, 1, write(TOTAL, m.i32(7)), step(4)),
        frame(1, 2, step(4), syscall(93, 0, [0], exit_()), thread_end(0)),
        frame(1, 1, step(4), *p["last"]), end(1, 11), is_big=m.is_big)


class Made:
    """A recording that was just made, for Gdb()."""

    def __init__(self, m, folder):
        self.trace, self.exec = f"{folder}/{m.name}.ucir", f"{folder}/{m.name}.elf"
        pathlib.Path(self.trace).write_bytes(build(m))
        pathlib.Path(self.exec).write_bytes(m.elf)

    @staticmethod
    def gdb():
        return shutil.which("gdb-multiarch") or skip("no gdb-multiarch")

    @staticmethod
    def copy_sources(folder):
        pass


def session(m):
    return Gdb(Made(m, FOLDER))


def when(g):
    g("monitor when")
    return int(g.expect(r"position (\d+)")[1])


def go(g, pos):
    g(f"monitor goto {pos}")
    g("maintenance flush register-cache")


# ------------------------------------------------------------------------------------------------------- cases

def steps_go_both_ways(m):
    with session(m) as g:
        x = m.n_extra
        pcs = [g.address("$pc")]
        for _ in range(3 + x):
            g("stepi")
            pcs.append(g.address("$pc"))
        assert pcs == [CODE + 4 * i for i in range(3 + x)] + [0x10040], pcs
        for pc in reversed(pcs[:-1]):
            g("reverse-stepi")
            assert g.address("$pc") == pc
        g("break *0x10040")
        g("continue")
        g.expect("hit Breakpoint 1, 0x0*10040 in f|Breakpoint 1, 0x0*10040 in f")
        assert when(g) == 3 + x


def a_backtrace_and_the_threads_at_a_position(m):
    with session(m) as g:
        go(g, 12 + m.n_extra)
        g("thread 1")
        g("backtrace")
        g.expect("#0 +0x0*10048 in f")
        g.expect(f"#1 +0x0*{0x1000c + 4 * m.n_extra:x} in main")
        g("info threads")
        g.expect(r"\* 1 +Thread 1\.1\b.*in f")
        g.expect(r"  2 +Thread 1\.2\b.*in g")
        go(g, 15 + m.n_extra)
        g("info threads")
        g.expect_not("1[.]2 ")      # it has ended


def goto_leads_to_another_thread_from_a_breakpoint(m):
    """gdb 13 crashes if it steps over the breakpoint with one thread, and another one stops."""
    with session(m) as g:
        x = m.n_extra
        g(f"source {SRCDIR}/gdbinit")
        g("break *0x10040")
        g("continue")
        g.expect("hit Breakpoint 1|Breakpoint 1, ")
        before = re.search(r"thread 1\.(\d)", g("when"))[1]
        for k in range(18 + x):
            g(f"goto {k}")
            g(f"goto {3 + x}")
            g.expect(rf"position {3 + x} of .*thread 1\.{before},")
        g("delete")
        g(f"goto {12 + x}")
        pc = g.address("$pc")
        g("goto begin")
        g(f"break *{pc:#x}")
        g("handle SIGUSR1 nostop noprint")
        g("continue")
        g.expect("hit Breakpoint 2|Breakpoint 2, ")
        for number in 1, 2:             # of gdb
            g(f"thread {number}")
            g(f"goto {3 + x}")
            g.expect(f"position {3 + x} of")
            g(f"goto {12 + x}")
        g("set exec-direction reverse")
        g("goto 1")
        g.expect("position 1 of")


def a_watchpoint_finds_the_writes_of_both_threads(m):
    with session(m) as g:
        x = m.n_extra
        g("watch *(int *) &total")
        g("handle SIGUSR1 nostop noprint")
        for pos, thread, old, new in (12 + x, 2, 0, 5), (13 + x, 1, 5, 7):
            g("continue")
            g.expect(f"Old value = {old}\nNew value = {new}")
            assert when(g) == pos, g
            g.expect(rf"thread 1\.{thread}")
        go(g, 18 + x)
        for pos, old, new in (12 + x, 7, 5), (11 + x, 5, 0):
            g("reverse-continue")
            g.expect(f"Old value = {old}\nNew value = {new}")
            assert when(g) == pos, g


def a_signal_stops_where_its_handler_begins(m):
    """Another thread ran last: there is no position at which the interrupted one has its pc."""
    with session(m) as g:
        x = m.n_extra
        g("continue")
        g.expect("(Program|Thread 1) received signal SIGUSR1")
        assert g.address("$pc") == 0x10060
        assert when(g) == 5 + x
        g.expect("signal SIGUSR1, sent by process 1\n")
        assert g.value("$_siginfo.si_signo") == 10
        assert g.value("$_siginfo.si_code") == -6
        assert g.value("$_siginfo._sifields._kill.si_pid") == 1
        assert g.address("$sp") == 0x7e00
        g("x/5c 0x7e00")
        g.expect("'f'.*'e'")
        g("stepi 3")        # not over sigreturn: gdb's RISC-V looks for the next pc in a real signal frame
        assert (when(g), g.address("$pc"), g.value("*(int *) &seen")) == (8 + x, 0x1006c, 9)
        go(g, 9 + x)
        assert (g.address("$pc"), g.address("$sp")) == (0x10044, 0x7ef0 if m is RISCV else 0x7ee0)
        g("reverse-continue")
        g.expect("(Program|Thread 1) received signal SIGUSR1")
        assert when(g) == 5 + x
        go(g, 0)
        g("monitor goto next-signal")
        g("maintenance flush register-cache")
        assert when(g) == 4 + x         # before the step that it ends
        go(g, 0)
        g("monitor goto next signal")
        assert when(g) == 4 + x
        g("watch *(char *) 0x7e00")     # no instruction wrote the frame, but it changed
        go(g, 4 + x)
        g("handle SIGUSR1 nostop noprint")
        g("continue")
        assert when(g) in (5 + x, 18 + 2 * x), g


def a_crash_is_a_stop_at_the_instruction_that_failed(m):
    with session(m) as g:
        last = 18 + 2 * m.n_extra
        g("handle SIGUSR1 nostop noprint")
        g("continue")
        g.expect("(Program|Thread 1) received signal SIGSEGV")
        assert g.address("$pc") == 0
        assert when(g) == last
        g.expect("^exit: the process has ended, by SIGSEGV$")
        g.expect_not("assumed")
        g("continue")
        g.expect(END_OF_HISTORY)


def questions_have_the_same_answers(m):
    made = Made(m, FOLDER)
    x = m.n_extra

    def rows(*words):
        out = subprocess.run([TRACESTUB, "query", made.trace, *words, "--exec", made.exec], capture_output=True, text=True,
                             timeout=60, check=True).stdout
        return [line.split("\t") for line in out.splitlines()[1:]]

    events = [(int(r[0]), r[1], r[2]) for r in rows("events")]
    assert [e for e in events if e[2] != "syscall"] == [
        (3 + x, "2", "thread-start"), (4 + x, "1", "signal"), (13 + x, "2", "thread-end"), (17 + 2 * x, "1", "signal"),
        (17 + 2 * x, "1", "exit")], events
    assert [e for e in events if e[2] == "syscall"] == [(8 + x, "1", "syscall"), (13 + x, "2", "syscall")], events
    assert [(int(r[0]), r[1]) for r in rows("history", "total")] == [(11 + x, "2"), (12 + x, "1")]
    calls = rows("calls", "f")
    assert [r[:3] for r in calls] == [[str(2 + x), str(3 + x), str(15 + x)]], calls


for name, machine in ("RISC-V", RISCV), ("PowerPC", PPC):
    for check in (steps_go_both_ways, a_backtrace_and_the_threads_at_a_position,
                  goto_leads_to_another_thread_from_a_breakpoint, a_watchpoint_finds_the_writes_of_both_threads,
                  a_signal_stops_where_its_handler_begins, a_crash_is_a_stop_at_the_instruction_that_failed,
                  questions_have_the_same_answers):
        add_case(f"{name}: {check.__name__.replace('_', ' ')}", check, machine)


@case
def the_example_of_the_page_is_a_trace():
    page = (SRCDIR / "src/program/tracestub-ucir2.7").read_text()
    block = page[page.index(".SH EXAMPLE"):]
    block = block[block.index(".nf") + 4:block.index(".fi")]
    stream = bytes.fromhex("".join(re.match(r"((?:[0-9a-f]{2})+ *| +)*", line)[0] for line in block.splitlines()))
    path = f"{FOLDER}/example.ucir"
    pathlib.Path(path).write_bytes(ucir2("riscv64", stream))
    done = subprocess.run([TRACESTUB, "info", path], capture_output=True, text=True, timeout=60, check=True)
    for line in "positions     0..2: 2 instructions", "end           the program's exit", "warnings      0", \
            "  0x10000-0x10fff r-x":
        assert line in done.stdout, done.stdout
    done = subprocess.run([TRACESTUB, "query", path, "events"], capture_output=True, text=True, timeout=60, check=True)
    assert re.search(r"^1\t1\tsyscall\texit_group\t0x3\t\t\texit_group\(3\)\n1\t1\texit\t\t\t\t\tstatus 3$", done.stdout, re.M), done.stdout
    done = subprocess.run([TRACESTUB, "query", path, "last-write", "$a0"], capture_output=True, text=True, timeout=60,
                          check=True)
    assert re.search(r"^0\t1\t0xfffc\t.*\t0x2\t0x3$", done.stdout, re.M), done.stdout


@case
def info_shows_what_the_recorder_said():
    made = Made(RISCV, FOLDER)
    out = subprocess.run([TRACESTUB, "info", made.trace], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "\nprogram       /nowhere/prog\nemulator      by hand\n" in out, out
    assert "thread 1.2: 4 instructions" in out, out


@case
def info_says_how_the_program_ended():
    head = keyframe(1, 1, reg(11, 2), jmp(0x1000)), frame(1, 1, step(4))
    killed = signal(15, 0, 0, 2), end(1, 15)
    fault = signal(11, 1, 0x30, 2 | 4 | 8 | 16), end(1, 11)
    for ops, text, word in (((end(0, 3),), "the program's exit", "exit"),
                            ((end(1, 15),), "the program's end by SIGTERM", "signal"),
                            ((frame(1, 1, *killed[:1]), *killed[1:]), "the program's end by SIGTERM", "signal"),
                            ((frame(1, 1, *fault[:1]), *fault[1:]),
                             "a fault: the last instruction did not complete; the program's end by SIGSEGV", "fault"),
                            ((end(2, 0),), "the program's end by exec of another program", "exit"),
                            ((end(3, 0),), "no exit was recorded", "none")):
        path = f"{FOLDER}/ended.ucir"
        pathlib.Path(path).write_bytes(ucir2("riscv64", *head, *ops))
        out = subprocess.run([TRACESTUB, "info", path], capture_output=True, text=True, timeout=60, check=True).stdout
        assert f"\nend           {text}\n" in out, (text, out)
        out = subprocess.run([TRACESTUB, "info", "--json", path], capture_output=True, text=True, timeout=60, check=True).stdout
        assert json.loads(out)["end"] == word, (word, out)


@case
def without_a_program_gdb_takes_the_recorded_one_if_it_is_still_that():
    made = Made(RISCV, FOLDER)
    gdb = Made.gdb()

    def said(path, content):
        pathlib.Path(path).write_bytes(content)
        pathlib.Path(made.trace).write_bytes(build(RISCV, path.encode()))
        return subprocess.run([TRACESTUB, "gdb", made.trace, "--", "-batch", "-ex", "info address total"], capture_output=True,
                              text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "TRACESTUB_GDB": gdb, "TMPDIR": "/tmp"})

    assert 'Symbol "total" is at 0x20000' in said(f"{FOLDER}/prog", RISCV.elf).stdout
    other = bytearray(RISCV.elf)
    for i in range(0x300, 0x1090):
        other[i] ^= 0x55
    done = said(f"{FOLDER}/other", bytes(other))
    assert 'No symbol "total"' in done.stdout + done.stderr, done
    assert "not the file that was recorded" in done.stderr, done


with tempfile.TemporaryDirectory(prefix="ucir2-") as FOLDER:
    run_cases()
