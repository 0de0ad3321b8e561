# SPDX-License-Identifier: MIT
"""Connections that say only what a test says, and servers that have to survive it."""
import contextlib
import socket

from _rsp import LIMIT, Rsp
from _server import Server
from _tap import DATA

TRACE, LONG_TRACE = str(DATA / "usercorn/x64_walk.ucir"), str(DATA / "usercorn/x64_lib.ucir")
PROGRAM = str(DATA / "usercorn/x64_walk.elf")
N = 7480
HOT_PC = "405fc5"       # of LONG_TRACE: comes 24,999 times


def slow_condition():
    """An agent expression that is never true: in a loop of 200 rounds it looks at the top of the stack."""
    head = bytes.fromhex("2300c8")                                  # const16 200
    body = bytes.fromhex("260007 1a 29 2201 03 28 20 0003 27")      # reg rsp, ref64, pop; 1 less; if_goto; end
    return f";X{len(head + body):x},{(head + body).hex()}"


def packet(payload):
    payload = payload.encode("latin-1")
    return b"$%s#%02x" % (payload, sum(payload) & 255)


class Raw(Rsp):
    """A connection on which nothing was said."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), LIMIT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = b""

    def put(self, data):
        self.socket.sendall(data)

    def is_at_end(self):
        """Nothing comes any more."""
        try:
            return not self.data and not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def read_all(self):
        """All bytes until the server hangs up."""
        data, self.data = self.data, b""
        while more := self.socket.recv(1 << 16):
            data += more
        return data

    def has_something(self, seconds=0.3):
        """For what must not come: it would have come by then, mostly."""
        self.socket.settimeout(seconds)
        try:
            self.data += self.socket.recv(1 << 16)
            return True
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(LIMIT)


class Quiet(Raw):
    """One that has switched off acknowledgements, as gdb does: after its qSupported."""

    def __init__(self, address, features="swbreak+;hwbreak+"):
        super().__init__(address)
        self.ask(f"qSupported:{features}")
        assert self.ask("QStartNoAckMode") == "OK"
        self.put(b"+")
        self.data = b""

    def go(self, position):
        self.ask("qRcmd," + f"goto {position}".encode().hex())

    def position(self):
        self.send("qRcmd," + b"when".hex())
        return bytes.fromhex(self.receive().removeprefix("O")).decode()

    def run_long(self):
        """Start something that takes minutes."""
        self.ask(f"Z0,{HOT_PC},1" + slow_condition())
        self.send("c")


@contextlib.contextmanager
def serve(trace=TRACE, *options):
    """A server that lives until the end of the case, and then still answers."""
    with Server(trace, *options) as server:
        yield server
        assert server.is_alive(), server.said()
        with Quiet(server.address) as r:
            assert r.ask("vMustReplyEmpty") == ""
            assert r.ask("s").startswith("T05")
