#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The layering, by the includes: who may include what.

    loaders/ ----> src/ <---- protocol/      src/main.c alone sees all three

A new line in these tables is a question of design, not a warning to silence.
"""
import os
import pathlib
import re
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))

# folder -> folders whose headers its files may include
FOLDERS = {
    "src": {"src"},
    "loaders": {"src", "loaders"},
    "protocol": {"src", "protocol"},
}
JOINS_ALL = "src/main.c"

# In loaders/ a format sees loader.h, these codecs, and headers that share the first word of its own name.
LOADERS_SHARED = {"loader.h", "pbwire.h", "snappy.h"}

# headers of libraries -> the only files that may include them
LIBRARIES = [
    (re.compile(r"ev\.h"), re.compile(r"protocol/server\.c")),
    (re.compile(r"jansson\.h"), re.compile(r"src/info_json\.c|loaders/.*\.c")),
    (re.compile(r"(g|lib)elf\.h"), re.compile(r"src/elf\.c")),
    (re.compile(r"libxml/.*"), re.compile(r"src/tdesc\.c")),
    (re.compile(r"snappy.*\.h"), re.compile(r"loaders/.*\.c")),
    (re.compile(r"Zydis/.*"), re.compile(r"loaders/x64dbg_insn\.[ch]")),
    (re.compile(r"check\.h"), None),
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def resolve(file, name):
    """The path from the top of what `name` means in `file`, or None."""
    for base in file.parent, TOP:
        path = pathlib.Path(os.path.normpath(base / name))
        if path.is_file():
            return path.relative_to(TOP)
    return None


def first_word(path):
    return path.stem.split("_")[0]


def fault(file, bracket, name):
    """Why `file` may not include `name`, or None."""
    rel = file.relative_to(TOP)
    if bracket == "<":
        for header, only in LIBRARIES:
            if header.fullmatch(name) and not (only and only.fullmatch(str(rel))):
                return f"only {only.pattern} may" if only else "only tests may"
        return None
    target = resolve(file, name)
    if target is None:
        return "no such file in the tree"
    if str(rel) == JOINS_ALL:
        return None
    folder = rel.parts[0]
    if target.parts[0] not in FOLDERS[folder]:
        return f"{folder}/ may include {' and '.join(sorted(FOLDERS[folder]))} only"
    if folder == target.parts[0] == "loaders":
        if target.name not in LOADERS_SHARED and first_word(target) != first_word(rel):
            return f"of another loader (shared are {', '.join(sorted(LOADERS_SHARED))})"
    return None


def check(folder):
    faults = []
    for file in sorted((TOP / folder).rglob("*.[ch]")):
        text = file.read_text()
        for m in INCLUDE.finditer(text):
            why = fault(file, m[1], m[2])
            if why:
                line = text.count("\n", 0, m.start()) + 1
                faults.append(f"{file.relative_to(TOP)}:{line}: includes {m[2]}: {why}")
    return faults


def main():
    failed = False
    for n, folder in enumerate(FOLDERS, 1):
        faults = check(folder)
        print(f"{'not ' if faults else ''}ok {n} - includes of {folder}/ stay in its layer")
        for f in faults:
            print(f"# {f}")
        failed |= bool(faults)
    print(f"1..{len(FOLDERS)}")
    return failed


sys.exit(main())
