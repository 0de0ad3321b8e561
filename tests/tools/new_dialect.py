#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many files does a new format of text traces touch?

    tests/tools/new_dialect.py FOLDER

A copy of the tree in FOLDER gets a dialect that nobody has, "sevenlog", whose lines are made of the execution
oracle-walk-aarch64: each file that is needed for that is written, or a line is added to it. The copy is built and
passes the tests that hold for every dialect; at most six files differ from this tree.
"""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
N_FILES = 6
SAMPLES = "tests/data/text-samples"
GRAMMAR = """\
tracestub grammar 1 sevenlog
summary Sevenlog (a dialect that a test invents)
# An instruction, what it read and wrote, and the registers after it.
arch aarch64
size insn
lists all
sign "=== sevenlog"
probe 48 3
step "[" pc "] <" code:memory ">" [ " " after ]
note "=== " rest
items after
	"rd 0x" address:read "=" bytes:memory [ " " ]
	| "wr 0x" address:write "=" bytes:memory [ " " ]
	| reg ":=" value [ " " ]
"""
PAGE = """\
.TP
.B sevenlog
the test of tests/tools/new_dialect.py.
"""
# what holds for every dialect, beside the new case of text_dialects
TESTS = "unit/test_grammar", "e2e/text_dialects", "e2e/completion", "meta/man", "meta/layering", "meta/runner"


def sample():
    rows = [json.loads(line) for line in gzip.open(TOP / SAMPLES / "oracle-walk-aarch64.jsonl.gz", "rt")]
    lines = ["=== sevenlog 1"]
    for row, after in zip(rows, rows[1:]):
        facts = [f"rd {a:#x}={data}" for a, data in row.get("reads", [])]
        facts += [f"wr {a:#x}={new}" for a, _, new in row.get("writes", [])]
        facts += [f"{reg}:={value}" for reg, value in after["regs"].items() if reg not in ("pc", "cpsr", "fpsr", "fpcr")]
        lines.append(f"[{row['regs']['pc']}] <{row['insn']}>" + "".join(f" {fact}" for fact in facts))
    return "\n".join(lines) + "\n"


def insert(path, pattern, text):
    """Add @text after the last match."""
    old = path.read_text()
    at = list(re.finditer(pattern, old, re.M))[-1].end()
    path.write_text(old[:at] + text + old[at:])


def add_dialect(top):
    text = sample()
    (top / "loaders/grammar/dialects/sevenlog.grammar").write_text(GRAMMAR)
    insert(top / "loaders/Makefile.inc", r"^grammar_dialects \+= .*qemu.grammar\n", "grammar_dialects += loaders/grammar/dialects/sevenlog.grammar\n")
    (top / "tests/data/grammar/sevenlog").write_text("".join(text.splitlines(True)[:40]))
    (top / SAMPLES / "sevenlog-walk.log.gz").write_bytes(gzip.compress(text.encode()))
    insert(top / "src/program/tracestub-formats.7", r"^\.B qbdi\n.*\n", PAGE)
    insert(top / "tests/e2e/text_dialects.py", r'^    \("QBDI", .*\n', '    ("Sevenlog", "sevenlog-walk.log", "walk-aarch64", 1000, 0.2, "RW"),\n')


def run(top, *command):
    print("#", *command, flush=True)
    subprocess.run(command, cwd=top, check=True)


def main(folder):
    top = pathlib.Path(folder).resolve()
    shutil.rmtree(top, ignore_errors=True)
    run(TOP, "git", "worktree", "prune")
    run(TOP, "git", "clone", "-q", "--no-hardlinks", str(TOP), str(top))
    add_dialect(top)
    changed = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=top, capture_output=True, text=True, check=True)
    print(changed.stdout, end="")
    assert len(changed.stdout.splitlines()) <= N_FILES, f"more than {N_FILES} files"
    run(top, "autoreconf", "-fi")
    run(top, "./configure", "-q")
    run(top, "make", "-s", "-j2")
    said = subprocess.run(["./tracestub", "help", "formats"], cwd=top, capture_output=True, text=True, check=True).stdout
    assert "sevenlog" in said, said
    run(top, "make", "-s", "check", "TESTS=" + " ".join(TESTS))
    print(f"ok: {len(changed.stdout.splitlines())} files")


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
