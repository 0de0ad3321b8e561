# SPDX-License-Identifier: MIT
"""UCIR version 2 by its page, tracestub-ucir2(7), with nothing of tracestub's own writer; and small programs for it.

    trace = ucir2("riscv64", keyframe(1, 1, reg(11, 2), jmp(0x1000)), frame(1, 1, step(4)), end(0, 3))
"""
import struct

HEAD = b"\xff\x06\x00\x00sNaPpY"


# ------------------------------------------------------------------------------------------------------- ops

def jmp(addr):
    return b"\3" + struct.pack("<QI", addr, 0)


def step(length):
    return bytes([4, length])


def reg(number, value):
    return b"\5" + struct.pack("<HQ", number, value)


def read(addr, length):
    return b"\7" + struct.pack("<QI", addr, length)


def write(addr, data):
    return b"\x08" + struct.pack("<QI", addr, len(data)) + data


def map_(addr, length, prot, desc=b"", path=b""):
    return b"\x09" + struct.pack("<QQBQQHH", addr, length, prot, 0, 0, len(desc), len(path)) + desc + path


def exit_():
    return b"\x0d"


def syscall(number, result, args, *ops):
    return b"\x0c" + struct.pack(f"<IQBI{len(args)}Q", number, result, len(args), len(ops), *args) + b"".join(ops)


def signal(number, code, addr, flags, *ops):
    return b"\x0e" + struct.pack("<HiQBI", number, code, addr, flags, len(ops)) + b"".join(ops)


def thread_end(status):
    return b"\x0f" + struct.pack("<I", status)


def note(key, data):
    return b"\x12" + struct.pack("<BI", key, len(data)) + data


def end(how, value):
    return b"\x13" + struct.pack("<BI", how, value)


def frame(process, thread, *ops, kind=1):
    return bytes([kind]) + struct.pack("<III", thread, process, len(ops)) + b"".join(ops)


def keyframe(process, thread, *ops):
    return frame(process, thread, *ops, kind=2)


# ------------------------------------------------------------------------------------------------------ file

def crc_of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc


CRCS = [crc_of_byte(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRCS[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def chunk(data):
    """A chunk that is stored."""
    crc = crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff
    return b"\1" + (len(data) + 4).to_bytes(3, "little") + struct.pack("<I", masked) + data


def ucir2(processor, *ops, is_big=False):
    stream = b"".join(ops)
    head = b"UCIR\0\0\0\2" + processor.encode().ljust(32, b"\0") + b"linux".ljust(32, b"\0") + bytes([is_big] * 2)
    return head + HEAD + b"".join(chunk(stream[i:i + 65536]) for i in range(0, len(stream), 65536))


# --------------------------------------------------------------------------------------------------- programs

def elf(machine, flags, is_big, code_addr, code, data_addr, symbols):
    """A static program of 64 bits: @code at @code_addr, a page of data, functions and variables (name: (addr, size))."""
    order = ">" if is_big else "<"
    names = b"\0.text\0.bss\0.symtab\0.strtab\0.shstrtab\0"
    strings, table = b"\0", bytes(24)
    for name, (addr, size) in symbols.items():
        is_code = addr < data_addr
        table += struct.pack(order + "IBBHQQ", len(strings), 0x12 if is_code else 0x11, 0, 1 if is_code else 2, addr, size)
        strings += name.encode() + b"\0"
    at_code = 0x1000
    at_table = at_code + len(code) + -len(code) % 8
    at_strings = at_table + len(table)
    at_names = at_strings + len(strings)
    at_sections = at_names + len(names) + -(at_names + len(names)) % 8
    head = b"\x7fELF" + bytes([2, 2 if is_big else 1, 1]) + bytes(9)
    head += struct.pack(order + "HHIQQQIHHHHHH", 2, machine, 1, code_addr, 64, at_sections, flags, 64, 56, 2, 64, 6, 5)
    # from the beginning of the file, as linkers have it: what is in memory then tells which file it is
    head += struct.pack(order + "IIQQQQQQ", 1, 5, 0, code_addr - at_code, code_addr - at_code, at_code + len(code),
                        at_code + len(code), 0x1000)
    head += struct.pack(order + "IIQQQQQQ", 1, 6, 0, data_addr, data_addr, 0, 0x1000, 0x1000)

    def section(name, kind, flags_, addr, off, size, link=0, info=0, entry=0):
        return struct.pack(order + "IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1 if name else 0, kind, flags_, addr, off,
                           size, link, info, 8, entry)

    sections = (bytes(64) + section(b".text", 1, 6, code_addr, at_code, len(code)) +
                section(b".bss", 8, 3, data_addr, at_code, 0x1000) +
                section(b".symtab", 2, 0, 0, at_table, len(table), 4, 1, 24) +
                section(b".strtab", 3, 0, 0, at_strings, len(strings)) +
                section(b".shstrtab", 3, 0, 0, at_names, len(names)))
    body = head.ljust(at_code, b"\0") + code
    body = body.ljust(at_table, b"\0") + table + strings + names
    return body.ljust(at_sections, b"\0") + sections
