#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb's full-screen interface on a recording, in tmux: the source, and the line that moves back with the program.

What is highlighted comes from walk.c; the pc in the status line from the recording's oracle.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

from _recording import Recording
from _server import LIMIT
from _tap import TRACESTUB, case, run_cases, skip_all

TMUX = shutil.which("tmux") or skip_all("no tmux")
WALK = Recording("x64_walk")
STYLE = r"(?:\x1b\[[\d;]*m| )*"         # and blanks; gdb 16 dims the numbers of lines
MARKED = re.compile(rf">{STYLE}(\d+){STYLE}\x1b\[(?:\d+;)*7m(.*?)\x1b\[")        # the current line, in reverse video


class Screen:
    """`tracestub gdb --tui` in a terminal of 100 columns and 40 lines."""

    def __init__(self, *commands):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tui-"))
        WALK.copy_sources(self.folder)
        shutil.copy(WALK.trace, self.folder / "trace.ucir")
        argv = [TRACESTUB, "gdb", "trace.ucir", "--exec", WALK.exec, "--", "-nx", "-tui"]
        for command in ("set style enabled off", "set debuginfod enabled off", "set confirm off"):
            argv += ["-iex", command]
        env = {**os.environ, "LC_ALL": "C.UTF-8"}
        env.pop("TMUX", None)
        subprocess.run([TMUX, "-S", self.folder / "tmux", "-f", "/dev/null", "new-session", "-d", "-x", "100",
                        "-y", "40", "-c", self.folder, shlex.join(argv)], check=True, env=env, timeout=LIMIT)
        for command in commands:        # typed: gdb 18 shows no line after the commands of its command line
            self.wait(lambda text: re.search(r"^(?:\x1b\[[\d;]*m)*\(gdb\)\s*\Z", text, re.M), f"a prompt for {command}")
            self.type(command)

    def tmux(self, *args):
        done = subprocess.run([TMUX, "-S", self.folder / "tmux", *args], capture_output=True, timeout=LIMIT)
        return done.stdout.decode(errors="replace"), done.returncode

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def wait(self, wanted, what):
        """What @wanted returns, once it returns something; it is given the screen with its attributes."""
        end, text = time.monotonic() + LIMIT, ""
        while time.monotonic() < end:
            text, status = self.tmux("capture-pane", "-p", "-e")
            assert status == 0, f"the screen is gone; wanted {what}, had {text}"
            if found := wanted(text):
                return found
            time.sleep(0.05)
        raise AssertionError(f"no {what} in\n{text}")

    def at(self, function, number):
        """The source has that line highlighted, the status line names function and line. Returns the pc there."""
        def shown(text):
            marked = MARKED.search(text)
            status = re.search(r"In: (\w+) +L(\d+) +PC: (0x[0-9a-f]+)", text)
            if marked and status and (status[1], status[2], marked[1]) == (function, f"{number}", f"{number}"):
                source = (self.folder / "walk.c").read_text().splitlines()[number - 1]
                assert source.startswith(marked[2].rstrip()) and marked[2].strip(), (marked, source)
                return int(status[3], 16)
            return None
        return self.wait(shown, f"{function}, line {number}")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)


@case
def the_source_is_shown_and_the_line_moves_backwards():
    with Screen("break bump", "continue") as screen:
        entry = screen.at("bump", 20)
        assert len(WALK.positions(entry)) == 1
        screen.type("reverse-step")
        before = screen.at("fib", 19)
        assert WALK.pcs()[:WALK.positions(entry)[0]].count(before) > 1      # the last of many calls
        screen.type("continue")
        assert screen.at("bump", 20) == entry
        screen.type("goto end")
        screen.wait(lambda text: re.search(rf"PC: {WALK.pcs()[-1]:#x}\b", text), "end")
        screen.type("watch total")
        screen.type("reverse-continue")
        screen.at("rt_main", WALK.line("total=a[0];"))


@case
def the_assembly_is_shown_and_moves_backwards():
    with Screen("layout asm", "stepi 100") as screen:
        pcs = WALK.pcs()
        for command, k in (None, 100), ("reverse-stepi", 99), ("stepi", 100):
            if command:
                screen.type(command)
            line = rf"> *\x1b\[7m{pcs[k]:#x} .*\n(.*\n)*.*PC: {pcs[k]:#x}\b"
            screen.wait(lambda text, line=line: re.search(line, text), f"position {k}")


run_cases()
