#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb never starts the recorded program on this machine, whatever it is asked for: it would leave a mark."""
import os
import pathlib
import re
import shutil
import subprocess

from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases, skip, skip_all

TRACE = DATA / "usercorn/x64_walk.ucir"
MARK, PROGRAM = pathlib.Path("mark").resolve(), pathlib.Path("marker").resolve()

if not shutil.which("gdb") or not shutil.which("cc"):
    skip_all("no gdb, or no compiler")


def make_program():
    source = f'#include <fcntl.h>\nint main(void) {{ return creat("{MARK}", 0600) < 0; }}\n'
    subprocess.run(["cc", "-g", "-x", "c", "-", "-o", PROGRAM], input=source, text=True, check=True)


def session(*commands, start=(TRACESTUB, "gdb", TRACE, "--exec", PROGRAM, "--")):
    """What gdb prints. It goes on after an error; the last command proves that it came to the end."""
    MARK.unlink(missing_ok=True)
    script = pathlib.Path("commands")
    script.write_text("\n".join([*commands, "echo all done\\n"]))
    done = subprocess.run([*map(str, start), "-nx", "-q", "-iex", "set confirm off", "-iex", "set pagination off"],
                          input=script.read_text(), capture_output=True, text=True, timeout=LIMIT,
                          env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
    text = done.stdout + done.stderr
    assert "all done" in text, text
    return text


def check(commands):
    text = session(*commands)
    assert not MARK.exists(), f"the program ran\n{text}"
    return text


@case
def the_program_leaves_its_mark_when_it_runs():
    """Without this the other cases would show nothing."""
    MARK.unlink(missing_ok=True)
    subprocess.run([PROGRAM], check=True)
    assert MARK.exists()


@case
def gdb_left_alone_would_run_it():
    text = session("run", start=("gdb", PROGRAM))
    if "ptrace" in text or "Operation not permitted" in text:
        skip("gdb may not trace here")
    assert MARK.exists(), text


for commands in (["run"], ["start"], ["starti"], ["kill", "run"], ["detach", "run"], ["disconnect", "run"],
                 ["disconnect", "start"], ["kill", "disconnect", "starti"], ["stepi 5", "run", "run"],
                 ["attach 1", "continue"], ["disconnect", "attach 1"], ["disconnect", "target native", "run"],
                 ["target native", "run"], ["add-inferior -exec marker -no-connection", "inferior 2", "run"],
                 ["add-inferior -exec marker", "inferior 2", "run"], ["kill", "target native", "starti"]):
    add_case(f"{', '.join(commands)}: nothing runs here", check, commands)


@case
def run_and_starti_go_back_to_the_beginning():
    text = check(["stepi 50", "when", "starti", "when"])
    assert re.search(r"position 50 of[\s\S]*position 0 of", text), text
    text = check(["stepi 50", "kill", "starti", "when"])
    assert "position 0 of" in text, text


@case
def a_gdb_that_connects_by_hand_is_guarded_by_gdbinit():
    comm = pathlib.Path("comm").resolve()
    server = subprocess.Popen([TRACESTUB, "serve", str(comm), "--once", TRACE], stderr=subprocess.PIPE, text=True)
    assert "Listening" in server.stderr.readline()
    text = session(f"target remote {comm}", "stepi", "run", start=("gdb", "-x", SRCDIR / "gdbinit", PROGRAM))
    assert not MARK.exists(), text
    assert 'The "remote" target does not support "run"' in text, text
    server.stderr.close()
    server.wait(LIMIT)


@case
def record_is_refused_with_a_sentence():
    for command in "record", "record full", "record btrace", "target record-full":
        text = check([command, "stepi 3", "when", "reverse-stepi", "when"])
        assert "The target is a recording already" in text, text
        assert re.search(r"position 3 of[\s\S]*position 2 of", text), text


make_program()
run_cases()
