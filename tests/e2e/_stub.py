# SPDX-License-Identifier: MIT
"""The smallest server that gdb connects to: one stopped thread, registers, a target description, no memory.

    with Stub(xml, registers) as stub:
        gdb("-ex", f"target remote {stub.address}", ...)

It knows nothing of tracestub: tests use it to see what gdb makes of a description by itself.
"""
import socket
import threading


class Stub:
    def __init__(self, xml, registers):
        """xml: the target description; registers: what 'g' answers, in hex digits with "x" for unknown."""
        self.xml, self.registers = xml, registers
        self.packets = []  # what came, for tests that want to see it
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *what):
        self.listener.close()

    def serve(self):
        try:
            conn = self.listener.accept()[0]
        except OSError:
            return
        with conn, conn.makefile("rb") as packets:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while start := packets.read(1):
                if start != b"$":
                    continue
                packet = b""
                while (byte := packets.read(1)) not in (b"#", b""):
                    packet += byte
                packets.read(2)
                self.packets.append(packet.decode("latin-1"))
                reply = self.reply(self.packets[-1]).encode("latin-1")
                conn.sendall(b"+$%s#%02x" % (reply, sum(reply) % 256))

    def reply(self, packet):
        if packet.startswith("qSupported"):
            return "PacketSize=4000;qXfer:features:read+"
        if packet.startswith("qXfer:features:read:target.xml:"):
            off, length = (int(n, 16) for n in packet.rsplit(":", 1)[1].split(","))
            more = off + length < len(self.xml)
            return "lm"[more] + self.xml[off:off + length]
        if packet == "?":
            return "S05"
        if packet == "g":
            return self.registers
        if packet[0] in "HD" or packet == "qAttached":
            return "1" if packet == "qAttached" else "OK"
        return "E01" if packet[0] in "pmMXPG" else ""
