#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real executions as BAP's frames (_execution.py): at every position what the frames show is known, as it truly was, and
nothing else is.

A flag register is known when all its flags are; of it only what is known is compared.
"""
import pathlib
import random
import tempfile

from _execution import Execution, PinX64, TracewrapArm
from _states import ask, run, states
from _tap import add_case, run_cases

N_QUESTIONS = 20000


def recorded(name, make):
    r = make(Execution(name))
    for k in range(len(r.execution.steps)):
        r.record(k)
    path = pathlib.Path(tempfile.mkdtemp()) / "trace.frames"
    path.write_bytes(r.file.close())
    return r, path


def registers(r, path, status_mask):
    truth, order = r.execution.regs, "little"
    names = [n for n in truth[0] if n != r.STATUS]
    n_known = n_unknown = n_status = 0
    for k, (pc, mine) in enumerate(states(path)):
        if k < len(r.execution.steps):
            assert pc == r.execution.pcs[k], (k, hex(pc))
        for name in names:
            value = r.known.at(k, name)
            assert (name in mine) == (value is not None), (k, name, mine.get(name), value)
            n_known, n_unknown = n_known + (name in mine), n_unknown + (name not in mine)
            if name in mine:
                assert int.from_bytes(bytes.fromhex(mine[name]), order) == truth[k][name], (k, name, mine[name])
        if r.STATUS in mine:
            value = int.from_bytes(bytes.fromhex(mine[r.STATUS]), order)
            assert not (value ^ truth[k][r.STATUS]) & status_mask, (k, r.STATUS, mine[r.STATUS], truth[k][r.STATUS])
            n_status += 1
    assert k == len(r.execution.steps), k
    assert n_status > k * 0.9, n_status
    print(f"# {r.execution.name}: {k + 1} positions, {n_known} values of registers known, {n_unknown} unknown "
          f"({100 * n_unknown / (n_known + n_unknown):.1f} %), {r.STATUS} known at {n_status}")


def memory(r, path):
    rng, touched, last = random.Random(1), sorted(r.memory.events), len(r.execution.steps)
    questions = [(rng.randrange(last + 1), rng.choice(touched) - rng.randrange(4), rng.randrange(1, 9))
                 for _ in range(N_QUESTIONS)]
    n_known = n_unknown = 0
    for (pos, addr, size), found in zip(questions, ask(path, questions), strict=True):
        assert found == r.memory.text(pos, addr, size), (pos, hex(addr), found, r.memory.text(pos, addr, size))
        for i in range(size):
            byte = found[2 * i:2 * i + 2]
            n_known, n_unknown = n_known + (byte != ".."), n_unknown + (byte == "..")
            if byte != "..":
                assert int(byte, 16) == r.execution.byte(pos, addr + i), (pos, hex(addr + i), byte)
    print(f"# {r.execution.name}: of {n_known + n_unknown} bytes around what is touched {n_unknown} are unknown "
          f"({100 * n_unknown / (n_known + n_unknown):.1f} %)")


def everything(name, make, status_mask):
    r, path = recorded(name, make)
    registers(r, path, status_mask)
    memory(r, path)
    info = run("info", path)
    assert ", 0 unexplained," in info, info
    assert "warning" not in info and "damage" not in info, info


add_case("x86-64, as Pin has it: known is what was shown, and true", everything, "x64_walk", PinX64, 0x8d5)
add_case("ARM, as QEMU has it: known is what was shown, and true", everything, "arm_walk", TracewrapArm, 0xf00f0020)
run_cases()
