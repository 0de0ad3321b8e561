# SPDX-License-Identifier: MIT
"""`tracestub query` and its forms."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

from _tap import LIMIT, TRACESTUB


def query(trace, question, *options):
    return subprocess.run([TRACESTUB, "query", trace, *question.split(), "--quiet", *options], capture_output=True,
                          text=True, timeout=LIMIT)


def query_text(trace, question, *options, columns=0):
    """The output on a terminal with this number of columns; 0: of an unknown width."""
    return on_terminal(["query", trace, *question.split(), "--quiet", *options], columns)


def on_terminal(words, columns):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    with subprocess.Popen([TRACESTUB, *words], stdout=slave, stderr=subprocess.PIPE) as child:
        os.close(slave)
        out = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:     # the other end is closed
                break
            if not part:
                break
            out += part
        child.wait(LIMIT)
    os.close(master)
    return out.decode().replace("\r\n", "\n"), child.returncode


def escape(text):
    text = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    return re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", text)


def cell(value):
    """A JSON value as TSV has it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    return escape(value) if isinstance(value, str) else value.text


class Number:
    def __init__(self, text):
        self.text = text


def are_bytes(shown, value):
    """Is @shown, "41 ?? 43" in the order of memory, @value: a number, or bytes of which the first 64 are shown?"""
    if value is None or shown is None:
        return shown is None or set(shown) <= set("? .")
    if not value.startswith("0x"):
        return shown == value or shown.startswith(value.removesuffix("...")) and value.endswith(" ...")
    digits = shown.split()
    return int(value, 16) in (int("".join(digits), 16), int("".join(digits[::-1]), 16))


def json_lines(text):
    """Rows, with the names that all forms have, and the end.  A value and its bytes, which JSON alone has, say the same."""
    lines = [json.loads(line, parse_int=Number, parse_float=Number) for line in text.splitlines()]
    for row in lines[:-1]:
        for name in [n for n in row if n.endswith("_bytes")]:
            shown = row.pop(name)
            assert are_bytes(shown, row[name.removesuffix("_bytes")]), (name, shown, row)
    return lines[:-1], lines[-1]
