#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb's machine interface on recordings of programs as people have them: C++ with exceptions and templates, dynamic
and static. What is expected follows from the program's text.

shapes.cc: catcher() catches what thrower(3) throws four calls deep; main() begins two threads.
"""
import shutil
import subprocess

from _mi import Mi
from _record import LIMIT, SOURCES, record, recorder
from _tap import add_case, run_cases, skip


class Recorded:
    """A program of tests/data/record and its recording."""

    def __init__(self, source, options):
        recorder()
        self.source, self.exec = SOURCES / source, f"{source}{options.replace(' ', '')}.prog"
        self.trace = f"{self.exec}.ucir"
        subprocess.run([shutil.which("g++") or skip("no g++"), "-O0", "-g", "-pthread", *options.split(), "-o", self.exec,
                        str(self.source)], check=True, timeout=LIMIT)
        done = record(self.trace, f"./{self.exec}")
        assert done.returncode == 0, done

    @staticmethod
    def gdb():
        return shutil.which("gdb") or skip("no gdb")

    def copy_sources(self, folder):
        shutil.copyfile(self.exec, folder / self.exec)

    def line(self, text):
        return next(n for n, line in enumerate(self.source.read_text().splitlines(), 1) if text in line)


def place(stop):
    return stop["frame"]["func"].split("(")[0], int(stop["frame"]["line"])


def steps_and_catches_both_ways(options):
    program = Recorded("shapes.cc", options)
    with Mi(program, "--exec", program.exec) as mi:
        mi.connect()
        number = mi("-break-insert thrower")["bkpt"]["number"]
        depths = [int(mi.run("-exec-continue")["frame"]["args"][0]["value"]) for _ in range(4)]
        assert depths == [3, 2, 1, 0], depths
        assert [f[1]["func"] for f in mi("-stack-list-frames")["stack"]][:6] == ["thrower"] * 4 + ["catcher", "main"], str(mi)
        back = [int(mi.run("-exec-continue --reverse")["frame"]["args"][0]["value"]) for _ in range(3)]
        assert back == [1, 2, 3], back
        mi(f"-break-delete {number}")
        line = program.line("return ns::once(")
        mi(f"-break-insert shapes.cc:{line}")
        assert place(mi.run("-exec-continue")) == ("catcher", line), str(mi)
        mi("-break-delete")
        mi("-break-insert ns::add<int>")                # in thrower()'s call of area(), only if nothing was thrown
        mi("-break-insert thrower")
        stop = mi.run("-exec-continue --reverse")       # from the handler back over the unwinding
        assert place(stop)[0] == "thrower" and stop["frame"]["args"] == [{"name": "n", "value": "0"}], stop
        assert place(mi.run("-exec-finish --reverse")) == ("thrower", program.line("return thrower(n - 1)")), str(mi)


for more in "", "-static":
    add_case(f"C++ steps and catches both ways {more or 'dynamic'}", steps_and_catches_both_ways, more)
run_cases()
