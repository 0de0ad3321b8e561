#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub dap`: gdb's own adapter for editors (gdb 14 and later), with buttons for backwards.

Positions come from the recording's oracle, lines from walk.c. TRACESTUB_GDB may name the gdb.
"""
import os
import pathlib
import re
import subprocess

from _dap import Adapter
from _record import build, record
from _recording import Recording
from _server import LIMIT, Server
from _tap import SRCDIR, TRACESTUB, case, run_cases, skip

WALK = Recording("x64_walk")
WALK.copy_sources(pathlib.Path())
SOURCE = pathlib.Path("walk.c").resolve()
LINE = WALK.line("u32 seed=argc+12345")
GDB = os.environ.get("TRACESTUB_GDB", "gdb")


def gdb_with_dap():
    """Skips the case where this gdb has no adapter."""
    try:
        said = subprocess.run([GDB, "-nx", "-batch", "-ex", "python import gdb.dap; print('yes')"], timeout=LIMIT,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError:
        skip(f"no {GDB}")
    if "yes" not in said.stdout:
        skip(f"{GDB} has no adapter (gdb -i dap): that needs gdb 14 or later, built with Python")


class Session(Adapter):
    """The adapter of `tracestub dap`, or gdb itself."""

    def start(self, request="attach", **arguments):
        """To the stop at position 0; returns what the adapter offers."""
        offered = self("initialize", adapterID="gdb", linesStartAt1=True, pathFormat="path")
        asked = self.post(request, **arguments)
        self.event("initialized")
        found = self("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[{"line": LINE}])["breakpoints"]
        assert [b.get("line", LINE) for b in found] == [LINE], found     # none: the program is not known yet
        self("configurationDone")
        self.event("stopped")
        self.response(asked)
        return offered

    def console(self, command):
        return self("evaluate", expression=command, context="repl")["result"]

    def position(self):
        """Where `when` says that the session is; the adapter's pc is the oracle's there."""
        k = int(re.search(r"position (\d+) of", self.console("when"))[1])
        pc = int(self("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"], 16)
        assert pc == WALK.pcs()[k], (k, hex(pc))
        return k

    def variables(self, frame, kind):
        scopes = {s["name"]: s["variablesReference"] for s in self("scopes", frameId=frame["id"])["scopes"]}
        found = self("variables", variablesReference=scopes[kind])["variables"]
        return {v["name"]: v["value"] for v in found}


def place(frames):
    return frames[0]["name"], frames[0]["line"]


def dap(*more):
    gdb_with_dap()
    return Session(TRACESTUB, "dap", WALK.trace, *more)


@case
def an_editor_attaches_and_steps_and_continues_backwards():
    with dap(WALK.exec) as d:
        assert d.start()["supportsStepBack"] is True
        assert d.position() == 0
        reason, frames = d.stop("continue", threadId=1)
        assert reason == "breakpoint" and place(frames) == ("rt_main", LINE), frames
        assert d.variables(frames[0], "Arguments")["argc"] == "3", frames
        here = d.position()
        names = [t["name"] for t in d("threads")["threads"]]
        assert len(names) == 1 and f"position {here} of {len(WALK.pcs()) - 1}" in names[0], names
        _, frames = d.stop("stepBack", threadId=1, granularity="instruction")
        assert d.position() == here - 1, frames
        d.stop("stepIn", threadId=1, granularity="instruction")
        assert d.position() == here
        _, frames = d.stop("next", threadId=1)
        after = d.position()
        assert after > here and frames[0]["line"] > LINE, frames
        _, frames = d.stop("stepBack", threadId=1)
        assert place(frames) == ("rt_main", LINE) and d.position() == here, frames
        assert "the input" in (why := d.console("why argc")) or "position" in why, why
        d.stop("reverseContinue", threadId=1)
        assert d.position() == 0
        d("disconnect")


@case
def a_jump_in_the_console_is_a_stop_that_the_editor_sees():
    with dap(WALK.exec) as d:
        d.start()
        d.events.clear()
        d.console("goto end")
        d.event("stopped")
        assert d.position() == len(WALK.pcs()) - 1
        _, frames = d.stop("reverseContinue", threadId=1)
        assert place(frames) == ("rt_main", LINE), frames
        d("disconnect")


@case
def the_console_takes_what_gdb_takes():
    """bump() adds fib(9), 34, to the sum of the keys, 35."""
    with dap(WALK.exec) as d:
        d.start()
        d.console("tbreak bump")
        d.stop("continue", threadId=1)
        d.console("watch total")
        d.stop("continue", threadId=1)
        after = d.position()
        assert d.console("print total").endswith("= 69\n")
        d.stop("reverseContinue", threadId=1)
        assert d.position() < after and d.console("print total").endswith("= 35\n")
        mapped = re.findall(r"^ *(0x[0-9a-f]+) +(0x[0-9a-f]+) +0x", d.console("info proc mappings"), re.M)
        assert any(int(first, 16) <= WALK.pcs()[0] < int(end, 16) for first, end in mapped), mapped
        here = d.position()
        d.console("tfind 1000")
        assert int(d.console("print/x $pc").split()[2], 16) == WALK.pcs()[1000]
        d.console("tfind none")
        assert d.position() == here
        assert re.search(rf"^\* 1 .*position {here} of", d.console("info threads"), re.M)
        assert "Nothing was done" not in (why := d.console("last-write total")) and "1 row" in why, why
        d("disconnect")


@case
def libraries_and_errno_are_there_in_an_editor():
    """errno.c prints what errno is, which told() gets."""
    gdb_with_dap()
    program = build("errno.c", "two", "-g -O0 -pthread")
    printed = [int(n) for n in re.findall(r"^errno (\d+)$", record("two.ucir", program).stdout, re.M)]
    assert len(set(printed)) == 4, printed
    with Session(TRACESTUB, "dap", "two.ucir", program) as d:
        d("initialize", adapterID="gdb", linesStartAt1=True, pathFormat="path")
        d.post("attach")
        d.event("initialized")
        d("setFunctionBreakpoints", breakpoints=[{"name": "told"}])
        d("configurationDone")
        d.event("stopped")
        for number in printed:
            d.events.clear()
            d("continue", threadId=1)
            d("stackTrace", threadId=d.event("stopped")["threadId"])        # the console looks at that thread then
            d.console("up")
            assert d.console("print (int) errno").endswith(f"= {number}\n"), number
        assert re.search(r"Yes.*/libc\.so\.6", d.console("info sharedlibrary"))
        d("disconnect")


@case
def a_request_to_launch_opens_the_recording():
    """An editor that knows only how to start a program; gdb starts nothing."""
    with dap() as d:
        d.start("launch", program=WALK.exec)
        assert d.position() == 0
        d("disconnect")


@case
def gdbs_own_adapter_has_the_buttons_with_gdbinit():
    gdb_with_dap()
    with Server(WALK.trace) as server, Session(GDB, "-i", "dap", "-x", str(SRCDIR / "gdbinit"), WALK.exec) as d:
        assert d.start(target=server.address)["supportsStepBack"] is True
        d.stop("continue", threadId=1)
        here = d.position()
        d.stop("stepBack", threadId=1, granularity="instruction")
        assert d.position() == here - 1
        d("disconnect")


@case
def an_older_gdb_is_told_from_the_adapter():
    """Status 1, and what is missing; a script takes the place of such a gdb."""
    fake = pathlib.Path("old-gdb").resolve()
    fake.write_text("#!/bin/sh\necho 'Python scripting is not supported' >&2\n")
    fake.chmod(0o755)
    said = subprocess.run([TRACESTUB, "dap", WALK.trace], env={**os.environ, "TRACESTUB_GDB": str(fake)}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    assert said.returncode == 1 and not said.stdout, said
    assert f"{fake} has no adapter for editors: that needs gdb 14 or later" in said.stderr, said


run_cases()
