#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program is a PE file (--exec F.exe): found by its code where the recording names no base, its exports name
functions in gdb and in questions.

The file is made here of the code of tests/data/programs/pie, which ran at PIE_BASE; its exports are that program's
symbols by nm.
"""
import collections
import gzip
import json
import pathlib
import re
import shutil
import subprocess

from _gdb import Gdb
from _pe import BASE, EXPORTS_AT, export_directory, import_directory, make_image, make_pe
from _programs import Program
from _rsp import Rsp
from _server import Server
from _tap import DATA, TRACESTUB, add_case, case, run_cases, skip

PIE_BASE = 0x555555554000
NAMES = "inc", "add", "main", "fib", "leave"


def symbols(path):
    shutil.which("nm") or skip("no nm")
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(addr, 16) for addr, _, name in (line.split() for line in lines if line.count(" ") == 2
                                                      and line[0] != " ") if name in NAMES}


def windows_program(program):
    """Makes the PE file the program's.  Returns the addresses of its functions when they ran."""
    exports = symbols(program.exec)
    assert len(exports) == len(NAMES), exports
    path = pathlib.Path("story.exe").resolve()
    path.write_bytes(make_pe(pathlib.Path(program.exec).read_bytes(), exports))
    program.exec = str(path)
    return {name: PIE_BASE + addr for name, addr in exports.items()}


def gdb_has_its_exports_where_it_ran(suffix):
    program = Program("pie", suffix)
    at = windows_program(program)
    with Gdb(program, "--exec", program.exec) as g:
        assert g.address("inc") == at["inc"], hex(g.address("inc"))
        g("break *inc")
        g("continue")
        g.expect(r"Breakpoint 1, 0x\w+ in story!inc \(")
        g("info files")
        g.expect(rf"{at['main'] & ~0xfff:#018x} - .* is \.text")
        g("monitor stack")
        for name in "inc", "add", "main":
            g.expect(rf"{name}\b")


def questions_have_its_exports(suffix):
    program = Program("pie", suffix)
    at = windows_program(program)
    expected = [k for k, pc in enumerate(program.pcs()) if pc == at["inc"]]
    for option in program.exec, f"{program.exec}@{PIE_BASE:#x}":
        done = subprocess.run([TRACESTUB, "query", program.trace, "calls", "inc", "--exec", option],
                              capture_output=True, text=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
        assert len(rows) == len(expected) and all(row[9] == "inc" and row[7].split("+")[0] in ("add", "main") and "+0x" in row[7]
                                                   for row in rows), done
        if suffix != "trace64":     # it has no line for a system call's second half: positions differ after those
            assert [int(row[1]) for row in rows] == expected, (rows, expected)


def call_targets(truth):
    """Where each address was called, by the program's states as they were recorded: esp is 4 less, eip elsewhere."""
    pcs, found, esp, pc = [], collections.defaultdict(list), 0, 0
    for k, line in enumerate(truth):
        state = dict(word.split("=") for word in line.split()[1:])
        new_pc, new_esp = int(state.get("eip", f"{pc:x}"), 16), int(state.get("esp", f"{esp:x}"), 16)
        if k and new_esp == esp - 4 and not 0 < new_pc - pc < 16:
            found[new_pc].append(k)
        pcs.append(new_pc)
        pc, esp = new_pc, new_esp
    return pcs, found


@case
def a_32_bit_program_that_was_moved_has_its_exports():
    """x32dbg's: linked at 0x400000, found by its code where it ran.  The file has the code that the recording shows."""
    trace, base, image = pathlib.Path("moved.trace32"), 0x8048000, 0x400000
    trace.write_bytes(gzip.decompress((DATA / "x64dbg-samples/fib32.trace32.gz").read_bytes()))
    pcs, called = call_targets(gzip.decompress((DATA / "x64dbg-samples/fib32.truth.gz").read_bytes()).decode().splitlines())
    name_at = max(called, key=lambda at: len(called[at]))
    assert len(called[name_at]) > 5 and base < min(pcs) and max(pcs) < base + 0x3000, called
    with Server(str(trace)) as server, Rsp(server.address) as r:
        r.ask("qRcmd," + b"goto end".hex())
        shown = r.ask_all([f"m{at:x},1" for at in range(base + 0x1000, max(pcs) + 16)])
    code = bytes(0 if byte.startswith("E") else int(byte, 16) for byte in shown)
    program = pathlib.Path("moved.exe").resolve()
    program.write_bytes(make_image(0x1000, code, {"worker": name_at - base}, is_64=False, base=image))
    commands = "output/x &worker", "break *worker", "continue", "when", "continue", "when", "goto end", "reverse-continue", "when"
    done = subprocess.run([TRACESTUB, "gdb", str(trace), "--exec", str(program), "--", "-nx", "-batch",
                           *(a for c in commands for a in ("-ex", c))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, stdin=subprocess.DEVNULL)
    at = [k for k, pc in enumerate(pcs) if pc == name_at]
    assert f"{name_at:#x}" in done.stdout and done.stdout.count(" in worker ()") == 3, done
    shown = [int(k) for k in re.findall(r"^position (\d+) of", done.stdout, re.M)]
    assert [k for k in shown if k in at] == [at[0], at[1], at[-1]], (shown, at, done)


@case
def the_table_of_functions_ends_them_and_names_no_more():
    """By .pdata main alone has its name everywhere in it; what is after an export that the table lacks is NAME+OFFSET."""
    program = Program("pie", "bin")
    lines = subprocess.run(["nm", "-S", program.exec], capture_output=True, text=True, check=True).stdout.splitlines()
    sizes = {f[3]: (int(f[0], 16), int(f[1], 16)) for f in (line.split() for line in lines) if len(f) == 4}
    table = [(at, at + size) for name, (at, size) in sizes.items() if name in NAMES and name != "fib"]
    path = pathlib.Path("table.exe").resolve()
    path.write_bytes(make_pe(pathlib.Path(program.exec).read_bytes(), symbols(program.exec), functions=table))
    done = subprocess.run([TRACESTUB, "query", program.trace, "coverage", "--exec", str(path), "--quiet"], capture_output=True,
                          text=True)
    seen = {}
    for row in (line.split("\t") for line in done.stdout.splitlines()[1:]):
        at = int(row[0], 16) - PIE_BASE
        seen.update({at: row[3]})
        inside = [n for n, (first, size) in sizes.items() if n in NAMES and first <= at < first + size]
        if inside and inside[0] != "fib":
            assert row[3] == inside[0], (row, inside)
        elif inside:
            assert row[3] == ("fib" if at == sizes["fib"][0] else f"fib+{at - sizes['fib'][0]:#x}"), row
    assert {"main", "add"} <= set(seen.values()) and any(n.startswith("fib+0x") for n in seen.values()), seen


@case
def without_a_table_functions_begin_where_calls_lead():
    """One export, the lowest, and no .pdata: what lies behind it is counted by function all the same."""
    program = Program("pie", "trace64")
    lines = subprocess.run(["nm", "-S", program.exec], capture_output=True, text=True, check=True).stdout.splitlines()
    sizes = {f[3]: (int(f[0], 16), int(f[1], 16)) for f in (line.split() for line in lines) if len(f) == 4 and f[3] in NAMES}
    lowest = min(sizes, key=sizes.get)
    path = pathlib.Path("one.exe").resolve()
    path.write_bytes(make_pe(pathlib.Path(program.exec).read_bytes(), {lowest: sizes[lowest][0]}))
    done = subprocess.run([TRACESTUB, "query", program.trace, "hot", "5000", "--exec", str(path), "--quiet"], capture_output=True,
                          text=True)
    rows = {int(row[0], 16) - PIE_BASE: row for row in (line.split("\t") for line in done.stdout.splitlines()[1:])}
    ran = collections.Counter(name for pc in program.pcs() for name, (at, size) in sizes.items() if at <= pc - PIE_BASE < at + size)
    assert len(ran) >= 4 and "main" in ran, ran
    highest = max(ran, key=sizes.get)       # _fini, which only a jump reaches, counts for it
    for name, n in ran.items():
        row = rows.get(sizes[name][0])
        assert row and (n <= int(row[2]) < n + 8 if name == highest else int(row[2]) == n) and row[1].startswith(lowest), (name, n, row)
    assert "where the next recorded call leads" in done.stderr, done


@case
def an_import_names_where_its_slot_leads_and_arguments_are_those_of_windows():
    imports = {"KERNEL32.dll": ["ReadFile", "CloseHandle"], "USER32.dll": ["MessageBoxA"]}
    _, slots = import_directory(EXPORTS_AT + len(export_directory({"start": 0x1000})), imports)
    pathlib.Path("api.exe").write_bytes(make_image(0x1000, b"\x90" * 64, {"start": 0x1000}, imports=imports))
    api, slot = 0x7ff800001000, BASE + slots["CloseHandle"]
    pathlib.Path("api.log").write_text(
        f"rax=0x1,rbx=0x2,rcx=0x11,rdx=0x22,r8=0x33,r9=0x44,rdi=0x77,rsi=0x88,rsp=0x7000,rip={BASE + 0x1000:#x}\n"
        f"rsp=0x6ff8,rip={api:#x},mr={slot:#x}:{api.to_bytes(8, 'little').hex()},mw=0x6ff8:{(BASE + 0x1006).to_bytes(8, 'little').hex()}\n"
        f"rsp=0x7000,rip={BASE + 0x1006:#x},mr=0x6ff8:{(BASE + 0x1006).to_bytes(8, 'little').hex()}\n"
        f"rax=0x9,rip={BASE + 0x1007:#x}\n", encoding="ascii")
    for question in ("calls",), ("calls", "CloseHandle"), ("calls", "kernel32!CloseHandle"):
        done = subprocess.run([TRACESTUB, "query", "api.log", *question, "--exec", "api.exe", "--quiet"], capture_output=True,
                              text=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert len(rows) == 2, done
        row = dict(zip(*rows))
        assert row["callee"] == "CloseHandle" and row["arguments"] == "0x11, 0x22, 0x33, 0x44", row


LINKED, ELSEWHERE, LOADER = 0x400000, 0x31560000, 0x8000


def image_code(base):
    """Instructions (offset, bytes), of which each twentieth has an address of the image."""
    at, insns = 0x1001, [(0x1000, b"\x90")]
    for k in range(100):
        for insn in (b"\x83\xc0" + bytes([k]), b"\x05" + (k * 77777).to_bytes(4, "little") if k % 10 else b"\xa1" + (base + 0x10000 + k).to_bytes(4, "little")):
            insns.append((at, insn))
            at += len(insn)
    return insns


def write_loaded_at(base, value):
    """What a loader and the image do that it loaded there; @value is what the image ends with in ecx."""
    path = pathlib.Path(f"{base:x}.{value:x}.txt")
    lines = ["tracestub text 1 i386", f"reg esi {base + 0x1000:x}", f"reg ecx 0"]
    lines += [f"mem {base + at:x} {insn.hex()}" for at, insn in image_code(base)]
    lines += [f"step {LOADER + k:x} 90" for k in range(4)]
    lines += [f"step {base + at:x} {insn.hex()}" for at, insn in image_code(base)]
    path.write_text("\n".join([*lines, f"  reg ecx {value:x}", f"step {LOADER + 4:x} 90", ""]))
    return str(path)


@case
def two_runs_of_an_image_that_was_moved_differ_in_what_is_not_an_address():
    """Neither recording names it; the loader, where both begin, was not moved.  Addresses in its code are not aligned."""
    program = pathlib.Path("image.exe")
    program.write_bytes(make_image(0x1000, b"".join(insn for _, insn in image_code(LINKED)), {"worker": 0x1000}, is_64=False, base=LINKED))
    a, b = write_loaded_at(LINKED, 7), write_loaded_at(ELSEWHERE, 9)
    done = subprocess.run([TRACESTUB, "diff", a, b, "--rebase", "--exec", str(program), "--json"], capture_output=True, text=True, timeout=60)
    *rows, end = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["kind"], r["what"], r["old"], r["new"]) for r in rows] == [("register", "$ecx", "0x7", "0x9")] and end["complete"], done


@case
def a_program_none_of_which_was_executed_is_told_with_a_warning():
    """Its relocations were stripped: it cannot lie elsewhere, and yet it does."""
    image = bytearray(make_image(0x1000, b"".join(insn for _, insn in image_code(LINKED)), {"worker": 0x1000}, is_64=False, base=LINKED))
    image[64 + 22] |= 1
    program = pathlib.Path("stripped.exe")
    program.write_bytes(image)
    for base, is_warned in (LINKED, False), (ELSEWHERE, True):
        done = subprocess.run([TRACESTUB, "query", write_loaded_at(base, 7), "hot", "--exec", str(program)], capture_output=True, text=True, timeout=60)
        assert not done.returncode and ("stripped.exe: at 0x400000, where it is linked, but none of its code was executed there" in done.stderr) == is_warned, done


@case
def the_program_has_the_code_that_a_log_lacks():
    """mov rbx, rax; nop; ret, where the file is linked: Tenet logs have no code.  A file that may lie anywhere says nothing."""
    made = make_image(0x1000, b"\x48\x89\xc3\x90\xc3", {"start": 0x1000})
    fixed = bytearray(made)
    fixed[64 + 22] |= 1         # there are no relocations
    pathlib.Path("code.log").write_text(
        f"rax=0x5,rbx=0x2,rsp=0x7000,rip={BASE + 0x1000:#x}\nrbx=0x5,rip={BASE + 0x1003:#x}\nrip={BASE + 0x1004:#x}\n"
        f"rsp=0x7008,rip={BASE + 0x1009:#x},mr=0x7000:{(BASE + 0x1009).to_bytes(8, 'little').hex()}\nrax=0x7,rip={BASE + 0x100a:#x}\n",
        encoding="ascii")
    for name, image, wanted in ("fixed.exe", bytes(fixed), ["3", "1", "1"]), ("moves.exe", made, ["", "", ""]):
        pathlib.Path(name).write_bytes(image)
        done = subprocess.run([TRACESTUB, "query", "code.log", "coverage", "first", "3", "--exec", name, "--quiet"],
                              capture_output=True, text=True)
        assert [line.split("\t")[1] for line in done.stdout.splitlines()[1:]] == wanted, (name, done)


for format_suffix in "bin", "trace64":
    add_case(f"gdb has its exports where it ran: {format_suffix}", gdb_has_its_exports_where_it_ran, format_suffix)
    add_case(f"questions have its exports: {format_suffix}", questions_have_its_exports, format_suffix)
run_cases()
