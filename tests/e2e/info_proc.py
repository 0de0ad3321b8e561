#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info proc: mappings of the current position, and what else the recording knows of the process."""
import os
import pathlib
import subprocess

from _gdb import Gdb
from _record import LIMIT, record
from _recording import Recording
from _tap import TRACESTUB, case, run_cases


@case
def mappings_have_the_program_and_its_stack():
    with Gdb("x64_walk", "--exec", Recording("x64_walk").exec) as g:
        g("info proc mappings")
        g.expect(r"^\s*0x0*401000\s+0x0*402000\s+0x1000\s+0x1000\s+r-xp\s+\./prog\s*$")
        g.expect(r"\[stack\]\s*$")


@case
def the_heap_is_there_only_after_brk():
    with Gdb("x64_walk") as g:
        g("info proc mappings")
        g.expect_not(r"\[heap\]")
        g("tbreak add_all")
        g("continue")
        heap = g.address("head")
        found = [line.split() for line in g("info proc mappings").splitlines() if "[heap]" in line]
        assert any(int(f[0], 16) <= heap < int(f[1], 16) for f in found), (hex(heap), g.text)
        g("reverse-continue")
        g("info proc mappings")
        g.expect_not(r"\[heap\]")


@case
def command_line_exe_and_status():
    with Gdb("x64_walk", "--exec", Recording("x64_walk").exec) as g:
        g("info proc")
        g.expect("^process ")
        g("info proc exe")
        g.expect("exe = '.*elf'")
        g("info proc status")
        g.expect("State:\tt")
        g("info proc cmdline")
        g.expect("cmdline|unable to open")


def tracestub_gdb(trace, *commands):
    """What each command printed: {command: text}."""
    marked = [a for c in commands for a in ("-ex", f"echo >>> {c}\\n", "-ex", c)]
    said = subprocess.run([TRACESTUB, "gdb", trace, "--", "-nx", "-batch", *marked], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    return dict(part.split("\n", 1) for part in said.stdout.split(">>> ")[1:])


@case
def folder_command_line_and_environment_are_the_recorded_ones():
    """Of a program that was recorded elsewhere; "info proc environ" is a command of gdb 18 and later."""
    folder = pathlib.Path("elsewhere").resolve()
    folder.mkdir()
    done = record("elsewhere.ucir", "/bin/true", "an argument", cwd=folder, env={"HOME": "/", "SUM": "1 + 1"})
    assert done.returncode == 0, done
    commands = ["info proc cwd", "info proc cmdline", "info proc environ"]
    said = tracestub_gdb(folder / "elsewhere.ucir", *commands)
    assert f"\ncwd = '{folder}'\n" in said["info proc cwd"], said
    assert "\ncmdline = '/bin/true an argument'\n" in said["info proc cmdline"], said
    if not said["info proc environ"].startswith("Too many parameters: environ"):
        lines = [line.strip() for line in said["info proc environ"].splitlines()]
        assert {"HOME=/", "SUM=1 + 1"} <= set(lines), said


run_cases()
