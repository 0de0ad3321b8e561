# SPDX-License-Identifier: MIT
"""A manual page as plain text: without requests and fonts, its examples as they are typed."""
import re

from _tap import SRCDIR


def page(name):
    source = (SRCDIR / "src/program" / name).read_text()
    lines = [line for line in source.splitlines() if not line.startswith(".")]
    return re.sub(r"\\f.", "", "\n".join(lines)).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
