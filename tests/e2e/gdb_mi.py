#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb's machine interface, which front ends speak: all it prints is of MI's grammar, and both directions work.

Positions and registers come from the recording's oracle; lines from walk.c.
"""
import re

from _mi import Mi, MiError, Refused, parse_line
from _sentences import END_OF_HISTORY
from _tap import add_case, case, run_cases

GOOD = {
    "(gdb) ": ("prompt",),
    '~"a\\n\\"b\\"\\303\\244"': ("console", 'a\n"b"\u00e4'),
    "12^done": ("result", 12, "done", {}),
    '^error,msg="no",code="x"': ("result", None, "error", {"msg": "no", "code": "x"}),
    '*stopped,frame={addr="0x1",args=[]}': ("exec", None, "stopped", {"frame": {"addr": "0x1", "args": []}}),
    '=x,l=["1",{a="2"}],m=[f={},f={}]': ("notify", None, "x", {"l": ["1", {"a": "2"}], "m": [("f", {}), ("f", {})]}),
}
BAD = ["", "(gdb)", "hello", '~"no end', '~"a"b', '~"\\q"', '~"tab\there"', "^fine", "^done,", "^done,a", "^done,a=1",
       '^done a="1"', '^done,a={"1"}', '^done,a={b="1",b="2"}', '^done,a=["1",b="2"]', '^done,a=["1",]', "*", '=,a="1"']

for text, expected in GOOD.items():
    def parses(text=text, expected=expected):
        assert parse_line(text) == expected, parse_line(text)
    add_case(f"the parser takes {text}", parses)


@case
def the_parser_refuses_what_is_not_of_the_grammar():
    for text in BAD:
        try:
            found = parse_line(text)
        except MiError:
            continue
        raise AssertionError((text, found))


def location(stop):
    return stop["frame"]["func"], int(stop["frame"]["line"])


def refused(mi, command):
    """Why gdb refuses a command."""
    try:
        found = mi(command)
    except Refused as why:
        return str(why)
    raise AssertionError((command, found))


def ends(mi, command, position):
    """The recording ends there: gdb before 16 says so on its console only, the stop has no reason."""
    stop = mi.run(command)
    assert stop.get("reason", "no-history") == "no-history", stop
    assert re.search(END_OF_HISTORY, mi.said), (stop, mi.said)
    assert mi.position() == position


# ------------------------------------------------------------------------------------------------ both directions

def connects_and_steps(is_async):
    with Mi("x64_walk", is_async=is_async) as mi:
        pcs = mi.recording.pcs()
        mi.connect()
        assert mi.position() == 0
        assert "reverse" in mi("-list-target-features")["features"], str(mi)
        for k in 1, 2, 3:
            stop = mi.run("-exec-step-instruction")
            assert (stop["reason"], int(stop["frame"]["addr"], 16)) == ("end-stepping-range", pcs[k]), (k, stop)
        for k in 2, 1:
            stop = mi.run("-exec-step-instruction --reverse")
            assert int(stop["frame"]["addr"], 16) == pcs[k], (k, stop)
        assert int(mi.run("-exec-step-instruction --reverse")["frame"]["addr"], 16) == pcs[0]
        ends(mi, "-exec-step-instruction --reverse", 0)


def continues_both_ways(is_async):
    with Mi("x64_walk", is_async=is_async) as mi:
        mi.connect()
        breakpoint = mi("-break-insert fib")["bkpt"]
        hits = mi.recording.positions(int(breakpoint["addr"], 16))
        assert len(hits) > 2, hits
        for options, expected in ("", hits[0]), ("", hits[1]), (" --reverse", hits[0]):
            stop = mi.run("-exec-continue" + options)
            assert (stop["reason"], stop["bkptno"]) == ("breakpoint-hit", breakpoint["number"]), stop
            assert stop["frame"]["func"] == "fib" and mi.position() == expected, (expected, stop)
        ends(mi, "-exec-continue --reverse", 0)
        mi(f"-break-delete {breakpoint['number']}")
        ends(mi, "-exec-continue", len(mi.recording.pcs()) - 1)


for is_async in False, True:
    how = "with mi-async" if is_async else "without mi-async"
    add_case(f"connects and steps both ways, {how}", connects_and_steps, is_async)
    add_case(f"continues both ways, {how}", continues_both_ways, is_async)


@case
def lines_and_functions_backwards():
    with Mi("x64_walk") as mi:
        mi.connect()
        line = mi.recording.line("u32 seed=argc+12345")
        mi(f"-break-insert -t walk.c:{line}")
        assert location(mi.run("-exec-continue")) == ("rt_main", line)
        here = mi.position()
        stop = mi.run("-exec-step --reverse")
        assert location(stop) == ("bump", 20) and stop["frame"]["args"] == [{"name": "by", "value": "34"}], stop
        mi.run("-exec-finish --reverse")
        assert mi("-stack-info-frame")["frame"]["func"] == "rt_main", str(mi)
        assert mi.position() < here
        mi.run("-exec-next")
        assert location({"frame": mi("-stack-info-frame")["frame"]}) == ("rt_main", line) and mi.position() == here
        mi.run("-exec-next --reverse")
        assert location({"frame": mi("-stack-info-frame")["frame"]}) == ("rt_main", line - 1), str(mi)


@case
def a_watchpoint_finds_the_last_write_backwards():
    with Mi("x64_walk") as mi:
        mi.connect()
        mi.run("-exec-continue")
        mi("-break-watch total")
        stop = mi.run("-exec-continue --reverse")
        assert (stop["reason"], stop["value"]) == ("watchpoint-trigger", {"old": "21", "new": "69"}), stop


# ------------------------------------------------------------------------------------------- what a front end shows

@case
def threads_frames_and_variables():
    with Mi("x64_walk") as mi:
        mi.connect()
        mi("-break-insert bump")
        mi.run("-exec-continue")
        threads = mi("-thread-info")
        assert threads["current-thread-id"] == "1" and threads["threads"][0]["state"] == "stopped", threads
        assert mi("-stack-info-depth --thread 1")["depth"] == "4"
        frames = [frame["func"] for _, frame in mi("-stack-list-frames --thread 1 0 3")["stack"]]
        assert frames == ["bump", "rt_main", "rt_entry", "_start"], frames
        variables = mi("-stack-list-variables --thread 1 --frame 0 --simple-values")["variables"]
        assert variables == [{"name": "by", "arg": "1", "type": "int", "value": "34"}], variables
        var = mi('-var-create --thread 1 --frame 0 - * "by + 1"')
        assert var["value"] == "35", var
        total = mi('-var-create - @ "total"')["name"]
        before = mi(f"-var-evaluate-expression {total}")["value"]
        mi.run("-exec-finish")
        after = mi(f"-var-update --all-values {total}")["changelist"]
        assert int(after[0]["value"]) == int(before) + 34, (before, after)
        mi.run("-exec-continue --reverse")
        assert mi(f"-var-update --all-values {total}")["changelist"][0]["value"] == before, str(mi)


@case
def registers_and_memory():
    with Mi("x64_walk") as mi:
        pc, values = next(mi.recording.oracle())
        code = mi(f"-data-read-memory-bytes {pc:#x} 8")["memory"][0]    # of the program's file
        mi.connect()
        names = mi("-data-list-register-names")["register-names"]
        shown = {names[int(r["number"])]: r["value"] for r in mi("-data-list-register-values x")["register-values"]}
        for name in set(values) & set(shown):
            assert int(shown[name], 16) == values[name], (name, shown[name], values[name])
        assert len(set(values) & set(shown)) >= 16 and shown["eflags"] == "<unavailable>", shown
        assert mi(f"-data-read-memory-bytes {pc:#x} 8")["memory"] == [code] and len(code["contents"]) == 16, code
        assert "Unable to read memory" in refused(mi, "-data-read-memory-bytes 0x10 8")
        kept = mi("-data-evaluate-expression total")["value"]
        refused(mi, "-gdb-set var total=1")
        assert mi("-data-evaluate-expression total")["value"] == kept


@case
def a_disassembly_has_the_instructions_that_ran():
    with Mi("x64_walk") as mi:
        mi.connect()
        mi("-break-insert bump")
        stop = mi.run("-exec-continue")
        k, pcs = mi.position(), mi.recording.pcs()
        shown = mi("-data-disassemble -a $pc -- 2")["asm_insns"]
        at = [int(i["address"], 16) for i in shown]
        assert {i["func-name"] for i in shown} == {"bump"} and all(bytes.fromhex(i["opcodes"]) for i in shown), shown
        assert all(int(i["address"], 16) + len(bytes.fromhex(i["opcodes"])) == a for i, a in zip(shown, at[1:])), shown
        assert int(stop["frame"]["addr"], 16) == pcs[k] and set(pcs[k:k + 3]) <= set(at), (pcs[k:k + 3], at)


@case
def disconnect_and_detach_leave_the_server_to_the_next():
    with Mi("x64_walk") as mi:
        for command in "-target-disconnect", "-target-detach":
            mi.connect()
            mi.run("-exec-step-instruction")
            mi(command)
            assert mi.server.is_alive() and "No registers" in refused(mi, "-data-list-register-values x"), str(mi)
        mi.connect()
        assert mi.position() == 0


@case
def what_native_debug_sends():
    """The commands of that extension of VS Code, which speaks MI 2 and whose adapter is not in npm."""
    with Mi("x64_walk", version=2, is_async=True) as mi:
        mi(f'-environment-directory "{mi.folder}"')
        mi.connect()
        line = mi.recording.line("u32 seed=argc+12345")
        mi(f'-break-insert -f "{mi.folder}/walk.c:{line}"')
        assert location(mi.run("-exec-continue")) == ("rt_main", line)
        here = mi.position()
        assert mi("-thread-info")["threads"][0]["id"] == "1" and mi("-stack-info-depth --thread 1")["depth"] == "3"
        names = [v["name"] for v in mi("-stack-list-variables --thread 1 --frame 0 --simple-values")["variables"]]
        assert {"argc", "argv", "seed"} <= set(names), names
        names = mi("-data-list-register-names")["register-names"]
        shown = {names[int(r["number"])]: r["value"] for r in mi("-data-list-register-values N")["register-values"]}
        assert int(shown["rip"].split()[0], 0) == mi.recording.pcs()[here], shown
        assert location(mi.run("-exec-next --reverse"))[0] == "rt_main" and mi.position() < here
        assert location(mi.run("-exec-continue")) == ("rt_main", line) and mi.position() == here
        assert location(mi.run("-exec-step --reverse")) == ("bump", 20)
        ends(mi, "-exec-continue --reverse", 0)
        mi("-target-detach")
        assert mi.server.is_alive()


run_cases()
