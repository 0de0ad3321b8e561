#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb in a recording of its own: what gdb 13 cannot do there by itself."""
import gzip
import json
import pathlib
import re
import shutil
import subprocess

from _gdbrecord import Core
from _lldb import environment, lldb_path
from _server import Server
from _tap import DATA, LIMIT, TRACESTUB, case, run_cases, skip

SAMPLES = DATA / "gdbrecord-samples"


def sample(name):
    path = pathlib.Path(f"{name}.core")
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.core.gz").read_bytes()))
    return path


def pcs(name):
    now = None
    for line in gzip.open(SAMPLES / f"{name}.oracle.gz", "rt"):
        now = json.loads(line)["regs"].get("rip", now)
        yield int(now, 16)


def gdb(name, *commands, exec_name=None):
    shutil.which("gdb") or skip("no gdb")
    argv = [TRACESTUB, "gdb", sample(name), SAMPLES / (exec_name or name), "--", "-nx", "-q", "-batch"]
    done = subprocess.run([*argv, *(a for c in commands for a in ("-ex", c))], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


def symbol(name, of):
    text = subprocess.run(["nm", SAMPLES / of], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", text, re.M)[1], 16)


def stops(text):
    return [int(k) for k in re.findall(r"^position (\d+) ", text, re.M)]


@case
def breakpoints_stop_forwards_and_backwards_where_the_oracle_is():
    start = symbol("fib", "walk64")
    where = [k for k, pc in enumerate(pcs("walk64")) if pc == start]
    assert len(where) > 8, where
    text = gdb("walk64", f"break *{start:#x}", *["continue", "when"] * 8)
    assert stops(text) == where[:8], (stops(text), where)
    text = gdb("walk64", "goto end", f"break *{start:#x}", *["reverse-continue", "when"] * 8)
    assert stops(text)[1:] == where[::-1][:8], (stops(text), where)


@case
def every_step_back_is_the_oracles():
    true = list(pcs("walk64"))
    text = gdb("walk64", "goto 300", *["reverse-stepi", "output/x $pc", "echo \\n"] * 60)
    shown = [int(pc, 16) for pc in re.findall(r"^(0x[0-9a-f]+)$", text, re.M)]
    assert shown == true[299:239:-1], shown[:5]


@case
def a_signal_stops_with_its_name_and_its_handler_follows():
    text = gdb("sys64", "handle SIGUSR1 stop print", "continue", "when", "stepi", "when", "info symbol $pc")
    assert "SIGUSR1" in text and len(stops(text)) == 2 and stops(text)[1] == stops(text)[0] + 1, text


@case
def what_the_memory_was_before_it_was_unmapped():
    """A page is mapped, written, and unmapped: its bytes before each write are in the log, and nothing is known after."""
    text = subprocess.run([TRACESTUB, "query", sample("sys64"), "history", "0x7ffff7ff5000,8", "--json", "--quiet"],
                          capture_output=True, text=True, timeout=LIMIT).stdout
    rows = [json.loads(line) for line in text.splitlines()[:-1]]
    assert rows and all(row["new"] is None for row in rows), rows


@case
def positions_of_a_full_ring_begin_where_it_does():
    """The oldest of 2,297 instructions were dropped: the core file is of the moment after them."""
    true = list(pcs("ring64"))
    text = gdb("ring64", "output/x $pc", "echo \\n", "when", "goto end", "output/x $pc", "echo \\n", exec_name="walk64")
    shown = [int(pc, 16) for pc in re.findall(r"^(0x[0-9a-f]+)$", text, re.M)]
    assert shown == [true[0], true[-1]] and stops(text) == [0, 1000], text
    out = subprocess.run([TRACESTUB, "info", sample("ring64")], capture_output=True, text=True, timeout=LIMIT).stdout
    assert "gdb's counts begin at 1298" in out, out


@case
def threads_that_were_not_recorded_are_not_shown():
    out = subprocess.run([TRACESTUB, "info", sample("threads64")], capture_output=True, text=True, timeout=LIMIT).stdout
    assert re.search(r"one of 2 threads was recorded: the others are not shown", out), out
    assert re.search(r"^threads +1$", out, re.M), out


@case
def a_core_file_without_a_recording_is_refused_by_that_name():
    data = bytearray(sample("walk64").read_bytes())
    data[64:68] = (6).to_bytes(4, "little")      # the log's segment is now of another kind
    pathlib.Path("plain.core").write_bytes(data)
    done = subprocess.run([TRACESTUB, "info", "plain.core"], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1 and "a core file without a recording" in done.stderr, done


@case
def a_log_of_gdb_18_is_served_up_to_its_damage():
    data = sample("gdb18-walk64").read_bytes()
    core, path = Core(data), pathlib.Path("damaged.core")
    ends = [group.end for group in core.groups()]

    def info(changed):
        path.write_bytes(changed)
        done = subprocess.run([TRACESTUB, "info", path, "--index", "none"], capture_output=True, text=True, timeout=LIMIT)
        found = re.search(r"^positions +0\.\.(\d+)", done.stdout, re.M)
        return int(found[1]) if found else None, done

    assert info(data)[0] == len(ends) == 2301
    for k in 1, 2, 1000, 2300:
        for cut in ends[k - 1], ends[k - 1] + 1, ends[k - 1] + 13, ends[k] - 1:
            n, done = info(data[:cut])
            assert n == k and done.returncode == 0, (k, cut, done)
    for at, byte, reason in (ends[999] + 21, 7, "a record of type 7"), (ends[999] + 12, 200, "register 200 has no known size"), \
            (ends[999] + 12, 3, "register 3 is not the pc"):
        n, done = info(data[:at] + bytes([byte]) + data[at + 1:])
        assert n == 1000 and reason in done.stdout + done.stderr and done.returncode == 0, (at, done)
    n, done = info(data[:core.log.off + 10])
    assert n is None and done.returncode == 1 and "no whole instruction is recorded" in done.stderr, done


@case
def lldb_steps_and_goes_back():
    true = list(pcs("walk64"))
    with Server(str(sample("walk64")), "--exec", str(SAMPLES / "walk64")) as server:
        argv = [lldb_path(), "--no-lldbinit", "--batch", "-o", f"target create {SAMPLES / 'walk64'}",
                "-o", "settings set target.process.disable-memory-cache true", "-o", f"gdb-remote {server.address}",
                "-o", "breakpoint set -n push", "-o", "continue", "-o", "thread backtrace", "-o", "breakpoint delete --force",
                "-o", "stepi", "-o", "register read rip", "-o", "process plugin packet monitor direction reverse", "-o", "stepi",
                "-o", "register read rip", "-o", "quit"]
        text = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=environment(), stdin=subprocess.DEVNULL).stdout
    at = true.index(symbol("push", "walk64"))
    assert re.search(r"frame #0: .*push\(v=-30\)", text) and re.search(r"frame #1: .*walk", text), text
    assert [int(pc, 16) for pc in re.findall(r"rip = (0x[0-9a-f]+)", text)] == [true[at + 1], true[at]], text


@case
def constants_that_gdb_did_not_copy_come_from_the_program():
    """gdb copies no pages of files that were not written. The format of a printf in main is one of them."""
    text = gdb("dyn64", "x/s 0x555555556008")
    assert '"%s %ld %.2f"' in text, text
    other = subprocess.run([TRACESTUB, "info", sample("dyn64"), "--exec", SAMPLES / "walk64"], capture_output=True, text=True,
                           timeout=LIMIT)
    assert other.returncode == 0 and "not the program that was recorded" in other.stdout, other


@case
def a_system_call_of_aarch64_writes_its_result_alone():
    """gdb lists x30 and cpsr as changed by each svc (aarch64_linux_syscall_record), which Linux preserves."""
    core = sample("list-aarch64")
    for register, at in (("$x0", 1202), ("$x30", 173), ("$cpsr", 1197)):
        for question in (f"last-write {register} at 1203", f"history {register} in 0:1203 last 1", f"why {register} at 1203"):
            done = subprocess.run([TRACESTUB, "query", core, question], capture_output=True, text=True, timeout=LIMIT)
            rows = [line.split("\t") for line in done.stdout.splitlines()]
            column = rows[0].index("position")
            assert rows[1][column] == str(at), (question, done)


run_cases()
