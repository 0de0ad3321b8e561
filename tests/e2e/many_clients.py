#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""64 clients at once, each at a place of its own: all get the answers that one gets that is alone."""
import random
import select
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from _raw import TRACE, LONG_TRACE, Quiet, serve
from _server import Server
from _tap import add_case, run_cases

N_CLIENTS, N_PACKETS = 64, 60
TRACES = {"x64_walk": (TRACE, 7480, (0x401000, 0x401500)),
          "x64_lib": (LONG_TRACE, 211384, (0x401000, 0x406800))}


def script(seed, name):
    """What a client asks: where to start, then a random mix of moving, stopping and looking."""
    _, n_steps, (low, high) = TRACES[name]
    chance = random.Random(seed)
    yield "qRcmd," + f"goto {n_steps * seed // N_CLIENTS}".encode().hex()
    for _ in range(N_PACKETS):
        yield chance.choice(["s", "s", "bs", "bs", "c", "bc", "g", "p10", "?", "vCont;s",
                             f"m{chance.randrange(low, high):x},{chance.randrange(1, 200):x}",
                             f"m{0x7ffffffff000 - chance.randrange(0x3000):x},40",
                             f"Z0,{chance.randrange(low, high):x},1", f"z0,{chance.randrange(low, high):x},1",
                             f"Z2,{0x404000 + chance.randrange(0x4000):x},8", f"vCont;r{low:x},{low + 0x200:x}",
                             f"Z1,{chance.randrange(low, high):x},1;X3,220027"])


def ask_all(r, seed, name):
    return [(p, r.ask(p)) for p in script(seed, name)]


def at_once(name):
    trace = TRACES[name][0]
    with serve(trace) as server:
        with Quiet(server.address) as r:
            r.ask("qRcmd," + b"wait".hex())     # until all is read, the answers to goto say how much is
        alone = []
        for seed in range(N_CLIENTS):
            with Quiet(server.address) as r:
                alone.append(ask_all(r, seed, name))
        replies = [reply for answers in alone for _, reply in answers]
        assert len(set(replies)) > 10 * N_CLIENTS, "the clients ask for the same"
        together = Barrier(N_CLIENTS)

        def client(seed):
            with Quiet(server.address) as r:
                together.wait()
                return ask_all(r, seed, name)

        with ThreadPoolExecutor(N_CLIENTS) as pool:
            for seed, answers in enumerate(pool.map(client, range(N_CLIENTS))):
                for (p, right), (_, got) in zip(alone[seed], answers, strict=True):
                    assert got == right, (seed, p, got, right)


for trace_name in TRACES:
    add_case(f"{trace_name}: as many as 64 get the answers of one", at_once, trace_name)


def connect(server):
    host, port = server.address.split(":")
    s = socket.create_connection((host, int(port)), timeout=60)
    s.sendall(b"$?#3f")
    return s


def more_clients_wait():
    with Server(TRACE, "--max-clients", "2") as server:
        first, second = connect(server), connect(server)
        assert first.recv(100).startswith(b"+") and second.recv(100).startswith(b"+")
        third = connect(server)
        assert not select.select([third], [], [], 0.3)[0], "a third client is served"
        first.close()
        assert third.recv(100).startswith(b"+")
        assert "there are 2 clients" in server.said()
        for s in second, third:
            s.close()


def all_interfaces_are_a_warning():
    with Server(TRACE, comm="0.0.0.0:0") as server:
        assert "other machines can connect" in server.said()
    with Server(TRACE, comm="127.0.0.1:0") as server:
        assert "other machines" not in server.said()


def a_silent_client_makes_room():
    with Server(TRACE, "--max-clients", "1") as server:
        host, port = server.address.split(":")
        silent = socket.create_connection((host, int(port)), timeout=60)
        speaks = connect(server)
        assert silent.recv(100) == b"", "it was told something"
        assert speaks.recv(100).startswith(b"+")
        assert "sent nothing for" in server.said()
        speaks.close()


def a_client_that_vanishes_is_noticed():
    """In proc(5)'s table of sockets: timer 2 of the server's end sends probes when it is idle."""
    with Server(TRACE) as server, connect(server) as client:
        assert client.recv(100).startswith(b"+")
        mine, theirs = (f"0100007F:{port:04X}" for port in (int(server.address.split(":")[1]), client.getsockname()[1]))
        lines = [line.split() for line in open("/proc/net/tcp")]
        timer, = [line[5] for line in lines if line[1:3] == [mine, theirs]]
        assert timer.startswith("02:"), timer


add_case("a silent client makes room", a_silent_client_makes_room)
add_case("a client that vanishes is noticed", a_client_that_vanishes_is_noticed)
add_case("more clients than --max-clients wait", more_clients_wait)
add_case("all interfaces are a warning", all_interfaces_are_a_warning)
run_cases()
