#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lldb connects, shows registers, memory, disassembly and a backtrace, steps, continues to a breakpoint, and quits.

What it has to show comes from the oracle of the recording and from the program.
"""
import pathlib
import re
import subprocess

from _lldb import environment, lldb_path
from _programs import Program
from _record import build, record, recorder
from _recording import RAW_NAMES, Recording
from _server import Server
from _tap import TRACESTUB, add_case, case, run_cases, skip


def run(argv, *commands):
    """lldb with the commands from a file: those of its options end at a stop that looks like a crash."""
    pathlib.Path("commands").write_text("\n".join((*commands, "quit", "")))
    return subprocess.run([*argv, "--no-lldbinit", "--batch", "--source", "commands"], capture_output=True, text=True,
                          timeout=300, env=environment(), stdin=subprocess.DEVNULL)


def lldb(server, program, *commands):
    """What each command printed: {command: text}. A refused command does not end the others."""
    done = run([lldb_path()], "settings set interpreter.stop-command-source-on-error false", f"target create {program}",
               f"gdb-remote {server.address}", *commands)
    assert done.returncode >= 0, f"lldb died of signal {-done.returncode}: {done.stdout} {done.stderr}"
    assert server.is_alive(), server.said()
    text = done.stdout
    parts, places = {}, [(m[1], m.start(), m.end()) for m in re.finditer(r"^\(lldb\) (.*)$", text, re.M)]
    for (command, _, start), (_, end, _) in zip(places, places[1:] + [(None, len(text), None)]):
        parts.setdefault(command, text[start:end])
    return parts


def states(recording, last):
    """pc and registers at the positions up to @last, by the oracle."""
    values, found = {}, []
    for pc, changed in recording.oracle():
        values = {**values, **changed}
        found.append((pc, values))
        if len(found) > last:
            return found
    return found


def numbers(text):
    """The registers of "register read": {name: value}."""
    return {m[1]: int(m[2], 16) for m in re.finditer(r"^\s*(\w+) = (0x[0-9a-f]+)", text, re.M)}


def check_registers(recording, text, values):
    shown, names = numbers(text), RAW_NAMES.get(recording.arch, {})
    checked = [name for name in values if names.get(name, name) in shown]
    assert len(checked) >= 8, text
    for name in checked:
        found = shown[names.get(name, name)]
        assert found == values[name], f"{name}: {found:#x}, not {values[name]:#x}"


def lldb_looks_around(name):
    """At the first position, and an instruction later."""
    recording = Recording(name)
    before, after = states(recording, 1)
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "register read", "memory read --size 1 --count 16 --format x $sp",
                    "thread step-inst", "register read pc", f"disassemble --start-address {before[0]:#x} --count 2",
                    "memory read --size 1 --count 16 0x10", "memory write $sp 1", "memory read --size 1 --count 1 $sp")
    check_registers(recording, said["register read"], before[1])
    sp = next(before[1][sp] for sp in ("sp", "rsp", "esp") if sp in before[1])
    assert f"{sp:#x}: " in said["memory read --size 1 --count 16 --format x $sp"], said
    code = said[f"disassemble --start-address {before[0]:#x} --count 2"]
    if "can't be resolved" not in code and "Failed to disassemble" not in code:     # lldb 19 and later of a program for MIPS
        assert re.search(rf"\b0x0*{before[0]:x}\b", code), said
    assert "stop reason = instruction step into" in said["thread step-inst"], said
    assert after[0] in numbers(said["register read pc"]).values(), (hex(after[0]), said)
    assert "0x00000010:" not in said.get("memory read --size 1 --count 16 0x10", ""), said     # a refusal may end the session


def lldb_stops_at_a_breakpoint(name):
    """With the whole stack above it; the end of the recording is called by its name."""
    recording = Recording(name)
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "breakpoint set --name bump", "continue", "bt", "frame variable by",
                    "process plugin packet monitor when", "breakpoint delete 1", "thread step-inst", "process status",
                    "process continue")
    assert "stop reason = breakpoint 1.1" in said["continue"], said
    frames = re.findall(r"frame #\d+: .*?`(\w+)", said["bt"])
    functions = [re.sub(r".*\[inlined\] ", "", f) for f in re.findall(r"frame #\d+: .*?`([^\n(+]*)", said["bt"])]
    assert functions[0].strip() == "bump" and "rt_main" in frames and "_start" in said["bt"], said["bt"]
    assert re.search(r"^\(int\) by = -?\d+$", said["frame variable by"], re.M), said
    pc = int(re.search(r"frame #0: (0x[0-9a-f]+)", said["continue"])[1], 16)
    when = said["process plugin packet monitor when"]
    position = int(re.search(r"position (\d+) of", when)[1])
    assert position == recording.positions(pc)[0], (when, recording.positions(pc)[0])
    assert "stop reason = instruction step into" in said["thread step-inst"], said
    assert "stop reason = end of the recording" in said["process continue"], said


@case
def lldb_knows_the_memory_map_and_the_libraries():
    """Of a position-independent program with libraries; then it goes on from where the monitor went."""
    program = Program("pie", "ucir")
    with Server(program.trace, "--exec", program.exec) as server:
        said = lldb(server, program.exec, "memory region $sp", "memory region 0x1000", "breakpoint set --name inc",
                    "continue", "process plugin packet monitor goto 4000", "process continue")
    assert re.search(r"\[0x0*7ffffffde000-0x0*7ffffffff000\) rw-", said["memory region $sp"]), said
    assert "---" in said["memory region 0x1000"], said
    assert "`inc(" in said["continue"], said
    assert "`inc(" in said["process continue"], said        # the call after position 4000


@case
def lldb_goes_backwards():
    """Its steps, continues and watchpoints after "monitor direction reverse"."""
    recording = Recording("x64_walk")
    pcs = recording.pcs()
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "breakpoint set --name bump", "continue",
                    "process plugin packet monitor direction reverse", "thread step-inst", "register read pc",
                    "thread list", "breakpoint delete 1", "watchpoint set variable total", "process continue", "bt",
                    "process plugin packet monitor direction forward", "thread step-inst --count 1")
    entry = int(re.search(r"frame #0: (0x[0-9a-f]+)", said["continue"])[1], 16)
    before = pcs[recording.positions(entry)[0] - 1]
    assert before in numbers(said["register read pc"]).values(), (hex(before), said)
    assert len(re.findall(r"thread #\d+: tid", said["thread list"])) == 1, said
    # The last addend of add_all is the key of the first node, 0 * 0 + 1.
    assert re.search(r"old value: 35\s+new value: 34", said["process continue"]), said
    at = int(re.search(r"frame #0: (0x[0-9a-f]+) .*`add_all", said["bt"])[1], 16)
    write = max(k for k in recording.positions(at) if k < recording.positions(entry)[0])
    after = int(re.search(r"frame #0: (0x[0-9a-f]+)", said["thread step-inst --count 1"])[1], 16)
    assert after == pcs[write + 1], (hex(after), hex(pcs[write + 1]), said)


@case
def lldb_watches_in_both_directions():
    """bump() adds fib(9), 34, to the sum of the keys, 35; from there the summand before it is the last one."""
    recording = Recording("x64_walk")
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "breakpoint set --name bump", "continue", "breakpoint delete 1",
                    "watchpoint set variable total", "process continue", "process plugin packet monitor direction reverse",
                    "thread continue", "continue --ignore-count 0")
    assert re.search(r"old value: 35\s+new value: 69", said["process continue"]), said
    assert re.search(r"old value: 69\s+new value: 35", said["thread continue"]), said
    assert re.search(r"old value: 35\s+new value: 34", said["continue --ignore-count 0"]), said


@case
def an_lldb_with_reverse_stops_at_watchpoints_and_breakpoints():
    recording = Recording("x64_walk")
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "help process continue", "breakpoint set --name bump", "continue",
                    "breakpoint disable 1", "watchpoint set variable total", "process continue --reverse",
                    "watchpoint delete 1", "breakpoint set --name push", "process continue -R",
                    "process plugin packet monitor when")
    if "--reverse" not in said["help process continue"]:
        skip("this lldb has no process continue --reverse")
    assert re.search(r"old value: 35\s+new value: 34", said["process continue --reverse"]), said
    assert "stop reason = breakpoint 2.1" in said["process continue -R"], said
    pc = int(re.search(r"frame #0: (0x[0-9a-f]+)", said["process continue -R"])[1], 16)
    assert f"position {recording.positions(pc)[-1]} of" in said["process plugin packet monitor when"], said


@case
def lldb_lists_the_threads():
    """errno.c: other() is called in the second thread, while the first one waits for it."""
    recorder()
    assert record("two.ucir", build("errno.c", "two")).returncode == 0
    with Server("two.ucir", "--exec", "two") as server:
        said = lldb(server, "two", "breakpoint set --name other", "continue", "thread list", "thread select 1", "bt")
    assert re.search(r"^\* thread #2: .*`other", said["thread list"], re.M), said
    assert re.search(r"^  thread #1: ", said["thread list"], re.M), said
    assert re.search(r"^\* thread #1\b(.*\n)+?.*frame #0: ", said["bt"], re.M) and "`other" not in said["bt"], said


@case
def an_lldb_with_reverse_goes_backwards_from_a_crash():
    recording = Recording("x64_crash")
    with Server(recording.trace) as server:
        said = lldb(server, recording.exec, "help process continue", "process continue", "process continue --reverse",
                    "process continue --forward")
    if "--reverse" not in said["help process continue"]:
        skip("this lldb has no process continue --reverse")
    assert "stop reason = signal SIGSEGV" in said["process continue"], said
    assert "stop reason = beginning of the recording" in said["process continue --reverse"], said
    assert "stop reason = signal SIGSEGV" in said["process continue --forward"], said


@case
def lldb_lists_the_libraries_of_the_first_position():
    program = Program("pie", "ucir")
    with Server(program.trace, "--exec", program.exec) as server:
        said = lldb(server, program.exec, "image list -f")
    assert "/libc.so.6" in said["image list -f"] and "ld-linux" in said["image list -f"], said


@case
def lldb_follows_the_libraries():
    """It sets its breakpoints in one that the program loads, and unwinds from there; backwards that is gone again."""
    recorder()
    record("friends.ucir", build("friends.c", "friends", "-O0 -g -w"))
    with Server("friends.ucir", "--exec", "friends") as server:
        said = lldb(server, "friends", "image list -f", "breakpoint set --name __libc_start_main", "continue",
                    "target modules list -f", "process plugin packet monitor announce goto end", "process continue",
                    "bt", "breakpoint delete 1", "process plugin packet monitor direction reverse", "thread continue",
                    "image list --fullpath")
    assert "libc.so.6" not in said["image list -f"], said
    assert "stop reason = breakpoint 1.1" in said["continue"] and "`__libc_start_main" in said["continue"], said
    assert "/libc.so.6" in said["target modules list -f"], said
    assert "`print_friend" in said["bt"] and "libc.so.6`__libc_start_main" in said["bt"], said
    assert "beginning of the recording" in said["thread continue"], said
    assert "ld-linux" in said["image list --fullpath"] and "libc.so.6" not in said["image list --fullpath"], said


@case
def tracestub_lldb_starts_it_connected():
    lldb_path()
    recording = Recording("x64_walk")
    done = run([TRACESTUB, "lldb", recording.trace, recording.exec, "--"], "goto 1000", "when", "continue", "when",
               "direction reverse", "thread step-inst", "when", "direction forward", "breakpoint set --name bump",
               "continue", "ts last-write total")
    said = done.stdout
    assert "The next step or continue stops at position 1000." in said, done
    assert re.findall(r"^position (\d+) of 7480", said, re.M) == ["0", "1000", "999"], done
    assert "stop reason = at position 1000" in said and "stop reason = breakpoint 1.1" in said, done
    assert re.search(r"^#  position .*\n1 .*\n1 row$", said[said.index("(lldb) ts last-write"):], re.M), done


@case
def the_server_outlives_lldb_and_serves_the_next_one():
    recording = Recording("x64_walk")
    with Server(recording.trace) as server:
        for _ in range(2):      # "quit" kills the process
            said = lldb(server, recording.exec, "thread step-inst")
            assert "instruction step into" in said["thread step-inst"], said


for sample in "x64_walk", "x86_walk", "arm_walk", "arm64_walk", "mips_walk":
    add_case(f"{sample}: lldb looks around", lldb_looks_around, sample)
for sample in "x64_walk", "x86_walk", "arm_walk", "arm64_walk":
    add_case(f"{sample}: lldb stops at a breakpoint", lldb_stops_at_a_breakpoint, sample)
run_cases()
