#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Costs that are products of two numbers of a client: packets and their size, terms of a condition and the looks at memory of
each.  And the time to "Listening", which no file makes longer than a bound."""
import contextlib
import os
import pathlib
import struct
import tempfile

import _hostile
import _pairs
from _raw import LONG_TRACE, TRACE, Quiet, serve
from _server import Server
from _tap import IS_SANITIZED, TRACESTUB, add_case, case, run_cases

FOLDER = pathlib.Path(tempfile.mkdtemp())


def text(command):
    return "qRcmd," + command.encode().hex()


# ------------------------------------------------------------------------------------------ packets x size

LOCATION = "401044"


def expression(size):
    """A valid one: pushes and pops, and at last 0."""
    code = "220029" * ((size - 3) // 3) + "220027"
    return f"X{len(code) // 2:x},{code}"


STATEFUL = {
    "notes": ([], lambda i, size: "QTNotes:user:" + "41" * size + ";"),
    "sources": ([f"QTDP:1:{LOCATION}:E:0:0"], lambda i, size: f"QTDPsrc:1:{LOCATION}:cmd:0:{size:x}:" + "41" * size),
    "variables": ([], lambda i, size: f"QTDV:5:{i:x}:0:" + "76" * size),
    "actions": ([f"QTDP:1:{LOCATION}:E:0:0-"], lambda i, size: f"QTDP:-1:{LOCATION}:" + f"X{size:x}," + "22" * size),
    "tracepoints": ([], lambda i, size: f"QTDP:{i % 4096 + 1:x}:{0x401000 + i:x}:E:0:0:X{size:x}," + "22" * size),
    "breakpoints": ([], lambda i, size: f"Z0,{0x400000 + i:x},1;" + expression(size)),
    "commands": ([], lambda i, size: f"Z0,{0x400000 + i:x},1;cmds:0," + expression(size)),
    "system calls": ([], lambda i, size: "QCatchSyscalls:1;" + ";".join(map(str, range(i, i + size // 4)))),
    "files": ([], lambda i, size: "vFile:open:" + "2f" * (size - 12) + b"/proc/1/maps".hex() + ",0,0"),
    "marks": ([], lambda i, size: text(f"mark m{i % 7} at 7 " + "x" * (size // 4))),
}
PACKETS, SIZE = 6000, 4000       # 24 MB, 48 MB as hex digits: 16 MB of one kind may be defined
SLOW = {"marks": 300}             # each of these is a file that is written, and on the disk before the answer


def peak(pid):
    """KiB."""
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0])


def memory_of(first, packet, n, size, *options):
    """What @n packets of @size add to a server's memory, in KiB."""
    trace = FOLDER / "t.ucir"
    trace.write_bytes(pathlib.Path(TRACE).read_bytes())
    with serve(str(trace), "--index", "none", *options) as server, Quiet(server.address) as client:
        client.ask("QTinit")
        for one in first:
            client.ask(one)
        before = peak(server.pid)
        for i in range(n):
            client.send(packet(i, size))
            if i % 16 == 15 or i + 1 == n:
                for _ in range(i % 16 + 1):
                    while (reply := client.receive()).startswith("O") and reply != "OK":
                        pass
        return peak(server.pid) - before


def packets_times_size(kind):
    """What a client defines is bounded, whatever it sends."""
    grown = memory_of(*STATEFUL[kind], SLOW.get(kind, PACKETS), SIZE)
    assert grown < 20 << 10, (kind, grown)


def max_memory_counts(kind):
    """Half of --max-memory is for what clients define, since arrays double; a client's connection is beside it."""
    grown = memory_of(*STATEFUL[kind], SLOW.get(kind, PACKETS // 3), SIZE, "--max-memory", "2M")
    assert grown < 3 << 10, (kind, grown)


for _kind in STATEFUL:
    add_case(f"packets times their size: {_kind}", packets_times_size, _kind)
for _kind in STATEFUL:
    add_case(f"--max-memory counts {_kind}", max_memory_counts, _kind)


# ----------------------------------------------------------------------------- clients x open files x regions

def answer(client, packet):
    """The answer, without what is shown on the console before it."""
    client.send(packet)
    while (reply := client.receive()).startswith("O") and reply != "OK":
        pass
    return reply


def opened(client, n):
    """The descriptors of as many lists of regions, of @n, as may be open at once."""
    fds = [answer(client, "vFile:open:" + b"/proc/1/maps".hex() + ",0,0") for _ in range(n)]
    assert set(fd for fd in fds if fd[1] == "-") <= {"F-1,18"}, fds    # EMFILE
    return [fd for fd in fds if fd[1] != "-"]


@case
def open_files_times_regions():
    """Each open file is a text of its own, here of 400 KB: 64 for each client were 850 MB for 32 clients."""
    trace = FOLDER / "regions.ucir"
    _pairs.write("modules_system_calls", 5000, 100, trace)
    for n_clients, most, options in (1, 20, ()), (8, 8, ("--max-memory", "8M")):
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(serve(str(trace), "--index", "none", *options))
            clients = [stack.enter_context(Quiet(server.address)) for _ in range(n_clients)]
            for client in clients:
                answer(client, text("goto end"))
            before = peak(server.pid)
            fds = [opened(client, 64) for client in clients]
            assert peak(server.pid) - before < most << 10, (n_clients, peak(server.pid) - before)
            for client, own in zip(clients, fds):
                assert all(answer(client, "vFile:close:" + fd[1:]) == "F0" for fd in own)
            assert len(opened(clients[-1], 64)) == len(fds[0]) > 3, fds


# ------------------------------------------------------------------------------------------- terms x looks

def looks(n):
    """An agent expression that looks at @n places of memory, 4,112 bytes apart, and is never true."""
    base, step = 0x7ffffffde000, 8
    head = b"\x25" + struct.pack(">Q", base)                                            # const64
    body = b"\x28\x1a\x29\x24" + struct.pack(">I", step) + b"\x02\x28\x25" + struct.pack(">Q", base + step * n)
    end = b"\x15\x20" + struct.pack(">H", len(head)) + b"\x29\x22\x00\x27"              # less_unsigned, if_goto, pop, 0, end
    return (head + body + end).hex()


def worst_wait(pid, other, seconds_of_loop=0.6):
    """The most processor time, in milliseconds, that the server's loop takes before it answers another client."""
    stat, worst = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat"), 0
    start = last = int(stat.read_text().split()[0])
    while last - start < seconds_of_loop * 1e9:
        other.ask("qC")
        now = int(stat.read_text().split()[0])
        waited = now - last
        last = now
        worst = max(worst, waited)
        if waited < 20_000:     # nothing else runs any more
            break
    return worst / 1e6


@case
def terms_times_looks():
    """16 terms of 250 looks took 80 ms of every slice, and seconds in other formats: one budget is for all terms of a row."""
    worst = {}
    for terms, n in (1, 240), (16, 240):
        condition = " || ".join([f"agent {looks(n)}"] * terms)
        for verb in "executions 0x400000:0x500000", "calls":
            with serve(LONG_TRACE) as server, Quiet(server.address) as client, Quiet(server.address) as other:
                processor = {min(os.sched_getaffinity(0))}      # of both: the kernel then counts exactly
                os.sched_setaffinity(server.pid, processor)
                os.sched_setaffinity(0, processor)
                other.ask("qC")
                client.send(text(f"{verb} first 5 if {condition}"))
                worst[verb, terms, n] = min(worst_wait(server.pid, other), worst_wait(server.pid, other))
    assert max(worst.values()) < (60 if not IS_SANITIZED else 25 * 60), worst


# ---------------------------------------------------------------------------------------------- "Listening"

LISTENING_LIMIT = 1.0       # seconds of the processor; most files need 0.1


def time_to_listening(path):
    """The processor's time until the server listens, in seconds, as all its threads had it."""
    with Server(str(path), "--index", "none") as server:
        threads = pathlib.Path(f"/proc/{server.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def listens(write, *numbers):
    path = FOLDER / "hostile"
    write(*numbers, path)
    took = time_to_listening(path)
    assert took < LISTENING_LIMIT * (10 if IS_SANITIZED else 1), (numbers, took, path.stat().st_size)


LONG = {"x64_json": 100000, "x64_threads": 10000, "bap_threads": 10000, "bap_modules": 15000, "tf_nested": 20000, "x64_sessions": 2000, "x64_damage": 2000, "x64_nested": 2000,
        "tf_ranges": 20000, "bap_operands": 8000, "rvn_registers": 20000}
# a loader of these reads all of the file before it has a model, linearly; 1 MB is enough to see a product
for _name in sorted(_hostile.FAMILIES):
    add_case(f"listens soon: {_name}", listens, _hostile.write, _name, LONG.get(_name, 25000))
for _name, _numbers in _pairs.FAMILIES.items():
    add_case(f"listens soon: {_name}", listens, _pairs.write, _name, *(2 * number for number in _numbers))

run_cases()
