#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record` of 32-bit programs with Valgrind: what is recorded is what the processor does, and programs end as alone."""
import errno
import functools
import json
import os
import pathlib
import signal
import subprocess

from _naive_ucir2 import Ucir2
from _processor import compare, compare_memory
from _record import LIMIT, build, build_bare, compiler, emulator, record
from _tap import TRACESTUB, case, run_cases, skip, skip_all

TOOL = pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-x86"
if os.uname().machine != "x86_64" or not TOOL.exists():
    skip_all("tracestub was built without Valgrind's tool for i386 programs")

REFUSES = """#include <errno.h>
int fexecve(int fd, char *const argv[], char *const envp[])
{
	(void)fd, (void)argv, (void)envp;
	errno = ENOEXEC;
	return -1;
}
"""


@functools.cache
def runs_i386():
    try:
        subprocess.run([build_bare("i386")], timeout=LIMIT)
    except OSError as why:
        assert why.errno == errno.ENOEXEC, why
        return False
    return True


@case
def where_the_kernel_runs_no_such_programs_qemu_records_them():
    """A kernel that refuses tracestub's own small one; the truth of what the program prints and of its status: QEMU alone."""
    emulator("i386")
    program = build_bare("i386")
    pathlib.Path("refuses.c").write_text(REFUSES)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "refuses.so", "refuses.c"], check=True)
    env = {**os.environ, "LD_PRELOAD": os.path.abspath("refuses.so")}
    alone = subprocess.run(["qemu-i386", program], capture_output=True, text=True, timeout=LIMIT)
    done = record("refused.ucir", program, env=env)
    assert done.returncode == alone.returncode and done.stdout == alone.stdout, (done, alone)
    assert Ucir2("refused.ucir").notes[6][0].startswith(b"qemu-i386 "), Ucir2("refused.ucir").notes
    for words in ("--with", "valgrind"), ("--from", "main"):
        done = record("refused.ucir", program, options=words, env=env)
        assert done.returncode == 1 and "kernel runs no programs for i386" in done.stderr, done


def need_kernel():
    return runs_i386() or skip("this machine's kernel runs no programs for i386")


def built(source, name, options="-O1 -g -pthread -w"):
    need_kernel()
    compiler("i386")
    return os.path.exists("/lib/ld-linux.so.2") and build(source, name, options, "i386") or skip("no libraries of i386 (libc6-i386)")


def recorded(out, *argv, options=(), status=None, unexplained=0):
    """By Valgrind, which no option asks for; as the program runs alone, if no status is given."""
    alone = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, errors="replace") if status is None else None
    done = record(out, *argv, options=options, errors="replace")
    assert f"unexplained {unexplained}" in done.stderr, done
    assert done.returncode == (status if alone is None else alone.returncode) and (not alone or done.stdout == alone.stdout), (done, alone)
    return done


def ask(*words):
    done = subprocess.run([TRACESTUB, *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
    if words[0] == "info":
        return json.loads(done.stdout)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def gdb(out, *commands):
    return subprocess.run([TRACESTUB, "gdb", out, "--", "-nx", "-batch", *(w for c in commands for w in ("-ex", c))],
                          capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL).stdout


@case
def each_instruction_leaves_the_processors_registers_and_memory():
    need_kernel()
    for program in build_bare("i386"), build_bare("i386", "-msse2", "odd.c"):
        assert record("truth.ucir", program).returncode >= 0
        recording = Ucir2("truth.ucir")
        n, wrong, n_flags = compare(recording, program, "i386", has_x87=program.endswith("odd.i386"))
        assert n > 4000 and not wrong and n_flags > 3 * n, (n, n_flags, len(wrong), wrong[:5])
        assert compare_memory(recording) > 10000
        assert recording.notes[6][0].startswith(b"Valgrind ") and recording.arch == "x86", recording.notes


@case
def programs_with_a_library_run_as_alone():
    program = built("subject.c", "subject")
    for words in ["signals"], ["handler"], ["threads", "4"], ["threads", "2", "spin"], ["5"], ["exec"]:
        recorded("ended.ucir", program, *words)
    recorded("memory.ucir", program, "memory", status=0)     # it prints its addresses
    assert len({row["thread"] for row in ask("query", "ended.ucir", "threads")}) == 1


@case
def a_crash_ends_with_the_signal_its_cause_and_its_address():
    program = built("subject.c", "subject", "-O0 -g -pthread -w")
    recorded("crash.ucir", program, "crash", status=-signal.SIGSEGV)
    said = gdb("crash.ucir", "goto end", "bt", "print $_siginfo._sifields._sigfault.si_addr")
    assert "crash () at" in said and "main (" in said and "(void *) 0x10" in said, said


@case
def a_handler_has_the_address_of_the_division():
    program = built("divided.c", "divided")
    recorded("divided.ucir", program, status=0)
    said = gdb("divided.ucir", "continue", "print $_siginfo._sifields._sigfault.si_addr == $pc")
    assert "SIGFPE" in said and "$1 = 1\n" in said, said


@case
def what_the_kernel_changed_is_as_the_program_prints_it():
    done = recorded("kernel.ucir", built("kernel_memory.c", "kernel_memory"), status=0)
    lines = [line.split() for line in done.stdout.splitlines()]
    out = [w for w in ask("query", "kernel.ucir", "events", "syscall") if w["name"] == "write" and w["arguments"][0] == "0x1"]
    assert len(lines) == 11 and len(out) == 2 * len(lines), (lines, out)
    said = gdb("kernel.ucir", *(c for k in range(len(lines)) for c in (f"goto {out[2 * k]['position']}", f"x/32xb {lines[k][1]}")))
    held = "".join(line.split(":")[1].replace("\t0x", "") for line in said.splitlines() if line.count("\t0x") == 8)
    assert held == "".join(found for *_, found in lines), (held, lines)


@case
def ways_by_which_memory_changes_are_all_explained():
    recorded("ways.ucir", built("ways.c", "ways"))


@case
def avx_is_explained():
    need_kernel()
    pathlib.Path("wide.c").write_text("int main(void) { __asm__ volatile(\".byte 0xc5, 0xf9, 0xef, 0xc0\"); return 0; }\n")
    subprocess.run([compiler("i386"), "-static", "-o", "wide", "wide.c"], check=True)
    done = record("wide.ucir", "./wide")
    assert done.returncode == -signal.SIGILL and "it is one of AVX, which Valgrind has for 64-bit programs only" in done.stderr, done


@case
def a_part_of_it_is_recorded():
    """The truth: the program calls work once in each of four threads, whose number is its argument."""
    program = built("subject.c", "subject", "-O1 -g -pthread -w -fno-inline")
    recorded("part.ucir", program, "threads", "4", options=("--from", "work"))
    entered = [row["arguments"][0] for row in ask("query", "part.ucir", "calls", "work")]
    assert set(entered) <= {"0x1", "0x2", "0x3", "0x4"} and len(entered) >= 3, entered
    recorded("last.ucir", program, "threads", "4", options=("--last", "2M"))
    recorded("until.ucir", program, "threads", "4", options=("--until", "work"))


FORKS = """#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	if (argc > 1)
		return 3;
	if (!fork())
		execl("/bin/sh", "sh", "-c", "./forks again; exit $((1 + $?))", (char *)NULL);
	wait(&status);
	return 10 + (status >> 8);
}
"""


@case
def processes_of_both_sizes_are_followed():
    need_kernel()
    pathlib.Path("forks.c").write_text(FORKS)
    subprocess.run([compiler("i386"), "-O1", "-w", "-o", "forks", "forks.c"], check=True)
    os.path.exists("/lib/ld-linux.so.2") or skip("no libraries of i386 (libc6-i386)")
    done = record("followed", "./forks", options=("--follow",))
    assert done.returncode == 14, done
    rows = ask("info", "followed")["recordings"]
    ended = {tuple(row["arguments"]): row["value"] for row in rows if row["end"] == "exited"}
    assert ended == {("./forks",): 14, ("/bin/sh", "-c", "./forks again; exit $((1 + $?))"): 4, ("./forks", "again"): 3}, rows
    archs = {ask("info", f"followed/{row['file']}")["arch"] for row in rows}
    assert len(archs) == 2 and "i386" in archs, archs


@case
def what_calls_write_beside_their_result_is_recorded():
    """Sockets are asked by socketcall(2) here, as glibc does it in a static program."""
    need_kernel()
    done = record("returned.ucir", build("returned.c", "returned", "-O1 -w -static", "i386"))
    assert done.stdout.strip().isdigit() and "unexplained 0" in done.stderr, done


run_cases()
