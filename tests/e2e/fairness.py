#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No packet holds the other clients up: each is sent with its worst arguments while another client asks for little.

What is measured is the processor time of the server's event loop, from the packet to the other client's answer: it does
not depend on what else the machine does.  The best of several tries counts, because caches and interrupts do matter.
The loop shares a processor with this program, because the kernel counts the time of a thread that runs at the clock's
ticks only, every 4 ms or 10 ms, and that of one that was made to wait exactly.
"""
import os
import pathlib
import struct

import _hostile
from _raw import LONG_TRACE, Quiet, serve
from _tap import IS_SANITIZED, TRACESTUB, add_case, run_cases

LIMIT_MS, TRIES = 5, 5


def limit_ms():
    """AddressSanitizer makes everything slower, and memory that is mapped and unmapped most of all."""
    return LIMIT_MS * (60 if IS_SANITIZED else 1)


def text(command):
    return "qRcmd," + command.encode().hex()


FAR, ALL = "ffffffffffffffff", "0:ffffffffffffffff"
PACKETS = {
    "memory": [f"m0,{FAR}", "m401000,7fff", f"x401000,{FAR}", "m7ffffffde000,21000"],
    "searches": [f"qSearch:memory:0;{FAR};zzzzzz", "qSearch:memory:0;4000000;\0", "qSearch:memory:401000;4000000;" + "\x90" * 9000,
                 "qCRC:401000,4000000", "qCRC:401000,1000"],
    "registers": ["g", "p0", "pffff", "P0=" + "0" * 16, "G" + "0" * 30000],
    "runs": ["c", "bc", "s", "bs", "vCont;c", "vCont;r0,7fffffffffffffff", "vCont;r401000,401001"],
    "threads": ["qfThreadInfo", "qsThreadInfo", "jThreadsInfo", "qThreadExtraInfo,1", "T1", "H g-1", "Hg1", "qC", "?"],
    "documents": [f"qXfer:{what}:read:{annex}:0,7fff" for what, annex in
                  (("features", "target.xml"), ("threads", ""), ("libraries-svr4", ""), ("exec-file", ""), ("auxv", ""),
                   ("siginfo", ""), ("traceframe-info", ""), ("memory-map", ""), ("osdata", "processes"))],
    "trace frames": [f"QTFrame:range:{ALL}", f"QTFrame:outside:{ALL}", "QTFrame:range:0:1000", "QTFrame:pc:0", "QTFrame:tdp:9",
                     "QTFrame:outside:401001:7fffffffffff", "QTFrame:1000", "qTBuffer:0,7fff", "qTBuffer:fffff,7fff", "QTFrame:-1"],
    "tracepoints": ["qTStatus", "qTfP", "qTsP", "qTfV", "qTsV", "qTP:1:401000", "QTDPsrc:1:401000:cond:0:1:30", "QTBuffer:size:-1",
                    "QTDV:1:0:0:61", "QTNotes:user:61"],
    "regions": ["qMemoryRegionInfo:0", f"qMemoryRegionInfo:{FAR}", "qHostInfo", "qProcessInfo", "qOffsets", "qSymbol::"],
    "files": ["vFile:setfs:0", "vFile:open:" + b"/proc/1/maps".hex() + ",0,0", "vFile:pread:5,7fff,0", "vFile:close:5",
              "vFile:readlink:" + b"/proc/1/exe".hex()],
    "breakpoints": ["Z2,0,ffffffff", "Z3,0,ffffffff", "Z4,0,ffffffff", "z2,0,ffffffff", "z3,0,ffffffff", "z4,0,ffffffff",
                    "Z0,401000,1;X3,220027", "z0,401000,1"],
    "commands": [text(c) for c in ("when", "goto 200000", "goto 1", "help", "info", "history $rax first 5", "coverage first 5",
                                   "last-write 0x404000,8", "last-write $cs", "find ffeeddccbbaa99", "hot first 5", "why $rax",
                                   "strings 40 first 5", "calls first 5", "stack", "executions 0x401000 first 5", "why branch",
                                   "events first 5", "goto next-access 0x7ffffff00000,100000", "no such command")],
    "places": [text(c) for c in ("when at previous change $r8", "when at previous access 0x40cb60,8", "when at previous fault",
                                 "when at previous switch", "history $rax in previous change $r8: first 5",
                                 "calls in previous return:end first 5", "events in 0:previous syscall",
                                 "executions 0x401000 in next exec 0x401000: at 0")],
}


class Loop:
    """The processor time of a server's event loop, in milliseconds."""

    def __init__(self, pid):
        processor = {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(0, processor)
        os.sched_setaffinity(pid, processor)
        self.file = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat")

    def now(self):
        return int(self.file.read_text().split()[0]) / 1e6


def finish(client):
    while (reply := client.receive()).startswith("O") and reply != "OK":
        pass
    return reply


def is_fair(packets, trace=LONG_TRACE):
    limit = limit_ms()
    with serve(trace) as server, Quiet(server.address) as client, Quiet(server.address) as other:
        client.ask(text("goto end"))
        loop = Loop(server.pid)
        for packet in packets:
            best = limit
            for _ in range(TRIES):
                begin = loop.now()
                client.send(packet)
                other.ask("qC")
                best = min(best, loop.now() - begin)
                finish(client)
                if best < limit:
                    break
            assert best < limit, (packet[:80], best)


def thousands_of_libraries():
    """None of them is on this machine, or can be placed."""
    trace = "modules.frames"
    _hostile.write("bap_modules", 4096, pathlib.Path(trace))
    is_fair(["qSupported:swbreak+", "qXfer:libraries-svr4:read::0,7fff", "vFile:open:" + b"/lib/4000".hex() + ",0,0",
             "vFile:open:" + b"/lib/nowhere".hex() + ",0,0", "vFile:open:" + b"/proc/1/maps".hex() + ",0,0"], trace)


N_SYMBOLS, IMAGE_ADDR = 200_000, 0x70000000


def write_program(path):
    """A program of nothing but N_SYMBOLS functions."""
    names = b"\0" + b"".join(b"function_%d\0" % i for i in range(N_SYMBOLS))
    symbols, at = [bytes(24)], 1
    for i in range(N_SYMBOLS):
        symbols.append(struct.pack("<IBBHQQ", at, 0x12, 0, 1, IMAGE_ADDR + 16 * (i * 7919 % N_SYMBOLS), 16))
        at += len(b"function_%d\0" % i)
    symbols = b"".join(symbols)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, IMAGE_ADDR, 64, 120 + len(symbols) + len(names),
                       0, 64, 56, 1, 64, 3, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, IMAGE_ADDR, IMAGE_ADDR, 4096, 16 * N_SYMBOLS, 4096)
    sections = [bytes(64), struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 120, len(symbols), 2, 1, 8, 24),
                struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 120 + len(symbols), len(names), 0, 0, 1, 0)]
    path.write_bytes(head + segment + symbols + names + b"".join(sections))


def time_of_first_question(question, program):
    """Of the loop of a new server, until it has answered another client."""
    with serve(LONG_TRACE, "--image", program) as server, Quiet(server.address) as client, Quiet(server.address) as other:
        loop = Loop(server.pid)
        begin = loop.now()
        client.send(text(question))
        other.ask("qC")
        took = loop.now() - begin
        assert finish(client) == "OK", question
        return took


def reads_symbols_aside():
    """The first question with a name needs the names of all files."""
    limit = limit_ms()
    program = pathlib.Path("program.elf")
    write_program(program)
    for question in f"executions function_{N_SYMBOLS - 1} first 5", "history $rax first 5":
        best = min(time_of_first_question(question, program) for _ in range(TRIES))
        assert best < limit, (question, best)


def longest_wait(question):
    """Of the loop's time, while the question is answered, between two answers to another client."""
    with serve(LONG_TRACE, "--image", TRACESTUB) as server, Quiet(server.address) as client, Quiet(server.address) as other:
        for first in "goto end", "coverage first 1":  # the names of the files are there
            client.send(text(first))
            finish(client)
        loop, longest = Loop(server.pid), 0
        client.send(text(question))
        while b"$OK#" not in client.data:
            begin = loop.now()
            other.ask("qC")
            longest = max(longest, loop.now() - begin)
            client.has_something(0.001)
            assert b"$E" not in client.data, (question, client.data)
        return longest


def prints_in_slices():
    """Text waits until the columns are chosen, and `last` until the search is over: in one piece 200 ms."""
    limit = 6 * limit_ms()  # two slices and what they send may lie between two answers: 10 to 19 ms were seen
    waits = [limit]
    while len(waits) <= TRIES and min(waits) >= limit:
        waits.append(longest_wait("history $rax last 50000"))
    assert min(waits) < limit, waits


add_case("long answers", prints_in_slices)
add_case("thousands of libraries", thousands_of_libraries)
add_case("symbols", reads_symbols_aside)
for topic, packets in PACKETS.items():
    add_case(topic, is_fair, packets)
run_cases()
