#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb on a whole machine: user code, an interrupt whose handler moves a page, and a watchpoint on that page.

    position  pc            instruction
    0         0x401000      movb $0x11,0x602000, at physical 0x9000
    1         0x401008      nop
    2         0x401009      an interrupt comes
    3         KERNEL_CODE   nop, which copies the page to physical 0xa000
    4         ...           nop, which maps it there
    5         ...           iretq
    6         0x401009      movb $0x22,0x602000
    7         0x401011      nop
"""
import collections
import json
import os
import re
import struct
import subprocess

from _machine import DEFAULT_32, KERNEL, LONG, USER, Machine, Session
from _tap import DATA, LIMIT, TRACESTUB, case, run_cases

KERNEL_CODE = 0xffffffff80001000
PRESENT = 1


def make():
    m = Machine()
    m.entry(0x1000, 0, 0x2000 | PRESENT)            # 0x401000, 0x602000
    m.entry(0x2000, 0, 0x3000 | PRESENT)
    m.entry(0x3000, 2, 0x4000 | PRESENT)
    m.entry(0x4000, 1, 0x8000 | PRESENT)
    m.entry(0x3000, 3, 0x5000 | PRESENT)
    m.entry(0x5000, 2, 0x9000 | PRESENT)
    m.entry(0x1000, 511, 0x6000 | PRESENT)          # 0xffffffff80000000: a large page at 0
    m.entry(0x6000, 510, 0x7000 | PRESENT)
    m.entry(0x7000, 0, 0x80 | PRESENT)
    m.put(0x8000, bytes.fromhex("c604250020600011" "90" "c604250020600022" "90"))
    m.regs["rip"] = 0x401000
    m.step({"rip": 0x401008}, {0x9000: b"\x11"})
    m.step({"rip": 0x401009})
    m.other("hw interrupt 32", {"rip": KERNEL_CODE, "cs": KERNEL})
    m.step({"rip": KERNEL_CODE + 1}, {0xa000: b"\x11"})
    m.step({"rip": KERNEL_CODE + 2}, {0x5010: struct.pack("<Q", 0xa000 | PRESENT)})
    m.step({"rip": 0x401009, "cs": USER})
    m.step({"rip": 0x401011}, {0xa000: b"\x22"})
    m.step({"rip": 0x401012})
    return m


def position(g):
    return int(re.search(r"position (\d+) of", g("monitor when"))[1])


def pc(g):
    return int(re.search(r"0x[0-9a-f]+", g("print/x $pc"))[0], 16)


@case
def an_interrupt_is_a_position_of_its_own():
    with Session(make()) as g:
        g("break *0x401009")
        assert "Breakpoint 1, 0x0000000000401009" in g("continue"), g.text
        assert position(g) == 2
        g("stepi")
        assert (position(g), pc(g)) == (3, KERNEL_CODE)
        g("reverse-stepi")
        assert (position(g), pc(g)) == (2, 0x401009)


@case
def user_code_is_stepped_over_the_interrupt():
    with Session(make()) as g:
        g("monitor filter user")
        g("break *0x401009")
        g("continue")
        g("stepi")
        assert (position(g), pc(g)) == (6, 0x401009), g.text
        g("stepi")
        assert (position(g), pc(g)) == (7, 0x401011)
        g("reverse-stepi")
        g("reverse-stepi")
        assert (position(g), pc(g)) == (2, 0x401009)


@case
def a_watchpoint_goes_with_its_page():
    with Session(make()) as g:
        g("break *0x401011")
        g("continue")
        assert "0x22" in g("x/1xb 0x602000") and position(g) == 7
        g("delete")
        g("watch *(char *) 0x602000")
        g("reverse-continue")
        assert "Old value = 34" in g.text and "New value = 17" in g.text and position(g) == 6, g.text
        g("reverse-continue")
        assert "Old value = 17" in g.text and "New value = 0" in g.text and position(g) == 0, g.text
        g("continue")
        assert position(g) == 1
        g("continue")
        assert "New value = 34" in g.text and position(g) == 7, g.text


@case
def the_page_is_where_the_tables_of_the_position_say():
    with Session(make()) as g:
        g("tbreak *0x401008")
        g("continue")
        assert "physical 0x9000, page of 4 KiB" in g("monitor translate 0x602000")
        g("monitor physical on")
        assert "0x11" in g("x/1xb 0x9000") and "0x00" in g("x/1xb 0xa000")
        assert "Cannot access" in g("x/1xb 0x602000")
        g("monitor physical off")
        assert "0x11" in g("x/1xb 0x602000")
        g("tbreak *0x401011")
        g("continue")
        assert "physical 0xa000" in g("monitor translate 0x602000")
        assert "Cannot access memory at address 0x603000" in g("x/1xb 0x603000")
        assert "page of 2 MiB" in g(f"monitor translate {KERNEL_CODE:#x}")


def show(cs_shadow, *options):
    """What gdb shows of "mov 0x4(%esp),%eax" in a code segment of that kind."""
    m = make()
    m.put(0x8000, bytes.fromhex("8b442404"))
    m.regs.update(rax=0x1122334455667788, cs_shadow=cs_shadow)
    with Session(m, *options) as g:
        return g("show architecture"), g("x/1i $pc"), g("info registers")


@case
def code_is_shown_in_its_width():
    arch, insn, regs = show(LONG)
    assert '"i386:x86-64"' in arch and "mov    0x4(%rsp),%eax" in insn and "rax            0x1122334455667788" in regs
    arch, insn, regs = show(DEFAULT_32)
    assert '"i386"' in arch and "mov    0x4(%esp),%eax" in insn and "eax            0x55667788" in regs
    assert re.search(r"eip +0x401000", regs) and re.search(r"cr3 +0x1000", regs), regs
    arch, insn, regs = show(0)
    assert '"i8086"' in arch and "mov    0x24(%si),%ax" in insn and "eax            0x55667788" in regs


@case
def the_user_may_want_another_width():
    arch, insn, regs = show(DEFAULT_32, "--arch", "x86_64")
    assert '"i386:x86-64"' in arch and "0x1122334455667788" in regs
    arch, insn, regs = show(LONG, "--arch", "i386")
    assert '"i386"' in arch and "eax            0x55667788" in regs


def info(*options, **control):
    machine = Machine(**control)
    machine.step({"rip": 1})
    trace = machine.save()
    run = subprocess.run([TRACESTUB, "info", "--index", "none", *options, trace], stdout=subprocess.PIPE, check=True, text=True)
    os.unlink(trace)
    return run.stdout


@case
def info_says_how_addresses_are_translated():
    assert "addresses     virtual: four-level page tables at position 0\n" in info()
    assert "virtual: PAE page tables" in info(efer=0)
    for paging, control in [("no paging", {"cr0": 1}), ("two-level page tables", {"cr4": 0}),
                            ("five-level page tables", {"cr4": 0x1020})]:
        assert json.loads(info("--json", **control))["paging"] == paging


def two_processes():
    """The recording, and of each position the page tables and the ring: the kernel's code changes the former, twice."""
    m, states = make(), []
    m.events.clear()
    m.entry(0x10000, 0, 0x2000 | PRESENT)
    m.entry(0x10000, 511, 0x6000 | PRESENT)
    m.regs["rip"] = 0x401008
    cr3, ring, kernel_at = 0x1000, 3, KERNEL_CODE
    for turn in range(3):
        for i in range(4):
            states.append((cr3, ring, 0x401008 + i))
            m.step({"rip": 0x401009 + i} if i < 3 else {"rip": 0x401008})
        states.append((cr3, ring, 0x401008))
        m.other("hw interrupt 32", {"rip": kernel_at, "cs": KERNEL})
        ring = 0
        states.append((cr3, ring, kernel_at))
        cr3 ^= 0x11000
        m.step({"rip": kernel_at + 1, "cr3": cr3 | 0x5 | (1 << 63 if turn else 0)})     # a PCID, and no flush
        states.append((cr3, ring, kernel_at + 1))
        m.step({"rip": 0x401008, "cs": USER})
        ring = 3
    return m, states


@case
def questions_are_about_a_process_and_a_ring():
    machine, states = two_processes()
    trace = machine.save()

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", "--quiet", "--json", trace, *words], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode in (0, 1), done
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines[-1]["complete"] or {"first", "last"} & set(words), lines[-1]
        return lines[:-1]

    try:
        for words, is_it in [(("process", "0x1000"), lambda s: s[0] == 0x1000), (("process", "0x10000"), lambda s: s[0] == 0x10000),
                             (("ring", "0"), lambda s: s[1] == 0), (("ring", "1"), lambda s: False),
                             (("process", "0x10000", "ring", "3"), lambda s: s[0] == 0x10000 and s[1] == 3)]:
            want = [k for k, s in enumerate(states) if is_it(s)]
            assert [r["position"] for r in ask("steps", *words)] == want, words
            assert [r["position"] for r in ask("steps", *words, "last", "2")] == want[-2:], words
            assert [r["position"] for r in ask("history", "$pc", *words, "in", "3:12")] == [k for k in want if 3 <= k < 12], words
            code = [k for k in want if states[k][2] == 0x401009]
            assert [r["position"] for r in ask("executions", "0x401009", *words)] == code, words
            counts = collections.Counter(states[k][2] for k in want)
            assert {int(r["address"], 16): r["steps"] for r in ask("coverage", *words)} == counts, words
            assert {int(r["address"], 16): r["steps"] for r in ask("hot", "99", "by", "address", *words)} == counts, words
            interrupts = [k for k, s in enumerate(states) if s[2] == 0x401008 and k % 7 == 4]
            assert [r["position"] for r in ask("events", "interrupt", *words)] == [k for k in interrupts if k in want], words
        spaces = collections.Counter(s[0] for s in states)
        want = [{"process": hex(cr3), "begin": [s[0] for s in states].index(cr3), "end": None, "steps": n, "name": None} for cr3, n in spaces.items()]
        assert ask("processes") == want, (ask("processes"), want)
        assert ask("processes", "at", "3") == want[:1] and ask("processes", "in", "0:end", "first", "1") == want[:1], want
        for row in want:
            assert len(ask("steps", "process", row["process"])) == row["steps"], row
        first, second = ({s[2] for s in states if s[0] == cr3 and s[1] == 0} for cr3 in (0x1000, 0x10000))
        rest = ask("coverage", "ring", "0", "minus", "0:7")
        assert {int(r["address"], 16) for r in rest} == (first | second) - {s[2] for s in states[:7] if s[1] == 0}, rest
    finally:
        os.unlink(trace)
    for words, text in ((["steps", "ring", "3"], "whole machines"), (["calls", "process"], "known symbol")):
        done = subprocess.run([TRACESTUB, "query", "--quiet", DATA / "usercorn/x64_walk.ucir", *words], capture_output=True,
                              text=True, timeout=LIMIT)
        assert done.returncode == 2 and text in done.stderr, done


@case
def physical_addresses_are_taken_and_told():
    """The page of 0x602000 is the one at 0x9000 before it moves, and the one at 0xa000 after that."""
    trace = make().save()

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", "--quiet", "--json", trace, *words], capture_output=True, text=True, timeout=LIMIT)
        return done.returncode, done.stderr, [json.loads(line) for line in done.stdout.splitlines()[:-1]]

    try:
        for addr, want in (0x9000, [(0, "0x11")]), (0xa000, [(3, "0x11"), (6, "0x22")]):
            rows = ask("history", f"phys:{addr:#x}")[2]
            assert [(r["position"], r["new"]) for r in rows] == want and {r["address"] for r in rows} == {f"phys:{addr:#x}"}, rows
        assert [r["position"] for r in ask("history", "0x602000", "at", "1")[2]] == [0]
        assert [ask("memory", "phys:0xa000,1", "at", str(k))[2][0]["bytes"] for k in (4, 7)] == ["11", "22"]
        interrupt = ask("steps", "in", "2:3")[2][0]
        assert interrupt["instruction"] is interrupt["reads"] is None and interrupt["writes"] == ["$cs=0x10"], interrupt
        found = ask("find", "22", "in", "1:")[2]
        assert [(r["address"], r["begin"], r["virtual"]) for r in found] == [("phys:0xa000", 7, "0x602000")], found
        # 0 by its operand: the large page of the kernel has 0x9000, too; 3 by the tables alone: its nop has none
        assert [(r["begin"], r["virtual"]) for r in ask("find", "11", "in", "1:")[2]] == [(1, "0x602000"), (4, "0xffffffff8000a000")]
        texts = [ask("strings", *words)[2] for words in (["0x602000", "min", "1", "at", "7"], ["phys:0xa000", "min", "1"])]
        assert [(r["position"], r["text"], r["virtual"]) for r in texts[0]] == [(6, '"', "0x602000")] * 2 and texts[0] == texts[1], texts
        assert [r["position"] for r in ask("last-write", found[0]["address"])[2]] == [6]
        assert ask("when", "at", "previous write phys:0xa000")[2][0]["position"] == 6
        for words in ["executions", "phys:0x8000"], ["accesses", "phys:0x8000", "x"], ["when", "at", "next exec phys:0x8000"]:
            status, said, rows = ask(*words)
            assert status == 2 and "physical" in said and not rows, (words, said)
    finally:
        os.unlink(trace)
    done = subprocess.run([TRACESTUB, "query", "--quiet", DATA / "usercorn/x64_walk.ucir", "history", "phys:0x1000"], capture_output=True,
                          text=True, timeout=LIMIT)
    assert done.returncode == 2 and "whole machines" in done.stderr, done


def same_code_twice():
    """They run the same code at the same addresses: 0x1000 at 0 to 8 and at 12, 0xb000 at 9 to 11."""
    m = make()
    m.put(0xb000, bytes(m.memory[0x1000:0x2000]))
    m.step({"rip": 0x401000, "cr3": 0xb000})
    m.step({"rip": 0x401008}, {0xa000: b"\x33"})
    m.step({"rip": 0x401009})
    m.step({"rip": 0x40100a, "cr3": 0x1000})
    return m


@case
def a_process_has_tables_of_its_own():
    """0x602000 is at 0xf000 for process 0xb000, which runs at 9 and 10; process 0x1000 runs at the end, and has it at 0xa000."""
    m = make()
    for copy, of in ((0xb000, 0x1000), (0xc000, 0x2000), (0xd000, 0x3000)):
        m.put(copy, bytes(m.memory[of:of + 0x1000]))
    for table, index, value in ((0xb000, 0, 0xc000), (0xc000, 0, 0xd000), (0xd000, 3, 0xe000), (0xe000, 2, 0xf000)):
        m.entry(table, index, value | PRESENT)
    m.step({"rip": 0x401000, "cr3": 0xb000})
    m.step({"rip": 0x401008}, {0xf000: b"D"})
    m.step({"rip": 0x401009})
    m.step({"rip": 0x401009, "cr3": 0x1000})
    trace = m.save()

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", "--quiet", "--json", trace, *words], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode in (0, 1), done
        return [json.loads(line) for line in done.stdout.splitlines()]

    try:
        assert [r["position"] for r in ask("history", "0x602000", "process", "0xb000")[:-1]] == [9]
        assert [r["position"] for r in ask("accesses", "0x602000", "w", "process", "0xb000", "at", "2")[:-1]] == [9]
        assert [r["position"] for r in ask("history", "0x602000", "process", "0x1000")[:-1]] == [3, 6]
        texts = ask("strings", "0x602000", "min", "1", "process", "0xb000")[:-1]
        assert [(r["position"], r["text"]) for r in texts] == [(9, "D")] * 2, texts    # as ASCII, and as UTF-16
        for words, want in ((["0x602000,1"], []), (["0x602000,1", "at", "10"], [10]), (["phys:0xf000,1"], [10]), (["0x9000:0xb000"], [])):
            assert [r["begin"] for r in ask("find", '"D"', "in", "memory", *words)[:-1]] == want, words
        assert "crosses" in ask("find", "22", "in", "memory", "0x401000:0x403000")[-1]["note"]
    finally:
        os.unlink(trace)


def listed(text):
    with open("processes", "w", encoding="utf-8") as out:
        out.write(text)
    return "processes"


@case
def the_user_names_processes():
    """Process 0xb000 runs steps 9 to 11."""
    trace = same_code_twice().save()

    def run(command, *words, lines="# cr3 name\n\n0x1000  init\n0xb000\tsh\u00e9ll-1\n"):
        done = subprocess.run([TRACESTUB, command, "--quiet", trace, "--processes", listed(lines), *words], capture_output=True, text=True,
                              timeout=LIMIT)
        return done.returncode, done.stderr, done.stdout.splitlines()

    try:
        rows = [json.loads(line) for line in run("query", "--json", "processes", "in", "0:end")[2]]
        assert {r["process"]: r["name"] for r in rows[:-1]} == {"0x1000": "init", "0xb000": "sh\u00e9ll-1"} and "note" not in rows[-1], rows
        assert [line.split("\t")[0] for line in run("query", "steps", "process", "sh\u00e9ll-1")[2]] == ["position", "9", "10", "11"]
        assert run("query", "steps", "process", "0xb000")[2] == run("query", "steps", "process", "sh\u00e9ll-1")[2]
        assert run("sql", "--tsv", "SELECT process, name FROM process ORDER BY 1")[2] == ["process\tname", "4096\tinit", "45056\tsh\u00e9ll-1"]
        with open("names", "w", encoding="ascii") as out:
            out.write("401000 entry\n")
        done = run("query", "executions", "entry", "--names", "names", "--process", "sh\u00e9ll-1")
        assert [line.split("\t")[0] for line in done[2]] == ["position", "9"], done
        for words, lines, said in ((["steps", "process", "nobody"], "0xb000 a\n", "'nobody' is neither a name"),
                                   (["steps", "process", "a"], "0xb000 a\n0x1000 a\n", "several processes"),
                                   (["hot", "--process", "a"], "0xb000 a\n0x1000 a\n", "2 processes have this name"),
                                   (["hot", "--process", "b"], "0xb000 a\n", "nor a name of --processes"),
                                   (["processes"], "0xb000 a\n\n0xb000 b\n", "line 3 names the process of line 1"),
                                   (["processes"], "0xb000 a\n0xb001 b\n", "line 2 is not CR3 NAME"),
                                   (["processes"], "b a\n", "line 1 is not CR3 NAME"), (["processes"], "0xb000 a b\n", "no blanks"),
                                   (["processes"], "0xb000\n", "line 1 is not CR3 NAME"), (["processes"], "# none\n", "no names"),
                                   (["processes"], "0xb000 a\0b\n", "no text")):
            status, err, out = run("query", *words, lines=lines)
            assert (status, out) == (2, []) and said in err, (words, lines, status, err, out)
    finally:
        os.unlink(trace)


@case
def sessions_are_about_one_process():
    """gdb begins and stops in it alone, and the verbs have names there alone."""
    with open("names", "w", encoding="ascii") as out:
        out.write("401000 entry\n")
    with Session(same_code_twice(), "--process", "0xb000", "--names", "names") as g:
        assert (position(g), pc(g)) == (9, 0x401000), g.text
        assert "process with cr3 0xb000" in g("monitor filter")
        g("break *0x401008")
        g("continue")
        assert position(g) == 10, g.text
        g("reverse-stepi")
        assert position(g) == 9, g.text
        rows = [line.split() for line in g("monitor executions 0x401000").splitlines() if re.match(r"\d+ +\d", line)]
        assert [(row[1], "entry" in row) for row in rows] == [("0", False), ("9", True)], rows
        g("monitor filter off")
        g("reverse-continue")
        assert position(g) == 1, g.text
    with Session(same_code_twice(), "--processes", listed("0xb000 shell\n")) as g:
        assert "process with cr3 0xb000 (shell)" in g("monitor filter process shell")
        assert "name of --processes" in g("monitor filter process nobody")
    trace = same_code_twice().save()
    try:
        for command, path, process, said in (("serve", trace, "0xc000", "never runs"), ("query", trace, "0xc000", "never runs"),
                                             ("serve", DATA / "usercorn/x64_walk.ucir", "0xb000", "whole machines")):
            words = [command, "--process", process] + (["-", path] if command == "serve" else [path, "hot"])
            done = subprocess.run([TRACESTUB, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
            assert done.returncode and not done.stdout and said in done.stderr, (words, done)
        done = subprocess.run([TRACESTUB, "query", trace, "executions", "0x401000", "process", "0xc000"], capture_output=True, text=True)
        assert done.returncode == 2 and not done.stdout and "'0xc000' never runs" in done.stderr, done    # not: no rows
    finally:
        os.unlink(trace)


@case
def names_are_those_of_one_process():
    """The names are those of the second process, whose cr3 is 0xb000."""
    trace = same_code_twice().save()
    with open("names", "w", encoding="ascii") as out:
        out.write("401000 entry\n602000 data\n")

    def ask(*words, options=("--process", "0xb000")):
        done = subprocess.run([TRACESTUB, "query", "--quiet", "--json", trace, "--names", "names", *options, *words], capture_output=True,
                              text=True, timeout=LIMIT)
        return done.returncode, done.stderr, [json.loads(line) for line in done.stdout.splitlines()]

    try:
        assert [r["position"] for r in ask("executions", "entry", options=())[2][:-1]] == [0, 9]
        assert [(r["position"], r["function"]) for r in ask("executions", "entry")[2][:-1]] == [(9, "entry")]
        rows = ask("executions", "0x401000")[2]
        assert [(r["position"], r["function"]) for r in rows[:-1]] == [(0, None), (9, "entry")] and "0xb000" in rows[-1]["note"], rows
        assert {r["function"] for r in ask("hot")[2][:-1]} == {None}
        assert {r["function"] for r in ask("hot", "process", "0xb000")[2][:-1]} == {"entry"}
        assert ask("registers", "rip", "at", "0")[2][0]["text"] is None and ask("registers", "rip", "at", "9")[2][0]["text"] == "entry"
        assert ask("memory", "data,1", "at", "10")[2][0]["bytes"] == "33"
        for words in (["memory", "data,1", "at", "0"], ["executions", "entry", "process", "0x1000"], ["next-exec", "entry"],
                      ["when", "at", "entry"], ["when", "at", "next write data"], ["find", "33", "in", "memory", "data"],
                      ["coverage", "--drcov", "out"]):
            status, said, rows = ask(*words)
            assert status == 2 and not rows and said.strip(), (words, said, rows)
        done = subprocess.run([TRACESTUB, "sql", "--quiet", "--tsv", trace, "--names", "names", "--process", "0xb000",
                               "SELECT position FROM step WHERE function = 'entry' AND pc = 0x401000"], capture_output=True, text=True, timeout=LIMIT)
        assert done.stdout.split() == ["position", "9"], done
    finally:
        os.unlink(trace)
    done = subprocess.run([TRACESTUB, "query", "--quiet", DATA / "usercorn/x64_walk.ucir", "--process", "0x1000", "hot"], capture_output=True,
                          text=True, timeout=LIMIT)
    assert done.returncode and "whole machines" in done.stderr, done


run_cases()
