#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exported recordings: gdb's own `target tfile` shows at every exported position what tracestub shows of the recording there."""
import gzip
import os
import pathlib
import re
import subprocess
import tempfile

from _recording import Recording
from _server import Server
from _states import states
from _tap import DATA, TRACESTUB, add_case, case, run_cases
from _tfind import answers, both

SP = {"x64": "$rsp", "x86": "$esp"}
FIRST, COUNT = 2000, 60


def export(recording, *options):
    path = os.path.join(tempfile.mkdtemp(), "out.tf")
    done = subprocess.run([TRACESTUB, "export", recording.trace, "-o", path, "--index", "none", *options], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done
    return path, done.stdout + done.stderr


def gdb_of(recording):
    return "gdb" if recording.arch in SP else "gdb-multiarch"


def commands_of(recording, n):
    """What an exported frame has: registers, stack, code."""
    sp = SP.get(recording.arch, "$sp")
    return [f"tfind {n}", "print/x $pc", f"print/x {sp}", f"x/16xb {sp}", "x/i $pc"]


def first_line(text):
    """A value without its number in the session, an instruction without what is in its delay slot."""
    return re.sub(r"^\$\d+ = ", "", text.split("\n")[0])


def check_walk(name):
    recording = Recording(name)
    path, _ = export(recording, "--positions", f"{FIRST}:{FIRST + COUNT - 1}", "--collect", "regs,stack:64,code")
    own = answers(f"target tfile {path}", recording.exec, [c for n in range(COUNT) for c in commands_of(recording, n)],
                  gdb_of(recording))
    with Server(recording.trace) as server:
        ours = answers(f"target remote {server.address}", recording.exec,
                       [c for n in range(COUNT) for c in commands_of(recording, FIRST + n)], gdb_of(recording))
    per_frame = len(commands_of(recording, 0))
    n_known = 0
    for i, (a, b) in enumerate(zip(own, ours)):
        n, what = divmod(i, per_frame)
        if what == 0:
            assert f"Found trace frame {n}," in a and f"Found trace frame {FIRST + n}," in b, (a, b)
            continue
        known = b.count("0x") + b.count("\t")
        if what == 3 and "Cannot access memory" in b:
            b = a if "0x" not in a.split(":", 1)[1] else b      # nothing of it is known: each target has its own word
        a, b = (first_line(t) for t in (a, b))
        assert a == b, (n, what, a, b)
        n_known += known > 0 and "<unavailable>" not in a
    assert n_known > COUNT * 3, n_known


def check_same_file(name):
    """The exported file, through gdb's own reader and through tracestub."""
    recording = Recording(name)
    path, _ = export(recording, "--positions", f"{FIRST}:{FIRST + COUNT - 1}")
    commands = [c for n in range(COUNT) for c in [*commands_of(recording, n), "info registers", "print $tracepoint"]]
    own, ours = both(path, recording.exec, commands, gdb_of(recording))
    for command, a, b in zip(commands, own, ours):
        if command == "info registers":     # gdb's reader stops at the first register that the file does not have
            lines = zip(a.splitlines(), b.splitlines())
            assert all(x == y or "<unavailable>" in x for x, y in lines), (command, a, b)
        else:
            assert first_line(a) == first_line(b), (command, a, b)


for NAME in "x64_walk", "x86_walk", "arm_walk", "arm64_walk", "mips_walk":
    if NAME == "arm_walk":
        FIRST = 1500
    add_case(f"{NAME}: gdb's own tfind over the exported file agrees with the recording", check_walk, NAME)
    add_case(f"{NAME}: and with tracestub over the same file", check_same_file, NAME)


def check_format(packed):
    """A recording of another format: the pc of every exported frame, as gdb's own reader has it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    trace, path = folder / "trace", folder / "out.tf"
    data = packed.read_bytes()
    trace.write_bytes(gzip.decompress(data) if packed.suffix == ".gz" else data)
    done = subprocess.run([TRACESTUB, "export", trace, "-o", path, "--index", "none", "--positions", f":{COUNT - 1}"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    commands = [c for n in range(COUNT) for c in (f"tfind {n}", "print/x $pc", "info threads")]
    own = answers(f"target tfile {path}", "/dev/null", commands, "gdb-multiarch")
    for n, (pc, _) in zip(range(COUNT), states(trace)):
        assert f"Found trace frame {n}," in own[3 * n] and own[3 * n + 1].endswith(f"= {pc:#x}"), (n, hex(pc), own[3 * n:3 * n + 3])


for SAMPLE in "bap-samples/plug-i386.frames.gz", "bap-samples/tw-arm.frames.gz", "rvnbintrace-samples/tiny-fib.bin.gz", \
              "x64dbg/fib64-head":
    add_case(f"{SAMPLE}: gdb opens what is exported", check_format, DATA / SAMPLE)


@case
def hits_of_an_address_are_the_frames_of_its_tracepoint():
    recording = Recording("x64_walk")
    with Server(recording.trace) as server:
        text = answers(f"target remote {server.address}", recording.exec,
                       ["print/x &*bump", "break bump", "continue", "monitor goto begin"])
    addr = re.search(r"0x[0-9a-f]+", text[1])[0] if "0x" in text[1] else text[0].split("= ")[1]
    path, said = export(recording, "--at", addr)
    count = int(re.search(r"(\d+) frames", said)[1])
    own = answers(f"target tfile {path}", recording.exec, ["info tracepoints", f"tfind {count - 1}", "print $rip", f"tfind {count}"])
    assert f"at 0x{int(addr, 16):016x}" in own[0].replace("in bump ", "") or f"{int(addr, 16):x}" in own[0], own
    assert f"Found trace frame {count - 1}, tracepoint 1" in own[1], own
    assert "<bump+" in own[2], own
    assert "No trace frame found" in own[3], own


@case
def gdb_walks_frames_of_arm_code_of_which_it_knows_no_function():
    path, said = export(Recording("arm_walk"), "--positions", ":20")
    assert "0 where they are not known: cpsr" in said, said
    own = answers(f"target tfile {path}", Recording("arm_walk").exec, [f"tfind {n}" for n in range(21)], "gdb-multiarch")
    for n, text in enumerate(own):
        assert text.startswith(f"Found trace frame {n}, tracepoint 1"), (n, text)


@case
def what_gdb_cannot_be_told_is_said():
    _, said = export(Recording("mips_walk"), "--positions", "0:10")
    assert "left out: f0" in said and "0 where they are not known: status" in said, said


run_cases()
