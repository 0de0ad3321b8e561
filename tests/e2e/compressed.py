#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compressed traces, and traces through pipes, give the facts and the state of the plain file, in every format."""
import gzip
import json
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

from _tap import DATA, LIMIT, TRACESTUB, add_case, case, run_cases

SAMPLES = {
    "bap": "bap-samples/tw-arm.frames.gz",
    "rvnbintrace": "rvnbintrace-samples/edges.bin.gz",
    "tenet": "tenet-samples/wtf-walk64.log.gz",
    "tfile": "tfile-samples/work-regs.tf",
    "usercorn": "usercorn/x64_walk.ucir",
    "x64dbg": "x64dbg-samples/list64.trace64.gz",
}


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def seekable(data, piece=100000):
    """The format of contrib/seekable_format in zstd: frames, and a table of their lengths."""
    out, table = b"", b""
    pieces = [data[i:i + piece] for i in range(0, len(data), piece)]
    for p in pieces:
        frame = zstd(p)
        out += frame
        table += struct.pack("<II", len(frame), len(p))
    table += struct.pack("<IBI", len(pieces), 0, 0x8F92EAB1)
    return out + struct.pack("<II", 0x184D2A5E, len(table)) + table


FORMS = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstd, "seekable.zst": seekable}


class Trace:
    """A folder with a trace in it and a cache folder of its own."""

    def __init__(self, name):
        data = (DATA / SAMPLES[name]).read_bytes()
        self.data = gzip.decompress(data) if SAMPLES[name].endswith(".gz") else data
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="compressed-"))
        self.plain = self.put("plain", self.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def put(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run(self, *args, **options):
        env = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))
        return subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, timeout=LIMIT, env=env, **options)

    def facts(self, trace, **options):
        done = self.run("info", "--json", trace, **options)
        assert done.returncode == 0, done
        facts = json.loads(done.stdout)
        assert facts.pop("trace") == str(trace), facts
        facts["warnings"] = [w.removeprefix(f"{trace}: ") for w in facts["warnings"]]
        return facts

    def state(self, trace, last):
        """What a tfile of some positions holds, byte for byte."""
        out = self.folder / "out.tf"
        done = self.run("export", trace, "-o", out, "--index", "none", "--positions", f"0:{last}", "--collect",
                        "regs,stack:64,code")
        assert done.returncode == 0, done
        return out.read_bytes()

    def kept(self):
        return sorted(p.name for p in (self.folder / "cache/tracestub").glob("*.unpacked"))


def check_form(name, form):
    with Trace(name) as t:
        packed = t.put(f"packed.{form}", FORMS[form](t.data))
        facts = t.facts(t.plain)
        assert t.facts(packed) == facts
        last = min(300, facts["positions"])
        assert t.state(packed, last) == t.state(t.plain, last)
        assert not list(t.folder.glob("*.tsindex")), "a small trace needs no index file"


for sample in SAMPLES:
    for form_name in FORMS:
        add_case(f"{sample}: {form_name} is as plain", check_form, sample, form_name)


@case
def a_pipe_is_as_plain():
    for name in "usercorn", "bap":
        with Trace(name) as t:
            facts = t.facts(t.plain)
            assert t.facts("-", input=t.data) == facts
            assert t.facts("/dev/stdin", input=gzip.compress(t.data)) == facts
            with open(t.plain, "rb") as f:
                assert t.facts("-", stdin=f) == facts
            assert not t.kept(), t.kept()


def large():
    """A recording that is worth a file in the cache folder: more than 4 MiB, of many x64dbg blocks."""
    t = Trace("x64dbg")
    head = 8 + struct.unpack("<I", t.data[4:8])[0]
    blocks = t.data[head:]
    t.data = t.data[:head] + blocks * ((6 << 20) // len(blocks))
    t.plain.write_bytes(t.data)
    return t


@case
def a_large_trace_is_unpacked_once_and_its_index_lies_beside_it():
    with large() as t:
        packed = t.put("packed.gz", gzip.compress(t.data, 1))
        facts = t.facts(packed)
        kept = t.kept()
        assert len(kept) == 1, kept
        assert [p.name for p in t.folder.glob("*.tsindex")] == ["packed.gz.tsindex"]
        before = (t.folder / "cache/tracestub" / kept[0]).stat()
        assert t.facts(packed) == facts
        after = (t.folder / "cache/tracestub" / kept[0]).stat()
        assert (before.st_ino, before.st_size) == (after.st_ino, after.st_size) and t.kept() == kept
        plain = t.facts(t.plain)
        assert plain == facts


@case
def damage_is_said_and_what_comes_before_it_is_served():
    with large() as t:
        whole = gzip.compress(t.data, 1)
        done = t.run("info", t.put("cut.gz", whole[:len(whole) // 2]))
        assert done.returncode == 0, done
        assert b"gzip data is truncated; the part before it is served" in done.stderr, done.stderr
        assert b"instructions" in done.stdout
        bad = bytearray(whole)
        bad[len(bad) // 2:len(bad) // 2 + 40] = b"\x55" * 40
        done = t.run("info", t.put("bad.gz", bytes(bad)))
        assert b"gzip data is damaged; the part before it is served" in done.stderr, done.stderr
        done = t.run("info", t.put("head.gz", whole[:20]))
        assert done.returncode == 1 and b"gzip data is truncated" in done.stderr, done


@case
def what_is_no_trace_is_refused_before_it_is_unpacked():
    with Trace("usercorn") as t:
        bomb = t.put("bomb.gz", gzip.compress(bytes(64 << 20), 9))
        done = t.run("info", bomb)
        assert done.returncode == 1 and b"no known trace format" in done.stderr, done
        assert not t.kept(), t.kept()


@case
def the_standard_input_is_not_shared():
    with Trace("usercorn") as t:
        for args, text in ((["gdb", "-"], b"gdb needs the standard input"), (["serve", "-", "-"], b"cannot both be"),
                           (["index", "-"], b"--index PATH")):
            done = t.run(*args, input=t.data)
            assert done.returncode == 2 and text in done.stderr, done
        done = t.run("index", "-", "--index", t.folder / "own.tsindex", input=t.data)
        assert done.returncode == 0 and (t.folder / "own.tsindex").exists(), done


run_cases()
