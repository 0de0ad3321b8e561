#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracepoints that are set after the recording was made, in stock gdb: trace, actions, tstart, tfind, tdump, tsave."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from _gdb import Gdb
from _raw import Raw
from _record import LIMIT, record, recorder
from _recording import Recording
from _rsp import Rsp
from _sentences import END_OF_HISTORY
from _server import Server
from _tap import TRACESTUB, case, run_cases

SORT_ACTIONS = """actions
collect $regs, $args, $locals, total, head, *head, a[0]@8
collect $calls, $trace_timestamp
teval $calls = $calls + 1
while-stepping 5
collect $regs
end
end"""
FIB_ACTIONS = "actions\ncollect $regs, n, $calls\nteval $calls = $calls + 1\nend"

# What the frames of the session above have of sort's hit, of its steps, and of fib.
REGS = ["$rax", "$rbx", "$rcx", "$rdx", "$rsi", "$rdi", "$rbp", "$rsp", "$r8", "$r15", "$pc"]
SORT = REGS + ["n", "a", "total", "head", "*head", "a[0]@8"]
FIB = REGS + ["n"]
N_STEPS, N_FIB = 5, 5


def collect(g):
    for command in "tvariable $calls = 7", "trace sort", SORT_ACTIONS, "trace fib if n == 5", FIB_ACTIONS, "tstart":
        g(command)
    g("tstatus")
    g.expect(f"Collected {1 + N_STEPS + N_FIB} trace frames")


def frames(g):
    """Goes to one frame after the other; its number and that of its tracepoint."""
    k = 0
    while True:
        g(f"tfind {k}")
        found = re.search(rf"Found trace frame {k}, tracepoint (\d+)", g.text)
        if not found:
            return
        yield k, int(found[1])
        k += 1


def texts(g, expressions):
    return [g(f"output {e}") for e in expressions]


@case
def tstatus_says_that_all_was_collected():
    with Gdb("x64_walk") as g:
        collect(g)
        g("tstatus")
        g.expect(r"Trace stopped by a tstop command \(the end of the recording\)")


@case
def each_collected_value_is_the_one_that_stepping_there_shows():
    with Gdb("x64_walk") as g:
        collect(g)
        seen = []
        for k, number in frames(g):
            names = FIB if number == 2 else SORT if len(seen) == N_FIB else REGS
            seen.append((names, texts(g, names), g.address("$pc")))
            g("monitor goto frame")
            position = int(g.expect(r"position (\d+)")[1])
            assert g.recording.pcs()[position] == seen[-1][2]
            seen[-1] += (position,)
        assert [s[0] for s in seen] == [FIB] * N_FIB + [SORT] + [REGS] * N_STEPS
        g("tfind none")
        g("monitor goto begin")
        g("monitor announce")
        g("stepi")
        at = 0
        for names, collected, _, position in seen:
            g(f"stepi {position - at}")
            at = position
            assert g.position() == position
            live = texts(g, names)
            assert collected == live, [x for x in zip(names, collected, live) if x[1] != x[2]]
            assert not any("unavailable" in t for t in live), live


@case
def variables_count_over_all_hits_in_order_of_time():
    with Gdb("x64_walk") as g:
        collect(g)
        for i in range(N_FIB + 1):
            g(f"tfind {i}")
            assert g.value("$calls") == 7 + i
        assert g.recording.pcs()[g.value("$trace_timestamp")] == g.address("$pc")
        g("tfind none")
        assert g.value("$trace_timestamp") == len(g.recording.pcs()) - 1
        g("info tvariables")
        g.expect(rf"\$calls +7 +{7 + N_FIB + 1}\b")


@case
def what_was_not_collected_is_unavailable_and_comes_back_after_it():
    with Gdb("x64_walk") as g:
        collect(g)
        g("tfind start")
        g("output total")
        g.expect("<unavailable>")
        g("output n")
        g.expect("^5$")
        g("tfind none")
        assert g.value("total") == 0
        assert g.position() == 0
        g("stepi")
        assert g.position() == 1


@case
def tdump_of_a_saved_run_is_the_same_in_another_gdb():
    with Gdb("x64_walk") as g, Gdb("x64_walk", connect=None) as other:
        g("tvariable $calls = 7")
        g("trace sort")
        g(SORT_ACTIONS.replace("$regs", "$rip, $rax, $rsp"))
        g("trace fib if n == 5")
        g(FIB_ACTIONS.replace("$regs", "$rip"))
        g("tstart")
        g("tstatus")
        saved = os.path.join(g.folder, "saved.tf")
        dumps = []
        for k, _ in frames(g):
            g("tdump")
            dumps.append(g.text)
        assert len(dumps) == 1 + N_STEPS + N_FIB and "total = " in "".join(dumps)
        g("tfind none")
        g(f"tsave {saved}")
        g.expect("Trace data saved")
        other(f"target tfile {saved}")
        other.expect("Created tracepoint 2 for target's tracepoint 2")
        for k, dump in enumerate(dumps):
            other(f"tfind {k}")
            assert other("tdump") == dump, (k, dump, other.text)
        other("tstatus")
        other.expect(f"Collected {len(dumps)} trace frames")


@case
def the_server_saves_a_run_with_what_is_not_known():
    folder = tempfile.mkdtemp(prefix="export-")
    try:
        with Gdb("x64_walk", "--export-dir", folder) as g:
            collect(g)
            dumps = []
            for k, _ in frames(g):
                g("info registers")
                dumps.append(g.text)
                g("tdump")
                dumps[-1] += "".join(line for line in g.text.splitlines() if not line.startswith(("xmm", "st", "mxcsr")))
            for name in "../x.tf", "a/x.tf", "/tmp/x.tf", ".x.tf":
                g(f"tsave -r {name}")
                g.expect("files are saved under plain names")
            g("tsave -r run.tf")
            g.expect("Trace data saved")
            g("monitor export again.tf")
            g.expect(f"saving {len(dumps)} trace frames")
            assert sorted(os.listdir(folder)) == ["again.tf", "run.tf"]
            g("tsave -r run.tf")
            g.expect("Trace data saved")
            os.mkdir(f"{folder}/folder")
            g("tsave -r folder")
            g.expect("is not a regular file")
            with Gdb("x64_walk", connect=None) as other:
                other(f"target tfile {folder}/run.tf")
                for k, dump in enumerate(dumps):
                    other(f"tfind {k}")
                    other("info registers")
                    text = other.text
                    other("tdump")
                    text += "".join(line for line in other.text.splitlines() if not line.startswith(("xmm", "st", "mxcsr")))
                    assert text == dump, (k, dump, text)
    finally:
        shutil.rmtree(folder)
    with Gdb("x64_walk") as g:
        g("tsave -r run.tf")
        g.expect("without --export-dir")


def check_the_only_position(g, server):
    """Nothing is known there.  gdb alone gets a pc, which it cannot do without."""
    for _ in range(2):
        g("monitor when")
        g.expect(r"position 0 of 0 \(100.00%\), thread 1.1, pc unknown")
        g("stepi")
        g.expect(END_OF_HISTORY)
    g("monitor info")
    g.expect("pc: not recorded at this position; gdb is given all ones")
    g("print $pc")
    g.expect("0xffffffffffffffff")
    g("print $rsp")
    g.expect("<unavailable>")
    with Rsp(server.address) as client:
        assert client.ask("p10") == "E14", client.ask("p10")


@case
def a_run_that_was_never_hit_is_saved_and_served_again():
    folder = tempfile.mkdtemp(prefix="export-")
    try:
        with Gdb("x64_walk", "--export-dir", folder) as g:
            g("trace fib if n == 12345")
            g(FIB_ACTIONS)
            g("tstart")
            g("tstatus")
            g.expect("Collected 0 trace frames")
            g("tsave -r none.tf")
            g.expect("Trace data saved")
            code = g("x/8xb main")
        recording = Recording("x64_walk")
        with Server(f"{folder}/none.tf", "--exec", recording.exec) as server, Gdb("x64_walk", connect=None) as other:
            other(f"target remote {server.address}")
            other("tstatus")
            other.expect("Collected 0 trace frames")
            other("info tracepoints")
            other.expect("n == 12345")
            other("tfind start")
            other.expect("failed to find|No trace frame found")
            assert other("x/8xb main") == code
            other("x/8xb $sp")
            other.expect("Cannot access memory|not available|unavailable")
            check_the_only_position(other, server)
        facts = json.loads(subprocess.run([TRACESTUB, "info", "--json", f"{folder}/none.tf"], capture_output=True, text=True, timeout=60).stdout)
        assert (facts["positions"], facts["pc_first"], facts["pc_last"], facts["registers"]["known"]) == (0, None, None, []), facts
    finally:
        shutil.rmtree(folder)


@case
def a_client_cannot_save_over_what_is_served():
    folder = tempfile.mkdtemp(prefix="export-")
    try:
        trace, program = (shutil.copy(path, folder) for path in (Recording("x64_walk").trace, Recording("x64_walk").exec))
        with Server(trace, "--exec", program, "--export-dir", folder) as server, Rsp(server.address) as r:
            for path in trace, program:
                with open(path, "rb") as f:
                    before = f.read()
                reply = r.ask("QTSave:" + os.path.basename(path).encode().hex())
                assert reply.startswith("E"), reply
                with open(path, "rb") as f:
                    assert f.read() == before
            assert r.ask("QTSave:" + b"other.tf".hex()) == "OK"
    finally:
        shutil.rmtree(folder)


@case
def the_run_that_nobody_set_is_saved_as_well():
    with Gdb("x64_crash") as g:
        saved = os.path.join(g.folder, "saved.tf")
        g("tstatus")
        n = int(g.expect(r"Collected (\d+) trace frames")[1])
        g(f"tsave {saved}")
        g.expect("Trace data saved")
        with Gdb("x64_crash", connect=None) as other:
            other(f"target tfile {saved}")
            for k in (0, n // 2, n - 1):
                g(f"tfind {k}")
                other(f"tfind {k}")
                other.expect(f"Found trace frame {k}, tracepoint 1")
                assert texts(other, REGS) == texts(g, REGS), k
            other(f"tfind {n}")
            other.expect("failed to find")


@case
def a_pass_count_ends_the_run_and_tstart_begins_another():
    with Gdb("x64_walk") as g:
        n_calls = len(g.positions("&fib"))
        g("trace fib")
        g("passcount 3 1")
        g("tstart")
        g("tstatus")
        g.expect("Trace stopped by tracepoint 1")
        g.expect("Collected 3 trace frames")
        g("passcount 0 1")
        g("tstart")
        g("tstatus")
        g.expect(f"Collected {n_calls} trace frames")
        g("disable 1")
        g("tstart")
        g.expect("No tracepoints|None of the downloadable tracepoints|none enabled")


@case
def an_expression_that_divides_by_zero_ends_the_run():
    with Gdb("x64_walk") as g:
        g("trace fib if 1 / (n - n)")
        g("tstart")
        g("tstatus")
        g.expect(r"Trace stopped by an error \(divide by zero, position \d+, tracepoint 1\)")
        g.expect("Collected 0 trace frames")


@case
def static_and_fast_tracepoints_are_refused_in_words():
    with Gdb("x64_walk") as g:
        g("strace *fib")
        g("tstart")
        g.expect("Target does not support static tracepoints")
        g("delete")
        g("ftrace *0x401052")
        if "Fast tracepoint" in g.text:
            g("tstart")
            g.expect("does not support fast tracepoints, downloading")


@case
def live_collects_only_where_the_client_moves_forwards():
    with Gdb("x64_walk") as g:
        hits = g.recording.positions(g.address("&fib"))
        g("monitor collect live")
        g("trace *fib")
        g("actions\ncollect $trace_timestamp\nend")
        g("tstart")
        g("tstatus")
        g.expect("Trace is running on the target")
        g(f"stepi {hits[2]}")
        assert g.position() == hits[2]
        g("tstatus")
        g.expect("Collected 3 trace frames")
        g("reverse-continue")
        g("tstatus")
        g.expect("Collected 3 trace frames")
        g(f"stepi {hits[0]}")
        g("tstop")
        g("continue")
        g("tstatus")
        g.expect("Collected 4 trace frames")
        found = []
        for k, _ in frames(g):
            found.append(g.value("$trace_timestamp"))
        assert found == hits[:3] + hits[:1]


@case
def a_run_goes_on_for_the_next_client_if_it_was_told_so():
    for is_kept in "on", "off":
        with Server(Recording("x64_walk").trace) as server:
            with Gdb("x64_walk", server=server) as g:
                g(f"set disconnected-tracing {is_kept}")
                g("trace fib if n == 5")
                g("tstart")
                g("tstatus")
                g.expect("Collected 5 trace frames")
            with Gdb("x64_walk", server=server) as g:
                g("tstatus")
                g.expect("Collected 5 trace frames" if is_kept == "on" else "Collected 7481 trace frames")
                g("info tracepoints")
                (g.expect if is_kept == "on" else g.expect_not)(r"trace only if n == 5")


@case
def collecting_for_long_goes_on_beside_other_packets_and_others_clients():
    recording = Recording("x64_lib")
    with Server(recording.trace) as server, Rsp(server.address) as r, Rsp(server.address) as other:
        r.ask("QTFrame:10")
        pcs = []
        while len(pcs) < 40 and r.ask("QTFrame:outside:0:0")[1] != "-":
            pcs.append(int.from_bytes(bytes.fromhex(r.ask("p10")), "little"))
        for stop in "QTStop", "\x03":
            assert r.ask("QTinit") == "OK"
            for n, pc in enumerate(sorted(set(pcs)), 1):
                assert r.ask(f"QTDP:{n:x}:{pc:x}:E:ffffff:0") == "OK"
            r.send("QTStart")                   # answered not at its end, but after a while
            started = r.receive()               # and without a word before: gdb after ^C would take it for all of the answer
            assert started == "OK", (started, server.said())
            first = r.ask("qTStatus")
            assert first.startswith("T1;"), first
            notes = bytes.fromhex(first.split("notes:")[1]).decode()
            assert re.fullmatch(r"collecting, position \d+ of \d+", notes), notes
            assert other.ask("s").startswith("T05")
            if stop == "\x03":
                r.socket.sendall(b"\x03")
            else:
                assert r.ask(stop) == "OK"
            while (now := r.ask("qTStatus")).startswith("T1"):
                pass
            assert now.startswith("T0;tstop:"), now    # it may have come to the end before
            n_frames = int(re.search("tframes:([0-9a-f]+)", now)[1], 16)
            assert n_frames >= int(re.search("tframes:([0-9a-f]+)", first)[1], 16) > 0
            assert r.ask(f"QTFrame:{n_frames - 1:x}").startswith(f"F{n_frames - 1:x}T")


@case
def a_live_run_ends_when_its_client_leaves_and_says_so():
    with Server(Recording("x64_walk").trace) as server:
        for end in "", "QTStop":
            with Rsp(server.address) as r:
                bump = Recording("x64_walk").pcs()[2000]
                for packet in "QTinit", "qRcmd," + b"collect live".hex(), f"QTDP:1:{bump:x}:E:0:0", "QTDisconnected:1", "QTStart":
                    assert r.ask(packet)[0] != "E", packet
                assert "replaylog:end" in r.ask("c")
                assert r.ask("qTStatus").startswith("T1;")
                assert not end or r.ask(end) == "OK"
                os.kill(server.pid, signal.SIGSTOP)     # it hears of both at once
            try:
                r = Raw(server.address)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            with r:
                status = r.ask("qTStatus")
                assert status.startswith("T0;tstop::0;" if end else "T0;tdisconnected:0;"), status
                assert int(re.search("tframes:([0-9a-f]+)", status)[1], 16) > 0


@case
def what_a_client_asks_wrongly_is_not_logged():
    with Server(Recording("x64_walk").trace) as server, Rsp(server.address) as r:
        for packet in "qTBuffer:ffffffff,10", "QTFrame:x", "QTDP:1:zz", "qTV:zz":
            assert r.ask(packet)[0] in "EU", packet
        assert "warn" not in server.said(), server.said()


@case
def dynamic_printfs_print_in_the_server_forwards():
    with Gdb("x64_walk", log=True) as g:
        g("set dprintf-style agent")
        g(r'dprintf bump,"by %d total %d\n", by, total')
        g(r'dprintf fib,"fib %d %c\n", n, n + 65')
        g("condition 2 n > 7")
        g("continue")
        g.expect(r"fib 9 J\nfib 8 I\nby 34 total 35\n")
        assert len(g.packets("vCont;c")) == 1
        g("reverse-continue")
        g.expect_not("fib|by")


@case
def a_dynamic_printf_of_floating_point_is_refused_with_its_reason():
    """gdb shows no text for a breakpoint that is refused, and blames memory: the server says why."""
    with Gdb("x64_walk") as g:
        g("set dprintf-style agent")
        g("set breakpoint always-inserted on")
        g(r'dprintf fib,"%f\n", 1.5')
        g.expect("Cannot insert breakpoint 1")
        assert "breakpoint refused: floating-point numbers cannot be printed here" in g.server.said(), g


@case
def a_dynamic_printf_of_a_floating_point_variable_is_not_sent_by_gdb():
    """gdb 13 cannot compile it, and sends the place without any command: the server cannot know what is missing, and
    nothing is printed. README says so; the other style prints it.
    """
    recorder()
    source = pathlib.Path("float.c")
    source.write_text("double d = 1.5; int n;\nvoid half(void) { n++; d /= 2; }\nint main(void) { half(); half(); return 0; }\n")
    subprocess.run(["gcc", "-g", "-O0", "-o", "float", str(source)], check=True, timeout=LIMIT)
    assert record("float.ucir", "./float").returncode == 0
    for style, printed in ("agent", []), ("gdb", ["d 1.500000 n 0", "d 0.750000 n 1"]):
        commands = f"set dprintf-style {style}", r'dprintf half,"d %f n %d\n", d, n', "continue"
        said = subprocess.run([TRACESTUB, "gdb", "float.ucir", "--exec", "float", "--", "-nx", "-batch",
                               *(a for c in commands for a in ("-ex", c))], capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"})
        assert re.findall("^d .*", said.stdout, re.M) == printed and re.search(END_OF_HISTORY, said.stdout), said


run_cases()
