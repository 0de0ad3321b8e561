#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The layering, by the includes: which room may include the headers of which other.

    loaders/ ----> src/ <---- protocol/      src/program/ joins them: opening.c sees loaders/, serve.c protocol/

A new word in these tables is a question of design, not a warning to silence.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("TEST_BUILDDIR", TOP)).resolve()

MODEL = "src/base src/arch src/source src/object src/trace src/frames src/query src/agent src/export"
ASK = "src/base src/arch src/arch/operands src/source src/object src/trace src/frames src/query src/search src/symbols"
ASKED = "src/symbols src/ask src/ask/grammar src/ask/output src/ask/verbs src/ask/diff"
FORMAT = "loaders loaders/kit src/base src/arch src/arch/operands src/source src/object src/trace"
PROGRAM = f"{MODEL} {ASKED} src/sql src/plot src/index src/model src/mcp src/sandbox"

# room -> rooms whose headers its files may include, beside its own; bottom up
ROOMS = {
    "src/base": "",
    "src/arch": "src/base",
    "src/arch/operands": "src/base src/arch",
    "src/source": "src/base",
    "src/object": "src/base src/arch src/source",
    "src/trace": "src/base src/arch src/source src/object",
    "src/frames": "src/base",
    "src/index": "src/base src/source src/object src/trace",
    "src/calls": "src/base src/arch src/source src/object src/trace src/index",
    "src/sketch": "src/base src/source src/object src/trace src/index",
    "src/timeline": "src/base src/arch src/source src/object src/trace src/index src/calls src/sketch",
    "src/query": "src/base src/arch src/arch/operands src/source src/object src/trace src/timeline src/calls src/sketch",
    "src/export": "src/base src/arch src/arch/operands src/source src/object src/trace src/frames src/calls src/query",
    "src/agent": "src/base src/arch src/query",
    "src/search": "src/base src/arch src/source src/object src/trace src/query",
    "src/symbols": "src/base src/source src/object src/trace src/query src/search",
    "src/ask": "src/base src/source src/object src/trace src/query src/search",
    "src/ask/grammar": f"{ASK} src/agent src/ask",
    "src/ask/output": f"{ASK} src/ask src/ask/grammar",
    "src/ask/verbs": f"{ASK} src/ask src/ask/grammar src/ask/calls src/ask/coverage src/ask/find src/ask/strings",
    "src/ask/coverage": f"{ASK} src/ask src/ask/grammar src/ask/verbs src/ask/calls",
    "src/ask/calls": f"{ASK} src/ask src/ask/grammar src/ask/verbs",
    "src/ask/find": f"{ASK} src/ask src/ask/grammar src/ask/verbs",
    "src/ask/strings": f"{ASK} src/ask src/ask/grammar src/ask/verbs src/ask/find",
    "src/ask/diff": f"{ASK} src/ask src/ask/grammar src/ask/verbs",
    "src/sql": f"src/base src/arch src/query src/search src/ask/calls {ASKED}",
    "src/sqlite": "src/base src/sql",
    "src/plot": f"src/base src/arch src/source src/object src/trace src/query src/search {ASKED}",
    "src/model": "src/base src/source src/object src/trace src/index src/timeline src/query",
    "src/mcp": f"src/base src/arch src/query src/search src/sql {ASKED} src/model",
    "src/record": "src/base loaders/usercorn",
    "src/recorder": "loaders/usercorn src/record",
    "src/recorder-vg": "src/record",
    "src/sandbox": "src/base src/source src/object src/trace",
    "src/program/cli": PROGRAM,
    "src/program/open": f"{PROGRAM} src/program/cli",
    "src/program/ask": f"{PROGRAM} src/program/cli src/program/open",
    "src/program/debug": f"{PROGRAM} src/program/cli src/program/open",
    "src/program/record": f"{PROGRAM} src/program/cli src/program/open",
    "src/program": f"{PROGRAM} src/program/cli src/program/open src/program/ask src/program/debug src/program/record",
    "loaders": "src/base src/source src/object src/trace",
    "loaders/kit": "src/base src/arch src/source src/object src/trace",
    "loaders/bap": FORMAT,
    "loaders/rvnbintrace": FORMAT,
    "loaders/gdbrecord": FORMAT,
    "loaders/grammar": FORMAT,
    "loaders/tenet": FORMAT,
    "loaders/text": FORMAT,
    "loaders/tfile": f"{FORMAT} src/frames",
    "loaders/usercorn": FORMAT,
    "loaders/x64dbg": FORMAT,
    "protocol/wire": "src/base",
    "protocol/tracing": f"{MODEL} protocol/wire",
    "protocol/session": f"{MODEL} {ASKED} protocol/wire protocol/tracing",
    "protocol/packets": f"{MODEL} protocol/wire protocol/tracing protocol/session",
    "protocol/server": f"{MODEL} protocol/wire protocol/session protocol/packets",
}
# what single files see beside what their room may
JOINTS = {
    "protocol/tracing/tracing.c": "protocol/session",
    "src/program/open/opening.c": "loaders",
    "src/program/debug/relay.c": "protocol/wire",
    "src/program/debug/serve.c": "protocol/server",
    "src/program/record/follow.c": "src/record",
    "src/program/record/record.c": "loaders/usercorn",
    "src/program/record/record_qemu.c": "src/recorder loaders/usercorn",
    "src/program/record/record_vg.c": "src/record loaders/usercorn",
    "src/program/record/recorder.h": "src/record loaders/usercorn",
}

# room -> its headers that other rooms may include; a room that is not here shows all.  Whoever asks about a
# recording asks query.h and what stands on it: the timeline and the loaders' interface are the model's own.
DOORS = {
    "src/query": "query.h access_addr.h call_list.h scan.h find_filter.h search.h watch_ranges.h paging.h thumb.h tls.h walk.h locate.h load_base.h code_samples.h file_match.h local_files.h handlers.h insns.h insn_reads.h read_chunks.h memory_window.h write_runs.h run_chunks.h",
    "src/model": "model.h part.h",
    "src/timeline": "timeline.h world.h backfill.h sketch_section.h",
    "src/source": "pack.h rooted.h source.h spool.h unpack.h",
    "src/object": "build_id.h elf_image.h linetab.h object.h pe.h pe_symbols.h prot.h prototypes.h section.h symtab.h variables.h",
    "src/trace": "chunk.h step.h",
}
# rooms that build the model or feed it, and see all of src/source, src/object and src/trace
BUILDERS = re.compile(r"src/(source|object|trace|index|sketch|timeline|query|model)|loaders(/.*)?")
BUILT_FROM = "src/source", "src/object", "src/trace"

# headers of libraries -> the only files that may include them
LIBRARIES = [
    (re.compile(r"ev\.h"), re.compile(r"protocol/server/(connection\.[ch]|server\.c)")),
    (re.compile(r"nettle/.*"), re.compile(r"src/index/keys/signer\.c")),
    (re.compile(r"jansson\.h"), re.compile(r"src/base/text/json\.h|src/mcp/.*\.[ch]|src/program/ask/(folder|info_json)\.c|loaders/.*\.c|protocol/packets/lldb\.c")),
    (re.compile(r"(g|lib)elf\.h"), re.compile(r"src/object/(debug/)?(build_id|elf_image|linetab|prototypes_type|unpack_bound)\.[ch]")),
    (re.compile(r"libxml/.*"), re.compile(r"src/arch/tdesc\.c")),
    (re.compile(r"snappy.*\.h"), re.compile(r"loaders/.*\.c")),
    (re.compile(r"capstone/.*"), re.compile(r"src/arch/operands/operands_cs\.h")),
    (re.compile(r"Zydis/.*"), re.compile(r"src/arch/(x86_hint\.h|x86_insn\.c|operands/operands_x86_parts\.h)")),
    (re.compile(r"seccomp\.h"), re.compile(r"src/arch/syscall_name\.c|src/sandbox/.*\.c")),
    (re.compile(r"(zlib|lzma|zstd_errors)\.h"), re.compile(r"src/(source/codec|symbols/debug_file)\.c")),
    (re.compile(r"zstd\.h"), re.compile(r"src/(source/(codec|zstd_frames|zstd_write)|index/index_pack|timeline/points)\.c")),
    (re.compile(r"(pub_tool_|libvex).*\.h"), re.compile(r"src/recorder-vg/.*\.[ch]")),
    (re.compile(r"check\.h"), None),
]

# whose files include each other, and call each other, one way only
WITHOUT_CIRCLES = "loaders", "protocol", "src"

# C files and headers in one folder
MAX_FILES = 30

# what lies at the top: a file that a test left there was once committed
AT_TOP = ".ci .clang-format .editorconfig .gitattributes .gitignore LICENSE Makefile.am README bootstrap configure.ac gdbinit " \
         "loaders protocol src tests"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
INLINE = re.compile(r"^static inline[^;{]*\{\n(.*?)^\}", re.M | re.S)


def resolve(file, name):
    """The path from the top of what `name` means in `file`, or None."""
    for base in file.parent, TOP:
        path = pathlib.Path(os.path.normpath(base / name))
        if path.is_file():
            return path.relative_to(TOP)
    return None


def room_of(path):
    """A folder inside a room that is not in the table belongs to that room."""
    return next((str(p) for p in path.parents if str(p) in ROOMS), str(path.parent))


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
    room, other = room_of(rel), room_of(target)
    if other in JOINTS.get(str(rel), "").split():
        return None
    if room not in ROOMS:
        return f"{room}/ is not in the table of rooms"
    if other == room:
        return None
    if other not in ROOMS[room].split():
        return f"{room}/ may include {ROOMS[room] or 'nothing of another room'}"
    door = DOORS.get(other)
    is_inside = other in BUILT_FROM and BUILDERS.fullmatch(room)
    if door and not is_inside and target.name not in door.split():
        return f"of {other}/ others may include {door}"
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


def pairs(folder, defined):
    """Each pair of files (path without its ending) in `folder`, with the pairs that it includes, or calls from a header."""
    graph = {}
    for file in (TOP / folder).rglob("*.[ch]"):
        node = str(file.relative_to(TOP).with_suffix(""))
        text = file.read_text()
        found = (resolve(file, m[2]) for m in INCLUDE.finditer(text) if m[1] == '"')
        others = {str(path.with_suffix("")) for path in found if path}
        for body in INLINE.findall(text) if file.suffix == ".h" else ():
            others.update(*(defined.get(name, ()) for name in re.findall(r"\w+", body)))
        graph.setdefault(node, set()).update(o for o in others if o.startswith(folder + "/") and o != node)
    return graph


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for node in graph.get(todo.pop(), set()) - seen:
            seen.add(node)
            todo.append(node)
    return seen


def circle_faults(folder, defined):
    """Pairs (name.h with name.c) that include each other, perhaps by way of others; what a header calls is below it, too."""
    graph = pairs(folder, defined)
    found = {node for node in graph if node in reachable(graph, node)}
    return [f"{n}: includes itself by way of {', '.join(sorted(o for o in graph[n] if n in reachable(graph, o)))}"
            for n in sorted(found)]


def objects(build):
    """The built objects of the product: each with its source without the ending, of which there may be several builds."""
    found = {}
    for folder in WITHOUT_CIRCLES:
        for file in (build / folder).rglob("*.o"):
            stem = file.name.split(".")[0].rpartition("-")[2]
            source = file.parent.relative_to(build) / stem
            if "_tiny_" not in file.name and any((top / f"{source}.c").is_file() for top in (TOP, build)):
                found[str(file)] = str(source)
    return found


def symbols(build):
    """The built files that define each symbol, and the symbols of others that each uses."""
    names = objects(build)
    defined, used = {}, {name: set() for name in names.values()}
    if not names or not shutil.which("nm"):
        return {}, {}
    got = subprocess.run(["nm", "-A", "-g", *names], capture_output=True, text=True)
    for line in got.stdout.splitlines():
        path, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        if kind == "U":
            used[names[path]].add(symbol)
        else:
            defined.setdefault(symbol, set()).add(names[path])
    return defined, used


def call_circles(defined, used):
    """Files that use each other's functions and tables."""
    graph = {name: set().union(*(defined.get(s, ()) for s in wanted)) - {name} for name, wanted in used.items()}
    after = {name: reachable(graph, name) for name in graph}
    return {" ".join(sorted(o for o in after[name] if name in after[o])) for name in graph if name in after[name]}


def strangers():
    """Names at the top of the repository that do not belong there; None in a tree without one, and without git."""
    if not (TOP / ".git").exists() or not shutil.which("git"):
        return None
    got = subprocess.run(["git", "-C", TOP, "ls-files"], capture_output=True, text=True)
    return sorted({line.split("/")[0] for line in got.stdout.splitlines()} - set(AT_TOP.split()))


def main():
    failed = False
    folders = "src", "loaders", "protocol"
    for n, folder in enumerate(folders, 1):
        faults = check(folder)
        print(f"{'not ' if faults else ''}ok {n} - includes of {folder}/ stay in its layer")
        for f in faults:
            print(f"# {f}")
        failed |= bool(faults)
    defined, used = symbols(BUILD)
    for n, folder in enumerate(WITHOUT_CIRCLES, len(folders) + 1):
        faults = circle_faults(folder, defined)
        print(f"{'not ' if faults else ''}ok {n} - no circle of includes in {folder}/")
        for f in faults:
            print(f"# {f}")
        failed |= bool(faults)
    n = len(folders) + len(WITHOUT_CIRCLES) + 1
    faults = sorted(call_circles(defined, used))
    print(f"{'not ' if faults else ''}ok {n} - no circle of files that call each other")
    for f in faults:
        print(f"# {f}")
    failed |= bool(faults)
    n += 1
    sizes = collections.Counter(str(f.parent.relative_to(TOP)) for folder in folders for f in (TOP / folder).rglob("*.[ch]"))
    faults = [f"{name}: {size}" for name, size in sizes.items() if size > MAX_FILES]
    print(f"{'not ' if faults else ''}ok {n} - no folder has more than {MAX_FILES} files of C: {' '.join(faults)}")
    found = strangers()
    print(f"{'not ' if found else ''}ok {n + 1} - nothing else lies at the top: {' '.join(found or ())}",
          "# SKIP no git, or no repository" if found is None else "")
    print(f"1..{n + 1}")
    return failed or bool(faults) or bool(found)


sys.exit(main())
