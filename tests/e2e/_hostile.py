# SPDX-License-Identifier: MIT
"""Traces that cost as much as their format allows: each family takes a size in items (threads, sessions, ...).

By hand:  python3 tests/e2e/_hostile.py FAMILY N > FILE
"""
import json
import struct
import sys

import _frames
import _ucir2


# What helps to write a format, beside its families.
NO_FAMILIES = """x64_head x64_block x64_user ucir_head ucir_frame ucir_jmp ucir_step ucir_write ucir_map ucir_syscall
ucir_start tf_head tf_frame tf_regs tf_mem rvn_section rvn_text rvn_trace bap_file gdb_core""".split()


# ------------------------------------------------------------------------------------------------ x64dbg

RIP, N_SLOTS = 16, 172


def x64_head():
    text = json.dumps({"ver": 1, "arch": "x64", "compression": ""}, separators=(",", ":")).encode()
    return b"TRAC" + struct.pack("<I", len(text)) + text


def x64_block(pc, tid=None, is_full=False, opcode=b"\x90"):
    n_regs = N_SLOTS if is_full else 1
    head = bytes([0, n_regs, 0, (0x80 if tid is not None else 0) | len(opcode)])
    slots = bytes(N_SLOTS) if is_full else bytes([RIP])
    values = [0] * N_SLOTS if is_full else [pc]
    if is_full:
        values[RIP] = pc
    return (head + (struct.pack("<I", tid) if tid is not None else b"") + opcode + slots +
            struct.pack(f"<{n_regs}Q", *values))


def x64_user(data=b"", kind=0x81):
    return bytes([kind]) + struct.pack("<I", len(data)) + data


def x64_threads(n):
    """A new thread each block."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    for i in range(n):
        yield x64_block(0x1001 + i, 2 + i)


def x64_sessions(n):
    """@n sessions, at the first of which there are ten times as many threads."""
    yield from x64_threads(10 * n)
    for i in range(n):
        yield x64_block(0x1000, 1, True)
        yield x64_block(0x1001)


def x64_damage(n):
    """Damage, then places that look like blocks and all lead into the same run of plugins' blocks, to more damage."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield b"\x7f"
    place = len(x64_block(0, 1, True)) + 5
    for i in range(n):
        yield x64_block(0x1000, 1, True) + b"\x81" + struct.pack("<I", (n - i - 1) * place)
    yield x64_user() * (20 * n)
    yield b"\x7f" * 4000


def x64_nested(n):
    """The same, and each leads to a run of its own, far away."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield b"\x7f"
    place, run = len(x64_block(0, 1, True)) + 5, 8 * 5 + 1
    for i in range(n):
        yield x64_block(0x1000, 1, True) + b"\x81" + struct.pack("<I", (n - i - 1) * place + i * run)
    yield (x64_user() * 8 + b"\x7f") * n
    yield b"\x7f" * 4000


def x64_json(n):
    """A plugin's facts of many small values."""
    yield x64_head()
    yield x64_block(0x1000, 1, True)
    yield x64_block(0x1001)
    yield x64_user(b'{"modules":[{}' + b",{}" * n + b"]}", 0x80)


# ---------------------------------------------------------------------------------------------- usercorn

JMP, STEP, REG, READ, WRITE, MAP, UNMAP, SYSCALL, EXIT = 3, 4, 5, 7, 8, 9, 10, 12, 13


def ucir_head():
    """Version 0, which has processes, and no frames of snappy."""
    return (b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(32, b"\0") + bytes(2))


def ucir_frame(pid, *ops, kind=1, n_ops=None):
    return bytes([kind]) + struct.pack("<QI", pid, len(ops) if n_ops is None else n_ops) + b"".join(ops)


def ucir_jmp(addr):
    return bytes([JMP]) + struct.pack("<QI", addr, 0)


def ucir_step(size=1):
    return bytes([STEP, size])


def ucir_write(addr, data):
    return bytes([WRITE]) + struct.pack("<QI", addr, len(data)) + data


def ucir_map(addr, size, desc=b"m"):
    return (bytes([MAP]) + struct.pack("<QIBQQHH", addr, size, 7, 0, 0, len(desc), 0) + desc)


def ucir_syscall(num, *ops, n_ops=None):
    return bytes([SYSCALL]) + struct.pack("<HQBH", num, 0, 0, len(ops) if n_ops is None else n_ops) + b"".join(ops)


def ucir_start(pid=0):
    return ucir_frame(pid, ucir_map(0x1000, 0x1000), ucir_write(0x1000, b"\x90"), kind=2)


def ucir_two_tasks(n):
    """Two processes in turn, of which one never steps: its group grows."""
    yield ucir_head() + ucir_start(1) + ucir_start(2)
    yield ucir_frame(2, ucir_jmp(0x1000))
    for i in range(n):
        yield ucir_frame(1, ucir_jmp(0x1000), ucir_write(0x1800, struct.pack("<I", i)), ucir_step())
        yield ucir_frame(2, ucir_write(0x1800 + i % 64, b"x"))


def ucir_two_tasks_late(n):
    """The same, and at the end the other steps."""
    yield from ucir_two_tasks(n)
    yield ucir_frame(2, ucir_step())


def ucir_processes(n):
    """Processes, each with a step in turn."""
    n_pids = min(n, 4000)
    yield ucir_head() + b"".join(ucir_start(1 + i) for i in range(n_pids))
    for i in range(n):
        yield ucir_frame(1 + i % n_pids, ucir_jmp(0x1000), ucir_step())


def ucir_calls(n):
    """Calls that do not return."""
    code, top = b"\xe8\x0a\0\0\0" + b"\x90" * 10, 0x7fffffff0000
    ops = []
    for i in range(n):
        pc, sp = 0x400000 + len(code) * (i % 1000), top - 8 * i - 8
        ops += [_ucir2.jmp(pc), _ucir2.write(sp, (pc + 5).to_bytes(8, "little")), _ucir2.reg(44, sp), _ucir2.step(5)]
    yield _ucir2.ucir2("x86_64", _ucir2.keyframe(1, 1, _ucir2.map_(0x400000, 0x4000, 5), _ucir2.write(0x400000, code * 1001),
                                                 _ucir2.map_(top - 8 * n - 0x1000, 8 * n + 0x2000, 3), _ucir2.reg(44, top)),
                       _ucir2.frame(1, 1, *ops))


def ucir_maps(n):
    """A region more each step, then as many fewer."""
    yield ucir_head() + ucir_start()
    for i in range(n):
        yield ucir_frame(0, ucir_jmp(0x1000), ucir_map(0x100000 + 0x2000 * i, 0x1000), ucir_step())
    for i in range(n):
        yield ucir_frame(0, bytes([UNMAP]) + struct.pack("<QI", 0x100000 + 0x2000 * i, 0x1000), ucir_step())


def ucir_syscalls(n):
    """System calls with many ops in them, of a process that has not stepped, so that they are looked at twice."""
    yield ucir_head() + ucir_start()
    yield ucir_frame(0, ucir_jmp(0x1000), ucir_step())
    for i in range(n // 1000 + 1):
        yield ucir_frame(0, ucir_syscall(i & 0xffff, *[ucir_write(0x1800, b"abcdefgh")] * 1000), ucir_step())


def ucir_counts(n):
    """Counts as large as they can be."""
    yield ucir_head() + ucir_start()
    yield ucir_frame(0, ucir_jmp(0x1000), *[ucir_step()] * n, n_ops=0xffffffff)


# ------------------------------------------------------------------------------------------------ tfile

TF_XML = """<target><architecture>i386:x86-64</architecture>
<feature name="org.gnu.gdb.i386.core"><reg name="rax" bitsize="64"/>
<reg name="rsp" bitsize="64"/><reg name="rip" bitsize="64"/></feature></target>"""


def tf_head(*lines):
    described = "".join(f"tdesc {line}\n" for line in TF_XML.splitlines())
    return b"\x7fTRACE0\n" + ("R 18\n" + described + "status 0;tstop::0\n" + "".join(lines) + "\n").encode()


def tf_frame(number, *blocks):
    content = b"".join(blocks)
    return struct.pack("<HI", number, len(content)) + content


def tf_regs(pc):
    return b"R" + struct.pack("<3Q", 1, 0x7000, pc)


def tf_mem(addr, content):
    return b"M" + struct.pack("<QH", addr, len(content)) + content


def tf_frames(n):
    """Frames, each with another piece of memory."""
    yield tf_head("tp T1:1000:E:0:0\n")
    for i in range(n):
        yield tf_frame(1, tf_regs(0x1000), tf_mem(0x5000 + 16 * (i % 4096), b"abcdefgh"))
    yield bytes(2)


def tf_ranges(n):
    """Two frames in turn, of which each has what the other has not: all is forgotten at each step."""
    yield tf_head("tp T1:1000:E:0:0\n")
    for i in range(8):
        yield tf_frame(1, tf_regs(0x1000), *[tf_mem(0x100000 + 16 * k + 8 * (i % 2), b"xxxx") for k in range(n)])
    yield bytes(2)


def tf_nested(n):
    """Blocks within blocks within blocks."""
    yield tf_head("tp T1:1000:E:0:0\n")
    for _ in range(4):
        yield tf_frame(1, *[tf_mem(0x100000 + k, bytes(2)) + tf_mem(0x100000 - k, b"ab") for k in range(n)])
    yield bytes(2)


def tf_tracepoints(n):
    """Locations of tracepoints, and frames of all."""
    yield tf_head(*[f"tp T{1 + i % 4000:x}:{0x1000 + i:x}:E:5:0\n" for i in range(min(n, 4096))])
    for i in range(n):
        yield tf_frame(1 + i % 4000, tf_regs(0x1000 + i % 5000))
    yield bytes(2)


def tf_lines(n):
    """Lines that nobody understands."""
    yield tf_head(*[f"word{i} of no meaning\n" for i in range(n)])
    yield tf_frame(1, tf_regs(0x1000)) + bytes(2)


# ------------------------------------------------------------------------------------------ rvnbintrace


def rvn_section(content):
    return struct.pack("<Q", len(content)) + content


def rvn_text(text):
    return bytes([len(text)]) + text.encode()


def rvn_trace(regions, registers, operations, events, n_events):
    """No resource header; @registers are (id, length, name), @operations (id, register, length)."""
    yield rvn_section(bytes(1))
    machine = b"x641\x05" + struct.pack("<I", len(regions)) + b"".join(
        a.to_bytes(5, "little") + size.to_bytes(5, "little") for a, size in regions)
    machine += struct.pack("<I", len(registers)) + b"".join(
        struct.pack("<HH", i, size) + rvn_text(name) for i, size, name in registers)
    machine += struct.pack("<I", len(operations)) + b"".join(
        struct.pack("<BHB", i, r, 1) + b"\1" + bytes(size - 1) for i, r, size in operations)
    machine += struct.pack("<I", 1) + rvn_text("cpuid_max_phy_addr") + b"\x01\x28"
    yield rvn_section(machine)
    yield struct.pack("<Q", sum(size for _, size in regions))
    yield from (bytes(size) for _, size in regions)
    yield rvn_section(struct.pack("<I", len(registers)) + b"".join(struct.pack("<H", i) + bytes(size) for i, size, _ in registers))
    yield struct.pack("<QQ", 0, n_events)
    yield from events


RVN_REGS = [(0, 8, "rax"), (1, 8, "rip"), (2, 4, "eflags"), (3, 8, "rbx")]
RVN_STEP, RVN_OPS = b"\x10\x0a", [(10, 1, 8), (11, 2, 4)]


def rvn_events(n):
    """Instructions that write."""
    events = (b"\x11" + (0x1000 + 8 * (i % 500)).to_bytes(5, "little") + b"\x04abcd\x0a" for i in range(n))
    return rvn_trace([(0x1000, 4096)], RVN_REGS, RVN_OPS, events, n)


def rvn_regions(n):
    """Regions of memory, far from each other, and a write over all in each step."""
    regions = [(0x1000 + 64 * i, 16) for i in range(n)]
    content = b"\x11" + (0x1000).to_bytes(5, "little") + b"\xff" + (64 * n).to_bytes(5, "little") + bytes(64 * n) + b"\x0a"
    return rvn_trace(regions, RVN_REGS, RVN_OPS, [content] * 8, 8)


def rvn_registers(n):
    """Registers that gdb has none of, all of which change in each step."""
    registers = RVN_REGS + [(300 + i, 8, f"msr{i}") for i in range(n)]
    piece = b"\xf0" + b"".join(b"\xff" + struct.pack("<HQ", 300 + i % n, i) for i in range(14))
    return rvn_trace([(0x1000, 16)], registers, RVN_OPS, [piece * (n // 14) + RVN_STEP] * 8, 8)


def rvn_continued(n):
    """One instruction whose entries have no end."""
    return rvn_trace([(0x1000, 16)], RVN_REGS, RVN_OPS, [b"\xf0" + b"\x0a" * 14] * n + [RVN_STEP], 1)


def rvn_interrupts(n):
    """Nothing but interrupts."""
    return rvn_trace([(0x1000, 16)], RVN_REGS, RVN_OPS, [b"\xff\xff" + rvn_text("interrupt" * 28) + RVN_STEP] * n, n)


# -------------------------------------------------------------------------------------------------- bap


def bap_file(n, add):
    file = _frames.Frames(3, 9, 64, ("Pin", "1.0"))
    for i in range(n):
        add(file, i)
    return [file.close()]


def bap_threads(n):
    """A new thread each instruction."""
    return bap_file(n, lambda f, i: f.std(0x1000, 1 + i, b"\x90", [_frames.reg("RAX", i, 8)], []))


def bap_modules(n):
    """A module more each instruction."""
    def add(f, i):
        f.modload(f"/lib/{i}", 0x100000 + 0x1000 * i, 0x100fff + 0x1000 * i)
        f.std(0x1000, 1, b"\x90", [], [])
    return bap_file(n, add)


def bap_operands(n):
    """A few frames with many operands."""
    return bap_file(4, lambda f, i: f.std(0x1000, 1, b"\x90", [_frames.mem(0x5000 + 8 * k, b"abcd") for k in range(n)], []))


# ------------------------------------------------------------------------------------------------- text


def text_steps(n):
    """Threads in turn that write all over memory."""
    yield b"tracestub text 1 x86_64\n"
    for i in range(n):
        yield f"thread {1 + i % 1000}\nstep 1000 90\nmem {0x100000 + 4096 * (i % 3000):x} {i:08x}\nreg rax {i:x}\n".encode()


# ----------------------------------------------------------------------------------------------- tenet


TENET_HEAD = b"rsp=0x7000,rip=0x1000\n" + b"rip=0x1000\n" * 64


def tenet_gaps(n):
    """Calls of code that is not listed, with a new address after each."""
    yield TENET_HEAD
    for i in range(n):
        yield (f"rip={0x1005 + 5 * i:#x},mr=0x6ff8:{(0x1005 + 5 * i).to_bytes(8, 'little').hex()},"
               f"mr={0x100000 + 64 * i:#x}:01\n").encode()


def tenet_accesses(n):
    """A few lines with many accesses."""
    yield TENET_HEAD
    for k in range(4):
        yield f"rsp={0x7000 + k:#x},rip={0x1000 + k:#x}".encode()
        yield b"".join(f",mr={0x5000 + 8 * i:x}:01,mw={0x5000 + 8 * i:x}:{k + 2:02x}".encode() for i in range(n))
        yield b"\n"


def tenet_damage(n):
    yield TENET_HEAD
    for i in range(n):
        yield b"rip=0x1001,rax=zz,mr=1:2,x=1,rsp=0x6ff8,mw=0x6ff8:01\nlost\n"


# ------------------------------------------------------------------------------------------- gdb's recordings


def gdb_core(loads, files, groups, n_notes=1):
    """A core file with one-page regions, mapped files of a page, and groups of the log: [(address, new pc)].  Each of
    @n_notes headers is about the same notes."""
    def note(kind, desc):
        return struct.pack("<III", 5, len(desc), kind) + b"CORE\0\0\0\0" + desc + bytes(-len(desc) % 4)

    regs = bytearray(336)
    struct.pack_into("<Q", regs, 112 + 16 * 8, 0x1000)
    notes = note(1, regs)
    if files:
        table = b"".join(struct.pack("<QQQ", addr, addr + 4096, 0) for addr in files)
        notes += note(0x46494c45, struct.pack("<QQ", len(files), 4096) + table + b"/x\0" * len(files))
    log = struct.pack(">I", 0x20091016) + b"".join(
        b"\2" + struct.pack(">IQ", 1, addr) + b"x" + b"\1" + struct.pack(">I", 16) + struct.pack("<Q", pc) + b"\0" +
        struct.pack(">II", 0, 1) for addr, pc in groups)
    heads, at = [], 64 + 56 * (1 + n_notes + len(loads))
    for kind, addr, data, size in ((0, 0, log, 0), (4, 0, notes, 0), *((1, addr, b"", 4096) for addr in loads)):
        heads.extend([struct.pack("<IIQQQQQQ", kind, 6, at, addr, 0, len(data), size, 1)] * (n_notes if kind == 4 else 1))
        at += len(data)
    ident = b"\x7fELF\2\1\1" + bytes(9)
    head = ident + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(heads), 0, 0, 0)
    yield from (head, *heads, log, notes)


def gdb_files(n):
    """Regions and mapped files, none of which lies in another."""
    n = min(n, 30000)
    return gdb_core([0x1000 + 0x4000 * i for i in range(n)], [0x3000 + 0x4000 * i for i in range(n)], [(0x1000, 0x1001)])


def gdb_groups(n):
    """Instructions that write all over memory."""
    return gdb_core([0x100000 + 0x2000 * i for i in range(3000)], [], [(0x100000 + 0x2000 * (i % 3000), i) for i in range(n)])


FAMILIES = {name: f for name, f in list(globals().items())
            if name.split("_")[0] in ("x64", "ucir", "tf", "rvn", "bap", "text", "tenet", "gdb") and name not in NO_FAMILIES}


def write(family, n, path):
    with open(path, "wb") as f:
        for piece in FAMILIES[family](n):
            f.write(piece)


if __name__ == "__main__":
    for piece in FAMILIES[sys.argv[1]](int(sys.argv[2])):
        sys.stdout.buffer.write(piece)
