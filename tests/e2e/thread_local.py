#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thread-local variables: one of the program, by the debug information and the thread pointer; and errno of libc, by
the lists of the dynamic linker in recorded memory.

story.c counts the depth of its recursion in one: at the entry of each nested fib() gdb has to print the number of
calls that are open, which the backtrace shows.  errno.c prints its errno, in two threads.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

from _gdb import Gdb
from _programs import Program
from _record import LIMIT, SOURCES, emulator, record, recorder
from _tap import TRACESTUB, add_case, case, run_cases, skip


def depth_is_the_number_of_open_calls(name, suffix):
    program = Program(name, suffix)
    with Gdb(program, "--exec", program.exec) as g:
        g("break fib")
        for _ in range(6):
            g("continue")
            g.expect("Breakpoint 1, fib")
            g("backtrace")
            n_open = len([line for line in g.text.splitlines() if " fib (" in line])
            depth = g.value("depth")
            assert depth == n_open - 1, (depth, n_open, g.text)     # the breakpoint is before its "++depth"
            assert 0 <= depth < 10


@case
def the_program_at_its_recorded_path_has_them_too():
    recorder()
    shutil.which("gdb") and shutil.which("cc") or skip("no gdb, or no compiler")
    folder = pathlib.Path("elsewhere")      # a program beside the trace would be taken as if --exec named it
    folder.mkdir(exist_ok=True)
    source = "static __thread int mine = 7;\nint own(int n) { mine += n; return mine; }\nint main(void) { own(1); return own(2) - 10; }\n"
    program = str((folder / "program").resolve())
    subprocess.run(["cc", "-g", "-O0", "-x", "c", "-", "-o", program], input=source, text=True, check=True, timeout=LIMIT)
    done = record("own.ucir", program)
    assert done.returncode == 0, done
    commands = "break own", "continue", "print mine", "continue", "print mine"
    said = subprocess.run([TRACESTUB, "gdb", "own.ucir", "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c))],
                          capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    assert "$1 = 7\n" in said.stdout and "$2 = 8\n" in said.stdout, said


EACH = """#include <pthread.h>
static __thread char turn = 1;
__thread long wide __attribute__((aligned(64)));
static __thread int mine = 7;
int at = 3;
static int own(int n) { mine += n; at++; wide = mine; turn++; return mine; }
static void *run(void *x) { own(10); own(20); return x; }
int main(void) { pthread_t t; own(1); pthread_create(&t, 0, run, 0); pthread_join(t, 0); return own(2) - 10; }
"""


def each_thread_has_its_own_in_questions(*options):
    """By the source the main thread leaves 8, 10, the other one 17, 37; and turn is counted from 1."""
    recorder()
    shutil.which("cc") or skip("no compiler")
    subprocess.run(["cc", "-g", "-O0", "-pthread", *options, "-x", "c", "-", "-o", "each"], input=EACH, text=True, check=True, timeout=LIMIT)
    assert record("each.ucir", "./each").returncode == 0

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", "each.ucir", *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    threads = [row["thread"] for row in ask("threads", "in", "0:")[0][:-1]]
    assert len(threads) == 2, threads
    for thread, (mine, turn) in zip(threads, (([8, 10], [2, 3]), ([17, 37], [2, 3]))):
        # a question asked from where the thread runs: at the end it may be gone
        at = str(ask("executions", "own", "thread", str(thread))[0][-2]["position"])
        for name, values in (("mine", mine), ("wide", mine), ("turn", turn)):
            *rows, end = ask("history", name, "thread", str(thread), "at", at)[0]
            got = [int(r["new"], 16) for r in rows if r["function"] == "own"]
            assert got == values and str(thread) in end["note"], (thread, name, got, end)
    said = ask("why", "mine", "at", str(ask("executions", "own")[0][-2]["position"] + 5))[0]
    assert said[0]["function"] == "own" and said[0]["value"] == "0x8", said[:2]
    # a name that is a word of questions stands in quotes
    assert [r["new"] for r in ask("history", "'at'")[0][:-1] if r["kind"] == "write"] == ["0x4", "0x5", "0x6", "0x7"]
    if not options:
        assert "thread-local variable of libc" in ask("history", "errno")[1]


for how in (), ("-static",):
    add_case(f"each thread has its own in questions {' '.join(how)}".strip(), each_thread_has_its_own_in_questions, *how)


def errno_is_what_the_program_printed(target, compiler, has_sysroot):
    recorder() if target == "x86_64" else emulator(target)
    shutil.which("gdb-multiarch" if has_sysroot else "gdb") or skip("no gdb for it")
    shutil.which(compiler) or skip(f"no {compiler}")
    target != "i386" or os.path.exists("/lib/ld-linux.so.2") or skip("no libraries for i386: Debian's package is libc6-i386")
    program = os.path.abspath(f"errno.{target}")
    made = subprocess.run([compiler, "-g", "-O0", "-pthread", "-o", program, str(SOURCES / "errno.c")], timeout=LIMIT)
    made.returncode == 0 or skip(f"{compiler} has no library for this")
    root = "/usr/" + compiler.removesuffix("-gcc")
    done = record(f"{program}.ucir", program, options=["--sysroot", root] if has_sysroot else [])
    printed = [int(n) for n in re.findall(r"^errno (\d+)$", done.stdout, re.M)]
    assert done.returncode == 0 and len(printed) == 5 and len(set(printed)) == 4, done
    # In the frame above told(), so that it is the variable and not what was passed on.
    commands = ["break told", *["continue", "up", 'printf "errno is %d\\n", (int) errno'] * len(printed)]
    said = subprocess.run([TRACESTUB, "gdb", f"{program}.ucir", "--exec", program, "--", "-nx", "-batch",
                           *(a for c in commands for a in ("-ex", c))], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    assert [int(n) for n in re.findall(r"^errno is (\d+)$", said.stdout, re.M)] == printed, (printed, said)


@case
def a_refusal_names_what_is_not_known():
    """A recording that begins where the dynamic linker's lists were made long ago, and no file of libc is at hand."""
    program = Program("pie", "frames")
    with Gdb(program, "--exec", program.exec) as g:
        g("maintenance packet qC")
        thread = g.expect(r'"QC(.*)"')[1]
        g(f"maintenance packet qGetTLSAddr:{thread},0,1234")
        g.expect(r'"E\.the dynamic linker does not list|"E\.no file of glibc is at hand')


for target, compiler, has_sysroot in (("x86_64", "gcc", False), ("i386", "i686-linux-gnu-gcc", False),
                                      ("arm", "arm-linux-gnueabihf-gcc", True),
                                      ("aarch64", "aarch64-linux-gnu-gcc", True), ("riscv64", "riscv64-linux-gnu-gcc", True)):
    add_case(f"errno is what the program printed: {target}", errno_is_what_the_program_printed, target, compiler, has_sysroot)
for suffix in "ucir", "frames":
    add_case(f"depth is the number of open calls: {suffix}", depth_is_the_number_of_open_calls, "pie", suffix)
run_cases()
