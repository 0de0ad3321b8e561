# SPDX-License-Identifier: MIT
"""A PE file with the code of an ELF program, as a recording of a Windows program has it: sections at the same
addresses relative to the image, and exports."""
import struct

BASE, EXPORTS_AT, FILE_ALIGN = 0x140000000, 0x10000, 0x200
HEADERS_LEN, OPTIONAL_LEN = 0x400, 240


def padded(data):
    return data + b"\0" * (-len(data) % FILE_ALIGN)


def code_of(elf):
    """The executable segment of a 64-bit little-endian ELF file: its address and bytes."""
    headers, = struct.unpack_from("<Q", elf, 32)
    n, = struct.unpack_from("<H", elf, 56)
    for i in range(n):
        kind, flags, off, addr, _, length = struct.unpack_from("<IIQQQQ", elf, headers + 56 * i)
        if kind == 1 and flags & 1:
            return addr, elf[off:off + length]
    raise ValueError("no code")


def export_directory(exports):
    names = sorted(exports)
    tables = EXPORTS_AT + 40
    own_name = tables + 10 * len(names)
    texts = own_name + len(b"story.exe\0")
    directory = struct.pack("<12xIIIIIII", own_name, 1, len(names), len(names), tables, tables + 4 * len(names),
                            tables + 8 * len(names))
    directory += b"".join(struct.pack("<I", exports[name]) for name in names)
    for name in names:
        directory += struct.pack("<I", texts)
        texts += len(name) + 1
    directory += b"".join(struct.pack("<H", i) for i in range(len(names)))
    return directory + b"story.exe\0" + b"".join(name.encode() + b"\0" for name in names)


def section(name, addr, data, off, flags):
    return struct.pack("<8sIIII12xI", name, len(data), addr, len(padded(data)), off, flags)


def make_pe(elf, exports):
    """The file's bytes; @exports: {name: address as linked}."""
    addr, code = code_of(elf)
    directory = export_directory(exports)
    optional = struct.pack("<HH12xII", 0x20b, 14, addr, addr)
    optional += struct.pack("<QII6HIIIIHHQQQQII", BASE, 0x1000, FILE_ALIGN, 6, 0, 0, 0, 6, 0, 0, 0x11000,
                            HEADERS_LEN, 0, 3, 0x8160, 1 << 20, 1 << 12, 1 << 20, 1 << 12, 0, 16)
    optional += struct.pack("<II", EXPORTS_AT, len(directory))
    head = b"MZ" + b"\0" * 58 + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HH12xHH", 0x8664, 2, OPTIONAL_LEN, 0x22) + optional.ljust(OPTIONAL_LEN, b"\0")
    head += section(b".text", addr, code, HEADERS_LEN, 0x60000020)
    head += section(b".edata", EXPORTS_AT, directory, HEADERS_LEN + len(padded(code)), 0x40000040)
    return head.ljust(HEADERS_LEN, b"\0") + padded(code) + padded(directory)
