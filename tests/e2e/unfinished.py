#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recorded program was in when it ended: threads that wait are there to the end, with their registers; calls that never
returned are events without a result; the signal that killed it has its siginfo; threads have their names."""
import functools
import json
import subprocess

from _ask import Asker
from _record import LIMIT, build, record
from _tap import TRACESTUB, case, run_cases


asker = functools.cache(Asker)      # a process for each recording


@functools.cache
def recorded(mode):
    out = f"{mode}.ucir"
    record(out, build("unfinished.c", "unfinished"), mode)
    return out


def ask(out, *words):
    return asker(out).rows(" ".join(words))


def gdb(out, *commands):
    argv = [TRACESTUB, "gdb", out, "--", "-batch"] + [word for c in commands for word in ("-ex", c)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT).stdout


def calls(out):
    return [(e["name"], e["result"]) for e in ask(out, "events", "syscall")]


@case
def threads_that_wait_are_there_at_the_end():
    for mode in ("block", "crash"):
        out = recorded(mode)
        threads = ask(out, "threads")
        assert len(threads) == 3 and {t["end"] for t in threads} == {None}, threads
        waiting = [e for e in ask(out, "events", "syscall") if e["name"] == "read" and e["result"] is None]
        assert {e["thread"] for e in waiting} == {t["thread"] for t in threads[1:]}, waiting
        assert all(e["arguments"][2] == "0x3" for e in waiting), waiting
        text = gdb(out, "goto end", "thread apply all bt")
        assert text.count("wait_in_read (") == 2 and " main (" in text and "unavailable" not in text, text
        text = gdb(out, "goto end", "reverse-stepi", "reverse-stepi", "thread apply all bt")
        assert text.count("wait_in_read (") == 2 and "unavailable" not in text, text


@case
def calls_that_never_return_have_no_result():
    for thread in ask(recorded("block"), "threads at end")[1:]:     # each waits in read: $rax is the call's number
        number, = ask("block.ucir", f"last-write $rax at end thread {thread['thread']}")
        assert number["new"] == "0x0" and ask("block.ucir", f"steps in {number['position']}: first 1")[0]["instruction"] != "syscall", number
        rows = ask("block.ucir", f"why $rax at end thread {thread['thread']}")
        assert rows[0]["position"] == number["position"] and "input" not in {r["kind"] for r in rows}, rows
    assert calls(recorded("kill"))[-1] == ("kill", None)
    names = [c for c in calls(recorded("exec")) if c[0] == "execve"]
    assert len(names) == 2 and names[0][1] == "0xfffffffffffffffe" and names[1][1] is None, names
    assert ask("exec.ucir", "events", "exit")[0]["text"] == "by exec of /bin/true"
    assert calls(recorded("catch"))[-1] == ("pause", None)
    assert ("kill", "0x0") in calls("catch.ucir")
    assert calls(recorded("block"))[-1][1] is None


@case
def the_instruction_that_killed_is_said_to_be_no_execution():
    """gdb's breakpoint there is hit once more than the instruction was executed."""
    out = recorded("crash")
    pc = ask(out, "stack", "at", "end")[0]["pc"]

    def said(*words):
        done = subprocess.run([TRACESTUB, "query", out, "executions", pc, *words, "--json"], capture_output=True, text=True, timeout=LIMIT)
        return json.loads(done.stdout.splitlines()[-1]).get("note", "")
    assert f"ends at {pc}" in said() and "not executed" in said() and not said("in", ":5"), (said(), said("in", ":5"))


@case
def the_fatal_signal_has_its_siginfo():
    text = gdb(recorded("crash"), "continue", "print $_siginfo.si_signo", "print $_siginfo.si_code",
               "print/x $_siginfo._sifields._sigfault.si_addr")
    assert all(f"= {v}\n" in text for v in ("11", "1", "0x414140")), text
    text = gdb(recorded("abort"), "continue", "print $_siginfo.si_signo", "print $_siginfo.si_code",
               "print $_siginfo._sifields._kill.si_pid == $_inferior_thread_count * 0 + " +
               str(ask("abort.ucir", "threads")[0]["process"]))
    assert all(f"= {v}\n" in text for v in ("6", "-6", "1")), text
    text = gdb(recorded("divide"), "continue", "print $_siginfo.si_signo",
               "print $_siginfo._sifields._sigfault.si_addr == $pc")
    assert all(f"= {v}\n" in text for v in ("8", "1")), text
    assert "SIGKILL" in ask(recorded("kill"), "events", "signal")[0]["text"]


@case
def the_fatal_signal_has_its_siginfo_with_qemu():
    record("qemu.ucir", build("unfinished.c", "unfinished"), "crash", options=("--with", "qemu"))
    text = gdb("qemu.ucir", "continue", "print $_siginfo.si_signo", "print $_siginfo.si_code",
               "print/x $_siginfo._sifields._sigfault.si_addr")
    assert all(f"= {v}\n" in text for v in ("11", "1", "0x414140")), text


@case
def threads_have_their_names():
    out = recorded("block")
    first, *rest = [t["name"] for t in ask(out, "threads")]    # either thread may run first
    assert first is None and sorted(rest) == ["other", "reader"], (first, rest)
    assert [p["name"] for p in ask(out, "processes")] == ["unfinished"]
    text = gdb(out, "goto end", "info threads")
    assert '"reader"' in text and '"other"' in text, text


run_cases()
