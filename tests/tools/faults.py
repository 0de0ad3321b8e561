#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The n-th allocation, read, write, ... of a command fails: what comes out is right, or is a sentence and a status.

Judged by output: a run that ends with the status of the undisturbed one has its output, whole; another ends with status 1
to 3 and says why, and leaves nothing that makes the next run wrong.  `make check-faults` tries the first n of each call and
a random choice, with FAULTS=--all every n.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _tap import DATA, SRCDIR, TRACESTUB, add_case, run_cases, skip_all

TOOL = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve() / "tests/tools/faults.so"
IS_FULL = "--all" in sys.argv[1:]
N_FIRST, N_CHOSEN = 4, 24
LIMIT = 60
ENOSPC, EIO, ENOMEM, EINTR, EMFILE, EAGAIN, SHORT = 28, 5, 12, 4, 24, 11, 0
FAULTS = [("alloc", ENOMEM), ("read", EIO), ("read", EINTR), ("read", SHORT), ("write", ENOSPC), ("write", EINTR),
          ("write", SHORT), ("sync", EIO), ("rename", EIO), ("open", EMFILE), ("map", ENOMEM), ("thread", EAGAIN)]
HARMLESS = {EINTR, SHORT}      # the call is made again, and nothing is lost

TRACES = {
    "bap": "bap-samples/tw-arm.frames.gz",
    "gdbrecord": "gdbrecord-samples/walk64.core.gz",
    "rvnbintrace": "rvnbintrace-samples/edges.bin.gz",
    "tenet": "tenet-samples/wtf-walk64.log.gz",
    "tfile": "tfile-samples/work-regs.tf",
    "usercorn": "usercorn/x64_walk.ucir",
    "x64dbg": "x64dbg-samples/list64.trace64.gz",
}
USERCORN = {
    "info": ["info", "T"],
    "info --json": ["info", "--json", "T"],
    "index": ["index", "T", "--index", "OUT"],
    "export": ["export", "T", "-o", "OUT", "--positions", "100:160"],
    "plot": ["plot", "T", "-o", "OUT.svg"],
    "pack": ["pack", "T", "-o", "OUT"],
    "history": ["query", "T", "history", "$rax", "first", "20"],
    "hot": ["query", "T", "hot", "first", "20", "--json"],
    "calls": ["query", "T", "calls", "first", "20"],
    "why": ["query", "T", "why", "$rax", "at", "5000"],
    "find": ["query", "T", "find", "48 89 e5", "first", "3"],
    "strings": ["query", "T", "strings", "first", "20"],
    "coverage": ["query", "T", "coverage", "first", "20"],
    "mark": ["query", "T", "mark", "here", "at", "9"],
    "diff": ["diff", "T", "T"],
    "serve": ["serve", "-", "T"],
}


def packets():
    """Some of a session, so that each is sent when the one before is answered: without acknowledgements, in one go."""
    lines = ["QStartNoAckMode", "qSupported:swbreak+", "qXfer:features:read:target.xml:0,fff", "g", "m401000,40", "s", "bs",
             "qRcmd," + b"goto 5000".hex(), "g", "Z2,7fffffff0000,8", "bc", "z2,7fffffff0000,8", "qXfer:threads:read::0,fff",
             "qRcmd," + b"why $rax".hex(), "QTDP:1:401000:E:0:0", "QTStart", "QTStop", "QTFrame:0", "D"]
    return b"+" + b"".join(b"$%s#%02x" % (p.encode(), sum(p.encode()) & 255) for p in lines)


class Desk:
    """A folder in which a command runs, with a home of its own."""

    def __init__(self, trace):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
        shutil.copy(trace, self.folder / "T")
        os.utime(self.folder / "T", (1, 1))

    def run(self, argv, fault=None, counts=None):
        env = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(self.folder / "home"), "LD_PRELOAD": str(TOOL)}
        if "ASAN_OPTIONS" in os.environ:
            env["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        more = {}
        if fault:
            env["FAULT"] = fault
        if counts is not None:
            env["FAULT_FD"], more["pass_fds"] = str(counts), [counts]
        done = subprocess.run([TRACESTUB, *argv], cwd=self.folder, env=env, capture_output=True, timeout=LIMIT,
                              input=packets() if argv[0] == "serve" else b"", **more)
        out = [p.read_bytes() for p in sorted(self.folder.glob("OUT*")) if "key" not in p.name]
        return done.returncode, done.stdout, done.stderr, out

    def close(self):
        shutil.rmtree(self.folder)


def count(trace, argv):
    """What the undisturbed command gives, and how often it makes each call."""
    desk = Desk(trace)
    with tempfile.TemporaryFile() as file:
        result = desk.run(argv, counts=file.fileno())
        file.seek(0)
        counts = dict(line.split() for line in file.read().decode().splitlines())
    desk.close()
    return result, {kind: int(n) for kind, n in counts.items()}


def judge(trace, argv, wanted, fault):
    """None, or what is wrong.  libgcrypt aborts by design where it may not see whether FIPS 140 is in force."""
    kind, n, error = fault
    desk = Desk(trace)
    try:
        status, out, err, files = desk.run(argv, fault=f"{kind}:{n}:{error}")
        text = err.decode(errors="replace")
        if "FATAL: error reading `/proc/sys/crypto/fips_enabled'" in text:
            return None
        if status == wanted[0]:
            if (argv[0] != "serve" or error in HARMLESS) and (out != wanted[1] or (argv[0] != "index" and files != wanted[3])):
                return f"status {status}, another output: {out[-200:]!r} {text[-300:]}"
        elif status not in (1, 2, 3) or error in HARMLESS:
            return f"status {status}: {text[-500:]}"
        elif not text.strip() or len(text.splitlines()) > 6:
            return f"status {status}: {len(text.splitlines())} lines: {text[-300:]}"
        if argv[0] in ("index", "query", "pack"):
            again = desk.run(argv)
            if again[:2] != wanted[:2]:
                return f"after it: status {again[0]}, {again[1][-200:]!r} {again[2][-300:]!r}"
        return None
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        desk.close()


def choose(n, seed):
    if IS_FULL:
        return range(1, n + 1)
    chance = random.Random(seed)
    return sorted(set(range(1, min(n, N_FIRST) + 1)) | {chance.randrange(1, n + 1) for _ in range(N_CHOSEN)} if n else ())


def survives(trace, argv):
    wanted, counts = count(trace, argv)
    assert wanted[0] in (0, 1), wanted
    faults = [(kind, n, error) for kind, error in FAULTS for n in choose(counts[kind], f"{argv}{kind}{error}")]
    with ThreadPoolExecutor(2) as pool:
        wrong = [(f, w) for f, w in zip(faults, pool.map(lambda f: judge(trace, argv, wanted, f), faults), strict=True) if w]
    assert not wrong, f"{len(wrong)} of {len(faults)}: " + "\n".join(map(str, wrong[:8]))
    print(f"# {len(faults)} faults")


def unpacked(name):
    path = pathlib.Path(tempfile.mkdtemp()) / name
    data = (DATA / TRACES[name]).read_bytes()
    if TRACES[name].endswith(".gz"):
        import gzip
        data = gzip.decompress(data)
    path.write_bytes(data)
    return path


if not TOOL.exists():
    skip_all("tests/tools/faults.so was not built")
if b"__asan_init" in pathlib.Path(TRACESTUB).read_bytes():
    skip_all("a preloaded allocator and AddressSanitizer's exclude each other")
for name, command in USERCORN.items():
    add_case(f"usercorn: {name}", survives, unpacked("usercorn"), command)
for name in TRACES:
    if name != "usercorn":
        add_case(f"{name}: info", survives, unpacked(name), ["info", "T"])
        if name != "tfile":
            add_case(f"{name}: index", survives, unpacked(name), ["index", "T", "--index", "OUT"])
run_cases()
