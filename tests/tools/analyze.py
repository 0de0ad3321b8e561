#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Static analysis of src, loaders and protocol: cppcheck, gcc -fanalyzer and clang-tidy, as far as they are installed.

    tests/tools/analyze.py [--cflags "-I..."] [FILE...]     (make analyze)

Each finding is printed; the status is 1 if there is one.  What a tool says that is not so is suppressed where it stands,
with the reason; kinds of findings that say nothing about this code are left out below.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", f"-I{TOP}", *(f'-D{name}="."' for name in ("PKGDATADIR", "PKGLIBDIR", "PACKAGE_VERSION")),
         "-DTS_QEMU_API=1"]
FINDING = re.compile(r"^\S+:\d+:\d+: (warning|error|style|portability|performance)")

GCC_EXCEPT = [
    # it loses the owner of memory that is stored in a structure; make check-asan looks for leaks in every test
    "malloc-leak",
    # the same of descriptors and streams
    "file-leak",
]
# Where gcc does not follow a condition.
GCC_EXCEPT_IN = {
    # what an operation takes from the stack was counted when the expression was checked
    "src/agent/ax.c": ["use-of-uninitialized-value"],
    # read_head() fills all of a head; gcc forgets it at the copy of as many bytes as the chunk has
    "loaders/kit/snappy.c": ["use-of-uninitialized-value"],
    # ucir_read() fills the members that an operation of its kind has
    "loaders/usercorn/effects.c": ["use-of-uninitialized-value"],
    "loaders/usercorn/group.c": ["use-of-uninitialized-value"],
    "loaders/usercorn/reader.c": ["use-of-uninitialized-value"],
    "loaders/usercorn/after_step.c": ["use-of-uninitialized-value"],
    "loaders/usercorn/usercorn.c": ["use-of-uninitialized-value"],
    # without room for a number, one character, there is none
    "protocol/packets/query.c": ["null-dereference"],
    # the effect @i of the step itself is there; of what is taken each byte before the end was set
    "src/ask/diff/diff_step.c": ["null-dereference", "use-of-uninitialized-value"],
    # who calls it has found that there is a rest
    "src/ask/find/find_memory.c": ["null-dereference"],
    # only what stands ends: it has a slot
    "src/ask/find/matches.c": ["null-dereference"],
    # accesses whose values are not recorded are passed over before
    "src/ask/find/sieve.c": ["null-dereference"],
    # the search ends at n_shown at most, which is compared first
    "src/symbols/symbols.c": ["use-of-uninitialized-value"],
    # a patch has the name of its part: that was locked before
    "src/index/index_file.c": ["null-argument", "possible-null-argument"],
    # zstd fills as many bytes as it returns
    "src/index/index_pack.c": ["use-of-uninitialized-value"],
    # without memory the status is not TS_STATUS_OK, and ts_fail() returns false
    "src/program/mcp.c": ["possible-null-dereference"],
    "src/program/ask/plot.c": ["null-dereference"],
    # peek() fills both unless the sketcher has failed, which is compared first
    "src/sketch/sketcher.c": ["use-of-uninitialized-value"],
    # without memory @done is false
    "src/timeline/space/space_builder.c": ["possible-null-dereference"],
    # without memory for the ring no stretch of it is looked at
    "src/trace/feed.c": ["possible-null-dereference"],
    # ts_source_read() fills as many bytes as it says
    "src/object/image.c": ["use-of-uninitialized-value"],
}
# clang-tidy's checks that are left out.
TIDY_EXCEPT = [
    # an address and a length, a position and a limit: nearly every function has two numbers beside each other, and a
    # struct for each pair would hide more than it shows
    "bugprone-easily-swappable-parameters",
    # factors are counts of registers, lines of a page, lengths of words and constants: the products are far below 2^32;
    # sums and products of what a file says go through src/base/cursor.h
    "bugprone-implicit-widening-of-multiplication-result",
]
# ... and those of which only a part says nothing here.
TIDY_OPTIONS = {
    # strcmp() and memcmp() as a condition are this code's idiom: !strcmp(a, b) is "the same"
    "bugprone-suspicious-string-compare.WarnOnImplicitComparison": "false",
    # without the functions that print: the result of snprintf() matters only where a text may be too long, and what is
    # written to a file or a client goes through src/base/io_full.h or is checked by fclose(); signal() fails for numbers
    # that are none
    "cert-err33-c.CheckedFunctions": "".join(f"::{name};" for name in (
        "aligned_alloc calloc malloc realloc fclose fflush fgetc fgets fopen fread freopen fscanf fseek fsetpos ftell getc "
        "remove rename setvbuf scanf sscanf strtol strtoll strtoul strtoull strtod strtof strtold strftime time timespec_get "
        "tmpfile tmpnam bsearch getenv gmtime localtime mktime memchr strchr strpbrk strrchr strstr clock").split()),
}


def sources():
    found = [p for room in ("src", "loaders", "protocol") for p in sorted((TOP / room).rglob("*.c"))]
    return [p for p in found if p.name not in ("sources.c", "page.c")]   # made by the Makefile


def cppcheck(cflags, files):
    command = ["cppcheck", "-q", "--std=c11", "--enable=warning,performance,portability", "--inline-suppr", "-D_GNU_SOURCE",
               f"-I{TOP}"]
    return [[*command, *map(str, files)]]


def analyzer(cflags, files):
    def without(kinds):
        return [f"-Wno-analyzer-{kind}" for kind in kinds]
    command = ["gcc", *FLAGS, *cflags, "-O2", "-fanalyzer", "-fdiagnostics-plain-output", *without(GCC_EXCEPT)]
    return [[*command, *without(GCC_EXCEPT_IN.get(str(file.resolve().relative_to(TOP)), [])), "-c", "-o", "/dev/null", str(file)]
            for file in files]


def tidy(cflags, files):
    checks = ",".join(["-*", "bugprone-*", "cert-*", *(f"-{check}" for check in TIDY_EXCEPT)])
    options = ", ".join(f"{{key: {key}, value: '{value}'}}" for key, value in TIDY_OPTIONS.items())
    config = f"{{Checks: '{checks}', CheckOptions: [{options}]}}"
    return [["clang-tidy", "--quiet", f"--config={config}", str(file), "--", *FLAGS, *cflags] for file in files]


TOOLS = {"cppcheck": cppcheck, "gcc": analyzer, "clang-tidy": tidy}


def findings(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return sorted({line for line in (done.stdout + done.stderr).splitlines() if FINDING.match(line)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cflags", default="", type=shlex.split)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    n_all = 0
    for tool, commands in TOOLS.items():
        if not shutil.which(tool):
            print(f"{tool}: not installed")
            continue
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [f for lines in pool.map(findings, commands(options.cflags, options.files or sources())) for f in lines]
        for line in found:
            print(line.replace(f"{TOP}/", ""))
        print(f"{tool}: {len(found)} findings", flush=True)
        n_all += len(found)
    return n_all > 0


sys.exit(main())
