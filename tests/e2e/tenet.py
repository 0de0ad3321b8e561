#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tenet logs in gdb and lldb, with the program that the log does not have."""
import gzip
import json
import pathlib
import re
import subprocess
import tempfile

from _gdb import Gdb
from _lldb import environment, lldb_path
from _programs import Program
from _server import LIMIT, Server
from _tap import DATA, TRACESTUB, case, run_cases

SAMPLES = DATA / "tenet-samples"
PIE_BASE = 0x555555554000


class Log:
    """As _recording.Recording."""

    def __init__(self, name="wtf-walk64", text=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenet-"))
        self.exec, self.trace = str(self.folder / "walk64"), str(self.folder / f"{name}.log")
        pathlib.Path(self.exec).write_bytes(gzip.decompress((SAMPLES / "walk64.elf.gz").read_bytes()))
        data = text if text is not None else gzip.decompress((SAMPLES / f"{name}.log.gz").read_bytes())
        pathlib.Path(self.trace).write_bytes(data)

    def gdb(self):
        return "gdb"

    def copy_sources(self, folder):
        pass


def tracestub(*args):
    return subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, timeout=LIMIT)


@case
def gdb_steps_both_ways_and_finds_the_writer():
    for name in "wtf-walk64", "pin-walk64", "panda-walk64", "sogen-walk64", "qiling-walk64":
        log = Log(name)
        with Gdb(log, "--exec", log.exec) as g:
            g("break push")
            g("continue")
            g.expect(r"Breakpoint 1, push \(v=v@entry=-30\)")
            g("backtrace")
            g.expect(r"#0  push .*\n#1 .* in walk \(\) at walk.c:76\n")     # what is below was not seen since the last system call
            g("x/i $pc")
            g.expect(r"<push>:\s+mov +%edi,%esi")
            g("stepi")
            g("reverse-stepi")
            g("print $pc")
            g.expect("<push>")
            g("finish")
            g.expect(r"walk \(\) at walk.c")
            g("delete")
            g("monitor goto end")
            g("maintenance flush register-cache")
            g("watch total")
            g("reverse-continue")
            g.expect(r"Old value = (\d+)\nNew value = (\d+)")
            g("print $eflags")
            g.expect("unavailable")


@case
def addresses_alone_can_be_stepped_and_covered():
    log = Log("pconly-walk32")
    with Gdb(log, has_exec=False) as g:
        g("stepi 3")
        g("print $pc")
        g.expect("0x8049188")
        g("reverse-stepi")
        g("print $pc")
        g.expect("0x8049183")
        g("x/4xb $pc")
        g.expect("Cannot access memory")
        g("print $esp")
        g.expect("unavailable")
    rows = tracestub("query", log.trace, "executions", "0x8049183").stdout.splitlines()
    lines = pathlib.Path(log.trace).read_text().splitlines()
    assert [int(row.split()[0]) for row in rows[1:]] == [k for k, line in enumerate(lines) if line == "eip=0x8049183"]


def story():
    """The registers of a position-independent program as a log."""
    wanted = "rax rbx rcx rdx rbp rsp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
    with gzip.open(Program("pie", "ucir").truth, "rt") as lines:
        rows = [json.loads(line)["regs"] for line in lines]
    return "".join(",".join(f"{r}=0x{v}" for r, v in row.items() if r in wanted) + "\n" for row in rows).encode()


@case
def a_base_places_the_program():
    pie = Program("pie", "ucir")
    log = Log("story", story())
    with Gdb(log, "--exec", pie.exec, has_exec=False) as g:
        assert "give its address with --exec FILE@BASE" in g.server.said(), g.server.said()
    log.exec = pie.exec
    with Gdb(log, "--exec", f"{pie.exec}@{PIE_BASE:#x}") as g:
        g("break *inc")
        for position in 3118, 4097, 4496, 4864, 5382, 7408:
            g("continue")
            g("monitor when")
            g.expect(rf"position {position} ")
        g("x/i $pc")
        g.expect(r"<inc>:\s+push +%rbp")


@case
def the_list_of_images_places_the_program():
    pie = Program("pie", "ucir")
    log = Log("story.0", story())
    log.exec = pie.exec
    (log.folder / "story.log").write_text(f"Loaded image: {PIE_BASE:#x}:{PIE_BASE + 0x4fff:#x} -> {pathlib.Path(pie.exec).name}\n"
                                          "Loaded image: 0x7ffff7dc5000:0x7ffff7fa0000 -> libc.so.6\n")
    with Gdb(log, "--exec", pie.exec) as g:
        g("break *inc")
        g("continue")
        g("monitor when")
        g.expect("position 3118 ")
        g("x/i $pc")
        g.expect(r"<inc>:\s+push +%rbp")


@case
def gaps_and_damage_are_told():
    out = tracestub("query", Log("pin-gap64").trace, "events", "gap").stdout
    assert "code that is not listed" in out, out
    text = gzip.decompress((SAMPLES / "wtf-walk64.log.gz").read_bytes()).replace(b"rip=0x4011b3", b"rip=0x4011b3,rax=zz", 1)
    out = tracestub("info", Log("damaged", text + b"rip=0x4").trace).stdout
    assert "positions     0..2301" in out, out
    assert "first in line 4, offset" in out and "register's value cannot be read" in out, out
    assert "the last line has no line end" in out, out
    assert "accesses of the previous instruction (146 votes to 0)" in out, out


class Threads(Log):
    """Two logs of one program, with numbers; the second is compressed."""

    def __init__(self, names=("wtf-walk64", "pin-walk64")):
        super().__init__(names[0])
        self.files = [str(self.folder / "t.0.log"), str(self.folder / "t.12.log.gz")]
        pathlib.Path(self.files[0]).write_bytes(pathlib.Path(self.trace).read_bytes())
        pathlib.Path(self.files[1]).write_bytes((SAMPLES / f"{names[1]}.log.gz").read_bytes())


@case
def logs_with_a_number_are_threads_of_one_recording():
    log = Threads()
    out = tracestub("info", *log.files).stdout
    assert "positions     0..4602" in out and "thread 1.2 \"t.12.log.gz\": 2301 instructions" in out, out
    assert "shown one after the other" in out, out
    rows = tracestub("query", *log.files, "threads").stdout.splitlines()
    assert [row.split("\t")[:3] for row in rows[1:]] == [["1", "1", "0"], ["2", "1", "2301"]], rows
    alone = tracestub("query", log.files[0], "executions", "0x401035").stdout.splitlines()[1:]
    both = tracestub("query", *log.files, "executions", "0x401035").stdout.splitlines()[1:]
    assert [int(row.split()[0]) for row in both] == [int(row.split()[0]) + n for n in (0, 2301) for row in alone], both


@case
def each_thread_has_the_memory_that_it_saw():
    log = Threads()
    total = 0x403140
    with gzip.open(SAMPLES / "oracle-walk64.jsonl.gz", "rt") as lines:
        writes = [write for line in lines for write in json.loads(line).get("writes", [])]
    last = int.from_bytes(bytes.fromhex([new for addr, _, new in writes if int(addr, 16) == total][-1]), "little")
    with Gdb(log, has_exec=False, server=Server(*log.files, "--exec", log.exec)) as g:
        g("set architecture i386:x86-64")
        for position, value in (2300, last), (2301, 0), (4602, last):      # the second thread reads 0 first
            g(f"monitor goto {position}")
            g("maintenance flush register-cache")
            g("maintenance flush dcache")
            g(f"x/dw {total:#x}")
            g.expect(rf":\s+{value}$")
            g("x/2i 0x401035")
            g.expect(r"mov +%edi,%esi")


@case
def gdb_walks_from_one_thread_to_the_other():
    log = Threads(("qiling-walk64", "qiling-walk64"))
    done = subprocess.run([TRACESTUB, "gdb", *log.files, log.exec, "--", "-batch", "-nx", "-ex", "break push", "-ex", "goto 2095",
                           "-ex", "continue", "-ex", "monitor when", "-ex", "backtrace", "-ex", "reverse-continue",
                           "-ex", "monitor when", "-ex", "info threads"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    assert re.search(r'"t.12.log.gz" hit Breakpoint 1, push \(v=v@entry=-30\)', done.stdout), done
    assert re.search(r"#1 .* in walk \(\)", done.stdout), done
    places = re.findall(r"position (\d+) of 4196 .*thread 1.(\d)", done.stdout)
    assert [thread for _, thread in places] == ["1", "2", "1"], done
    assert int(places[1][0]) == 2098 + 488, places


@case
def an_index_knows_all_files():
    log = Threads()
    assert tracestub("index", *log.files).returncode == 0
    assert "4602 instructions" in tracestub("info", *log.files).stdout
    assert "2301 instructions" in tracestub("info", log.files[0]).stdout
    pathlib.Path(log.files[1]).write_bytes((SAMPLES / "sogen-walk64.log.gz").read_bytes()[:4000])
    out = tracestub("info", *log.files).stdout
    assert "4602 instructions" not in out, out


@case
def commands_that_write_files_take_several_logs():
    log = Threads()
    info = json.loads(tracestub("info", "--json", *log.files).stdout)
    assert [thread["name"] for thread in info["thread_list"]] == ["t.0.log", "t.12.log.gz"], info
    frames, picture = log.folder / "out.tf", log.folder / "out.svg"
    done = tracestub("export", *log.files, "-o", frames)
    assert done.returncode == 0 and "4603 frames" in done.stdout + done.stderr, done
    done = tracestub("plot", *log.files, "-o", picture, "--exec", log.exec)
    assert done.returncode == 0 and picture.read_text().startswith("<"), done
    done = tracestub("diff", *log.files)
    assert done.returncode == 0 and "positions" not in done.stderr, done


@case
def a_log_that_has_grown_is_read_anew():
    log = Log()
    data = pathlib.Path(log.trace).read_bytes()
    half = data.index(b"\n", len(data) // 2) + 5      # in the middle of a line
    pathlib.Path(log.trace).write_bytes(data[:half])
    n = data[:half].count(b"\n") - 1
    assert tracestub("index", log.trace).returncode == 0
    assert f"positions     0..{n}:" in tracestub("info", log.trace).stdout
    with open(log.trace, "ab") as file:
        file.write(data[half:])
    out = tracestub("info", log.trace).stdout
    assert "positions     0..2301:" in out and "no line end" not in out, out


@case
def a_list_of_images_is_not_read_through_a_link():
    log = Log("t.0", gzip.decompress((SAMPLES / "wtf-walk64.log.gz").read_bytes()))
    images = log.folder / "elsewhere"
    images.write_text("Loaded image: 0x400000:0x404fff -> walk64\n")
    (log.folder / "t.log").symlink_to(images)
    for options in (), ("--no-sandbox",):
        assert "0x400000-0x404fff" not in tracestub("info", log.trace, *options).stdout
    (log.folder / "t.log").unlink()
    images.rename(log.folder / "t.log")
    assert "0x400000-0x404fff walk64" in tracestub("info", log.trace).stdout


@case
def line_ends_of_windows_change_nothing():
    text = gzip.decompress((SAMPLES / "wtf-walk64.log.gz").read_bytes())
    log, other = Log(), Log("crlf", text.replace(b"\n", b"\r\n"))
    assert tracestub("diff", log.trace, other.trace).stdout.count("\n") == 1
    assert "warnings      0" in tracestub("info", other.trace).stdout


@case
def other_files_are_no_threads():
    log = Log()
    other = log.folder / "t.3.log"
    other.write_bytes(gzip.decompress((DATA / "x64dbg-samples/fib64.trace64.gz").read_bytes()))
    first = log.folder / "t.0.log"
    first.write_bytes(pathlib.Path(log.trace).read_bytes())
    done = tracestub("index", first, other)
    assert done.returncode and "t.3.log: its format is x64dbg, not tenet" in done.stderr, done
    done = tracestub("index", other, first)
    assert done.returncode and "a recording of format x64dbg is one file" in done.stderr, done


@case
def what_is_no_log_is_refused():
    for text, word in ((b"", "empty"), (b"rip=0x1\n", "one line only"), (b"rax=0x1\n" * 9, "has rip, eip or pc")):
        done = tracestub("info", "--format", "tenet", Log("bad", text).trace)
        assert done.returncode == 1 and word in done.stderr, done


@case
def lldb_steps_and_shows_the_stack():
    log = Log()
    with Server(log.trace, "--exec", log.exec) as server:
        argv = [lldb_path(), "--no-lldbinit", "--batch", "-o", f"target create {log.exec}",
                "-o", "settings set target.process.disable-memory-cache true", "-o", f"gdb-remote {server.address}",
                "-o", "breakpoint set -n push", "-o", "continue", "-o", "thread backtrace", "-o", "stepi",
                "-o", "register read rip", "-o", "quit"]
        text = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=environment(), stdin=subprocess.DEVNULL).stdout
    assert re.search(r"frame #0: .*push\(v=-30\)", text) and re.search(r"frame #1: .*walk", text), text
    assert re.search(r"rip = 0x0+401037", text), text


run_cases()
