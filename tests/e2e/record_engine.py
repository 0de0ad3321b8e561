#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Valgrind's recorder rests on: the flags of the Valgrind that is installed, a log that its program can write, and the other
recorder, which computes the same in another way.
"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from _record import LIMIT, build, build_bare, emulator, record
from _tap import DATA, SRCDIR, TRACESTUB, case, run_cases, skip, skip_all

if os.uname().machine != "x86_64" or not (pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-amd64").exists():
    skip_all("tracestub was built without Valgrind")

BUILDDIR = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR))
WITH = "--with", "valgrind"


def variable(name):
    done = subprocess.run(["pkg-config", f"--variable={name}", "valgrind"], capture_output=True, text=True)
    return done.stdout.strip() or skip("no Valgrind to be linked with")


@case
def flags_are_those_of_the_installed_libvex():
    """Each of the operations that flags are kept as, of x86-64, i386 and AArch64, on 200,000 operands."""
    library = f"{variable('libdir')}/valgrind/libvex-amd64-linux.a"
    subprocess.run(["gcc", "-O2", "-w", "-no-pie", f"-I{variable('includedir')}", f"-I{SRCDIR}", "-o", "libvex_flags",
                    DATA / "record/libvex_flags.c", SRCDIR / "src/record/vex_flags.c", library], check=True, timeout=LIMIT)
    done = subprocess.run(["./libvex_flags", "200000"], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout == "23200000 compared\n", done.stdout


@case
def ways_by_which_memory_changes_are_all_explained():
    ways("valgrind")


@case
def ways_by_which_memory_changes_are_all_explained_in_the_emulator():
    emulator()
    ways("qemu")


def ways(engine):
    program = build("ways.c", "ways")
    alone = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT)
    done = record("ways.ucir", program, options=("--with", engine))
    assert alone.returncode == done.returncode == 0 and done.stdout == alone.stdout and "unexplained 0" in done.stderr, (alone, done)


@case
def a_program_that_writes_over_the_log_harms_only_its_recording():
    """Over all of it, over the head but its first words, and over what was logged."""
    program = build("scribble.c", "scribble")
    for first in "0", "64", "8192":
        pathlib.Path("scribble.ucir").unlink(missing_ok=True)
        done = record("scribble.ucir", program, first, options=(*WITH, "--max-memory", "4G"))
        assert done.returncode in (3, -signal.SIGSEGV) and "the engine's log is damaged" in done.stderr, done
        assert "scribble.ucir is cut: it holds what came first" in done.stderr, done
        info = subprocess.run([TRACESTUB, "info", "scribble.ucir", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
        assert info.returncode == 0 and int(re.search(r"positions +0\.\.(\d+)", info.stdout)[1]) > 1000, info


@case
def a_log_may_be_cut_at_each_byte():
    target, whole = BUILDDIR / "tests/fuzz/fuzz_log", (DATA / "log/right.log").read_bytes()
    target.exists() or skip("no fuzz_log was built")
    with tempfile.TemporaryDirectory() as folder:
        for n in range(len(whole)):
            (pathlib.Path(folder) / f"{n:05}.log").write_bytes(whole[:n])
        done = subprocess.run([target, folder], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0 and done.stdout.count("\nok ") >= len(whole), done.stdout[-2000:] + done.stderr


def rows(*words):
    done = subprocess.run([TRACESTUB, *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


@case
def both_recorders_say_the_same_of_a_program():
    """
    But for what is known: x87's 80 bits and exceptions, exceptions of SSE, rcx after syscall, and the bytes that the kernel and
    the engine put on the stack.
    """
    emulator()
    program = build_bare("x86_64")
    for engine in "valgrind", "qemu":
        record(f"{engine}.ucir", program, options=("--with", engine))
    found = rows("diff", "qemu.ucir", "valgrind.ucir", "--exec", program)
    assert found and {row["kind"] for row in found} <= {"register", "memory"}, collections.Counter(row["kind"] for row in found)
    registers = {row["what"] for row in found if row["kind"] == "register"}
    assert registers <= {"$rcx", "$mxcsr", "$fstat", "$ftag", *(f"$st{i}" for i in range(8))}, registers
    assert all(row["position"] == row["position2"] for row in found), "they part"


LOOP = r"""
static int sums[64];
void _start(void)
{
	for (int i = 0; i < 60000; i++)
		sums[i & 63] += i;
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
"""


@case
def a_loop_takes_as_many_bytes_as_in_the_emulators_recording():
    """A little more: registers that are written with the value that they have are in it, too."""
    emulator()
    subprocess.run(["gcc", "-O1", "-nostdlib", "-static", "-fno-stack-protector", "-x", "c", "-", "-o", "sums"], input=LOOP,
                   text=True, check=True, timeout=LIMIT)
    sizes = []
    for engine in "valgrind", "qemu":
        record(f"{engine}_sums.ucir", "./sums", options=("--with", engine))
        sizes.append(pathlib.Path(f"{engine}_sums.ucir").stat().st_size)
    assert sizes[1] > 500_000 and sizes[0] < 1.05 * sizes[1], sizes


run_cases()
