#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text traces from outside: a user's own grammar, exports that are read back, and files that are no recordings."""
import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile

from _tap import DATA, SRCDIR, TRACESTUB, add_case, case, run_cases

SAMPLES = DATA / "text-samples"
STATES = os.environ.get("TEST_BUILDDIR", ".") + "/tests/tools/states"
FOLDER = pathlib.Path(tempfile.mkdtemp())


def tracestub(*args, status=0):
    done = subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def sample(name):
    path = FOLDER / name
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.gz").read_bytes()))
    return path


def rows(path, *options):
    out = tracestub("export", path, "--as", "csv", "-o", "-", "--quiet", *options).stdout
    return list(csv.DictReader(io.StringIO(out)))


def example():
    """The lines and the grammar that tracestub-grammar(7) shows."""
    page = (SRCDIR / "src/program/tracestub-grammar.7").read_text()
    blocks = re.findall(r"^\.RS\n(.*?)^\.RE", page, re.M | re.S)
    return [b.replace("\\-", "-").replace("\\(dq", '"') for b in blocks[:2]]


def own(grammar, lines):
    (FOLDER / "my.grammar").write_text(grammar)
    (FOLDER / "my.log").write_text(lines)
    return FOLDER / "my.log", "--grammar", FOLDER / "my.grammar"


@case
def the_example_of_the_manual_page_reads_the_lines_that_it_shows():
    lines, grammar = example()
    trace, *options = own(grammar, lines)
    table = rows(trace, *options)
    assert [r["pc"] for r in table][:3] == ["0x401000", "0x401003", "0x401006"], table
    assert [r["thread"] for r in table][:3] == ["2", "2", "3"]
    assert table[0]["rsp"] == "0x7ffe10" and table[1]["rbp"] == "0x7ffe10"
    assert table[2]["rax"] == "0x2a", table[2]
    assert table[1]["reads"].endswith("0x7ffe18:2a000000") and table[2]["writes"] == "0x7ffe08:2a00000000000000", table
    info = tracestub("info", trace, *options).stdout
    assert "my own tracer" in info and '"worker 1"' in info and "not recorded  flags" in info, info


@case
def the_second_example_of_the_manual_page_reads_a_log_of_gdb():
    """It was made by gdb 13, which is its own oracle: nothing but the page says how its lines are read."""
    page = (SRCDIR / "src/program/tracestub-grammar.7").read_text()
    grammar = re.findall(r"^\.RS\n\.nf\n(tracestub grammar 1 gdblog\n.*?)^\.fi", page, re.M | re.S)[0].replace("\\-", "-")
    lines = sample("gdb.log").read_text()
    trace, *options = own(grammar, lines)
    true, table = [], rows(trace, *options)
    for line in lines.splitlines():
        if line.startswith("=> "):
            true.append({"pc": line.split()[1].rstrip(":")})
        elif true and (found := re.match(r"(r\w+) +(0x\w+) ", line)):
            true[-1][found[1]] = found[2]
    assert len(table) == len(true) == 399, (len(table), len(true))
    for row, state in zip(table, true):
        assert all(row[name] == value for name, value in state.items() if name != "rip"), (row, state)
    calls = tracestub("query", trace, *options, "--exec", sample("walk-x86_64"), "--quiet", "calls").stdout.splitlines()
    callees = [line.split("\t")[9] for line in calls[1:] if "\t" in line]
    assert callees == ["start_c", "main"] + 5 * ["push"] + ["fill", "total"] + 6 * ["depth"], callees


@case
def the_third_example_of_the_manual_page_reads_a_log_of_unicorn():
    """It was made with Unicorn 2.0.1; its run has another stack than the truth, that of qemu's gdb stub."""
    page = (SRCDIR / "src/program/tracestub-grammar.7").read_text()
    grammar = re.findall(r"^\.RS\n\.nf\n(tracestub grammar 1 unicorn\n.*?)^\.fi", page, re.M | re.S)[0].replace("\\-", "-")
    trace, *options = own(grammar, sample("unicorn-walk.log").read_text())
    true = [json.loads(line) for line in gzip.open(SAMPLES / "oracle-walk-aarch64.jsonl.gz", "rt")]
    top = int(true[0]["regs"]["sp"], 16)
    moved = lambda v: v - top + 0x80008000 if abs(v - top) < 1 << 13 else v
    words = lambda data: b"".join(moved(int.from_bytes(data[i:i + 8], "little")).to_bytes(8, "little") for i in range(0, len(data), 8))
    now, n = {}, 0
    assert len(table := rows(trace, *options)) == len(true) == 349
    for row, state in zip(table, true):
        now.update((name, int(value, 16)) for name, value in state["regs"].items())
        assert int(row["pc"], 16) == now["pc"]
        for name in (name for name in registers_of(table) if name in now):
            assert int(row[name], 16) == moved(now[name]), (row["position"], name)
        for column, accesses in ("reads", state.get("reads", [])), ("writes", [(a, new) for a, _, new in state.get("writes", [])]):
            wanted, mine = {}, {}
            for addr, data in accesses:
                data, addr = bytes.fromhex(data), moved(addr if isinstance(addr, int) else int(addr, 16))
                wanted.update((addr + i, b) for i, b in enumerate(words(data) if len(data) % 8 == 0 else data))
            for item in filter(None, row[column].split(";")):
                mine.update((int(item.split(":")[0], 16) + i, b) for i, b in enumerate(bytes.fromhex(item.split(":")[1])))
            assert mine == wanted or "syscall" in state, (row, state)
            n += len(mine)
    assert n > 500, n
    callees = [line.split("\t")[9] for line in tracestub("query", trace, *options, "--exec", sample("walk-aarch64"), "--quiet",
                                                         "calls").stdout.splitlines()[1:] if "\t" in line]
    assert callees == ["start_c", "main"] + 5 * ["push"] + ["fill", "total"] + 6 * ["depth"], callees
    code = tracestub("query", trace, *options, "--quiet", "memory", "0x400144,8", "at", "0").stdout
    assert "1d 00 80 d2 1e 00 80 d2" in code, code


@case
def a_grammar_that_is_wrong_says_in_which_line_and_column():
    trace, *options = own("tracestub grammar 1 x\narch arm\nstep \"a\" pc pc\n", "a1\n")
    error = tracestub("info", trace, *options, status=1).stderr
    assert "my.grammar: line 3, column 6: two pc fields in one line" in error, error


@case
def another_grammar_is_another_recording_its_index_is_not_used():
    lines, grammar = example()
    trace, *options = own(grammar, lines)
    tracestub("index", trace, *options, "--index", FOLDER / "my.tsindex")
    trace, *options = own(grammar.replace('" R " address:read " " size " " bytes:number', '" R " hex " " dec " " hex'), lines)
    table = rows(trace, *options, "--index", FOLDER / "my.tsindex")
    assert table[1]["reads"] == "", table[1]


def same(first, second, registers, start=0, is_strict=True):
    """Every register that is known in both is the same; returns how many are known in both, and only in the first."""
    both, lost = 0, 0
    for one, two in list(zip(first, second))[start:]:
        assert one["pc"] == two["pc"] or not two["pc"], (one, two)
        for r in registers:
            if one[r] and two[r]:
                assert one[r] == two[r], (one["position"], r, one[r], two[r])
                both += 1
            assert one[r] or not two[r] or not is_strict, (one["position"], r, "unknown before", two[r])
            lost += bool(one[r] and not two[r])
    return both, lost


def registers_of(table):
    return [n for n in table[0] if n not in ("position", "thread", "pc", "reads", "writes")]


def comes_back(name, suffix, *options, start=0, lost=0, is_strict=True):
    trace = sample(name)
    out = FOLDER / f"{name}.back{suffix}"
    tracestub("export", trace, "-o", out, *options)
    first, second = rows(trace), rows(out)
    assert abs(len(first) - len(second)) <= 1, (len(first), len(second))
    both, gone = same(first, second, registers_of(first), start, is_strict)
    assert both > 500 and gone <= lost, (both, gone)
    print(f"# {name} as {suffix}: {both} register values the same, {gone} lost")


@case
def tenet_comes_back_as_it_was_registers_threads_and_accesses():
    comes_back("insn-walk64.trace", ".tenet")
    first, second = rows(FOLDER / "insn-walk64.trace"), rows(FOLDER / "insn-walk64.trace.back.tenet")
    for one, two in zip(first[:-1], second):
        assert one["writes"] == two["writes"], (one, two)
    comes_back("threads.trace", ".trace")


def memory(path, addr, n, positions):
    """The bytes at each position, two digits each, ".." unknown ones."""
    asked = "".join(f"{k} {addr} {n}\n" for k in range(positions))
    return subprocess.run([STATES, "ask", path], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()


def ranges(table):
    """Where the rows' accesses are, as addresses that follow each other."""
    touched = set()
    for cell in re.findall(r"0x(\w+):(\?\d+|\w*)", " ".join(row["reads"] + ";" + row["writes"] for row in table)):
        touched |= set(range(int(cell[0], 16), int(cell[0], 16) + (int(cell[1][1:]) if cell[1][:1] == "?" else len(cell[1]) // 2)))
    return [(a, n) for a, n in ((a, next(n for n in range(1, 1 << 20) if a + n not in touched)) for a in sorted(touched) if a - 1 not in touched)]


def memory_comes_back(trace, out):
    """What is unknown stays unknown, and what is known is the same, at each position; returns how many bytes are known in both."""
    table, counts = rows(trace), [0, 0]
    for addr, n in ranges(table):
        for k, (one, two) in enumerate(zip(memory(trace, addr, n, len(table)), memory(out, addr, n, len(table)))):
            for i, (a, b) in enumerate(zip(re.findall("..", one), re.findall("..", two))):
                assert b in (a, ".."), (k, hex(addr + i), a, b)
                counts[0] += b != ".."
                counts[1] += a == ".."
    return counts


@case
def writes_of_unknown_values_come_back_as_such():
    """execlog shows addresses of stores, and no values; a reader that skips them would show what was there before."""
    trace = sample("real-one-x86_64.log")
    for out, *options in (FOLDER / "unknown.tenet",), (FOLDER / "unknown.log", "--as", "tenet"):
        said = tracestub("export", trace, "-o", out, *options).stderr
        assert "writes" not in said, said
        first, second = rows(trace), rows(out)
        assert any(re.search(r":\?\d", row["writes"]) for row in first)
        for one, two in zip(first[:-1], second):
            assert sorted(one["writes"].split(";")) == sorted(two["writes"].split(";")), (one, two)
        known, unknown = memory_comes_back(trace, out)
        assert known > 20000 and unknown > 20000, (known, unknown)


@case
def what_a_system_call_wrote_is_there_while_another_thread_runs():
    """The access is on its thread's next line, three positions later; memory is what it is on each line."""
    trace, out = FOLDER / "turns.txt", FOLDER / "calls.tenet"
    trace.write_text("tracestub text 1 x86_64\nreg rsp 7000\nstep 401000 4889042500500000\n  mem 5000 2222222222222222\n"
                     "step 401008 0f05\n  mem 5000 1111111111111111\nthread 2\nstep 402000 90\nstep 402001 90\n"
                     "step 402002 0f05\n  mem 5004 33333333\nthread 1\nstep 40100a 90\nstep 40100b 90\nstep 40100c 90\nend 0\n")
    tracestub("export", trace, "-o", out)
    n = len(rows(trace))
    assert memory(out, 0x5000, 8, n)[1:n] == memory(trace, 0x5000, 8, n)[1:] == ["2" * 16, *3 * ["1" * 16], *(n - 5) * ["1" * 8 + "3" * 8]]


@case
def registers_that_become_unknown_come_back_as_such():
    """unidbg's lines tell nothing of registers behind code that is not listed."""
    trace, out = sample("unidbg-walk.log"), FOLDER / "forgotten.tenet"
    said = tracestub("export", trace, "-o", out).stderr
    assert "register" not in said and re.search(r",x\d+=0x\?{16},", out.read_text()), said
    first, second = rows(trace), rows(out)
    both, lost = same(first, second, registers_of(first), 1)
    assert both > 1000 and not lost, (both, lost)


@case
def tenetpp_comes_back_as_it_was_memory_that_threads_write_in_turns():
    """A thread's last store before another one runs is on its next line, with the bytes that are there then."""
    trace, out = sample("threads.trace"), FOLDER / "turns.trace"
    tracestub("export", trace, "-o", out)
    n = len(rows(trace))
    first, second = memory(trace, 0x403000, 16, n), memory(out, 0x403000, 16, n)
    both = 0
    for k, (one, two) in enumerate(zip(first, second)):
        for a, b in zip(re.findall("..", one), re.findall("..", two)):
            assert b in (a, ".."), (k, one, two)
            both += a == b != ".."
    known = sum(pair != ".." for one in first for pair in re.findall("..", one))
    assert first[36][8:16] == "2d010000" and both > 0.9 * known > 300, (first[36], both, known)


@case
def tenet_comes_back_as_it_was_of_several_threads_it_is_refused():
    comes_back("insn-walk64.trace", ".log", "--as", "tenet")
    error = tracestub("export", sample("threads.trace"), "--as", "tenet", "-o", FOLDER / "x.log", status=1).stderr
    assert "a Tenet log is of one thread, and the recording has 2: --as tenetpp has all" in error, error


@case
def execlog_comes_back_as_it_was_from_the_first_instruction_on():
    comes_back("cpu-aarch64.log", ".log", "--as", "execlog", start=1)


@case
def what_is_unknown_is_left_out_never_zero():
    comes_back("unidbg-walk.log", ".log", "--as", "execlog", start=1, lost=10000, is_strict=False)
    first, second = rows(FOLDER / "unidbg-walk.log"), rows(FOLDER / "unidbg-walk.log.back.log")
    never = [r for r in registers_of(first) if not any(row[r] for row in first)]
    assert never and not any(row[r] for r in never for row in second), never
    error = tracestub("export", FOLDER / "unidbg-walk.log", "--as", "execlog", "-o", FOLDER / "y.log").stderr
    assert "times a register became unknown, which the form cannot express" in error, error


# one recording of each format that is read: its processor, whether it has one thread, and whether lines can say all of it
# (a register that becomes unknown cannot be said)
EVERY = [
    ("gdbrecord-samples/threads64.core.gz", "x86_64", 1, 1), ("gdbrecord-samples/list-arm.core.gz", "arm", 1, 1),
    ("tfile-samples/work-regs.tf", "x86_64", 1, 1), ("tfile-samples/work-mem.tf", "x86_64", 1, 1),
    ("bap-samples/plug-i386.frames.gz", "i386", 1, 1), ("bap-samples/tw-arm.frames.gz", "arm", 1, 0),
    ("gdbrecord-samples/walk64.core.gz", "x86_64", 1, 1), ("gdbrecord-samples/list-aarch64.core.gz", "aarch64", 1, 1),
    ("rvnbintrace-samples/tiny-fib.bin.gz", "x86_64", 1, 1), ("tenet-samples/pin-walk64.log.gz", "x86_64", 1, 1),
    ("tenet-samples/upper-arm64.log.gz", "aarch64", 1, 1), ("x64dbg-samples/fib32.trace32.gz", "i386", 1, 1),
    ("x64dbg-samples/fib64.trace64.gz", "x86_64", 1, 1), ("usercorn/x64_walk.ucir", "x86_64", 1, 1),
    ("usercorn/mips_walk.ucir", "mips", 1, 1), ("text/example", "x86_64", 1, 1),
    *((f"text-samples/{name}.gz", *facts) for name, *facts in [
        ("commits-rv64fd.log", "riscv64", 1, 1), ("cva6.dasm", "riscv64", 1, 0), ("ibex.log", "riscv32", 1, 0),
        ("cv32e40p.log", "riscv32", 1, 0), ("cpu-x86_64.log", "x86_64", 1, 1), ("cpu-mips.log", "mips", 1, 1),
        ("threads-x86_64.log", "x86_64", 0, 1), ("real-one-x86_64.log", "x86_64", 1, 1), ("fm-walk-a32.tarmac", "arm", 1, 0),
        ("gem5-walk-a64.tarmac", "aarch64", 1, 0), ("insn-walk64.trace", "x86_64", 1, 1), ("threads.trace", "x86_64", 0, 1),
        ("unidbg-walk.log", "aarch64", 1, 0), ("calls-walk.log", "aarch64", 1, 0), ("qbdi-walk.log", "aarch64", 1, 0)])]


def same_writes(first, second):
    """
    What a step writes with a known value comes back; of several threads only the first one's, as others' last step before a
    switch has what is there later. More may come back: what a system call wrote is inferred from what is read later.
    """
    n = 0
    for one, two in zip(first[:-2], second):
        known = {w for w in one["writes"].split(";") if w and "?" not in w} if one["thread"] == first[0]["thread"] else set()
        assert known <= set(two["writes"].split(";")), (one, two)
        n += len(known)
    return n


def comes_back_in_each_form(name, arch, is_one_thread, is_strict):
    data = (DATA / name).read_bytes()
    path = FOLDER / f"every-{pathlib.Path(name).name.removesuffix('.gz')}"
    path.write_bytes(gzip.decompress(data) if name.endswith(".gz") else data)
    options = ("--arch", arch) if "mips" in name else ()
    first = rows(path, *options)
    for form in "tenet", "tenetpp", "execlog":
        out = FOLDER / f"every.{form}"
        if form == "tenet" and (not is_one_thread or arch[0] in "rm"):
            assert "Tenet" in tracestub("export", path, "--as", form, "-o", out, *options, status=1).stderr
            continue
        said = tracestub("export", path, "--as", form, "-o", out, *options).stderr
        second = rows(out, "--arch", arch) if form != "tenet" else rows(out)
        start = form == "execlog"
        assert len(first) == len(second), (form, len(first), len(second))
        # where the last instruction led is not known of every dialect
        both, _ = same(first[:-1], second[:-1], registers_of(first), start, is_strict or form == "tenetpp")
        never = [r for r in registers_of(first) if not any(row[r] for row in first)]
        assert (both or len(never) == len(registers_of(first))) and not any(row[r] for r in never for row in second), (form, both, never)
        if form != "execlog":
            same_writes(first, second)
            images = [line for line in out.read_bytes().splitlines() if line.startswith(b"Loaded image")]
            assert len(images) == len(set(images)), images
        assert is_strict or ("times a register became unknown" in said) == (form != "tenetpp"), said


for sample_of_format in EVERY:
    add_case(f"each form of lines comes back as it was: {sample_of_format[0]}", comes_back_in_each_form, *sample_of_format)


@case
def files_that_are_known_and_are_no_recordings_are_told_what_to_do():
    for name, head, words in [
            ("a.out", b"\x7fELF\2\1\1" + bytes(9) + b"\2\0", "an ELF program, not a recording of one: record it first"),
            ("core", b"\x7fELF\2\1\1" + bytes(9) + b"\4\0", "a core file is one moment"),
            ("perf.data", b"PERFILE2" + bytes(20), "perf.data of perf record"),
            ("metadata", b"/* CTF 1.8 */\n", "CTF metadata"),
            ("stream", b"\xc1\x1f\xfc\xc1" + bytes(20), "a CTF stream"),
            ("x.tt", b"PK\3\4" + bytes(20), "Tenet's own packed trace"),
            ("x.tvt", b"TVTR" + bytes(20), "execution-trace-viewer"),
            ("x.run", b"\0\1\2\3" + bytes(20), "a time travel recording of WinDbg"),
            ("drmemtrace.x.trace.zip", b"PK\3\4" + bytes(20), "a drmemtrace of DynamoRIO")]:
        (FOLDER / name).write_bytes(head)
        error = tracestub("info", FOLDER / name, status=1).stderr
        assert words in error, error


@case
def a_log_without_registers_says_so_and_a_log_of_blocks_is_refused_with_what_to_do():
    assert "this is a spike-list trace without registers: stepping and coverage work" in \
        tracestub("info", sample("list-rv64fd.log")).stderr
    error = tracestub("info", sample("blocks-aarch64.log"), status=1).stderr
    assert "qemu: this log has a dump for each block of instructions" in error, error


@case
def a_compressed_log_is_a_log():
    path = FOLDER / "packed.log.gz"
    path.write_bytes((SAMPLES / "commits-rv32.log.gz").read_bytes())
    assert "spike, Spike" in tracestub("info", path).stdout


@case
def a_compressed_log_is_read_by_a_grammar_of_ones_own():
    lines, grammar = example()
    trace, *options = own(grammar, lines)
    path = FOLDER / "mine.log.gz"
    path.write_bytes(gzip.compress(trace.read_bytes()))
    assert "my own tracer" in tracestub("info", path, *options).stdout


@case
def info_counts_the_lines_that_each_pattern_of_a_grammar_matches():
    lines, grammar = example()
    trace, *options = own(grammar, lines + "who wrote this?\n\n")
    info = " ".join(tracestub("info", trace, *options).stdout.split())
    step = 1 + next(i for i, line in enumerate(grammar.splitlines()) if line.startswith("step"))
    assert f"of the first 7, 3 by line {step} (step), 1 by line {step + 1} (gap), 1 by line {step + 2} (note), 1 empty, " \
        "1 by no pattern" in info, info
    assert "no pattern line 6: who wrote this?" in info, info


@case
def lines_of_which_none_is_an_instruction_are_shown():
    _, grammar = example()
    trace, *options = own(grammar, "pc 401000 push\npc 401001 pop\n")
    error = tracestub("info", trace, *options, status=1).stderr
    assert 'no instruction line in the first lines, which begin with "pc 401000 push"' in error, error


@case
def a_packed_recording_has_its_grammar_in_it():
    lines, grammar = example()
    trace, *options = own(grammar, lines)
    tracestub("pack", trace, *options, "-o", FOLDER / "mine.tspack")
    (FOLDER / "my.grammar").unlink()
    trace.unlink()
    info = tracestub("info", FOLDER / "mine.tspack").stdout
    assert "my own tracer" in info and "0x401000" in info, info


@case
def files_of_several_threads_are_one_recording():
    first = sample("ibex.log")
    folder = pathlib.Path(tempfile.mkdtemp())
    files = [folder / f"trace_core_0000000{i}.log" for i in range(2)]
    for file in files:
        file.write_bytes(first.read_bytes())
    alone = tracestub("info", first).stdout
    n = int(re.search(r"(\d+) instructions", alone)[1])
    info = tracestub("info", *files)
    assert f"{2 * n} instructions" in info.stdout and re.search(r"threads +2\n", info.stdout), info.stdout
    assert '"trace_core_00000001.log"' in info.stdout and "one after the other" in info.stderr, info
    # each thread knows what it alone knows
    table = rows(files[0])
    both = list(csv.DictReader(io.StringIO(tracestub("export", *files, "--as", "csv", "-o", "-", "--quiet").stdout)))
    assert len(both) >= 2 * len(table) - 1 and len({r["thread"] for r in both}) == 2
    registers = [k for k in table[0] if re.fullmatch(r"(ra|sp|gp|tp|[ast]\d+|fp|pc)", k)]
    second = [r for r in both if r["thread"] == both[-1]["thread"]]
    for a, b in zip(table, second):
        assert [a[k] for k in registers] == [b[k] for k in registers], (a, b)
    # half a line at the end of the first file is not the first line of the second
    files[0].write_bytes(files[0].read_bytes()[:-5])
    info = tracestub("info", *files)
    assert f"{2 * n - 1} instructions" in info.stdout and "trace_core_00000000.log: first at offset" in info.stderr, info


@case
def a_folder_is_told_what_it_is():
    for files, words in [
            (["mmaps", "events", "data"], "a recording of rr, which 'rr replay' replays"),
            (["metadata", "channel0_0"], "a CTF or LTTng folder"), (["modules.log"], "a drmemtrace folder of DynamoRIO"),
            (["data.0"], "a perf.data folder"), (["x.log"], "a folder, not a recording: name the file")]:
        folder = pathlib.Path(tempfile.mkdtemp())
        for name in files:
            (folder / name).write_bytes(b"x")
        for command in ["info", folder], ["query", folder, "pc", "0"], ["serve", "127.0.0.1:0", folder]:
            error = tracestub(*command, status=1).stderr
            assert words in error and len(error.splitlines()) == 1, error


@case
def logs_of_qemu_with_more_than_instructions_are_recognised():
    """Micro-operations, host code and page tables may come first, and host code is no memory of the program."""
    lines = sample("cpu-riscv64.log").read_text().splitlines(keepends=True)
    host = "PROLOGUE: [size=45]\n" + "".join(f"0x7f932c{i:06x}:  41 54                    pushq    %r12\n" for i in range(20))
    ops = "OP:\n ld_i32 tmp0,env,$0xfffffffffffffff8\n\n ---- 0000000000400144 0000000000000000\n mov_i64 pc,$0x400148\n\n"
    pages = "host mmap_min_addr=0x1000\n" + 200 * ("page layout changed following mmap\nstart            end              size             prot\n"
                                                  "0000000000400000-0000000002421000 0000000002021000 ---\n")
    alone = re.search(r"(\d+) instructions", tracestub("info", FOLDER / "cpu-riscv64.log").stdout)[1]
    for name, before, between in ("host.log", host, "OUT: [size=64]\n" + host), ("ops.log", ops, ops), ("pages.log", pages, ""):
        path = FOLDER / name
        path.write_text(before + "".join(between + line if line.startswith("----") else line for line in lines))
        done = tracestub("info", path)
        assert "riscv64" in done.stdout and f"{alone} instructions" in done.stdout, done
        assert "does not belong" not in done.stderr, done.stderr
        assert "2 bytes are left out" in tracestub("query", path, "memory", "0x7f932c000000,2", "at", "3", status=1).stderr


run_cases()
