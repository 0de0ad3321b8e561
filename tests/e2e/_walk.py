# SPDX-License-Identifier: MIT
"""Runs inside gdb ("source _walk.py"): walks a recording and compares all that gdb shows with the oracle.

Adds the command "walk", which prints "walked FROM to TO, N differ" and the first differences. The environment says where
the tests are and which recording it is (WALK_FOLDER, WALK_RECORDING).
"""
import os
import sys

import gdb

sys.path.insert(0, os.environ["WALK_FOLDER"])
from _recording import Recording    # noqa: E402

UNAVAILABLE = "<unavailable>"


class Oracle:
    """The state at any position of a walk that goes to a neighbour at each step."""

    def __init__(self, recording):
        self.lines = list(recording.oracle())
        self.mask = (1 << recording.bits) - 1
        self.before = [None] * len(self.lines)      # what a step back restores
        self.values, self.position = dict(self.lines[0][1]), 0
        self.unavailable = recording.unavailable()
        self.last = len(self.lines) - 1
        self.has_delay_slots, self.branches = recording.arch == "mips", {}

    def go(self, position):
        while self.position < position:
            self.position += 1
            changed = self.lines[self.position][1]
            self.before[self.position] = {name: self.values[name] for name in changed}
            self.values.update(changed)
        while self.position > position:
            self.values.update(self.before[self.position])
            self.position -= 1

    def is_delay_slot(self, position):
        """Over these gdb steps forwards by itself: it computes where the branch leads and runs until there."""
        return self.has_delay_slots and 0 < position < self.last and self.is_branch(self.lines[position - 1][0])

    def is_branch(self, pc):
        """Is it an instruction that may branch, wherever it went this time?"""
        if pc not in self.branches:
            text = gdb.selected_inferior().architecture().disassemble(pc)[0]["asm"].split()[0]
            self.branches[pc] = text[0] in "bj" and text != "break"
        return self.branches[pc]

    def differences(self):
        """What gdb shows otherwise at the oracle's position."""
        frame = gdb.newest_frame()
        pc = self.lines[self.position][0]
        if frame.pc() != pc:
            yield f"pc {frame.pc():#x}, not {pc:#x}"
        for name, value in self.values.items():
            shown = frame.read_register(name)
            try:
                if int(shown) & self.mask == value:
                    continue
            except gdb.error as error:
                shown = error
            yield f"{name} {shown}, not {value:#x}"
        for name in self.unavailable:
            if str(frame.read_register(name)) != UNAVAILABLE:
                yield f"{name} {frame.read_register(name)}, not {UNAVAILABLE}"


class Walk(gdb.Command):
    """walk COMMAND FROM TO: from position FROM, where gdb stands, to TO with one COMMAND an instruction.

    If TO is a delay slot, over which gdb steps, the walk ends behind it.
    """

    def __init__(self):
        super().__init__("walk", gdb.COMMAND_USER)
        self.oracle = None

    def invoke(self, arguments, from_tty):
        command, first, last = arguments.split()
        position, last = int(first), int(last)
        direction = 1 if position <= last else -1
        self.oracle = self.oracle or Oracle(Recording(os.environ["WALK_RECORDING"]))
        self.oracle.go(position)
        found = self.compare(position)
        while (last - position) * direction > 0 and len(found) < 20:
            gdb.execute(command, to_string=True)
            position += direction
            if direction > 0 and self.oracle.is_delay_slot(position):
                position += 1
            self.oracle.go(position)
            found += self.compare(position)
        print(f"walked {first} to {position}, {len(found)} differ")
        print("\n".join(found[:20]))


    def compare(self, position):
        return [f"position {position}: {d}" for d in self.oracle.differences()]


Walk()
