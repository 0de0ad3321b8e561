#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kinds of programs and of surroundings: without symbols, static and position-independent, in a terminal, without a library that
it needs; and emulators that cannot load plugins.
"""
import os
import pathlib
import pty
import re
import signal
import subprocess

from _record import LIMIT, build, compiler, need_emulator, record, recorder
from _tap import TRACESTUB, case, run_cases
from _naive_ucir2 import Ucir2

need_emulator()


def gdb(trace, *commands):
    args = [a for c in commands for a in ("-ex", c)]
    return subprocess.run([TRACESTUB, "gdb", trace, "--", "-nx", "-batch", *args], stdout=subprocess.PIPE, timeout=LIMIT,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True).stdout


@case
def a_program_without_symbols_is_shown_where_it_crashed():
    program = build("friends.c", "bare", "-O0 -s -w")
    done = record("bare.ucir", program)
    assert done.returncode == -signal.SIGSEGV and "unexplained 0" in done.stderr, done
    pc, = Ucir2("bare.ucir").final_pc.values()
    said = gdb("bare.ucir", "goto end", "print/x (long) $pc", "x/i $pc", "stepi -1", "reverse-stepi", "print/x (long) $pc")
    assert f"= {pc:#x}" in said and re.search(rf"=> {pc:#x}:\s+movz", said), said     # a byte of the friend's name
    before = re.findall(r"^\$\d+ = (0x\w+)", said, re.M)[-1]
    assert int(before, 16) == Ucir2("bare.ucir").all_steps[-1].pc, said


@case
def a_static_position_independent_program_is_found_by_its_names():
    program = build("friends.c", "static-pie", "-O0 -g -static-pie -w")
    done = record("static-pie.ucir", program)
    assert done.returncode == -signal.SIGSEGV and "unexplained 0" in done.stderr, done
    said = gdb("static-pie.ucir", "goto end", "backtrace", "watch wilhelmina.friend", "reverse-continue", "backtrace 1")
    assert re.search(r"#0 .*print_friend.*#1 .*main", said, re.S), said
    assert re.search(r"Old value.*#0 .*set_name", said, re.S), said


@case
def a_program_has_its_terminal():
    """It sees one on all three streams, of the right size, and reads from it."""
    recorder()
    pid, terminal = pty.fork()
    if not pid:
        script = "test -t 0 && test -t 1 && test -t 2 && stty rows 33 columns 44 && stty size && read word && echo got $word && exit 5"
        os.execv(TRACESTUB, [TRACESTUB, "record", "--quiet", "-o", "terminal.ucir", "--", "/bin/sh", "-c", script])
    said = b""
    while b"33 44" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, b"hello\n")
    while True:
        try:
            more = os.read(terminal, 1000)
        except OSError:     # the last one has closed it
            break
        said += more
        if not more:
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 5 and b"got hello" in said, (status, said)
    assert Ucir2("terminal.ucir").end == ("exit", 5)


@case
def a_library_that_is_missing_is_told_as_without_recording():
    pathlib.Path("lost.c").write_text("int lost(void) { return 3; }\n")
    pathlib.Path("needs.c").write_text("int lost(void);\nint main(void) { return lost(); }\n")
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", "liblost.so", "lost.c"], check=True)
    subprocess.run([compiler(), "-o", "needs", "needs.c", "-L.", "-llost", f"-Wl,-rpath,{os.getcwd()}"], check=True)
    assert record("needs.ucir", "./needs").returncode == 3
    os.unlink("liblost.so")
    wanted = subprocess.run(["./needs"], capture_output=True, text=True)
    done = record("needs.ucir", "./needs")
    assert done.returncode == wanted.returncode == 127 and wanted.stderr in done.stderr and "liblost.so" in done.stderr, (done, wanted)
    assert Ucir2("needs.ucir").end == ("exit", 127)


def refused(path):
    done = subprocess.run([TRACESTUB, "record", "-o", "none.ucir", "--with", "qemu", "--", "/bin/true"], env={"PATH": path},
                          capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and not os.path.exists("none.ucir"), done
    assert "static" in done.stderr and path in done.stderr and "apt-get install qemu-user" in done.stderr, done


@case
def a_static_emulator_is_refused_in_one_sentence():
    """By Debian 12's name for it; or, as Debian 13's package has it, by the name of the other one."""
    for folder, name in ("named", "qemu-x86_64-static"), ("linked", "qemu-x86_64"):
        os.makedirs(folder, exist_ok=True)
        pathlib.Path("idle.c").write_text("int main(void) { return 0; }\n")
        subprocess.run([compiler(), "-static-pie" if folder == "linked" else "-static", "-o", f"{folder}/{name}", "idle.c"], check=True)
        refused(os.path.abspath(folder))


run_cases()
