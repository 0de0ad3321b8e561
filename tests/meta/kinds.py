#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One mechanism for each idea: how many files do by hand what a file of src/base, src/arch or src/ask does for all.

A kind has a pattern, the files that are the mechanism, and the files that still do without it. Another file that matches
is a second mechanism: use the first one, or say here why it cannot be used. A file of the list that no longer matches is
taken off it.
"""
import os
import pathlib
import re

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
# tools of their own programs, which are not linked with src/base
APART = re.compile(r"src/recorder(-vg)?/")

# kind: (pattern, "the files that are the mechanism", "the files that do without it")
KINDS = {
    "growable array (base/vec, base/buf)": (
        r"\brealloc\(",
        "src/base/vec.c src/base/buf.c",
        "loaders/kit/window.c loaders/usercorn/tasks.c protocol/server/server.c protocol/session/breaks.c protocol/session/threads.c " \
        "protocol/tracing/collector.c " \
        "src/program/open/opening.c src/record/op_piece.c src/record/records.c " \
        "src/search/cause_nodes.c src/symbols/names.c " \
        "src/timeline/postings.c src/timeline/runs_builder.c " \
        "src/trace/step.c"),
    "hash table of items by their keys (base/hash_table)": (
        r"\+ 1\) [&%] \(?[\w>.()-]*(mask|slots|table|cap|SLOTS)\b", "src/base/hash_table.c src/base/hash_table.h",
        # items of the one are removed, and the other gives up after some slots
        "src/ask/find/matches.c src/sketch/grams.c"),
    "search by halves (base/bisect)": (
        r"\b(mid|middle|half) = .*/ 2;|\[\w+ \+ \w+ / 2\]", "",
        "loaders/bap/toc.c "       # a comparison that can fail
        "src/sketch/sketch.c"),    # checks the order of what it passes
    "priority queue (base/heap)": (
        r"\(i - 1\) / 2[\])]", "src/base/heap.c", "protocol/tracing/collector.c"),
    "nearer of two chunks or positions (trace/chunk.h)": (
        r"== (TS_NO_CHUNK|TS_NO_POS|UINT64_MAX) \|\| b == (TS_NO_CHUNK|TS_NO_POS|UINT64_MAX)", "src/trace/chunk.h", ""),
    "effects on memory (trace/step.h)": (
        r"TS_FX_WRITE (&&|\|\|)[^;{]*TS_FX_FORGET\b", "src/trace/step.h",
        # these do not leave protections out
        "src/query/replay.h src/search/flow_search.c src/sketch/sketcher.c"),
    "who changed memory (trace/step.h)": (
        r"TS_FX_(WRITE|FORGET)\b[^;{]*->is_inferred\b(?! =)|TS_FX_FORGET [?][^;]*(WRITER|UNEXPLAINED)", "src/trace/step.h",
        # what a picture leaves out
        "src/plot/plot.c"),
    "register that has a byte (arch/arch.h)": (
        r"(>= \S*|- )\S*regs\[\w\]\.off && .*\.len\b|- \S*regs\[\w\]\.off < \S*\.len\b", "src/arch/arch.c", ""),
    "declarations of verbs (ask/verbs/verbs.h)": (
        r"extern const struct ts_verb ", "src/ask/verbs/verbs.h", "src/ask/diff/diff.h src/sql/parts.h"),   # not verbs of the table
    "event names (ask/grammar/listed)": (
        r'"thread-start"', "src/ask/grammar/listed.c", ""),
    "monotonic clock (base/clock)": (
        r"\bclock_gettime\(CLOCK_MONOTONIC", "src/base/clock.h src/base/thread.c", ""),
    "UTF-8 (base/utf8)": (
        r"0xd800|0x10ffff", "src/base/utf8.c src/base/json_text.h src/ask/grammar/value.c", ""),
    "JSON text (base/json)": (
        r"\bjson_(dumps|dumpb)\(", "src/base/json.h", ""),
    "numbers in texts (base/cursor, ask/grammar/number)": (
        r"\bstrtou?ll?\(", "", "loaders/x64dbg/plugin_block.c protocol/server/listen.c protocol/session/machine.c protocol/session/proc.c " \
        "src/arch/operands/operands_arm.c src/arch/tdesc.c src/ask/grammar/marks.c src/ask/grammar/value.c src/export/selection.c " \
        "src/program/cli/cli_options.c src/program/ask/info_text.c src/program/cli/meter.c src/program/open/packed.c " \
        "src/program/record/record_qemu.c src/program/record/record_vg.c src/source/pack.c"),
    "item, end, more, failed (base/next.h)": (
        r"\b\w+_(MORE|PENDING)(,| =)", "src/base/next.h", "loaders/grammar/later.c"),
    "helper threads (base/thread)": (
        r"\bpthread_create\(", "src/base/thread.c", "src/program/record/record.c src/record/press.c src/sandbox/filter.c"),
    "files that are there in whole or not at all (base/atomic_file)": (
        r"\brename(at)?\(", "src/base/atomic_file.c", "src/index/index_file.c src/sandbox/broker.c src/source/spool.c"),
}


def matching(pattern):
    found = set()
    for folder in "loaders", "protocol", "src":
        for file in (TOP / folder).rglob("*.[ch]"):
            name = str(file.relative_to(TOP))
            if not APART.match(name) and re.search(pattern, file.read_text()):
                found.add(name)
    return found


def faults(pattern, mechanism, others):
    mechanism, others = set(mechanism.split()), set(others.split())
    found = matching(pattern)
    return [f"{name}: a second mechanism" for name in sorted(found - mechanism - others)] + \
           [f"{name}: no longer matches, take it off the list" for name in sorted((mechanism | others) - found)]


failed = False
for number, (kind, (pattern, mechanism, others)) in enumerate(KINDS.items(), 1):
    found = faults(pattern, mechanism, others)
    failed = failed or bool(found)
    print(f"{'not ok' if found else 'ok'} {number} - {kind}: 1 and {len(others.split())} that do without it")
    for fault in found:
        print(f"# {fault}")
print(f"1..{len(KINDS)}")
raise SystemExit(failed)
