# SPDX-License-Identifier: MIT
"""What programs of bundled recordings executed, by records that others made: pc and registers at each position.

tests/data/*/README says how they were made.  Of x86-64 only.
"""
import functools
import gzip
import json
import re

from _recording import Recording
from _tap import DATA

ARGUMENTS = "rdi rsi rdx rcx r8 r9".split()


def of_usercorn(name):
    for pc, registers in Recording(name).oracle():
        yield {**registers, "rip": pc}


def of_x64dbg(name):
    with gzip.open(DATA / f"x64dbg-samples/{name}.truth.gz", "rt") as file:
        for line in file:
            yield {n: int(v, 16) for n, v in re.findall(r"(\S+)=(\S+)", line)}


def of_lines(path):
    with gzip.open(DATA / path, "rt") as file:
        for line in file:
            yield {n: int(v, 16) for n, v in json.loads(line)["regs"].items() if v is not None}


def of_machine(name):
    """A line without a number has all registers of the beginning, each later one what a step left."""
    with gzip.open(DATA / f"rvnbintrace-samples/{name}.oracle.gz", "rt") as file:
        for line in file:
            yield {n: int(v, 16) for n, v in re.findall(r"\b(r\w+)=0x([0-9a-f]+)", line)}


CHANGES = {
    "x64_crash": lambda: of_usercorn("x64_crash"),
    "list64": lambda: of_x64dbg("list64"),
    "tiny-fib": lambda: of_machine("tiny-fib"),
    "sys64": lambda: of_lines("gdbrecord-samples/sys64.oracle.gz"),
    "pin-walk64": lambda: of_lines("tenet-samples/oracle-walk64.jsonl.gz"),
}


class Truth:
    """Of a recording: the registers at its positions."""
    def __init__(self, name):
        self.changes = list(CHANGES[name]())

    @staticmethod
    def is_of(name):
        return name in CHANGES

    @staticmethod
    @functools.cache
    def of(name):
        return Truth(name)

    @functools.cache
    def registers(self, position):
        now = {}
        for changes in self.changes[:position + 1]:
            now.update(changes)
        return now

    def pc(self, position):
        return self.registers(position)["rip"]

    def arguments(self, position):
        return [self.registers(position)[name] for name in ARGUMENTS]
