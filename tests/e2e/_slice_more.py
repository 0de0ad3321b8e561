# SPDX-License-Identifier: MIT
"""What instructions of RISC-V and MIPS do to the shadow of places, after their manuals."""
import re

from _slice import INPUT
from _slice_risc import Risc


class Plain(Risc):
    """Three operands, no flags."""

    comment = "#"

    def address(self, text):
        m = re.fullmatch(r"(-?\d*)\(([$\w]+)\)", text)
        base = self.value_of(m[2])
        return None if base is None else base + int(m[1] or 0) & (1 << 8 * self.word) - 1

    def access(self, name, ops, size, is_signed, is_store):
        at = self.address(ops[1])
        if is_store:
            self.store(at, self.source(ops[0]), size)
        else:
            self.load(ops[0], at, size, is_signed)

    def whole(self, off):
        return self.word

    def value_of(self, text):
        found = self.register_of(text)
        return 0 if found and found[0] is None else self.r.value(self.k, *found) if found else None

    def bytes_of(self, text):
        """The sets of a register's bytes; of the zero register and of constants: nothing."""
        return [self.get(p) for p in self.source(text)] or [(0, 0)] * self.word

    def bitwise(self, ops):
        lists = [self.source(o) for o in ops[1:]]
        self.set_bytes(ops[0], [self.mix(*[x[i:i + 1] for x in lists]) for i in range(self.word)])

    def mixed(self, ops):
        self.set_reg(ops[0], self.mix(*[self.source(o) for o in ops[1:]]))


class RiscV(Plain):
    program, nop = "riscv64-linux-gnu-objdump", b"\x01\x00"
    ignored = {"fcsr"} | {f"f{t}{i}" for t in "tsa" for i in range(12)}
    NAMES = ("zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6").split()
    asked = NAMES[1:]
    SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}
    MIXED = {"add", "sub", "sll", "srl", "sra", "slt", "sltu", "mul", "mulh", "mulhu", "mulhsu", "div", "divu", "rem", "remu", "slli", "srli",
             "srai", "slti", "sltiu"}

    def __init__(self, recorded):
        super().__init__(recorded)
        self.word = recorded.registers["ra"][1]
        self.options = ["-m", f"riscv:rv{8 * self.word}", "-M", "no-aliases,numeric"]

    def register_of(self, text):
        m = re.fullmatch(r"x(\d+)", text)
        if not m:
            return self.r.registers.get(text) if text in self.NAMES else None
        return (None, self.word) if m[1] == "0" else self.r.registers[self.NAMES[int(m[1])]]

    def low(self, text):
        return self.source(text)[:4]

    def run(self, name, ops):
        bare = name.removeprefix("c.")
        if name.startswith("c."):
            ops = self.expanded(bare, ops)
            bare = {"li": "addi", "addi16sp": "addi", "addi4spn": "addi", "lwsp": "lw", "ldsp": "ld", "swsp": "sw", "sdsp": "sd"}.get(bare, bare)
        bare = bare.split(".")[0] if bare.split(".")[-1] in ("aq", "rl", "aqrl") else bare
        if bare in ("fence", "nop", "j", "jr", "beqz", "bnez", "fence.i") or bare[0] == "b" and bare[1:] in ("eq", "ne", "lt", "ge", "ltu", "geu"):
            return
        if bare in ("jal", "jalr"):
            self.set_reg("x1" if len(ops) < 2 else ops[0], (0, 0))
        elif bare in ("lui", "auipc"):
            self.set_reg(ops[0], (0, 0))
        elif bare == "ecall":
            for place in self.register(*self.register_of("a0")):
                self.put(place, self.leaf(INPUT, place, self.k))
        elif m := re.fullmatch(r"([ls])([bhwd])(u?)", bare):
            self.access(bare, ops, self.SIZES[m[2]], not m[3], m[1] == "s")
        elif bare == "mv":
            self.set_bytes(ops[0], self.bytes_of(ops[1]))
        elif bare == "addi" and ops[2] == "0" and self.source(ops[1]):
            self.set_bytes(ops[0], self.bytes_of(ops[1]))
        elif bare == "add" and not self.source(ops[1]):
            self.set_bytes(ops[0], self.bytes_of(ops[2]))
        elif bare == "addiw" and ops[2] == "0":
            low = [self.get(p) for p in self.low(ops[1])] or [(0, 0)] * 4
            self.set_bytes(ops[0], low + [low[-1]] * 4)
        elif bare in ("xor", "sub") and ops[1] == ops[2]:
            self.set_reg(ops[0], (0, 0))
        elif bare in ("and", "or", "xor", "andi", "ori", "xori"):
            self.bitwise(ops)
        elif bare in self.MIXED or bare == "addi":
            self.mixed(ops)
        elif bare[-1] == "w" and bare[:-1] in self.MIXED | {"addi"}:
            self.set_reg(ops[0], self.mix(*[self.low(o) for o in ops[1:]]))
        else:
            self.do_unlisted(bare, ops)

    def expanded(self, name, ops):
        if name == "li":
            return [ops[0], "x0", ops[1]]
        if name in ("add", "sub", "and", "or", "xor", "addw", "subw", "addi", "addiw", "andi", "slli", "srli", "srai", "addi16sp") and len(ops) == 2:
            return [ops[0], ops[0], ops[1]]
        return ops


class Mips(Plain):
    """Little-endian ones."""

    program, options, nop = "mips-linux-gnu-objdump", ["-m", "mips:isa32r2", "-EL", "-M", "no-aliases,reg-names=numeric"], b"\0\0\0\0"
    ignored = {"hi", "lo", "sr", "badvaddr", "cause", "fcsr", "fir", "restart"} | {f"f{i}" for i in range(32)}
    word = 4
    asked = [f"r{i}" for i in range(1, 32) if i not in (26, 27)]
    SIZES = {"b": 1, "h": 2, "w": 4}
    MIXED = {"addu", "subu", "add", "sub", "addiu", "addi", "sll", "srl", "sra", "sllv", "srlv", "srav", "slt", "sltu", "slti", "sltiu", "mul",
             "ext", "wsbh", "clz", "rotr"}

    def register_of(self, text):
        m = re.fullmatch(r"[$r](\d+)", text)
        return None if not m else (None, 4) if m[1] == "0" else self.r.registers[f"r{m[1]}"]

    def run(self, name, ops):
        if name in ("nop", "j", "jr", "b", "sync", "teq", "break") or name[0] == "b" and name[1:] in (
                "eq", "ne", "lez", "gtz", "ltz", "gez", "eql", "nel", "c1f", "c1t"):
            return
        if name == "sll" and ops[0] == "$0":
            return
        if name in ("jal", "jalr", "bal", "bgezal"):
            self.set_reg("$31", (0, 0))
        elif name == "syscall":
            for reg in "$2", "$7":
                for place in self.register(*self.register_of(reg)):
                    self.put(place, self.leaf(INPUT, place, self.k))
        elif name == "lui":
            self.set_reg(ops[0], (0, 0))
        elif m := re.fullmatch(r"([ls])([bhw])(u?)", name):
            self.access(name, ops, self.SIZES[m[2]], not m[3], m[1] == "s")
        elif name in ("mult", "multu", "div", "divu") and len(ops) < 4:
            sets = self.mix(*[self.source(o) for o in ops])
            for place in self.register(*self.r.registers["hi"]) + self.register(*self.r.registers["lo"]):
                self.put(place, sets)
        elif name in ("mflo", "mfhi"):
            self.set_bytes(ops[0], [self.get(p) for p in self.register(*self.r.registers[name[2:]])])
        elif name in ("seb", "seh"):
            low = [self.get(p) for p in self.source(ops[1])[:1 if name == "seb" else 2]]
            self.set_bytes(ops[0], low + [low[-1]] * (4 - len(low)))
        elif name in ("addu", "or") and len(ops) == 3 and "$0" in ops[1:]:
            must_or_may = self.bytes_of(next((o for o in ops[1:] if o != "$0"), "$0"))
            self.set_bytes(ops[0], must_or_may)
        elif name in ("and", "andi", "or", "ori", "xor", "xori", "nor"):
            self.bitwise(ops)
        elif name in self.MIXED:
            self.mixed(ops)
        elif name in ("movn", "movz", "ins"):
            must, may = self.mix(*[self.source(o) for o in ops])
            self.set_reg(ops[0], (0, may), name == "ins")
        else:
            self.do_unlisted(name, ops)
