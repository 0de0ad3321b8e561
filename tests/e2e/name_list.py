#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--names: names of a stripped program from lists of other tools' forms; the truth is nm of the program before it was stripped."""
import functools
import json
import re
import subprocess

from _record import LIMIT, build, record
from _tap import TRACESTUB, add_case, case, run_cases


def ask(out, *words):
    done = subprocess.run([TRACESTUB, "query", out, *words, "--json", "--quiet"], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode in (0, 1), done
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


@functools.cache
def program():
    path = build("entries.c", "entries", "-O2 -g -w -no-pie")
    functions = [(int(a, 16), n) for a, k, n in re.findall(r"^(\w+) (\w) (\S+)$", subprocess.run(
        ["nm", path], capture_output=True, text=True, check=True).stdout, re.M) if k in "tT"]
    subprocess.run(["strip", path], check=True)
    record("entries.ucir", path)
    return functions


def nm(functions):
    return "".join(f"{a:016x} T {n}\n" for a, n in functions), 0


def plain(functions):
    return "".join(f"{a - 0x400000:#x} {n}\r\n" for a, n in functions), 0x400000


def ghidra(functions):
    return '\ufeff"Name","Location","Symbol Type","Namespace"\n' + "".join(
        f'"{n}","{a:08x}","Function","Global"\n' for a, n in functions) + '"puts","EXTERNAL:00000001","Function","<EXTERNAL>"\n', 0


def ida(functions):
    text = min(a for a, _ in functions)
    return " Start         Length     Name                   Class\n 0001:00000000 000002000H .text                  CODE\n\n" \
        "  Address         Publics by Value\n\n" + "".join(f" 0001:{a - text:08X}       {n}\n" for a, n in functions) + \
        " 0002:00000010       other\n\n Program entry point at 0001:00000000\n", text


def linker(functions):
    return "  Address         Publics by Value              Rva+Base               Lib:Object\n\n" + "".join(
        f" 0001:{a & 0xfff:08x}       {n:26} {a:016x} f   main.obj\n" for a, n in functions), 0


def names_are_those_of(form):
    functions = program()
    text, base = form(functions)
    with open("names.txt", "w", encoding="utf-8", newline="") as out:
        out.write(text)
    option = ("--names", f"names.txt@{base:#x}" if base else "names.txt")
    for name in "main", "outer", "leaf":
        addr = dict((n, a) for a, n in functions)[name]
        rows = ask("entries.ucir", "executions", name, *option)
        assert rows and [r["position"] for r in rows] == [r["position"] for r in ask("entries.ucir", "executions", hex(addr))], name
        assert {r["function"] for r in rows} == {name}
    assert {c["callee"] for c in ask("entries.ucir", "calls", "leaf", *option)} == {"leaf"}
    assert not any(r["function"] == "other" for r in ask("entries.ucir", "hot", "1000", *option))


for form in nm, plain, ghidra, ida, linker:
    add_case(f"names of {form.__name__}", names_are_those_of, form)


@case
def a_name_without_a_size_extends_to_the_next_one():
    with open("names.txt", "w") as out:
        out.write(nm(program())[0])
    steps = {r["function"]: r["steps"] for r in ask("entries.ucir", "hot", "1000", "--names", "names.txt")}
    for name in "leaf", "outer":
        assert len(ask("entries.ucir", "steps", name, "--names", "names.txt")) == steps[name] > 1, (name, steps)
        assert sum(r["steps"] for r in ask("entries.ucir", "coverage", name, "--names", "names.txt")) == steps[name], (name, steps)


@case
def demangled_names_may_have_blanks_and_commas():
    """As nm -C prints them; the first line has a comma, and is no heading of a table."""
    functions = dict((n, a) for a, n in program())
    shown = {"leaf": "shop::price(int, char const*)", "outer": "operator new(unsigned long)", "main": "a,8"}
    with open("names.txt", "w") as out:
        out.writelines(f"{functions[n]:016x} T {text}\n" for n, text in shown.items())
    calls = ask("entries.ucir", "calls", hex(functions["leaf"]), "--names", "names.txt")
    assert calls and {c["callee"] for c in calls} == {shown["leaf"]}, calls[:2]
    found = {r["function"] for n in shown for r in ask("entries.ucir", "executions", hex(functions[n]), "--names", "names.txt")}
    assert found == set(shown.values()), found


@case
def the_server_has_them_and_other_files_are_refused():
    functions = program()
    with open("names.txt", "w") as out:
        out.write(nm(functions)[0])
    shown = subprocess.run([TRACESTUB, "gdb", "entries.ucir", "--names", "names.txt", "--", "-batch", "-ex", "monitor executions main"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT).stdout
    assert "\n1 row" in shown, shown
    with open("none.txt", "w") as out:
        out.write("no names here at all\n\n")
    done = subprocess.run([TRACESTUB, "query", "entries.ucir", "when", "--names", "none.txt"], capture_output=True, text=True)
    assert done.returncode in (0, 2, 3), done
    done = subprocess.run([TRACESTUB, "query", "entries.ucir", "executions", "main", "--names", "none.txt"], capture_output=True, text=True)
    assert done.returncode in (2, 3) and "none.txt: it has no names" in done.stderr and not done.stdout, done


run_cases()
