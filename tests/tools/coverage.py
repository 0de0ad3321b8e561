#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coverage by folder, from what lcov has collected: lines and branches that were reached.

    tests/tools/coverage.py FILE.info [-v]

-v lists the branches that were not, a line of the source each.
"""
import collections
import pathlib
import sys


class Rate:
    """So many of so many."""

    def __init__(self):
        self.reached = self.all = 0

    def add(self, is_reached):
        self.reached += is_reached
        self.all += 1

    def __str__(self):
        return f"{self.reached:6} of {self.all:6} {100 * self.reached / self.all if self.all else 100:6.1f} %"


def records(path):
    """Each line of the file: the source, its keyword, its fields."""
    source = None
    for line in pathlib.Path(path).read_text().splitlines():
        word, _, rest = line.partition(":")
        if word == "SF":
            source = pathlib.Path(rest)
        elif rest:
            yield source, word, rest.split(",")


def folder_of(source):
    """From the top of the tree on: loaders/bap."""
    parts = source.parent.parts
    top = max(i for i, part in enumerate(parts) if part in ("loaders", "protocol", "src") and "src" in parts[:i])
    return "/".join(parts[top:])


def main():
    lines, branches = collections.defaultdict(Rate), collections.defaultdict(Rate)
    missed = collections.Counter()
    for source, word, fields in records(sys.argv[1]):
        folder = folder_of(source)
        for name in (folder, folder.split("/")[0] + ", all"):
            if word == "DA":
                lines[name].add(fields[1] != "0")
            elif word == "BRDA":
                branches[name].add(fields[3] not in ("-", "0"))
        if word == "BRDA" and fields[3] in ("-", "0"):
            missed[source, int(fields[0])] += 1
    print(f"{'folder':20} {'lines':>24} {'branches':>26}")
    for name in sorted(lines):
        print(f"{name:20} {lines[name]!s:>24} {branches[name]!s:>26}")
    for (source, number), n in sorted(missed.items()) if "-v" in sys.argv else ():
        print(f"{folder_of(source)}/{source.name}:{number}: {n} not reached: {source.read_text().splitlines()[number - 1].strip()}")


if __name__ == "__main__":
    main()
