#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb and the oracle, 211,384 instructions of a program with a libc."""
from _oracle import walk_all

walk_all("x64_lib")
