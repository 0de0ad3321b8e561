#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program is found beside the trace, or in the current folder, by its recorded name or the trace's, and only if its
contents are what was executed.  And other things that a command line may leave to tracestub."""
import os
import pathlib
import shutil
import subprocess

from _programs import FOLDER, Program
from _tap import TRACESTUB, add_case, case, run_cases, skip

INC = "position\tbegin"
FOUND = ": the recorded program, by its contents"


def run(*words, cwd=".", **more):
    return subprocess.run([TRACESTUB, *map(str, words)], capture_output=True, text=True, timeout=60, cwd=cwd, **more)


def calls(trace, **more):
    """The process of a question that needs a symbol."""
    return run("query", trace, "calls", "inc", "first", "1", **more)


def folder_with(suffix, **programs):
    """A new folder with the recording of the program "pie", and files {name: "pie" or "static"}."""
    folder = pathlib.Path(f"{suffix}-{'-'.join(programs)}").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.move(Program("pie", suffix).trace, folder / f"run.{suffix}")
    for name, program in programs.items():
        shutil.copyfile(FOLDER / program / "prog", folder / name.replace("_", "-"))
    return folder


def found_beside(suffix, name):
    folder = folder_with(suffix, **{name: "pie"})
    path = folder / name.replace("_", "-")
    for trace, cwd in (folder / f"run.{suffix}", "/"), (f"run.{suffix}", folder), (f"../{folder.name}/run.{suffix}", folder):
        done = calls(trace, cwd=cwd)
        assert done.returncode == 0 and done.stdout.startswith(INC), done
        line, = (line for line in done.stderr.splitlines() if FOUND in line)
        assert os.path.realpath(line.split(": ")[1]) == str(path), done
    assert FOUND not in calls(folder / f"run.{suffix}", env={**os.environ, "LC_ALL": "C"}, cwd="/").stdout


for format_suffix in "ucir", "frames":      # these name the program: /samples/programs/story-pie
    add_case(f"by its recorded name: {format_suffix}", found_beside, format_suffix, "story_pie")
for format_suffix in "ucir", "bin", "trace64":
    add_case(f"by the trace's name: {format_suffix}", found_beside, format_suffix, "run")


@case
def in_the_current_folder():
    folder, here = folder_with("ucir"), folder_with("bin", story_pie="pie")
    done = calls(folder / "run.ucir", cwd=here)
    assert done.returncode == 0 and f"{here}/story-pie{FOUND}" in done.stderr, done
    with open(folder / "run.ucir", "rb") as trace:
        assert calls("-", cwd=here, stdin=trace).returncode == 0


@case
def another_program_is_not_taken():
    folder = folder_with("ucir", run="static", story_pie="static")
    done = calls(folder / "run.ucir")
    assert done.returncode != 0 and FOUND not in done.stderr, done
    trace = pathlib.Path(folder, "run")     # a file that is no program, and the trace itself
    shutil.copyfile(folder / "run.ucir", trace)
    assert FOUND not in calls(trace).stderr


@case
def nor_one_that_was_changed():
    folder = folder_with("bin", run="pie")
    program = bytearray((folder / "run").read_bytes())
    program[0x1189 + 8] ^= 1        # in inc()
    (folder / "run").write_bytes(program)
    assert FOUND not in calls(folder / "run.bin").stderr


@case
def what_is_named_comes_first():
    folder = folder_with("ucir", run="pie")
    for option in ("--exec", FOLDER / "pie" / "prog"), ("--sysroot", folder):
        assert FOUND not in run("query", folder / "run.ucir", "calls", "first", "1", *option).stderr
    assert FOUND not in run("query", "--quiet", folder / "run.ucir", "calls", "first", "1").stderr


@case
def gdb_gets_its_symbols():
    shutil.which("gdb") or skip("no gdb")
    folder = folder_with("bin", run="pie")
    done = run("gdb", folder / "run.bin", "--", "-nx", "-batch", "-ex", "break inc", "-ex", "continue", "-ex", "bt")
    assert "#1 " in done.stdout and " add (" in done.stdout, done


@case
def frames_are_exported_at_a_symbol_and_to_stdout():
    folder = folder_with("bin", run="pie")
    done = run("export", folder / "run.bin", "-o", folder / "x.tf", "--at", "inc")
    assert (done.returncode, done.stdout) == (0, f"{folder}/x.tf: 6 frames\n"), done
    piped = subprocess.run([TRACESTUB, "export", folder / "run.bin", "-o", "-", "--at", "0x555555555189"],
                           capture_output=True, timeout=60, cwd=folder)
    assert piped.stdout == (folder / "x.tf").read_bytes() and not os.path.exists(folder / "-"), piped.stderr
    done = run("export", folder / "run.bin", "-o", folder / "x.tf", "--at", "nosuch")
    assert done.returncode == 2 and "--at nosuch: there is no such symbol" in done.stderr, done


@case
def what_is_misspelt_is_guessed():
    folder = folder_with("bin")
    assert "did you mean '--format'?" in run("info", "x", "--fromat", "y").stderr
    assert "but 'last-write' is" in run("query", folder / "run.bin", "las-write", "$rax").stderr
    assert "but" not in run("query", folder / "run.bin", "nonsense").stderr
    assert run("info", "x", "--exec", "-").returncode == 2


@case
def an_index_without_a_place_is_refused_before_the_trace_is_read():
    folder = folder_with("bin")
    done = run("index", folder / "run.bin", "--index", folder / "nowhere" / "x")
    assert done.returncode == 1 and "its index has no path" in done.stderr, done


run_cases()
