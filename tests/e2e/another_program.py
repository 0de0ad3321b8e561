#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file given by --exec is believed only if it is the recorded program: by its build-id and its code."""
import os
import pathlib
import re
import shutil
import subprocess

from _record import LIMIT, compiler, record, recorder
from _tap import TRACESTUB, case, run_cases, skip

SOURCE = """
#include <stdio.h>
static int scale(int n) { return n + FACTOR; }
int main(int argc, char **argv) { printf("%d\\n", scale(argc)); return 0; }
"""


def build(name, factor=3, before="", options=()):
    pathlib.Path(f"{name}.c").write_text(before + SOURCE)
    subprocess.run([compiler(), "-g", "-O0", f"-DFACTOR={factor}", *options, "-o", name, f"{name}.c"], check=True,
                   timeout=LIMIT)
    return os.path.abspath(name)


def recorded(name, **how):
    """Its recording and its file, which is moved away so that it is not found beside the recording."""
    recorder()
    trace, program = f"{name}.ucir", build(name, **how)
    if not os.path.exists(trace):
        assert record(trace, program).returncode == 0
    kept = f"{name}.kept"
    shutil.move(program, kept)
    return trace, kept


def run(*argv):
    env = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
    return subprocess.run([TRACESTUB, *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env=env).stdout


def gdb(trace, program, *commands):
    shutil.which("gdb") or skip("no gdb")
    return run("gdb", trace, "--exec", program, "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c)))


WARNING = r"warn: {}: not the recorded program: its build-id differs; ignored"


@case
def a_rebuilt_program_is_ignored_with_a_warning():
    """One constant, or nothing but the numbers of lines, is another one."""
    trace, _ = recorded("first")
    for name, other in ("constant", build("constant", 4)), ("lines", build("lines", 3, "// a comment\n// and another\n")):
        said = gdb(trace, other, "info line scale")
        assert re.search(WARNING.format(other), said) and f"{name}.c" not in said, said
        said = run("query", trace, "executions", "scale", "--exec", other)
        assert re.search(WARNING.format(other), said) and f"{name}.c" not in said, said
        assert re.search(WARNING.format(other), run("info", trace, "--exec", other))


@case
def the_recorded_program_is_taken_without_a_word():
    trace, kept = recorded("taken")
    said = gdb(trace, kept, "info line scale")
    assert "warn" not in said and 'taken.c"' in said, said


@case
def without_a_build_id_the_code_decides():
    trace, kept = recorded("bare", options=("-Wl,--build-id=none",))
    assert "warn" not in run("query", trace, "executions", "scale", "--exec", kept)
    other = build("patched", 4, options=("-Wl,--build-id=none",))
    said = run("query", trace, "executions", "scale", "--exec", other)
    differing = re.search(r"not the recorded program: its code differs in (\d+) of (\d+) bytes, the first at 0x", said)
    assert differing and 0 < int(differing[1]) <= 8 < int(differing[2]), said
    more = "".join(f"int more{i}(int n) {{ return n * {i} + n / {i + 2}; }}\n" for i in range(20))
    moved = build("moved", 4, more, options=("-Wl,--build-id=none",))
    for _ in ("while the recording is being read", "with its index"):
        said = gdb(trace, moved, "info line more3", "goto end")
        assert "its code differs in" in said and "; ignored" in said and "moved.c" not in said, said


@case
def a_rebuilt_program_is_ignored_and_the_kept_one_is_found():
    trace, kept = recorded("found")
    other = build("elsewhere", 5)
    shutil.copy(kept, "found")
    said = run("query", trace, "executions", "scale", "--exec", other)
    assert re.search(WARNING.format(other), said) and "\tscale\t" in said, said


run_cases()
