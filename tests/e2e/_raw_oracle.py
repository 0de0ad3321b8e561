# SPDX-License-Identifier: MIT
"""The reply to "g" at each position, as the oracle of a recording has it."""
import xml.etree.ElementTree as xml

from _recording import RAW_NAMES


def layout(r):
    """Registers of the target description: [(name, bytes)] in the order of "g"."""
    text, more = "", "m"
    while more == "m":
        piece = r.ask(f"qXfer:features:read:target.xml:{len(text):x},1000")
        more, text = piece[0], text + piece[1:]
    registers = [(int(e.get("regnum", -1)), e.get("name"), int(e.get("bitsize")) // 8)
                 for e in xml.fromstring(text).iter("reg")]
    return [(name, size) for _, name, size in sorted(registers)]


class Expected:
    """The reply to "g" at one position after the other, there and back."""

    def __init__(self, recording, registers):
        raw = RAW_NAMES.get(recording.arch, {})
        self.places = {name: (n, size) for n, (name, size) in enumerate(registers)}
        self.cells = ["xx" * size for _, size in registers]
        if recording.arch == "mips":
            self.swap(["r0", 0])
        self.lines = [[raw.get(n, n) for pair in [("pc", pc), *changed.items()] if pair[0] != "cpsr" for n in pair]
                      for pc, changed in recording.oracle()]      # cpsr: what the trace lacks is shown to gdb only

    def swap(self, line):
        """Put a line's values in place of those that are there, which the line then has."""
        for i in range(0, len(line), 2):
            place, size = self.places[line[i]]
            value = line[i + 1]
            line[i + 1] = self.cells[place]
            self.cells[place] = value if isinstance(value, str) else value.to_bytes(size, "little").hex()

    def forwards(self):
        for line in self.lines:
            self.swap(line)
            yield "".join(self.cells)

    def backwards(self):
        """From the last position on, without it."""
        for line in self.lines[:0:-1]:
            self.swap(line)
            yield "".join(self.cells)
