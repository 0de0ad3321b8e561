#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trace files that gdb saved: through tracestub gdb shows each frame as through its own `target tfile`."""
import os
import re
import shutil
import tempfile

from _sentences import END_OF_HISTORY
from _server import Server
from _tap import DATA, add_case, case, run_cases
from _tfind import answers, both

SAMPLES = DATA / "tfile-samples"
IN_A_FRAME = ["frame", "bt 3", "info registers", "print g_counter", "print g_sum", "print g_pt", "print g_text", "print k",
              "print loc", "print $pc", "print $hits", "x/8xb &g_pt", "x/2i $pc", "x/2xg $rsp", "x/4xw $rbp-0x14",
              "print $trace_frame", "print $tracepoint", "tdump"]
RUN = ["tstatus", "info tracepoints", "info tvariables"]
SEARCHES = ["tfind none", "tfind", "tfind", "tfind -", "tfind tracepoint 2", "tfind tracepoint 2", "tfind tracepoint 1", "tfind 5", "tfind -", "tfind start",
            "tfind end", "tfind 99"]


FOLDER = tempfile.mkdtemp()
shutil.copyfile(SAMPLES / "work.c", f"{FOLDER}/work.c")
os.utime(f"{FOLDER}/work.c", (0, 0))        # older than the program


def ask(sample, commands):
    return both(SAMPLES / f"{sample}.tf", SAMPLES / "work", commands, folder=FOLDER)


def numbered_alike(text):
    """Values are numbered through the session, and errors are not counted alike."""
    return re.sub(r"^\$\d+ = ", "$ = ", text, flags=re.M)


def check_frames(sample, n_frames):
    commands = [c for n in range(n_frames) for c in (f"tfind {n}", *IN_A_FRAME)]
    own, ours = ask(sample, commands)
    n_values = 0
    for i, command in enumerate(commands):
        where = i // (len(IN_A_FRAME) + 1), command
        assert numbered_alike(own[i]) == numbered_alike(ours[i]), (where, own[i], ours[i])
        n_values += own[i] != "" and "<unavailable>" not in own[i]
    assert n_values > n_frames * 5, n_values
    print(f"# {sample}: {len(commands)} answers, {n_values} without unavailable parts")


def check_run(sample):
    own, ours = ask(sample, RUN)
    assert own[0].startswith("Using a trace file.\n") and own[0].removeprefix("Using a trace file.\n") == ours[0], (own[0], ours[0])
    assert own[1].replace("\tnot installed", "\tinstalled") == ours[1], (own[1], ours[1])
    assert own[2:] == ours[2:], (own[2:], ours[2:])


def check_searches(sample):
    own, ours = ask(sample, SEARCHES)
    for i, command in enumerate(SEARCHES):
        if command.startswith("tfind tracepoint"):      # gdb's reader renumbers twice: right only where the numbers are the same
            assert ours[i].endswith(f"tracepoint {command[-1]}"), (command, ours[i])
        else:
            assert own[i] == ours[i], (command, own[i], ours[i])
    assert "Found trace frame 5" in ours[7] and "No longer looking" in ours[0], ours


@case
def frames_are_positions_that_stepping_walks():
    """g_counter of the frames that collected it, forwards and back; the 7th is of the other tracepoint and has none."""
    commands = ["print g_counter", "stepi", "print g_counter", "stepi 5", "print k", "print g_counter", "reverse-stepi",
                "print g_counter", "monitor when", "break fill", "continue", "print k", "reverse-continue", "delete",
                "watch g_counter", "continue", "reverse-stepi", "print g_counter"]
    with Server(SAMPLES / "work-regs.tf", "--exec", SAMPLES / "work") as server:
        said = answers(f"target remote {server.address}", SAMPLES / "work", commands, folder=FOLDER)
    shown = [re.sub(r"^\$\d+ = ", "", said[i]) for i, c in enumerate(commands) if c.startswith("print")]
    assert shown[:3] == ["1", "2", "5"] and "Cannot access" in shown[3] and shown[4:] == ["6", "5", "1"], said
    assert "position 5 of 10" in said[8] and "Breakpoint" in said[10], said
    assert re.search(END_OF_HISTORY, said[12]), said
    assert "Old value = 1\nNew value = 2" in said[15] and "Old value = 2\nNew value = 1" in said[16], said


for name, count in ("work-regs", 11), ("work-mem", 16):
    add_case(f"{name}: every frame is as gdb's own", check_frames, name, count)
    add_case(f"{name}: so are status, tracepoints and variables", check_run, name)
    add_case(f"{name}: so are tfind's answers", check_searches, name)

run_cases()
