#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cdt-gdb-adapter, with which VS Code and Theia debug, on a recording: breakpoints, variables, disassembly, and
backwards, by the configurations that tracestub-frontends(7) gives.

The adapter has no button for backwards; "set exec-direction reverse" in its console turns the others round.
Positions and registers come from the recording's oracle, lines from walk.c.
"""
import json
import pathlib
import re
import socket

from _manual import page
from _dap import Adapter, adapter_path
from _recording import Recording
from _server import Server
from _tap import SRCDIR, TRACESTUB, case, run_cases

ADAPTER = adapter_path()
WALK = Recording("x64_walk")
WALK.gdb()
WALK.copy_sources(pathlib.Path())
SOURCE = pathlib.Path("walk.c").resolve()
LINE = WALK.line("u32 seed=argc+12345")
COMMON = {"program": WALK.exec, "cwd": str(SOURCE.parent), "initCommands": [f"source {SRCDIR}/gdbinit"],
          "preConnectCommands": ["set debuginfod enabled off"]}


class Session(Adapter):
    def start(self, request, target, common=COMMON):
        """To the first breakpoint; returns the frames there."""
        said = self("initialize", adapterID="gdbtarget", linesStartAt1=True, pathFormat="path")
        assert said["supportsDisassembleRequest"] and not said.get("supportsStepBack"), said
        self(request, **{**common, "target": target})
        self.event("initialized")
        found = self("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[{"line": LINE}])["breakpoints"]
        assert [(b["verified"], b["line"]) for b in found] == [(True, LINE)], found
        reason, frames = self.stop("configurationDone")
        assert reason == "breakpoint" and place(frames) == ("rt_main", LINE), (reason, frames)
        return frames

    def attach(self, server):
        host, port = server.address.split(":")
        return self.start("attach", {"host": host, "port": port})

    def console(self, command):
        """A command of gdb's: what it printed."""
        self.output = ""
        self("evaluate", expression=f">{command}", context="repl")
        return self.output

    def position(self):
        """The session's position, as the server reports it; the adapter's pc is the oracle's there."""
        k = int(re.search(r"position (\d+) of", self.console("monitor when"))[1])
        pc = int(self("stackTrace", threadId=1)["stackFrames"][0]["instructionPointerReference"], 16)
        assert pc == WALK.pcs()[k], (k, hex(pc))
        return k

    def variables(self, frame, scope):
        scopes = {s["name"]: s["variablesReference"] for s in self("scopes", frameId=frame["id"])["scopes"]}
        found = self("variables", variablesReference=scopes[scope])["variables"]
        return {v["name"]: v["value"] for v in found}


def place(frames):
    return frames[0]["name"], frames[0]["line"]


@case
def attaches_and_shows_frames_variables_registers_and_disassembly():
    with Server(WALK.trace) as server, Session("node", ADAPTER) as dap:
        frames = dap.attach(server)
        assert [f["name"] for f in frames] == ["rt_main", "rt_entry", "_start"], frames
        assert pathlib.Path(frames[0]["source"]["path"]) == SOURCE, frames
        assert [t["id"] for t in dap("threads")["threads"]] == [1]
        assert dap.variables(frames[0], "Local")["argc"] == "3"
        k, values = dap.position(), {}
        for _, changed in list(WALK.oracle())[:k + 1]:
            values.update(changed)
        shown = dap.variables(frames[0], "Registers")
        assert shown["eflags"] == "<unavailable>", shown
        wrong = [name for name in set(values) & set(shown) if int(shown[name], 16) != values[name]]
        assert not wrong and len(set(values) & set(shown)) >= 16, (wrong, shown)
        listed = dap("disassemble", memoryReference=frames[0]["instructionPointerReference"], instructionCount=4)
        at = [int(i["address"], 16) for i in listed["instructions"]]
        assert at[0] == WALK.pcs()[k] and set(WALK.pcs()[k:k + 3]) <= set(at), at
        dap("disconnect")
        assert server.is_alive()


@case
def steps_and_continues_backwards():
    with Server(WALK.trace) as server, Session("node", ADAPTER) as dap:
        dap.attach(server)
        here = dap.position()
        dap.console("set exec-direction reverse")
        reason, frames = dap.stop("stepIn", threadId=1, granularity="instruction")
        assert reason == "step" and dap.position() == here - 1, frames
        assert place(dap.stop("stepIn", threadId=1)[1]) == ("bump", 20)
        assert dap.stop("continue", threadId=1)[1][0]["name"] == "_start" and dap.position() == 0
        dap.console("set exec-direction forward")
        assert place(dap.stop("continue", threadId=1)[1]) == ("rt_main", LINE) and dap.position() == here
        dap("disconnect")


@case
def a_data_breakpoint_finds_the_last_write():
    with Server(WALK.trace) as server, Session("node", ADAPTER) as dap:
        dap.attach(server)
        dap.events.clear()
        dap.console("goto end")
        dap.event("stopped")
        assert dap.position() == len(WALK.pcs()) - 1
        data = dap("dataBreakpointInfo", name="total")["dataId"]
        found = dap("setDataBreakpoints", breakpoints=[{"dataId": data, "accessType": "write"}])["breakpoints"]
        assert found[0]["verified"], found
        dap.console("set exec-direction reverse")
        _, frames = dap.stop("continue", threadId=1)
        assert place(frames) == ("rt_main", WALK.line("total=a[0];")), frames
        assert dap("evaluate", expression="total", frameId=frames[0]["id"])["result"] == "69"
        dap("disconnect")


def port_said(message):
    found = re.search(r"Listening on \S*:(\d+)", message)
    return found and int(found[1])


def the_pages_configuration():
    """The launch.json of tracestub-frontends(7) for this adapter, with the names of files that it leaves open."""
    found = re.search(r'^\{\n {4}"type": "gdbtarget".*?^\}$', page("tracestub-frontends.7"), re.M | re.S)[0]
    for name, path in {"${workspaceFolder}/PROGRAM": WALK.exec, "${workspaceFolder}": str(SOURCE.parent),
                       '"tracestub"': json.dumps(TRACESTUB), "TRACE": WALK.trace}.items():
        assert name in found, (name, found)
        found = found.replace(name, path)
    return json.loads(found)


@case
def the_pages_configuration_starts_and_ends_the_server():
    with Session("node", ADAPTER) as dap:
        asked = the_pages_configuration()
        dap.start(asked["request"], asked["target"], asked)
        port = next(p for p in map(port_said, dap.log) if p)
        socket.create_connection(("127.0.0.1", port)).close()
        dap("disconnect")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return
        raise AssertionError(f"the server still listens\n{dap}")


run_cases()
