#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub pack` and `unpack`: one file that every command opens, here and on somebody else's machine."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from _tap import DATA, TRACESTUB, add_case, case, run_cases, skip

SAMPLES = {
    "bap": "bap-samples/tw-arm.frames.gz",
    "rvnbintrace": "rvnbintrace-samples/edges.bin.gz",
    "tenet": "tenet-samples/wtf-walk64.log.gz",
    "tfile": "tfile-samples/work-regs.tf",
    "usercorn": "usercorn/x64_walk.ucir",
    "x64dbg": "x64dbg-samples/list64.trace64.gz",
}
LIMIT = 120


class Desk:
    """A folder with a trace, and a user with a cache directory."""

    def __init__(self, sample="usercorn"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pack-"))
        data = (DATA / SAMPLES[sample]).read_bytes()
        self.trace = self.folder / "trace"
        self.trace.write_bytes(gzip.decompress(data) if SAMPLES[sample].endswith(".gz") else data)
        self.packed = self.folder / "one.tspack"
        self.user = "me"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def run(self, *args, status=0):
        env = {**os.environ, "XDG_CACHE_HOME": str(self.folder / self.user)}
        done = subprocess.run([TRACESTUB, *map(str, args)], env=env, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == status, (args, done)
        return done

    def files(self):
        """The packed files, as tar(1) and zstd(1) have them."""
        if not shutil.which("zstd"):
            skip("zstd is not installed")
        tar = self.folder / "archive.tar"
        with open(tar, "wb") as out:
            subprocess.run(["zstd", "-dc", self.packed], stdout=out, check=True)
        with tarfile.open(tar) as archive:
            return {m.name: archive.extractfile(m).read() for m in archive}


def is_the_same(sample):
    with Desk(sample) as desk:
        before = json.loads(desk.run("info", "--json", "--quiet", desk.trace).stdout)
        desk.run("pack", desk.trace, "-o", desk.packed, "--quiet")
        assert desk.files()["trace/trace"] == desk.trace.read_bytes()
        back = desk.folder / "back"
        desk.run("unpack", desk.packed, "-o", back)
        assert back.read_bytes() == desk.trace.read_bytes()
        assert back.stat().st_mtime_ns == desk.trace.stat().st_mtime_ns
        desk.trace.unlink()
        after = json.loads(desk.run("info", "--json", "--quiet", desk.packed).stdout)
        assert {**before, "trace": 0, "warnings": 0} == {**after, "trace": 0, "warnings": 0}
        if sample != "tfile":
            here, there = (desk.run("query", t, "hot", "--quiet").stdout for t in (back, desk.packed))
            assert here == there and here.count("\n") > 2


for name in SAMPLES:
    add_case(f"packed, opened and unpacked: {name}", is_the_same, name)


@case
def a_compressed_trace_is_packed_as_it_is():
    with Desk() as desk:
        plain = desk.run("query", desk.trace, "hot").stdout
        packed = desk.folder / "trace.gz"
        packed.write_bytes(gzip.compress(desk.trace.read_bytes()))
        desk.run("pack", packed, "-o", desk.packed)
        assert desk.files()["trace/trace.gz"] == packed.read_bytes()
        assert desk.run("query", desk.packed, "hot").stdout == plain


@case
def marks_come_along_once():
    with Desk() as desk:
        desk.run("query", desk.trace, "mark", "here", "at", "1234", "as it was")
        desk.run("pack", desk.trace, "-o", desk.packed)
        desk.user = "somebody else"
        shown = desk.run("query", desk.packed, "marks").stdout
        assert "1234\there\tas it was" in shown, shown
        desk.run("query", desk.packed, "unmark", "here")
        desk.run("query", desk.packed, "mark", "there", "at", "5")
        shown = desk.run("query", desk.packed, "marks").stdout
        assert "\there\t" not in shown and "5\tthere\t" in shown and "as it was" not in shown, shown
        desk.run("unpack", desk.packed, "-o", desk.folder / "back")
        assert "as it was" in desk.run("query", desk.folder / "back", "marks").stdout


@case
def the_index_is_used_by_who_made_it_and_ignored_by_others():
    with Desk() as desk:
        index = desk.folder / "trace.tsindex"
        desk.run("index", desk.trace)
        made = index.read_bytes()
        desk.run("pack", desk.trace, "-o", desk.packed, "--index", index)
        assert desk.files()["index"] == made
        wanted = desk.run("query", desk.trace, "hot").stdout
        done = desk.run("index", desk.packed)
        mine = desk.folder / "one.tspack.tsindex"
        assert mine.read_bytes() == made and "rebuilding" not in done.stderr, done
        mine.unlink()
        desk.user = "somebody else"
        done = desk.run("index", desk.packed)
        assert "made by another user or machine; ignored; rebuilding the index" in done.stderr, done
        assert mine.read_bytes() != made
        assert desk.run("query", desk.packed, "hot").stdout == wanted


@case
def the_program_comes_along():
    with Desk() as desk:
        source, program = desk.folder / "p.c", desk.folder / "prog"
        source.write_text("int twice(int x) { return 2 * x; }\nint main(void) { return twice(21); }\n")
        subprocess.run(["gcc", "-g", "-O0", "-static", "-o", program, source], check=True)
        done = subprocess.run([TRACESTUB, "record", "-o", desk.trace, program], capture_output=True, text=True)
        assert done.returncode == 42, done
        desk.run("pack", desk.trace, "-o", desk.packed, "--exec", program)
        assert desk.files()["program/prog"] == program.read_bytes()
        program.unlink()
        desk.trace.unlink()
        desk.user = "somebody else"
        assert "twice" in desk.run("query", desk.packed, "calls", "twice").stdout
        done = desk.run("gdb", desk.packed, "--", "-batch", "-ex", "break twice", "-ex", "continue", "-ex", "finish")
        assert "Value returned is $1 = 42" in done.stdout, done


@case
def damage_is_one_sentence():
    with Desk() as desk:
        desk.run("pack", desk.trace, "-o", desk.packed)
        data = desk.packed.read_bytes()
        done = desk.run("unpack", desk.trace, "-o", desk.folder / "x", status=1)
        assert "not a packed recording" in done.stderr and done.stderr.count("\n") == 1, done
        for at in range(20, len(data), len(data) // 40):
            desk.packed.write_bytes(data[:at] + bytes(b ^ 0x5A for b in data[at:at + 8]) + data[at + 8:])
            for command in (["unpack", desk.packed, "-o", desk.folder / "x"], ["info", desk.packed, "--quiet"]):
                env = {**os.environ, "XDG_CACHE_HOME": str(desk.folder)}
                done = subprocess.run([TRACESTUB, *map(str, command)], env=env, capture_output=True, text=True, timeout=LIMIT)
                assert done.returncode in (0, 1, 2) and done.stderr.count("\n") <= 2, (at, done)
                if command[0] == "unpack" and done.returncode == 0:
                    assert (desk.folder / "x").read_bytes() == desk.trace.read_bytes()
        desk.packed.write_bytes(data[:len(data) // 2])
        assert desk.run("info", desk.packed, "--quiet", status=1).stderr.count("\n") == 1


@case
def usage():
    with Desk() as desk:
        assert "needs -o FILE" in desk.run("pack", desk.trace, status=2).stderr
        assert "needs -o TRACE" in desk.run("unpack", desk.trace, status=2).stderr
        assert "read, not written" in desk.run("pack", desk.trace, "-o", desk.trace, status=2).stderr


run_cases()
