#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tfind through tracestub and through gdb's own `target tfile`: the same file of 200,000 frames, the same gdb.

The file is exported from a recording, so that export itself is measured on the way. Each form of tfind starts from no frame.
gdb 13's own reader searches pc and ranges among the tracepoints' addresses and not among the frames' pcs, and finds nothing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
TRACESTUB = os.environ.get("TRACESTUB", str(SRCDIR / "tracestub"))
RECORDING = SRCDIR / "tests/data/usercorn/x64_lib"
N_FRAMES = 200000
LIMIT = 600

# Run by gdb: time each command, best of three, and say which frame it found.
TIMER = """
import time
import gdb

def find(command):
    best = None
    for _ in range({turns}):
        gdb.execute("tfind none", to_string=True)
        start = time.perf_counter()
        try:
            gdb.execute(command, to_string=True)
        except gdb.error as e:
            print("TIME", command, "error", str(e).replace(chr(10), " "), sep="|")
            return
        took = time.perf_counter() - start
        best = took if best is None or took < best else best
    frame = gdb.parse_and_eval("$trace_frame")
    print("TIME", command, best, int(frame), sep="|")

for c in {commands}:
    find(c)
"""


def run(*argv):
    start = time.perf_counter()
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        sys.exit(f"{argv}: {done.stdout}{done.stderr}")
    return time.perf_counter() - start


def time_in_gdb(folder, connect, commands):
    script = folder / "timer.py"
    script.write_text(TIMER.format(turns=3, commands=commands))
    done = subprocess.run(["gdb", "-nx", "-nh", "-q", "-batch", "-ex", "set pagination off", "-ex", "set debuginfod enabled off",
                           "-ex", connect, "-ex", f"source {script}", f"{RECORDING}.elf"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    rows = [line.split("|")[1:] for line in done.stdout.splitlines() if line.startswith("TIME|")]
    if len(rows) != len(commands):
        sys.exit(f"gdb did not get through:\n{done.stdout}{done.stderr}")
    return {command: rest for command, *rest in rows}


def pc_of_last(trace):
    done = subprocess.run([TRACESTUB, "info", "--json", "--quiet", "--index", "none", trace], capture_output=True, text=True,
                          check=True, timeout=LIMIT)
    return re.search(r'"pc_last": "(0x[0-9a-f]+)"', done.stdout)[1]


def show(column, command, value):
    """A figure, if it found something."""
    if value[0] == "error" or value[1] == "-1":
        print(f"{column}: {command} finds nothing{': ' + value[1] if value[0] == 'error' else ''}")
    else:
        print("figure", "tfind", column, f"{command}, ms", float(value[0]) * 1000, "", "", sep="\t")


def main():
    if not shutil.which("gdb"):
        sys.exit("no gdb")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    trace = folder / "run.tf"
    took = run(TRACESTUB, "export", "--quiet", "--index", "none", f"{RECORDING}.ucir", "-o", trace,
               "--positions", f"0:{N_FRAMES - 1}", "--collect", "regs,stack:64,code")
    print("about", "tfind", f"tfind in a file of {N_FRAMES} frames, {trace.stat().st_size >> 20} MiB, of x64_lib", sep="\t")
    print("figure", "tfind", "tracestub", "exporting them, frames/s", N_FRAMES / took, "", "", sep="\t")
    last = pc_of_last(trace)
    commands = ["tfind 0", f"tfind {N_FRAMES // 2}", f"tfind {N_FRAMES - 1}", f"tfind pc {last}",
                f"tfind range {last}, {last} + 15", f"tfind outside 0x1, {last} - 1", "tfind tracepoint 1"]
    own = time_in_gdb(folder, f"target tfile {trace}", commands)
    server = subprocess.Popen([TRACESTUB, "serve", "--quiet", "--index", "none", f"{folder}/socket", trace],
                              stderr=subprocess.PIPE, text=True)
    try:
        server.stderr.readline()
        ours = time_in_gdb(folder, f"target remote {folder}/socket", commands)
    finally:
        server.terminate()
        server.communicate(timeout=LIMIT)
        shutil.rmtree(folder)
    for command in commands:
        show("tracestub", command, ours[command])
        show("target tfile", command, own[command])


main()
