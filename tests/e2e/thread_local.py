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
        *rows, end = ask("history", "errno")[0]
        assert "of thread" in end["note"], end


for how in (), ("-static",):
    add_case(f"each thread has its own in questions {' '.join(how)}".strip(), each_thread_has_its_own_in_questions, *how)


LIBRARY = """__thread int %s = 5;
__thread char filler[300];
static __thread long hidden = 40;
int bump(int n) { %s += n; hidden += 2 * n; filler[299] = (char) n; return %s + (int) hidden; }
"""
LOADER = """#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static int (*call)(int);
static sem_t ready;
int turn;
void told(int sum) { turn++; printf("%d\\n", sum); }
static void *run(void *x) { sem_wait(&ready); told(0); told(call(30)); return x; }
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	void *lib = dlopen("./first.so", RTLD_NOW);
	call = (int (*)(int)) dlsym(lib, "bump");
	told(0);
	told(call(1));
	sem_post(&ready);
	pthread_join(t, 0);
	told(call(2));
	dlclose(lib);
	lib = dlopen("./second.so", RTLD_NOW);
	call = (int (*)(int)) dlsym(lib, "bump");
	told(0);
	told(call(3));
	return 0;
}
"""


def a_library_has_them_once_a_thread_used_them(target, compiler, has_sysroot):
    """dlopen loads it; a thread that has not used its variables has none, though another library's were there before."""
    recorder() if target == "x86_64" else emulator(target)
    shutil.which("gdb-multiarch" if has_sysroot else "gdb") or skip("no gdb for it")
    shutil.which(compiler) or skip(f"no {compiler}")
    folder = pathlib.Path(f"loader.{target}").resolve()
    folder.mkdir()
    names = "first", "second"
    for name in names:
        # else AArch64's compiler makes descriptors, for which the dynamic linker finds fixed places
        how = ["-mtls-dialect=trad"] if target == "aarch64" else []
        subprocess.run([compiler, *how, "-g", "-O0", "-shared", "-fPIC", "-x", "c", "-", "-o", folder / f"{name}.so"],
                       input=LIBRARY.replace("%s", f"in_{name}"), text=True, check=True, timeout=LIMIT)
    program = str(folder / "loader")
    subprocess.run([compiler, "-g", "-O0", "-pthread", "-x", "c", "-", "-o", program, "-ldl"], input=LOADER, text=True, check=True,
                   timeout=LIMIT)
    root = "/usr/" + compiler.removesuffix("-gcc")
    trace = str(folder / "loader.ucir")
    done = subprocess.run([TRACESTUB, "record", *(["--sysroot", root] if has_sysroot else []), "-o", trace, "--", program],
                          cwd=folder, capture_output=True, text=True, timeout=LIMIT)
    printed = [int(n) for n in re.findall(r"^(\d+)$", done.stdout, re.M)]
    assert printed == [0, 48, 0, 135, 54, 0, 54], done
    # the sum is that of 5 + N and 40 + 2 * N
    expected = [(n - 30) // 3 if n else None for n in printed]
    used = ["in_first"] * 5 + ["in_second"] * 2
    commands = ["break told", *(c for name in used for c in ("continue", f'printf "value %d\\n", {name}'))]
    said = subprocess.run([TRACESTUB, "gdb", trace, "--exec", program, "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c))],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    values = [int(n) if n else None for n in re.findall(r"^value (\d+)|^Cannot find thread-local", said.stdout, re.M)]
    assert values == expected, (expected, said.stdout)

    def ask(*words):
        done = subprocess.run([TRACESTUB, "query", trace, *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    for row, name, value in list(zip(ask("executions", "told")[0], used, expected))[::3]:
        found, refused = ask("last-write", name, "at", str(row["position"]), "thread", str(row["thread"]))
        if value is None:
            assert not found and ("has no storage" in refused or "does not list" in refused), (row, found, refused)
        else:
            assert int(found[0]["new"], 16) == value and found[0]["function"] == "bump", (row, value, found)


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
        g.expect(r'"E\.the dynamic linker does not list|"E\.no file of glibc is available')


for target, compiler, has_sysroot in (("x86_64", "gcc", False), ("aarch64", "aarch64-linux-gnu-gcc", True)):
    add_case(f"a library has them once a thread used them: {target}", a_library_has_them_once_a_thread_used_them, target, compiler,
             has_sysroot)
for target, compiler, has_sysroot in (("x86_64", "gcc", False), ("i386", "i686-linux-gnu-gcc", False),
                                      ("arm", "arm-linux-gnueabihf-gcc", True),
                                      ("aarch64", "aarch64-linux-gnu-gcc", True), ("riscv64", "riscv64-linux-gnu-gcc", True)):
    add_case(f"errno is what the program printed: {target}", errno_is_what_the_program_printed, target, compiler, has_sysroot)
for suffix in "ucir", "frames":
    add_case(f"depth is the number of open calls: {suffix}", depth_is_the_number_of_open_calls, "pie", suffix)
run_cases()
