# SPDX-License-Identifier: MIT
"""A raw client of the remote protocol: one packet, one reply.

    with Rsp(server.address) as r:
        r.ask("qSupported:multiprocess+")
        r.ask("s")
"""
import re
import socket

from _tap import LIMIT

RUN = re.compile(rb"(.)\*(.)", re.S)


class Rsp:
    def __init__(self, address):
        if "/" in address:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), LIMIT)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(LIMIT)
        self.data, self.has_acks = b"", True
        assert self.ask("QStartNoAckMode") == "OK"
        self.socket.sendall(b"+")
        self.has_acks = False

    def send(self, *packets):
        payloads = [p.encode("latin-1") for p in packets]
        self.socket.sendall(b"".join(b"$%s#%02x" % (p, sum(p) & 255) for p in payloads))

    def receive(self):
        data = self.data
        while (end := data.find(b"#")) < 0 or len(data) < end + 3:
            more = self.socket.recv(1 << 16)
            if not more:
                raise AssertionError("the server has hung up")
            data += more
        start = data.index(b"$") + 1
        payload, self.data = data[start:end], data[end + 3:]
        assert sum(payload) & 255 == int(data[end + 1:end + 3], 16), data
        if b"*" in payload:
            payload = RUN.sub(lambda m: m[1] * (m[2][0] - 28), payload)
        return payload.decode("latin-1")

    def ask(self, packet):
        """A packet's reply; console output before it is dropped."""
        self.send(packet)
        while (reply := self.receive()).startswith("O") and reply != "OK":
            pass
        return reply

    def ask_all(self, packets):
        """Send all, then read the replies: they come in order."""
        self.send(*packets)
        return [self.receive() for _ in packets]

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
