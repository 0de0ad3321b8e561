#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A library that is loaded while the program runs: gdb sets pending breakpoints in it when it appears, and knows it
after "goto", also when the dynamic linker is not known, by whose breakpoint gdb would notice by itself.

A dynamic program is recorded from its first instruction, in the linker; at its end the C library's _exit runs.
"""
import pathlib
import re
import shutil
import subprocess

from _record import LIMIT, build, emulator, record, recorder
from _server import Server
from _tap import SRCDIR, TRACESTUB, case, run_cases, skip


def recorded():
    """A recording, and a folder in which its C library lies alone."""
    recorder()
    shutil.which("gdb") or skip("no gdb")
    done = record("friends.ucir", build("friends.c", "friends", "-O0 -g -w"))
    info = subprocess.run([TRACESTUB, "query", "friends.ucir", "modules", "in", "0:end"], capture_output=True, text=True)
    found = re.search(r"^(\d+)\t.*\t(/\S*/libc\.so\.6)$", info.stdout, re.M)
    assert found and int(found[1]) > 0, (done, info)
    root = pathlib.Path("root").resolve()
    copy = pathlib.Path(f"{root}/{found[2]}")
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found[2], copy)
    return str(root), int(found[1])


def gdb(root, *commands):
    args = [a for c in ("set breakpoint pending on", *commands) for a in ("-ex", c)]
    done = subprocess.run([TRACESTUB, "gdb", "friends.ucir", "friends", "--sysroot", root, "--", "-nx", "-batch", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          timeout=LIMIT)
    return done.stdout


def stopped_in_library(said):
    return re.search(r"^Breakpoint 1, .*^__libc_start_main.* in section \.text of .*/libc\.so\.6$", said, re.M | re.S)


@case
def breakpoints_are_set_when_their_library_appears_and_pending_before():
    root, first = recorded()
    said = gdb(root, "break __libc_start_main", "info breakpoints", "continue", "info symbol $pc", "echo <1>\\n",
               f"goto {first - 1}", "info breakpoints", "echo <2>\\n", "goto end", "reverse-continue", "info symbol $pc",
               "echo <3>\\n", "reverse-continue", "when", "info breakpoints", "echo <4>\\n", "goto 0", "continue",
               "info symbol $pc")
    forwards, jump, backwards, start, again = re.split("<[1-4]>", said)
    assert "Unable to find dynamic linker breakpoint" in forwards, said
    assert re.search("<PENDING> +__libc_start_main.*^Breakpoint 1, ", forwards, re.M | re.S), said
    assert stopped_in_library(forwards), said
    assert "<PENDING>" in jump, said
    assert stopped_in_library(backwards), said
    assert "position 0 of" in start and "<PENDING>" in start, said
    assert stopped_in_library(again), said


@case
def gdbinit_may_be_sourced_after_connecting():
    """gdb 16 and later have found the linker's probes then, and would keep the libraries of that time after a jump."""
    recorded()
    with Server("friends.ucir", "--exec", "friends") as server:
        commands = [f"target remote {server.address}", f"source {SRCDIR / 'gdbinit'}", "info sharedlibrary", "echo <1>\\n",
                    "goto end", "info sharedlibrary", "info symbol _exit"]
        done = subprocess.run(["gdb", "-nx", "-batch", *(a for c in commands for a in ("-ex", c)), "friends"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=LIMIT)
    before, after = done.stdout.split("<1>")
    assert "libc.so.6" not in before, done.stdout
    assert re.search(r"^0x.*/libc\.so\.6$", after, re.M), done.stdout
    assert re.search(r"^_exit in section \.text of .*/libc\.so\.6$", after, re.M), done.stdout


@case
def a_library_that_is_not_here_is_complained_about_once():
    """In a folder without libraries, as on another system: gdb prints two lines or more whenever it is told of one."""
    recorded()
    pathlib.Path("empty").mkdir(exist_ok=True)
    again = "goto 0", "continue", "goto end", "reverse-continue"
    done = subprocess.run([TRACESTUB, "gdb", "friends.ucir", "--exec", "friends", "--sysroot", "empty", "--", "-nx", "-batch",
                           *(a for c in ("break main", "continue", *again * 3, "info sharedlibrary") for a in ("-ex", c))],
                          capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    said = done.stdout + done.stderr
    assert said.count("Breakpoint 1, main") == 7, said
    assert len(re.findall(r"^Could not open .*/libc\.so\.6", said, re.M)) == 1, said
    assert re.search(r"^ +No +/\S*/libc\.so\.6", said, re.M), said


@case
def a_recording_made_with_a_sysroot_is_opened_with_the_same():
    """The emulator maps the libraries of the sysroot, and their full paths are recorded."""
    emulator()
    program = build("friends.c", "friends", "-O0 -g -w")
    root = pathlib.Path("system").resolve()
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    for path in re.findall(r"(/\S+) \(0x", linked.stdout):
        copy = pathlib.Path(f"{root}/{path}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    done = record("with_root.ucir", program, options=["--sysroot", str(root)])
    ask = [TRACESTUB, "query", "--quiet", "with_root.ucir"]
    modules = subprocess.run([*ask, "modules", "in", "0:end"], capture_output=True, text=True, timeout=LIMIT).stdout
    assert re.search(rf"\t{re.escape(str(root))}/\S*/libc\.so\.6$", modules, re.M), (done, modules)
    said = subprocess.run([*ask, "executions", "__libc_start_main", "--sysroot", "system"], capture_output=True, text=True,
                          timeout=LIMIT)
    assert said.returncode == 0 and said.stderr == "1 row\n" and "\t__libc_start_main\t" in said.stdout, said


run_cases()
