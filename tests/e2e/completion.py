#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in bash: it runs as bash runs it, and its lists are those of the program."""
import json
import pathlib
import re
import subprocess

from _tap import DATA, SRCDIR, TRACESTUB, case, run_cases

SCRIPT = SRCDIR / "src/program/tracestub.bash"
HELP = subprocess.run([TRACESTUB, "--help"], capture_output=True, text=True, check=True).stdout


def complete(*words):
    """What Tab offers at the end of the last word."""
    run = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _tracestub; '
           'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", run, "bash", SCRIPT, TRACESTUB, *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


@case
def commands_and_options_are_those_of_help():
    offered = set(complete(""))
    commands = set(re.findall(r"^  tracestub (\w+) ", HELP.split("\nexamples:")[0], re.M))
    options = set(re.findall(r"(--[a-z-]+)", HELP.split("options, before")[1].split("\nexamples:")[0]))
    assert offered == commands | options | {"help"}, offered ^ (commands | options)
    assert complete("re") == ["record"]


@case
def formats_are_those_that_there_are():
    pathlib.Path("noise").write_bytes(b"\1noise" * 9)
    said = subprocess.run([TRACESTUB, "info", "noise"], capture_output=True, text=True).stderr
    known = re.search(r"known formats: (.*)", said)[1].split(", ")
    assert sorted(complete("info", "--format", "")) == sorted(known), known


@case
def verbs_are_those_that_there_are():
    lines = "".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in (
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                     "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}))
    done = subprocess.run([TRACESTUB, "mcp", DATA / "usercorn/x64_crash.ucir"], input=lines, capture_output=True, text=True,
                          timeout=60)
    tools = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    described, = [tool["description"] for tool in tools if tool["name"] == "ask"]
    verbs = set(re.findall(r"^([a-z-]+).*?: ", described.partition("Verbs:\n")[2], re.M)) - {"back", "forward"}
    assert set(complete("query", "x.ucir", "")) == verbs, set(complete("query", "x.ucir", "")) ^ verbs


@case
def files_and_marks_are_offered_where_they_belong():
    pathlib.Path("run.ucir").write_bytes(b"")
    pathlib.Path("run.ucir.tsmarks").write_text("# tracestub marks\n40 crash where it ends\n50 before\n")
    assert complete("info", "run.u") == ["run.ucir", "run.ucir.tsmarks"]
    assert complete("query", "run.ucir", "goto", "cr") == ["crash"]
    assert complete("query", "run.ucir", "history", "total", "at", "b") == ["begin", "before"]
    assert complete("query", "--exec", "prog", "run.ucir", "last-w") == ["last-write"]
    assert complete("serve", ":0", "--log", "de") == ["debug"]
    # A:B as bash takes it apart, of a question and of options
    assert complete("query", "run.ucir", "history", "total", "in", "b") == ["begin", "before"]
    assert complete("query", "run.ucir", "history", "total", "in", "before", ":", "c") == ["crash"]
    assert complete("plot", "run.ucir", "--in", "before", ":", "e") == ["end"]
    assert complete("plot", "run.ucir", "--in", "c") == ["crash"]
    assert complete("plot", "--in", "1", "run.u") == ["run.ucir", "run.ucir.tsmarks"]


run_cases()
