#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb and the oracle, x86; and x86-64 recorded without system calls."""
from _oracle import walk_all

walk_all("x86_walk", "x64_nosys")
