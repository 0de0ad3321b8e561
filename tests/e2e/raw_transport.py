#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server against clients that split, damage, mix, flood and leave.

Answers are compared with those that a client gets that asks one thing after the other.
"""
import os
import random
import resource
import socket
import struct
import tempfile
import threading
import time

from _raw import HOT_PC, PROGRAM, TRACE, LONG_TRACE, Quiet, Raw, packet, serve
from _rsp import LIMIT
from _tap import case, run_cases

# A sanitizer keeps what is freed, to see who uses it still: that is not what the server takes.
os.environ["ASAN_OPTIONS"] = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1:thread_local_quarantine_size_kb=64"


def memory_of(server):
    with open(f"/proc/{server.pid}/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def cpu_of(server):
    with open(f"/proc/{server.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def becomes_idle(server):
    """It stops computing, in the end: a slow machine may take its time."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        before = cpu_of(server)
        time.sleep(0.5)
        if cpu_of(server) - before <= 0.05:
            return True
    return False


CONVERSATION = ["qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+", "vMustReplyEmpty", "!",
                "Hgp0.0", "qXfer:features:read:target.xml:0,1000", "?", "qXfer:threads:read::0,1000", "g",
                "s", "g", "p10", "Z0,401429,1", "c", "g", "m401429,40", "bs", "bc", "X0,0:", "X0,3:#$}",
                "x401000,100", "qSearch:memory:400000;10000;\x00\x01", "vCont;s:p1.-1", "z0,401429,1",
                "Z2,0,0", "M0,1:00", "nonsense", "", "c", "bc", "qC", "T0", "vCont?", "qRcmd,7768656e",
                "qCRC:401000,100"]


def escaped(payload):
    return "".join("}" + chr(ord(c) ^ 0x20) if c in "#$}*" else c for c in payload)


def conversation_bytes(acks=True):
    return b"".join((b"+" if acks else b"") + packet(escaped(p)) for p in CONVERSATION)


def reply(r):
    """The next reply; the text of the recorded exit comes before that of a run to the end."""
    while (got := r.receive()).startswith("O") and got != "OK":
        pass
    return got


def answers(server, parts):
    """The replies to the conversation that is sent in these parts."""
    with Raw(server.address) as r:
        sender = threading.Thread(target=lambda: [r.put(part) for part in parts])
        sender.start()
        replies = [reply(r) for _ in CONVERSATION]
        sender.join()
        assert not r.has_something(0.05), r.data
        return replies


def expected(server):
    with Raw(server.address) as r:
        return [got if not (got := r.ask(escaped(p))).startswith("O65") else reply(r) for p in CONVERSATION]


def split_at(data, places):
    places = [0, *places, len(data)]
    return [data[a:b] for a, b in zip(places, places[1:]) if a < b]


# ------------------------------------------------------------------------------------------- splits and order

@case
def any_split_of_the_input_gives_the_same_answers():
    data = conversation_bytes()
    chance = random.Random(1)
    with serve() as server:
        right = expected(server)
        assert right[CONVERSATION.index("s")].startswith("T05")
        assert right[CONVERSATION.index("nonsense")] == ""
        assert answers(server, [data]) == right, "in one piece"
        assert answers(server, [data[i:i + 1] for i in range(len(data))]) == right, "byte by byte"
        for seed in range(20):
            places = sorted(chance.randrange(len(data)) for _ in range(chance.randrange(1, 60)))
            assert answers(server, split_at(data, places)) == right, places


@case
def each_reply_is_preceded_by_its_acknowledgement():
    with serve() as server, Raw(server.address) as r:
        for p in "?", "qC", "s", "bs", "nonsense":
            r.put(packet(p))
            while b"#" not in r.data or len(r.data) < r.data.index(b"#") + 3:
                r.data += r.socket.recv(1 << 16)
            assert r.data.startswith(b"+$"), r.data
            r.receive()
            r.put(b"+")


@case
def packets_behind_a_run_wait_for_it():
    with serve(LONG_TRACE) as server:
        with Quiet(server.address) as r:
            r.ask("Z0,4066da,1")
            asked = ["c", "g", "bs", "g", "bc", "p10", "s", "qC"]
            one_by_one = [r.ask(p) for p in asked]
        with Quiet(server.address) as r:
            r.ask("Z0,4066da,1")
            r.ask(f"Z1,{HOT_PC},1;X3,220027")       # 24,999 hits that are none: the run takes many slices
            r.put(b"".join(packet(p) for p in asked))
            assert [r.receive() for _ in asked] == one_by_one


@case
def garbage_and_acknowledgements_behind_a_run_do_not_end_it():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.ask(f"Z1,{HOT_PC},1;X3,220027")
        for noise in b"+", b"+++", b"garbage", b"-", b"#00":
            r.go(0)
            r.put(packet("c") + noise + packet("qC"))
            assert "replaylog:end" in reply(r), noise
            assert r.receive().startswith("QC"), noise


@case
def garbage_between_packets_is_skipped():
    chance = random.Random(2)
    with serve() as server, Quiet(server.address) as r:
        for _ in range(100):
            garbage = bytes(c for c in chance.randbytes(chance.randrange(200)) if c not in b"$\x03")
            r.put(garbage + packet("qC"))
            assert r.receive() == "QC1", garbage
        r.put(b"$abandoned" + packet("qC"))
        assert r.receive() == "QC1"


# -------------------------------------------------------------------------------------------------- checksums

@case
def a_damaged_packet_is_asked_for_again():
    with serve() as server, Raw(server.address) as r:
        for damaged in b"$s#00", b"$s#zz", b"$t#73", b"$s#7":
            r.put(damaged + (b"x" if damaged == b"$s#7" else b""))
            assert r.socket.recv(100) == b"-", damaged
        r.put(packet("qRcmd," + b"when".hex()))
        assert "position 0" in bytes.fromhex(r.receive()).decode().lower(), "one of them was taken"


@case
def a_reply_goes_out_again_until_it_is_acknowledged():
    with serve() as server, Raw(server.address) as r:
        reply = r.ask("g")
        for _ in range(5):
            r.put(b"-")
            assert r.receive() == reply
        r.put(b"+-")
        assert not r.has_something(), "there was nothing to send again"
        r.put(b"-" * 10000 + packet("qC"))
        assert r.receive() == "QC1"


@case
def without_acknowledgements_none_are_sent_and_sums_not_looked_at():
    with serve() as server, Quiet(server.address) as r:
        r.put(b"$qC#00")
        assert r.receive() == "QC1"
        r.put(b"---+++" + packet("qC"))
        assert r.receive() == "QC1"
        assert not r.has_something(), r.data
        assert r.ask("QStartNoAckMode") == "OK"
        assert r.ask("qC") == "QC1"


# ---------------------------------------------------------------------------------------------------- lengths

@case
def a_packet_that_is_too_long_is_an_error_and_no_more():
    with serve() as server, Quiet(server.address) as r:
        size = int(r.ask("qSupported").split(";")[0].removeprefix("PacketSize="), 16)
        assert r.ask("M0," + "0" * (size - 3)).startswith("E")
        assert r.ask("y" * size) == "", "the longest one is just unknown"
        assert r.ask("y" * (size + 1)).startswith("E")
        assert r.ask("y" * 2_000_000).startswith("E")
        assert r.ask("qC") == "QC1"


@case
def a_packet_that_never_ends_takes_no_memory():
    with serve() as server, Quiet(server.address) as r, Quiet(server.address) as other:
        before = memory_of(server)
        r.put(b"$" + b"y" * (64 << 20))
        assert other.ask("qC") == "QC1"
        r.put(b"#00")
        assert r.receive().startswith("E")
        assert memory_of(server) < before + (8 << 20)


@case
def replies_that_nobody_reads_do_not_gather():
    with serve() as server, Quiet(server.address) as r, Quiet(server.address) as other:
        request, n = packet("x401000,1000") * 1000, 0
        assert r.ask("x401000,1000").startswith("b")
        before = memory_of(server)
        r.socket.settimeout(1)
        try:
            while n < 3000:     # more than ten gigabytes of replies
                n += r.socket.send(request) / len(request)
        except TimeoutError:
            pass
        assert n < 3000, "the server takes all that it is sent"
        assert memory_of(server) < before + (8 << 20)
        assert other.ask("s").startswith("T05")
        assert becomes_idle(server)


@case
def a_client_that_reads_late_gets_every_reply():
    with serve() as server, Quiet(server.address) as r:
        count = 3000
        sender = threading.Thread(target=lambda: r.put(packet("m401000,200") * count + packet("qC")))
        sender.start()
        time.sleep(0.5)
        reply = r.receive()
        assert all(r.receive() == reply for _ in range(count - 1))
        assert r.receive() == "QC1"
        sender.join()


@case
def many_packets_of_one_client_do_not_hold_up_another():
    search = "qSearch:memory:0;1000000;nowhere"
    with serve() as server, Quiet(server.address) as busy, Quiet(server.address) as other:
        busy.ask(search)
        busy.put(packet(search) * 1000)     # minutes of work
        for _ in range(10):
            assert other.ask("s").startswith("T05")
        busy.socket.setblocking(False)
        try:
            done = busy.socket.recv(1 << 20).count(b"$")
        except BlockingIOError:
            done = 0
        assert done < 1000


@case
def a_web_page_cannot_drive_a_server():
    with tempfile.TemporaryDirectory() as folder, serve(TRACE, "--export-dir", folder) as server:
        body = packet("QTSave:" + b"x.tf".hex())
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), LIMIT) as s:
            s.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            try:
                assert s.recv(100) == b"", "it is hung up on without a word"
            except ConnectionResetError:
                pass
        assert os.listdir(folder) == []
        with Quiet(server.address) as r:
            assert r.ask("s").startswith("T05")
        assert os.listdir(folder) == []


# --------------------------------------------------------------------------------------------------------- ^C

@case
def an_interrupt_between_two_runs_is_for_the_next_one():
    """gdb's "stepi 10000" is mostly caught between two steps."""
    with serve() as server, Quiet(server.address) as r:
        assert r.ask("s").startswith("T05")
        r.put(b"\x03")
        assert r.ask("g") != ""
        assert r.ask("s").startswith("T02")
        assert r.ask("s").startswith("T05")
        r.put(b"\x03\x03\x03")
        assert r.ask("qfThreadInfo").startswith("m"), "the client shows its user that it has stopped"
        assert r.ask("s").startswith("T05")


@case
def an_interrupt_of_a_packet_that_waits_is_for_its_run():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.ask(f"Z1,{HOT_PC},1;X3,220027")
        r.put(packet("m401000,4") + packet("c") + b"\x03")
        assert len(r.receive()) == 8
        assert r.receive()[:3] in ("T02", "T05")
        assert r.ask("bs").startswith("T05")


@case
def an_interrupt_ends_an_export_and_never_the_next_run():
    with tempfile.TemporaryDirectory() as folder:
        with serve(LONG_TRACE, "--export-dir", folder) as server, Quiet(server.address) as r:
            for command in "QTSave:" + b"x.tf".hex(), "qRcmd," + b"export x.tf".hex():
                r.put(packet(command) + b"\x03")
                while (reply := r.receive()).startswith("O") and reply != "OK":
                    pass
                assert reply.startswith("E"), reply
                assert os.listdir(folder) == [], "nothing is saved"
                assert r.ask("s").startswith("T05")


@case
def a_file_is_saved_under_a_name_of_one_line():
    with tempfile.TemporaryDirectory() as folder:
        with serve(TRACE, "--export-dir", folder) as server, Quiet(server.address) as r:
            for name in b"a\nb.tf", b"a\x1b[2Jb.tf", "a\u009bb.tf".encode(), b"\xff.tf", b"../a.tf", b".a.tf":
                for command in b"QTSave:" + name.hex().encode(), b"qRcmd," + (b"export " + name).hex().encode():
                    assert r.ask(command.decode()).startswith("E"), name
                    assert os.listdir(folder) == [], name
            assert r.ask("QTSave:" + "a-\u00e9.tf".encode().hex()) == "OK"
            assert len(os.listdir(folder)) == 1


@case
def two_interrupts_of_a_run_are_one_stop():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.run_long()
        assert not r.has_something(), r.data
        r.put(b"\x03\x03")
        assert r.receive().startswith("T02")
        assert not r.has_something(), r.data
        assert r.ask("qfThreadInfo").startswith("m")
        assert r.ask("bs").startswith("T05")


@case
def an_interrupt_overtakes_packets_that_wait():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.run_long()
        r.put(packet("qC") + packet("X0,2:\x03\x03") + packet("p10"))
        assert not r.has_something(), "a 0x03 within a packet is data"
        r.put(b"\x03")
        assert r.receive().startswith("T02")
        assert r.receive() == "QC1"
        assert r.receive().startswith("E")
        assert len(r.receive()) == 16


@case
def an_interrupt_in_the_middle_of_a_packet_is_data():
    with serve() as server, Quiet(server.address) as r:
        for part in b"$X0,1:", b"\x03", b"#00":
            r.put(part)
            time.sleep(0.05)
        assert r.receive().startswith("E")
        assert r.ask("s").startswith("T05")


# --------------------------------------------------------------------------------------- ends of a connection

@case
def a_client_that_has_said_all_still_gets_its_answers():
    asked = ["qC", "Z0,401429,1", "c", "g", "bc", "m401000,1000"]
    with serve() as server:
        with Quiet(server.address) as r:
            right = [r.ask(p) for p in asked]
        with Quiet(server.address) as r:
            r.put(b"".join(packet(p) for p in asked))
            r.socket.shutdown(socket.SHUT_WR)
            assert [r.receive() for _ in asked] == right
            assert r.is_at_end()


@case
def the_run_of_a_client_that_says_no_more_ends():
    with serve(LONG_TRACE) as server, Quiet(server.address) as r:
        r.run_long()
        r.put(packet("bc") + packet("qC"))
        r.socket.shutdown(socket.SHUT_WR)
        assert r.receive().startswith("T02")
        assert r.receive()[:3] in ("T02", "T05")
        assert r.receive() == "QC1"
        assert r.is_at_end()


@case
def a_client_that_vanishes_takes_its_run_with_it():
    for how in "close", "reset":
        with serve(LONG_TRACE) as server, Quiet(server.address) as other:
            r = Quiet(server.address)
            r.run_long()
            assert not r.has_something()
            if how == "reset":
                r.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            r.close()
            assert other.ask("s").startswith("T05")
            assert becomes_idle(server), how


@case
def clients_that_come_and_go_leave_nothing_behind():
    def descriptors():
        return len(os.listdir(f"/proc/{server.pid}/fd"))

    chance = random.Random(3)
    data = conversation_bytes()
    with serve() as server:
        before = descriptors()
        for _ in range(300):
            with Raw(server.address) as r:
                r.put(data[:chance.randrange(len(data))])
                if chance.random() < 0.5:
                    r.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with Quiet(server.address) as last:     # when it is answered, all before it were let in
            assert last.ask("qC") == "QC1"
        end = time.monotonic() + LIMIT
        while descriptors() > before and time.monotonic() < end:
            time.sleep(0.05)
        assert descriptors() == before


@case
def k_D_and_vKill_end_one_session():
    for leave, answer in ("k", None), ("D", "OK"), ("D;1", "OK"), ("vKill;1", "OK"):
        with serve() as server, Quiet(server.address) as other, Quiet(server.address) as r:
            other.go(100)
            r.put(packet(leave))
            if answer:
                assert r.receive() == answer, leave
            assert r.is_at_end(), leave
            assert other.ask("s").startswith("T05")
            assert "101" in other.position()


@case
def nothing_behind_the_end_of_a_session_is_answered():
    with serve() as server, Quiet(server.address) as r:
        r.put(packet("qC") + packet("D") + packet("qC") * 100)
        assert r.receive() == "QC1"
        assert r.receive() == "OK"
        assert r.is_at_end()


@case
def more_clients_than_descriptors_wait_until_one_leaves():
    with serve() as server:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (24, 24))
        clients = [Raw(server.address) for _ in range(40)]
        for c in clients:
            c.send("qC")
        served = [c for c in clients if c.has_something(0.1)]
        assert 5 < len(served) < 24
        assert becomes_idle(server), "it asks for descriptors all the time"
        for c in served:
            c.close()
        for c in (waiting := [c for c in clients if c not in served])[:len(served)]:
            assert c.receive() == "QC1"
            c.close()
        for c in waiting:
            c.close()


# ---------------------------------------------------------------------------------------------- what is asked

@case
def what_is_unknown_is_empty_and_what_is_known_but_wrong_an_error():
    unknown = ["vMustReplyEmpty", "nonsense", "qTStatusX", "vFlashErase:0,1", "QNonsense:1", "qXferX",
               "jThreads", "_M1,rwx", "Qbtrace:bts", "z9,0,0", "Z5,0,0", "~", "b",
               "bx", "vContX", "w", "", "\xff\xfe"]
    wrong = ["m", "m,", "mzz,1", "m0", "m0,", "m0,1,", "m 0,1", "x0", "M0,2:00", "X0,5:a", "p", "pzz", "p-1",
             "pffffffffff", "P", "P0", "G0z", "H", "Hx0", "Hgzz", "Hgp1.", "T", "Tzz", "Z0", "Z0,",
             "Z0,zz,1", "Z0,1,1;X", "Z0,1,1;X2,00", "Z0,1,1;Xffffffff,00", "Z2,1,0", "Z2,ffffffffffffffff,2",
             "z2,1", "Z0,11111111111111111,1", "vCont;", "vCont;q", "vCont;r1,", "vCont;s:",
             "qXfer:features:read:target.xml:0", "qXfer:features:read:no.xml:0,10",
             "qXfer:threads:read::zz,10", "qRcmd,1", "qRcmd,zz", "qCRC:1", "qCRC:1,", "qSearch:memory:1;2",
             "qSearch:memory:0;0;a", "QPassSignals:zz", "QCatchSyscalls:7", "QCatchSyscalls:1;zz",
             "vFile:open:zz,0,0", "vFile:pread:99,10,0", "vKill;zz", "vKill;77", "D;zz", "c,1", "szz", "C",
             "C5", "qThreadExtraInfo,zz"]
    with serve() as server, Quiet(server.address) as r:
        for p in unknown:
            assert r.ask(p) == "", p
        for p in wrong:
            reply = r.ask(p)
            assert reply.startswith("E") or reply.startswith("F-1"), (p, reply)
        assert "position 0" in r.position().lower()


@case
def a_client_may_introduce_itself_again():
    with serve() as server, Quiet(server.address) as r:
        first = r.ask("qSupported:multiprocess+;swbreak+")
        r.ask("Z0,401429,1")
        assert "swbreak" in r.ask("c")
        where = r.position()
        assert r.ask("qSupported:multiprocess+;swbreak+") == first
        assert r.position() == where
        r.ask("bs")
        assert "replaylog:end" in r.ask("c"), "breakpoints of before are forgotten"
        assert "thread:p" in r.ask("?")
        r.ask("qSupported:swbreak+")
        assert "thread:p" not in r.ask("?")


@case
def nothing_can_be_written():
    with serve() as server, Quiet(server.address) as r:
        registers, memory = r.ask("g"), r.ask("m401000,20")
        assert "x" not in memory and len(memory) == 64
        for p in ("M401000,2:0000", "X401000,2:ab", "X401000,0:", "P0=0000000000000000",
                  "G" + registers.replace("x", "0"), "P10=0000000000000000"):
            assert r.ask(p).startswith("E"), p
        assert (r.ask("g"), r.ask("m401000,20")) == (registers, memory)


@case
def memory_ends_where_the_addresses_end():
    with serve() as server, Quiet(server.address) as r:
        for where in ("ffffffffffffffff,1", "ffffffffffffffff,2", "ffffffffffffffff,ffffffffffffffff", "0,1",
                      "0,ffffffffffffffff", "fffffffffffff000,2000", "8000000000000000,1000", "1,ffffffffffffffff"):
            for kind in "mx":
                assert r.ask(kind + where).startswith("E"), (kind, where)
            assert r.ask(f"qCRC:{where}").startswith("E"), where
        assert 0 < len(r.ask("m401000,ffffffffffffffff")) < 0x8000
        assert r.ask("qSearch:memory:ffffffffffffffff;1;a") == "0"
        assert r.ask("qSearch:memory:ffffffffffffffff;2;a").startswith("E")
        assert r.ask("Z0,ffffffffffffffff,1") == "OK"
        assert r.ask("Z2,ffffffffffffffff,1") == "OK"
        assert "replaylog:end" in r.ask("c")


@case
def a_document_ends_where_it_ends():
    with serve(TRACE, "--exec", PROGRAM) as server, Quiet(server.address) as r:
        for document in "features:read:target.xml", "threads:read:", "exec-file:read:":
            whole, off = "", 0
            while not whole or reply[0] == "m":
                reply = r.ask(f"qXfer:{document}:{off:x},100")
                assert reply[0] in "ml" and (reply[0] == "l" or len(reply) > 1), reply
                whole, off = whole + reply[1:], off + len(reply) - 1
            assert r.ask(f"qXfer:{document}:0,7000") == "l" + whole, document
            for place in f"{off:x},1", "ffffffff,1", "ffffffffffffffff,1", "ffffffffffffffff,ffffffffffffffff":
                assert r.ask(f"qXfer:{document}:{place}") == "l", (document, place)
            assert r.ask(f"qXfer:{document}:0,ffffffffffffffff") == "l" + whole, document
            assert r.ask(f"qXfer:{document}:10000000000000000,1").startswith("E"), document


@case
def files_of_the_host_are_not_served():
    secrets = ["/etc/passwd", "etc/passwd", "../../../../etc/passwd", "/proc/self/environ",
               "/proc/self/maps", "/proc/self/mem", "/proc/self/exe", "/proc/self/../../etc/passwd",
               "/proc/1/../../etc/passwd", "/proc/1/io", "/proc/1/root/etc/passwd", "/proc/1/cwd/x",
               "/proc/1/fd/0", "/proc/thread-self/maps", "/proc/1/maps/../environ", "/proc//1//environ",
               "/dev/zero", "/", ".", "..", "", "/proc", "/proc/1", "//etc//passwd", "/etc/passwd\0",
               PROGRAM + "/../../../../../../../../etc/passwd"]
    with serve(TRACE, "--exec", PROGRAM) as server, Quiet(server.address) as r:
        secrets += [f"/proc/{server.pid}/environ", f"/proc/{server.pid}/maps", f"/proc/{server.pid}/fd/0", TRACE]
        for path in secrets:
            for flags in "0", "1", "2", "601":
                reply = r.ask(f"vFile:open:{path.encode().hex()},{flags},1b6")
                assert reply.startswith(("F-1,", "E")), (path, flags, reply)
            for ask in "readlink", "unlink", "stat":
                reply = r.ask(f"vFile:{ask}:{path.encode().hex()}")
                assert reply == "" or reply.startswith(("F-1,", "E")), (path, ask, reply)
        reply = r.ask(f"vFile:open:{PROGRAM.encode().hex()},0,0")
        assert reply.startswith("F") and "-1" not in reply, "the program itself is"
        fd = reply[1:]
        assert r.ask(f"vFile:pread:{fd},4,0")[:6] == "F4;\x7fEL"
        assert r.ask(f"vFile:pread:{fd},10,ffffffffffffffff") in ("F0;", "F-1,16")
        assert r.ask(f"vFile:pwrite:{fd},0,abc").startswith("F-1,")


@case
def threads_that_are_not_there_are_refused():
    with serve() as server, Quiet(server.address) as r:
        for p in "Hg7777", "Hc7777", "T7777", "Hg-2", "Hgffffffffffffffff", "vCont;s:7777", "Tp1.1.1", "T-1x", "Hg1 ":
            assert r.ask(p).startswith("E"), p
        for p in "Hg0", "Hg-1", "Hg1", "Hc0", "Hc-1", "Hc1", "T1":
            assert r.ask(p) == "OK", p


run_cases()
