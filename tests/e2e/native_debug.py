#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Native Debug, an extension of VS Code, on a recording: its buttons for stepping and continuing backwards.

Its adapter is in no package registry.  TEST_NATIVE_DEBUG names out/src/gdb.js of a clone of WebFreak001/code-debug after
`npm install --ignore-scripts` and `npx tsc -p .`; without it these cases are skipped, and gdb_mi sends gdb the same
commands. Positions come from the recording's oracle, lines from walk.c.
"""
import json
import os
import pathlib
import re

from _manual import page
from _dap import Adapter
from _recording import Recording
from _server import Server
from _tap import SRCDIR, case, run_cases, skip_all

ADAPTER = os.environ.get("TEST_NATIVE_DEBUG") or skip_all("TEST_NATIVE_DEBUG does not name Native Debug's out/src/gdb.js")
WALK = Recording("x64_walk")
WALK.gdb()
WALK.copy_sources(pathlib.Path())
SOURCE = pathlib.Path("walk.c").resolve()
LINE = WALK.line("u32 seed=argc+12345")


def the_pages_configuration(server):
    """The launch.json of tracestub-frontends(7) for this adapter, with the names that it leaves open."""
    found = re.search(r'^\{\n {4}"type": "gdb",.*?^\}$', page("tracestub-frontends.7"), re.M | re.S)[0]
    for name, path in {"${workspaceFolder}/PROGRAM": WALK.exec, "${workspaceFolder}": str(SOURCE.parent),
                       "localhost:1234": server.address, "GDBINIT": f"{SRCDIR}/gdbinit"}.items():
        assert name in found, (name, found)
        found = found.replace(name, path)
    return {**json.loads(found), "gdbpath": str(gdb_by_line())}


def gdb_by_line():
    """gdb writes each character by itself, and the adapter (0.27.1) drops an answer of which it reads a part."""
    path = pathlib.Path("gdb-by-line").resolve()
    path.write_text("#!/bin/sh\ngdb \"$@\" | grep --line-buffered ''\n")
    path.chmod(0o755)
    return path


class Session(Adapter):
    def attach(self, server):
        said = self("initialize", adapterID="gdb", linesStartAt1=True, pathFormat="path")
        assert said["supportsStepBack"], said
        asked = the_pages_configuration(server)
        self("attach", **asked)
        self.event("initialized")
        found = self("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[{"line": LINE}])["breakpoints"]
        assert found[0]["verified"] and found[0]["line"] == LINE, found
        self("configurationDone")
        assert self.position() == 0

    def position(self):
        """The session's position, as the server reports it."""
        self.output = ""
        self("evaluate", expression="monitor when", context="repl")
        while not (found := re.search(r"position (\d+) of", self.output)):
            self.events.append(self.next_message())
        return int(found[1])


def place(frames):
    return frames[0]["name"].split("@")[0], frames[0]["line"]


@case
def attaches_steps_and_continues_both_ways():
    with Server(WALK.trace) as server, Session("node", ADAPTER) as dap:
        dap.attach(server)
        reason, frames = dap.stop("continue", threadId=1)
        assert reason == "breakpoint" and place(frames) == ("rt_main", LINE), (reason, frames)
        here = dap.position()
        assert [t["id"] for t in dap("threads")["threads"]] == [1]
        _, frames = dap.stop("stepBack", threadId=1)
        assert place(frames) == ("bump", 20) and dap.position() < here, frames
        _, frames = dap.stop("continue", threadId=1)
        assert place(frames) == ("rt_main", LINE) and dap.position() == here
        dap.stop("reverseContinue", threadId=1)
        assert dap.position() == 0
        dap("disconnect")
        assert server.is_alive()


@case
def shows_variables_and_registers():
    with Server(WALK.trace) as server, Session("node", ADAPTER) as dap:
        dap.attach(server)
        _, frames = dap.stop("continue", threadId=1)
        scopes = {s["name"]: s["variablesReference"] for s in dap("scopes", frameId=frames[0]["id"])["scopes"]}
        local = {v["name"]: v["value"] for v in dap("variables", variablesReference=scopes["Locals"])["variables"]}
        assert local["argc"] == "3", local
        shown = {v["name"]: v["value"] for v in dap("variables", variablesReference=scopes["Registers"])["variables"]}
        rip = next(value for name, value in shown.items() if "rip" in name)
        assert int(rip.split()[0], 0) == WALK.pcs()[dap.position()], shown
        dap("disconnect")


run_cases()
