#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lldb-dap of Debian's lldb (lldb-vscode before LLVM 18), which editors talk to by the Debug Adapter Protocol, on a recording.

It has no buttons for backwards; "monitor direction reverse" in its console turns the others round. Positions come from
the recording's oracle, lines from walk.c.
"""
import pathlib
import re

from _dap import Adapter
from _lldb import adapter_path
from _recording import Recording
from _server import Server
from _tap import case, run_cases, skip_all

ADAPTER = adapter_path() or skip_all("no lldb-dap, which was called lldb-vscode before LLVM 18")
WALK = Recording("x64_walk")
WALK.copy_sources(pathlib.Path())
SOURCE = pathlib.Path("walk.c").resolve()
LINE = WALK.line("u32 seed=argc+12345")


class Session(Adapter):
    def attach(self, server):
        """lldb-dap 19 may look at the process before lldb has one, and refuses then; an editor's user attaches again."""
        for _ in range(9):
            try:
                return self.attach_once(server)
            except AssertionError as why:
                if "process unloaded" not in str(why):
                    raise
                self.__exit__()
                self.__init__(ADAPTER)
        return self.attach_once(server)

    def attach_once(self, server):
        """At the first breakpoint; returns the frames there.

        With stopOnEntry, for lldb refuses to continue until the adapter has taken in that it stopped after attaching,
        and "configurationDone" does not look whether it did continue.
        """
        self("initialize", adapterID="lldb", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        asked = self.post("attach", program=WALK.exec, attachCommands=[f"gdb-remote {server.address}"], stopOnEntry=True,
                          sourceMap=[["/samples/a/usercorn/src", str(SOURCE.parent)]])
        self.event("initialized")
        found = self("setBreakpoints", source={"name": "walk.c", "path": str(SOURCE)},
                     breakpoints=[{"line": LINE}])["breakpoints"]
        assert [(b["verified"], b["line"]) for b in found] == [(True, LINE)], found
        self("configurationDone")
        self.response(asked)        # since lldb-dap 20 it comes only now
        self.event("stopped")
        self.thread = self("threads")["threads"][0]["id"]
        self("continue", threadId=self.thread)
        while self.event("stopped").get("reason") != "breakpoint":      # it may tell of the first position once more
            pass
        return self("stackTrace", threadId=self.thread)["stackFrames"]

    def go(self, command, **arguments):
        self.events.clear()
        self(command, threadId=self.thread, **arguments)
        while "reason" not in self.event("stopped"):     # lldb-vscode has not looked at the thread yet
            pass
        return self("stackTrace", threadId=self.thread)["stackFrames"]

    def console(self, command):
        """A command of lldb's: what it printed."""
        return self("evaluate", expression=f"`{command}", context="repl")["result"]

    def monitor(self, command):
        return self.console(f"process plugin packet monitor {command}")

    def position(self):
        """The session's position, as the server reports it; the adapter's pc is the oracle's there."""
        k = int(re.search(r"position (\d+) of", self.monitor("when"))[1])
        pc = int(re.search(r"0x[0-9a-f]+", self.console("register read pc"))[0], 16)
        assert pc == WALK.pcs()[k], (k, hex(pc))
        return k

    def variables(self, frame, scope):
        scopes = {s["name"]: s["variablesReference"] for s in self("scopes", frameId=frame["id"])["scopes"]}
        return self("variables", variablesReference=scopes[scope])["variables"]


@case
def attaches_and_shows_frames_variables_and_registers():
    with Server(WALK.trace) as server, Session(ADAPTER) as dap:
        frames = dap.attach(server)
        assert [f["name"] for f in frames[:2]] == ["rt_main", "rt_entry"] and frames[0]["line"] == LINE, frames
        assert pathlib.Path(frames[0]["source"]["path"]) == SOURCE, frames
        local = {v["name"]: v["value"] for v in dap.variables(frames[0], "Locals")}
        assert local["argc"] == "3", local
        general = dap.variables(frames[0], "Registers")[0]
        shown = {v["name"]: v["value"] for v in dap("variables", variablesReference=general["variablesReference"])["variables"]}
        assert int(shown["rip"].split()[0], 16) == WALK.pcs()[dap.position()], shown
        dap("disconnect")
        assert server.is_alive()


@case
def steps_and_continues_both_ways():
    with Server(WALK.trace) as server, Session(ADAPTER) as dap:
        dap.attach(server)
        here = dap.position()
        frames = dap.go("next")
        assert frames[0]["name"] == "rt_main" and dap.position() > here, frames
        dap.monitor("direction reverse")
        dap.go("continue")
        assert dap.position() == here
        dap.go("continue")
        assert dap.position() == 0
        dap.monitor("direction forward")
        dap.go("continue")
        assert dap.position() == here
        dap("disconnect")


@case
def the_console_has_watchpoints_and_the_memory_map():
    """A watchpoint that a step back triggers: the node's key is the last addend of add_all, 0 * 0 + 1."""
    with Server(WALK.trace) as server, Session(ADAPTER) as dap:
        dap.attach(server)
        stack = re.search(r"\[(0x[0-9a-f]+)-(0x[0-9a-f]+)\) rw", dap.console("memory region $sp"))
        sp = int(re.search(r"= (0x[0-9a-f]+)", dap.console("register read sp"))[1], 16)
        assert stack and int(stack[1], 16) <= sp < int(stack[2], 16), (stack, hex(sp))
        dap.console("watchpoint set variable total")
        dap.monitor("direction reverse")
        frames = dap.go("continue")
        assert frames[0]["name"] in ("bump", "add_all") and dap.position() > 0, frames
        dap("disconnect")


run_cases()
