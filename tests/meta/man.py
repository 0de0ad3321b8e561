#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The man pages, --help, the monitor's commands, the packets and the formats name the same things."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
TRACESTUB = os.environ.get("TRACESTUB", str(TOP / "tracestub"))

PAGE = (TOP / "src/program/tracestub.1").read_text()
PLAIN = re.sub(r"\\f.", "", PAGE.replace("\\-", "-"))
PROTOCOL = re.sub(r"\\f.", "", (TOP / "src/program/tracestub-protocol.7").read_text().replace("\\-", "-"))
FORMATS = (TOP / "src/program/tracestub-formats.7").read_text()
HELP = subprocess.run([TRACESTUB, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def options_of_the_source():
    return set(re.findall(r'X\(\w+, "([a-z-]{2,})"', (TOP / "src/program/cli/cli_options.h").read_text()))


def commands_of_the_source():
    return set(re.findall(r'\[TS_CMD_\w+\] = \{ "([a-z]+)"', (TOP / "src/program/cli/cli_commands.c").read_text()))


def packets_of_the_source():
    return {name for path in (TOP / "protocol/packets").glob("*.c")
            for name in re.findall(r'^\t\{ "([^"]+)", RSP_', path.read_text(), re.M)}


def formats_of_the_source():
    return {path.name.upper() for path in (TOP / "loaders").iterdir() if (path / f"{path.name}.c").is_file()}


def dialects_of_the_source():
    return {path.stem for path in (TOP / "loaders/grammar/dialects").glob("*.grammar")}


def words_of_grammars():
    """Words of statements and elements, and what may stand after an element's colon."""
    compiled, patterns = ((TOP / f"loaders/grammar/language/{name}.c").read_text() for name in ("compile", "pattern"))
    statements = re.search(r"settings\[\] = \{(.*?)^\};.*?kinds\[\] = \{(.*?)^\};", compiled, re.M | re.S)
    words = set(re.findall(r'\{ "([a-z-]+)",', statements[1] + statements[2]))
    elements = re.findall(r'^\t\{ "([a-z]+)", EL_\w+, "([^"]*)" \},', patterns, re.M)
    for word, quals in elements:
        words |= {word, *re.findall(r"(\w+)=", quals)}
    return words | {"!" + say for say in re.findall(r'\{ "([a-z]+)",\s+GRAMMAR_\w+ \}', patterns)}


def words_of_the_grammar_page():
    page = re.sub(r"\\f.|\\", "", (TOP / "src/program/tracestub-grammar.7").read_text().split(".SH THE FILE")[1])
    return set(re.findall(r"!?[a-z]+(?:-[a-z]+)?", page))


CASES = {
    "every dialect of text traces is in tracestub-formats(7)":
        (dialects_of_the_source(), set(re.findall(r"^\.TP\n\.B ([\w\\-]+)$", FORMATS.replace("\\-", "-"), re.M))),
    "every word of a grammar is in tracestub-grammar(7)": (words_of_grammars(), words_of_the_grammar_page()),
    "every packet is in tracestub-protocol(7)":
        (packets_of_the_source(), set(re.search(r"^\.SH PACKETS\n(.*?)^\.SH ", PROTOCOL, re.M | re.S)[1].split())),
    "tracestub-protocol(7) names no other packet":
        (set(re.findall(r"\b[qQ][A-Z]\w+|\bj[A-Z]\w+", PROTOCOL)) - {"QEMU"},
         {part for name in packets_of_the_source() for part in [name, *name.split(":")]}),
    "every format has its section in tracestub-formats(7)":
        (formats_of_the_source(), set(re.findall(r"^\.SH (\w+)$", FORMATS, re.M))),
    "every option is in --help": (options_of_the_source(), set(re.findall(r"--([a-z][a-z-]+)", HELP))),
    "every option has its paragraph in the man page":
        (options_of_the_source(), set(re.findall(r"^\.TP\n\.BI? --([a-z-]+)", PLAIN, re.M))),
    "the man page has no option that is not in --help":
        (set(re.findall(r"--([a-z][a-z-]+)", PLAIN)), set(re.findall(r"--([a-z][a-z-]+)", HELP))),
    "every command is in --help": (commands_of_the_source(), set(re.findall(r"^  tracestub ([a-z]+) ", HELP, re.M))),
    "every command has its paragraph in the man page":
        (commands_of_the_source(), set(re.findall(r'^\.TP\n\.BI "([a-z]+) ', PLAIN, re.M))),
    "every monitor command has its paragraph in the man page":
        (set(re.findall(r'^\t\{ "([a-z]+)", ".*run_\1 \},$', (TOP / "protocol/packets/monitor.c").read_text(), re.M)),
         set(re.findall(r'^\.TP\n\.BI? "?monitor ([a-z]+)', PLAIN, re.M))),
    "every command of gdbinit has its paragraph in the man page":
        (set(re.findall(r"^define ([a-z]+)$", (TOP / "gdbinit").read_text(), re.M)),
         set(re.findall(r"^\.TP\n\.BI? ([a-z]+)", PLAIN, re.M))),
}

failed = False
print(f"1..{len(CASES)}")
for n, (name, (wanted, there)) in enumerate(CASES.items(), 1):
    missing = wanted - there
    ok = bool(wanted) and not missing
    failed |= not ok
    print(f"{'' if ok else 'not '}ok {n} - {name}")
    if not ok:
        print(f"# missing: {', '.join(sorted(missing)) or 'all, for nothing was found in the source'}")
sys.exit(failed)
