#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs x processors: what `tracestub record` makes of each, and what it costs beside `qemu -singlestep`.

    tests/tools/record_table.py [--repeat N] [WORD ...]

Rows that have a WORD in their name; all without one. Seconds are processor time, of the emulator and of the recorder; of N runs
of both, one after the other, the smallest. A quiet machine needs three minutes.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SRCDIR = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRCDIR / "tests/e2e"))
from _record import COMPILERS       # noqa: E402
from _tap import TRACESTUB          # noqa: E402

LOOPS = """
#include <stdio.h>
int main(void)
{
	volatile unsigned sums[64] = { 0 };
	unsigned x = 1, sum = 0;

	for (unsigned i = 0; i < 500000; i++) {
		x = x * 1664525u + 1013904223u;
		sums[x >> 26] += i;
	}
	for (unsigned i = 0; i < 64; i++)
		sum += sums[i];
	printf("%u\\n", sum);
	return 0;
}
"""
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
LIMIT = 600


def build(folder, name, text, target, *options):
    source = folder / f"{name}.c"
    source.write_text(text)
    path = str(folder / f"{name}.{target}")
    subprocess.run([COMPILERS[target][0], "-O1", "-w", *options, "-o", path, str(source)], check=True)
    return path


def programs(folder):
    """(name, processor, command)"""
    for target, (compiler, _) in COMPILERS.items():
        if shutil.which(compiler) and shutil.which(f"qemu-{target}"):
            yield "loops", target, [build(folder, "loops", LOOPS, target, "-static")]
            if target != "x86_64":
                yield "hello, static", target, [build(folder, "hello", HELLO, target, "-static")]
    subject = str(folder / "subject")
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-w", "-o", subject, str(SRCDIR / "tests/data/record/subject.c")], check=True)
    for name, argv in (("hello, dynamic", [build(folder, "dynamic", HELLO, "x86_64")]), ("four threads", [subject, "threads", "4"]),
                       ("crash", [subject, "crash"]), ("python3", ["python3", "-c", "print(sum(range(50000)))"]),
                       ("bash", ["bash", "-c", "for i in {1..2000}; do x=$((x + i)); done; echo $x"]),
                       ("gcc -c", [cc1(), "-quiet", "-O1", str(folder / "loops.c"), "-o", str(folder / "loops.s")])):
        if argv[0] and shutil.which(argv[0]):
            yield name, "x86_64", [shutil.which(argv[0]), *argv[1:]]


def cc1():
    """The compiler proper: gcc starts it as a child, and children are not recorded."""
    return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()


def timed(argv):
    """(processor time in seconds, what it wrote on stderr)"""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        said.seek(0)
        return used.ru_utime + used.ru_stime, said.read()


def row(name, target, argv, trace, repeat):
    pairs = [(timed([f"qemu-{target}", "-singlestep", *argv])[0], *timed([TRACESTUB, "record", "-o", trace, "--", *argv]))
             for _ in range(repeat)]
    plain, (recording, said) = min(p[0] for p in pairs), min(p[1:] for p in pairs)
    found = re.search(r"(\d+) instructions in (\d+) bytes .*unexplained (\d+)", said)
    if not found:
        return f"{name:16} {target:8} {said.strip()[-60:]}"
    n, size, unexplained = map(int, found.groups())
    return (f"{name:16} {target:8} {n / 1e6:9.2f} {plain:8.2f} {recording:8.2f} {n / recording / 1e6:8.1f} {size / n:7.1f} "
            f"{recording / plain:7.1f} {unexplained:6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    print(f"{'program':16} {'for':8} {'M insns':>9} {'qemu s':>8} {'record s':>8} {'M/s':>8} {'B/insn':>7} {'ratio':>7} {'unexpl':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name, target, argv in programs(Path(folder)):
            if not args.words or any(word in f"{name} {target}" for word in args.words):
                print(row(name, target, argv, f"{folder}/trace.ucir", args.repeat), flush=True)


main()
