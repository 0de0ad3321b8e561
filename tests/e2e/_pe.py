# SPDX-License-Identifier: MIT
"""A PE file with the code of an ELF program, as a recording of a Windows program has it: sections at the same
addresses relative to the image, and exports."""
import struct

BASE, EXPORTS_AT, FILE_ALIGN = 0x140000000, 0x10000, 0x200
HEADERS_LEN = 0x400


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


def optional_header(is_64, base, entry):
    """Without the table of directories."""
    if is_64:
        head = struct.pack("<HH12xII", 0x20b, 14, entry, entry) + struct.pack("<Q", base)
        stack = struct.pack("<QQQQ", 1 << 20, 1 << 12, 1 << 20, 1 << 12)
    else:
        head = struct.pack("<HH12xIII", 0x10b, 14, entry, entry, 0) + struct.pack("<I", base)
        stack = struct.pack("<IIII", 1 << 20, 1 << 12, 1 << 20, 1 << 12)
    head += struct.pack("<II6HIIIIHH", 0x1000, FILE_ALIGN, 6, 0, 0, 0, 6, 0, 0, 0x11000, HEADERS_LEN, 0, 3, 0x8160)
    return head + stack + struct.pack("<II", 0, 16)


def function_table(functions):
    """.pdata of x86-64: begin, end, and the address of unwind information, of which there is none here."""
    return b"".join(struct.pack("<III", begin, end, 0) for begin, end in sorted(functions))


def import_directory(at, imports):
    """Of {file: [names]}, at @at: descriptors, then the words that name the functions, slots, and texts.  Returns it, and
    {name: address of its slot}."""
    words = sum(len(names) + 1 for names in imports.values())
    lookup = at + 20 * (len(imports) + 1)
    slot, text = lookup + 8 * words, lookup + 16 * words
    descriptors, table, texts, slots = b"", b"", b"", {}
    for file, names in imports.items():
        descriptors += struct.pack("<I8xII", lookup + len(table), text + len(texts), slot + len(table))
        texts += file.encode() + b"\0"
        for name in names:
            slots[name] = slot + len(table)
            table += struct.pack("<Q", text + len(texts))
            texts += b"\0\0" + name.encode() + b"\0"
        table += bytes(8)
    return descriptors + bytes(20) + table + table + texts, slots


def make_image(addr, code, exports, is_64=True, base=BASE, functions=(), imports=None):
    """The file's bytes: @code at @addr, @exports {name: address}, @functions [(begin, end)]; addresses are relative to the
    image's base."""
    directory = export_directory(exports)
    pdata = function_table(functions)
    imported, _ = import_directory(EXPORTS_AT + len(directory) + len(pdata), imports or {})
    directories = [(0, 0)] * 16
    directories[0] = (EXPORTS_AT, len(directory))
    if functions:
        directories[3] = (EXPORTS_AT + len(directory), len(pdata))
    if imports:
        directories[1] = (EXPORTS_AT + len(directory) + len(pdata), len(imported))
    directory += pdata + imported
    optional = optional_header(is_64, base, addr) + b"".join(struct.pack("<II", *d) for d in directories)
    machine, flags = (0x8664, 0x22) if is_64 else (0x14c, 0x102)
    head = b"MZ" + b"\0" * 58 + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HH12xHH", machine, 2, len(optional), flags) + optional
    head += section(b".text", addr, code, HEADERS_LEN, 0x60000020)
    head += section(b".edata", EXPORTS_AT, directory, HEADERS_LEN + len(padded(code)), 0x40000040)
    return head.ljust(HEADERS_LEN, b"\0") + padded(code) + padded(directory)


def make_pe(elf, exports, **more):
    """The same of an ELF file, whose addresses are those of its link."""
    return make_image(*code_of(elf), exports, **more)
