#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coverage by folder, from what lcov has collected: lines and branches that were reached, and why the rest was not.

    tests/tools/coverage.py FILE.info [-v]
    tests/tools/coverage.py --check

tests/tools/coverage_reasons.txt has the reasons. In the groups of GROUPS each branch that was not reached needs one:
those without are listed, and the exit status is 1. -v lists all that were not reached, a line of the source each, with
the class of its reason. --check, which needs no measurement, says which reasons fit no line of the source any more; it is
part of `make check`, and fails for those of kinds of lines: whoever changes a single line need not know its reason.
"""
import collections
import fnmatch
import functools
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
REASONS = pathlib.Path(__file__).with_name("coverage_reasons.txt")
ROOMS = ("loaders", "protocol", "src")

# What has to be explained branch by branch: its files, and how many branches of a hundred are to be reached.
GROUPS = {
    "loaders": (95, "loaders/*"),
    "index reader": (95, "src/index/* src/timeline/file/timeline_file.c src/timeline/backfill.c src/timeline/file/journal.c "
                         "src/timeline/points.c src/timeline/space/space_file.c src/timeline/*_section.c "
                         "src/timeline/*_sections.c"),
    "protocol": (92, "protocol/* src/agent/*"),
}


class Rate:
    """The number of reached ones, and of all."""

    def __init__(self):
        self.reached = self.all = 0

    def add(self, is_reached):
        self.reached += is_reached
        self.all += 1

    def __str__(self):
        return f"{self.reached:6} of {self.all:6} {100 * self.reached / self.all if self.all else 100:6.1f} %"


class Rule:
    """One line of a class: it explains at most @limit branches of a line that @text is found in."""

    def __init__(self, name, words):
        self.name, self.words = name, words
        limit, self.files, text = words.split(None, 2)
        self.limit = sys.maxsize if limit == "*" else int(limit)
        self.text = re.compile(text)
        self.n = 0

    @functools.cache
    def is_for(self, path):
        return fnmatch.fnmatch(path, self.files)

    def explain(self, path, line, n):
        """How many of the @n branches it explains."""
        fits = self.is_for(path) and self.text.search(line)
        return min(n, self.limit) if fits else 0


def read_rules():
    """The classes, each with its sentence, and the rules in order."""
    classes, rules = {}, []
    for line in REASONS.read_text().splitlines():
        if line.startswith("["):
            name, _, classes_text = line[1:].partition("] ")
            classes[name] = classes_text
        elif line and not line.startswith("#"):
            rules.append(Rule(list(classes)[-1], line))
    return classes, rules


def check():
    """Print the rules that fit no line of the source.  Returns the exit status: 1 if one is of more than one file."""
    _, rules = read_rules()
    stale = rules
    for room in ROOMS:
        for path in (p for p in (TOP / room).rglob("*.[ch]") if not p.name.startswith(".")):
            name = str(path.relative_to(TOP))
            lines = [line.strip() for line in path.read_text().splitlines()]
            stale = [rule for rule in stale if not rule.is_for(name) or not any(rule.text.search(line) for line in lines)]
    for rule in stale:
        print(f"{REASONS.name}: [{rule.name}] {rule.words}: fits no line of the source")
    return 1 if any("*" in rule.files for rule in stale) or not rules else 0


def records(path):
    """Each line of the file: the source, its keyword, its fields."""
    source = None
    for line in pathlib.Path(path).read_text().splitlines():
        word, _, rest = line.partition(":")
        if word == "SF":
            source = pathlib.Path(rest)
        elif rest:
            yield source, word, rest.split(",")


def name_of(source):
    """From the top of the tree on: loaders/bap/insn_frame.c."""
    parts = source.parts
    top = max(i for i, part in enumerate(parts[:-1]) if part in ROOMS and "src" in parts[:i])
    return "/".join(parts[top:])


def rooms_of(name):
    return name.rpartition("/")[0], name.split("/")[0] + ", all"


def group_of(name):
    """Its group; None if its branches need no reasons."""
    for group, (_, files) in GROUPS.items():
        if any(fnmatch.fnmatch(name, pattern) for pattern in files.split()):
            return group
    return None


def explain(missed, rules):
    """The branches of each line that were not reached, by class; those that nothing explains have none."""
    for (source, number), n in sorted(missed.items()):
        name, line = name_of(source), source.read_text().splitlines()[number - 1].strip()
        for rule in rules:
            k = rule.explain(name, line, n)
            if k:
                rule.n += k
                n -= k
                yield rule.name, k, name, number, line
        if n:
            yield "", n, name, number, line


class Coverage:
    """What a file of lcov's says, with the reasons."""

    def __init__(self, path, rules):
        self.lines, self.branches = collections.defaultdict(Rate), collections.defaultdict(Rate)
        self.groups = collections.defaultdict(Rate)
        missed = collections.Counter()
        for source, word, fields in records(path):
            name = name_of(source)
            if word == "DA":
                for room in rooms_of(name):
                    self.lines[room].add(fields[1] != "0")
            elif word == "BRDA":
                is_reached = fields[3] not in ("-", "0")
                for room in rooms_of(name):
                    self.branches[room].add(is_reached)
                self.groups[group_of(name)].add(is_reached)
                missed[source, int(fields[0])] += not is_reached
        self.found = list(explain(+missed, rules))

    def by_room(self):
        explained = collections.Counter()
        for name, n, path, _, _ in self.found:
            for room in rooms_of(path):
                explained[room] += n if name else 0
        print(f"{'folder':20} {'lines':>24} {'branches':>26} {'explained':>10} {'not':>6}")
        for room in sorted(self.lines):
            rate = self.branches[room]
            print(f"{room:20} {self.lines[room]!s:>24} {rate!s:>26} {explained[room]:10} "
                  f"{rate.all - rate.reached - explained[room]:6}")

    def by_class(self, classes):
        """The reasons of the groups."""
        counts = collections.Counter()
        for name, n, path, _, _ in self.found:
            counts[name, group_of(path)] += n
        print("".join(f"{group:>13}" for group in GROUPS))
        for name, text in (*classes.items(), ("", "without a reason")):
            print("".join(f"{counts[name, group]:13}" for group in GROUPS) + f"  {name:11} {text}".rstrip())

    def unexplained(self):
        """The branches of the groups that have no reason."""
        return [f for f in self.found if not f[0] and group_of(f[2])]


def show(found):
    for name, n, path, number, line in sorted(found, key=lambda f: (not f[0], f[2], f[3])):
        print(f"{path}:{number}: {n} not reached{f' ({name})' if name else ''}: {line}")


def main():
    if sys.argv[1] == "--check":
        return check()
    classes, rules = read_rules()
    coverage = Coverage(sys.argv[1], rules)
    coverage.by_room()
    print()
    coverage.by_class(classes)
    print()
    for group, (asked, _) in GROUPS.items():
        print(f"{group:13} branches {coverage.groups[group]}, asked {asked} %")
    for rule in (r for r in rules if not r.n):
        print(f"not needed by this measurement: [{rule.name}] {rule.words}")
    if "-v" in sys.argv:
        show(coverage.found)
    else:
        show(coverage.unexplained())
    return 1 if coverage.unexplained() else 0


if __name__ == "__main__":
    sys.exit(main())
