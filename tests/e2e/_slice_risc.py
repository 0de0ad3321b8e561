# SPDX-License-Identifier: MIT
"""What instructions of AArch64 and ARM do to the shadow of places, after the Arm Architecture Reference Manuals."""
import re

from _slice import INPUT, Slicer, objdump

N, Z, C, V = 31, 30, 29, 28
NZCV = (N, Z, C, V)


class Risc(Slicer):
    """Processors whose instructions name their destination first."""

    width, comment = 4, "//|;|@"
    nop = b"\x00\x00\x00\x00"

    def __init__(self, recorded):
        super().__init__(recorded)
        self.insns = {}

    def key(self, k, pc):
        return pc

    def decode_all(self):
        r, at = self.r, {}
        for k in range(r.n):
            pc = r.value(k, *r.pc)
            if pc is not None and self.key(k, pc) not in at:
                at[self.key(k, pc)] = r.code_at(k, self.width)
        for options, keys in self.kinds(at):
            codes = sorted({at[key] for key in keys if at[key]})
            texts = objdump(self.program, options, codes, 32, self.nop, self.comment) if codes else {}
            for key in keys:
                text, length = texts.get(at[key]) or ("", 0)
                self.insns[key] = self.parse(text, length) if text and "undefined" not in text and text[0] != "." else None
        assert any(self.insns.values()), "no code is known"

    def kinds(self, at):
        yield self.options, list(at)

    def parse(self, text, length):
        name, _, rest = text.replace("\t", " ").partition(" ")
        return name, [o.strip() for o in re.split(r",(?![^\[{]*[\]}])", rest)] if rest else [], length

    def step(self, k):
        self.enter(k)
        pc = self.r.value(k, *self.r.pc)
        insn = self.insns.get(self.key(k, pc)) if pc is not None else None
        if insn is None:
            self.unknown["no instruction"] += 1
            for name, (off, size) in self.r.registers.items():
                for place in self.register(off, size):
                    self.put(place, (0, self.any), False)
            for bit in NZCV:
                self.put(self.flag(bit), (0, self.any), False)
            self.store_unknown()
        else:
            self.pc = pc
            self.run(*insn[:2])
        self.leave()

    def store_unknown(self):
        for first, length in self.r.writes.get(self.k, ()):
            for place in range(first, first + length):
                self.put(place, (0, self.any), False)

    def value_of(self, text):
        off, size = self.register_of(text)
        return self.r.value(self.k, off, size) if off is not None else 0

    def reg(self, text):
        """Places of a register; [] of the zero register; None if it is none."""
        found = self.register_of(text)
        return None if not found else [] if found[0] is None else self.register(*found)

    def source(self, text):
        """Places of an operand, [] of constants."""
        places = self.reg(text)
        return [] if places is None else places

    def set_reg(self, text, sets, is_certain=True):
        off, size = self.register_of(text)
        if off is None:
            return
        for place in self.register(off, size):
            self.put(place, sets, is_certain)
        self.clear(off, size)

    def set_bytes(self, text, made):
        off, size = self.register_of(text)
        if off is None:
            return
        for i, place in enumerate(self.register(off, size)):
            self.put(place, made[i] if i < len(made) else (0, 0))
        self.clear(off, size)

    def clear(self, off, size):
        for place in self.register(off + size, self.whole(off) - size):
            self.put(place, (0, 0))

    def set_flags(self, sets, bits=NZCV, is_certain=True):
        for bit in bits:
            self.put(self.flag(bit), sets, is_certain)

    def load(self, text, at, size, is_signed=False):
        if at is None:
            self.set_reg(text, (0, self.any))
            return
        made = [self.get(at + i) for i in range(size)]
        have = self.register_of(text)[1]
        self.set_bytes(text, made + [made[-1] if is_signed else (0, 0)] * (have - size))

    def store(self, at, places, size):
        if at is None:
            self.store_unknown()
            return
        for i in range(size):
            self.put(at + i, self.get(places[i]) if i < len(places) else (0, 0))

    def do_unlisted(self, name, ops):
        self.unknown[name] += 1
        if ops and self.register_of(ops[0]):
            self.set_reg(ops[0], (0, self.any), False)
        elif m := re.match(r"\{?[vqdshb](\d+)", ops[0]) if ops else None:
            for place in self.register(*self.r.registers.get(f"v{m[1]}", (0, 0))):
                self.put(place, (0, self.any), False)
        for bit in NZCV:
            self.put(self.flag(bit), (0, self.any), False)
        self.store_unknown()

    def places_named(self, name, first, end):
        names = {"n": N, "z": Z, "c": C, "v": V}
        if name.lower().rstrip("f") in names and name not in self.r.registers:
            return [self.flag(names[name.lower().rstrip("f")])]
        if name == "cpsr" and not first:
            return [self.flag(bit) for bit in NZCV]
        found = self.r.registers.get(name)
        places = self.register(*found) if found else []
        return places[int(first):int(end)] if first else places


class A64(Risc):
    program, options, nop = "aarch64-linux-gnu-objdump", ["-m", "aarch64"], b"\x1f\x20\x03\xd5"
    ignored = {"cpsr", "fpsr", "fpcr"} | {f"v{i}" for i in range(32)}
    asked = [f"x{i}" for i in range(0, 31)]
    BITWISE = {"and", "orr", "eor", "bic", "orn", "eon", "ands", "bics", "mvn"}
    PLAIN = {"add", "sub", "adds", "subs", "mul", "madd", "msub", "mneg", "smull", "umull", "smaddl", "umaddl", "smulh", "umulh", "udiv",
             "sdiv", "lsl", "lsr", "asr", "ror", "ubfx", "sbfx", "ubfiz", "sbfiz", "neg", "negs", "clz", "cls", "rbit", "rev16", "rev32",
             "extr", "smsubl", "umsubl", "lslv", "lsrv", "smnegl"}

    def register_of(self, text):
        if text in ("xzr", "wzr"):
            return None, 8 if text[0] == "x" else 4
        if text in ("sp", "wsp"):
            return self.r.registers["sp"][0], 8 if text == "sp" else 4
        if m := re.fullmatch(r"([xw])(\d+)", text):
            return self.r.registers[f"x{m[2]}"][0], 8 if m[1] == "x" else 4
        if m := re.fullmatch(r"([bhsdq])(\d+)", text):
            v = self.r.registers.get(f"v{m[2]}")
            return (v[0], 1 << "bhsdq".index(m[1])) if v else None
        return None

    def whole(self, off):
        v0 = self.r.registers.get("v0")
        return 16 if v0 and off >= v0[0] else 8

    def address(self, text, after):
        """(address, base, moves) of "[x1, w2, sxtw #2]!" and what follows it."""
        inside = [p.strip() for p in text.strip("!").strip("[]").split(",")]
        base = self.value_of(inside[0])
        if base is None:
            return None, inside[0], bool(after) or text.endswith("!")
        at = base
        if len(inside) > 1 and inside[1].startswith("#"):
            at += int(inside[1][1:], 0)
        elif len(inside) > 1:
            value = self.value_of(inside[1])
            how = inside[2].split() if len(inside) > 2 else ["lsl", "#0"]
            if value is None:
                return None, inside[0], False
            if how[0] == "sxtw" and value >> 31 & 1:
                value -= 1 << 32
            at += value << (int(how[1][1:], 0) if len(how) > 1 else 0)
        return at & (1 << 64) - 1, inside[0], bool(after) or text.endswith("!")

    def move_base(self, base, moves, after):
        if moves:
            self.set_reg(base, self.mix(self.source(base), *[self.source(a) for a in after]))

    def run(self, name, ops):
        method = getattr(self, f"do_{name.replace('.', '_')}", None)
        if method:
            method(ops)
        elif name.startswith("b.") or name in ("b", "br", "ret", "cbz", "cbnz", "tbz", "tbnz", "nop", "hint", "dmb", "dsb", "isb", "prfm",
                                               "bti", "paciasp", "autiasp", "clrex"):
            pass
        elif name[:2] in ("ld", "st"):
            self.access(name, ops)
        elif name in self.BITWISE:
            self.bitwise(name, ops)
        elif name in self.PLAIN:
            self.plain(name, ops)
        elif name in ("csel", "csinc", "csinv", "csneg", "cinc", "cinv", "cneg", "cset", "csetm"):
            self.select(name, ops)
        elif name in ("sxtb", "sxth", "sxtw", "uxtb", "uxth"):
            self.extend(name, ops)
        elif name in ("adc", "adcs", "sbc", "sbcs", "ngc"):
            sets = self.mix(*[self.source(o) for o in ops[1:]], [self.flag(C)])
            self.set_reg(ops[0], sets)
            if name.endswith("s"):
                self.set_flags(sets)
        else:
            self.do_unlisted(name, ops)

    def access(self, name, ops):
        is_load = name[:2] == "ld"
        n = 2 if name[2:] in ("p", "np", "psw") else 1
        if len(ops) <= n or "x" in name[2:] and name[2] == "x" or name[2:4] in ("lx", "ax") or not self.register_of(ops[0]):
            return self.exclusive(name, ops)
        size = 1 if name[-1] == "b" else 2 if name[-1] == "h" else 4 if name.endswith("sw") else self.register_of(ops[0])[1]
        if ops[n][0] != "[":
            at, base, moves, after = None, None, False, []
        else:
            after = [o for o in ops[n + 1:] if self.register_of(o)]
            at, base, moves = self.address(ops[n], ops[n + 1:])
        values = [self.source(o) for o in ops[:n]]
        if moves:
            self.move_base(base, moves, after)
        for i in range(n):
            if is_load:
                self.load(ops[i], None if at is None else at + i * size, size, "s" in name[3:5] and n == 1 or name == "ldpsw")
            else:
                self.store(None if at is None else at + i * size, values[i], size)

    def exclusive(self, name, ops):
        if name in ("ldxr", "ldaxr", "ldar") and len(ops) == 2:
            self.load(ops[0], self.address(ops[1], [])[0], self.register_of(ops[0])[1])
        elif name == "stlr":
            self.store(self.address(ops[1], [])[0], self.source(ops[0]), self.register_of(ops[0])[1])
        elif name in ("stxr", "stlxr"):
            self.set_reg(ops[0], (0, self.any))
            if self.r.writes.get(self.k):
                self.store(self.address(ops[2], [])[0], self.source(ops[1]), self.register_of(ops[1])[1])
        else:
            self.do_unlisted(name, ops)

    def do_mov(self, ops):
        if ops[1][0] == "#":
            self.set_reg(ops[0], (0, 0))
        elif self.register_of(ops[1]) and self.register_of(ops[0]):
            self.set_bytes(ops[0], [self.get(p) for p in self.source(ops[1])])
        else:
            self.do_unlisted("mov", ops)

    def do_movk(self, ops):
        off, size = self.register_of(ops[0])
        shift = int(ops[2].split("#")[1]) // 8 if len(ops) > 2 else 0
        for place in self.register(off + shift, 2):
            self.put(place, (0, 0))
        self.clear(off, size)

    def do_movn(self, ops):
        self.set_reg(ops[0], (0, 0))

    do_movz = do_adrp = do_adr = do_movn

    def do_bl(self, ops):
        self.set_reg("x30", (0, 0))

    do_blr = do_bl

    def do_svc(self, ops):
        for place in self.register(*self.register_of("x0")):
            self.put(place, self.leaf(INPUT, place, self.k))

    def do_mrs(self, ops):
        self.set_reg(ops[0], (0, self.any))

    def do_msr(self, ops):
        self.set_flags((0, self.any), NZCV, False)

    def plain(self, name, ops):
        if not self.register_of(ops[0]):
            return self.do_unlisted(name, ops)
        sets = self.mix(*[self.source(o) for o in ops[1:]])
        self.set_reg(ops[0], sets)
        if name in ("adds", "subs", "negs"):
            self.set_flags(sets)

    def bitwise(self, name, ops):
        if not self.register_of(ops[0]):
            return self.do_unlisted(name, ops)
        sources = [self.source(o) for o in ops[1:3] if self.register_of(o)]
        sets = self.mix(*sources)
        if len(ops) > (2 if name == "mvn" else 3):
            self.set_reg(ops[0], sets)
        else:
            off, size = self.register_of(ops[0])
            self.set_bytes(ops[0], [self.mix(*[s[i:i + 1] for s in sources]) for i in range(size)])
        if name[-1] == "s":
            self.set_flags(sets, (N, Z))
            self.set_flags((0, 0), (C, V))

    def do_cmp(self, ops):
        self.set_flags(self.mix(*[self.source(o) for o in ops]))

    do_cmn = do_cmp

    def do_tst(self, ops):
        self.set_flags(self.mix(*[self.source(o) for o in ops]), (N, Z))
        self.set_flags((0, 0), (C, V))

    def do_ccmp(self, ops):
        must, may = self.mix([self.flag(b) for b in NZCV], *[self.source(o) for o in ops[:2]])
        self.set_flags((0, may))

    do_ccmn = do_ccmp

    def select(self, name, ops):
        must, may = self.mix([self.flag(b) for b in NZCV], *[self.source(o) for o in ops[1:-1]])
        self.set_reg(ops[0], (0, may))

    def extend(self, name, ops):
        size = {"b": 1, "h": 2, "w": 4}[name[3]]
        places = self.source(ops[1])[:size]
        have = self.register_of(ops[0])[1]
        got = [self.get(p) for p in places]
        self.set_bytes(ops[0], got + [got[-1] if name[0] == "s" and got else (0, 0)] * (have - size))

    def do_rev(self, ops):
        self.set_bytes(ops[0], [self.get(p) for p in self.source(ops[1])[::-1]])

    def do_bfi(self, ops):
        self.set_reg(ops[0], self.mix(self.source(ops[0]), self.source(ops[1])))

    do_bfxil = do_bfi


CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")


class Arm(Risc):
    program, nop = "arm-linux-gnueabihf-objdump", b"\x00\xbf"
    ignored = {"cpsr", "fpscr", "fps"} | {f"d{i}" for i in range(32)} | {f"f{i}" for i in range(8)}
    asked = [f"r{i}" for i in range(13)] + ["lr"]
    BITWISE = {"and", "orr", "eor", "bic", "orn"}
    PLAIN = {"add", "sub", "rsb", "mul", "mla", "mls", "lsl", "lsr", "asr", "ror", "ubfx", "sbfx", "clz", "rbit", "rev16", "sdiv", "udiv", "neg"}
    BASES = sorted(BITWISE | PLAIN | {"mov", "mvn", "movw", "movt", "cmp", "cmn", "tst", "teq", "ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrd", "str",
                                      "strb", "strh", "strd", "push", "pop", "ldm", "ldmia", "ldmib", "ldmdb", "ldmda", "stm", "stmia",
                                      "stmib", "stmdb", "stmda", "b", "bl", "bx", "blx", "adc", "sbc", "rsc", "uxtb", "uxth", "sxtb", "sxth",
                                      "umull", "smull", "rev", "bfi", "nop", "svc", "cbz", "cbnz", "dmb", "mrc", "tbb", "tbh", "ldmfd",
                                      "stmfd", "pld", "it", "adr", "bfc", "dsb", "isb"}, key=len, reverse=True)

    def __init__(self, recorded):
        super().__init__(recorded)
        self.block = []

    def is_thumb(self, k):
        text = self.r.states[k][2 * self.r.registers["cpsr"][0]:][:2] if "cpsr" in self.r.registers else "xx"
        return text != "xx" and bool(int(text, 16) & 0x20)

    def key(self, k, pc):
        return pc, self.is_thumb(k)

    def kinds(self, at):
        for thumb in False, True:
            options = ["-m", "arm", "-M", "reg-names-raw" + (",force-thumb" if thumb else "")]
            yield options, [key for key in at if key[1] == thumb]

    def parse(self, text, length):
        name, ops, length = super().parse(text, length)
        name = name.split(".")[0] if name[0] != "v" else name
        if name[:2] == "it" and set(name[2:]) <= set("te"):
            return "it", [name, *ops], length
        for base in self.BASES:
            rest = name[len(base):]
            if name.startswith(base) and re.fullmatch(f"s?({'|'.join(CONDITIONS)})?", rest.replace("hs", "cs").replace("lo", "cc")) \
                    and not (base in ("b", "bl") and rest[:1] == "s"):
                rest = rest.replace("hs", "cs").replace("lo", "cc")
                return f"{base}/{'s' if rest[:1] == 's' and rest not in CONDITIONS else ''}/{rest[-2:] if rest[-2:] in CONDITIONS else ''}", ops, length
        return f"{name}//", ops, length

    def whole(self, off):
        return 4

    def register_of(self, text):
        text = {"r13": "sp", "r14": "lr"}.get(text, text)
        return self.r.registers.get(text) if re.fullmatch(r"r\d+|sp|lr", text) else None

    def holds(self, condition):
        off = self.r.registers["cpsr"][0] if "cpsr" in self.r.registers else None
        text = self.r.states[self.k][2 * off + 6:2 * off + 8] if off is not None else "xx"
        if text == "xx" or self.r.states[self.k][2 * off:2 * off + 8].count("x"):
            return None
        f = int(text, 16)
        n, z, c, v = f >> 7 & 1, f >> 6 & 1, f >> 5 & 1, f >> 4 & 1
        i = CONDITIONS.index(condition)
        holds = [z, c, n, v, c and not z, n == v, n == v and not z][i // 2]
        return bool(holds) != bool(i & 1)

    def pc_value(self, is_aligned):
        at = self.pc + (4 if self.is_thumb(self.k) else 8)
        return at & ~3 if is_aligned else at

    def run(self, name, ops):
        if name == "it":
            first = CONDITIONS.index(ops[1].replace("hs", "cs").replace("lo", "cc")) if ops[1] != "al" else None
            self.block = [first if c == "t" else first ^ 1 for c in "t" + ops[0][2:]] if first is not None else []
            return
        base, sets_flags, condition = name.split("/")
        in_block = bool(self.block)
        if in_block:
            condition = CONDITIONS[self.block.pop(0)]
        holds = self.holds(condition) if condition and base != "b" else True
        if holds is False:
            return
        self.execute(base, ops, bool(sets_flags))
        if holds is None:
            for place, (sets, _) in list(self.new.items()):
                old = self.shadow.get(place) or self.get(place)
                self.new[place] = (0, self.sets.union(self.sets.union(sets[1], old[1]), self.any)), False
        if in_block and sets_flags:
            for bit in NZCV:
                self.put(self.flag(bit), (0, self.any), False)

    def execute(self, name, ops, sets_flags):
        if name in ("b", "bx", "nop", "cbz", "cbnz", "dmb", "dsb", "isb", "tbb", "tbh", "pld", "it"):
            return
        if ops and ops[0] in ("r15", "pc"):
            return self.leave_base(name, ops)
        if name in ("bl", "blx"):
            self.set_reg("lr", (0, 0))
        elif name == "svc":
            for place in self.register(*self.register_of("r0")):
                self.put(place, self.leaf(INPUT, place, self.k))
        elif name in ("push", "pop") or name[:3] in ("ldm", "stm"):
            self.many(name, ops)
        elif name[:3] in ("ldr", "str"):
            self.access(name, ops)
        elif name in ("cmp", "cmn"):
            self.set_flags(self.sources(ops))
        elif name in ("tst", "teq"):
            self.logical_flags(ops)
        else:
            self.compute(name, ops, sets_flags)

    def leave_base(self, name, ops):
        """It goes to the program counter; a load may move its base."""
        if name == "ldr" and (len(ops) > 2 or ops[1].endswith("!")):
            self.move(ops[1], ops[2:])

    def sources(self, ops):
        return self.mix(*[self.source(w) for o in ops for w in o.split()])

    def logical_flags(self, ops):
        self.set_flags(self.sources(ops), (N, Z))
        self.set_flags((0, self.any), (C,), False)

    def compute(self, name, ops, sets_flags):
        if name == "mrc":
            return self.do_unlisted(name, [ops[2]])
        if name[0] == "v":
            return self.vector(name, ops)
        if not self.register_of(ops[0]) or name not in self.BITWISE | self.PLAIN | {
                "mov", "mvn", "movw", "movt", "adc", "sbc", "rsc", "uxtb", "uxth", "sxtb", "sxth", "umull", "smull", "rev", "bfi", "adr"}:
            return self.do_unlisted(name, ops)
        reads = ops[1:] if len(ops) > 2 or name in ("mov", "mvn", "movw", "clz", "rbit", "rev16", "neg", "adr") else ops
        is_shifted = any(w in o.split() for o in ops for w in ("lsl", "lsr", "asr", "ror", "rrx")) or len(ops) > 3
        if name == "movt":
            off, _ = self.register_of(ops[0])
            for place in self.register(off + 2, 2):
                self.put(place, (0, 0))
        elif name in ("uxtb", "uxth", "sxtb", "sxth") and len(ops) == 2:
            got = [self.get(p) for p in self.source(ops[1])[:1 if name[3] == "b" else 2]]
            self.set_bytes(ops[0], got + [got[-1] if name[0] == "s" else (0, 0)] * (4 - len(got)))
        elif name in ("umull", "smull"):
            for o in ops[:2]:
                self.set_reg(o, self.sources(ops[2:]))
        elif name == "rev":
            self.set_bytes(ops[0], [self.get(p) for p in self.source(ops[1])[::-1]])
        elif name == "bfi":
            self.set_reg(ops[0], self.sources(ops))
        elif name in ("adc", "sbc", "rsc"):
            sets = self.join(self.sources(reads), self.mix([self.flag(C)]))
            self.set_reg(ops[0], sets)
            if sets_flags:
                self.set_flags(sets)
            return
        elif not is_shifted and name in self.BITWISE | {"mov", "mvn"}:
            lists = [self.source(o) for o in reads]
            self.set_bytes(ops[0], [self.mix(*[x[i:i + 1] for x in lists]) for i in range(4)])
        else:
            self.set_reg(ops[0], self.sources(reads))
        if sets_flags and name in self.BITWISE | {"mov", "mvn", "mul", "mla", "lsl", "lsr", "asr", "ror"}:
            self.logical_flags(reads)
        elif sets_flags:
            self.set_flags(self.sources(reads))

    def vector(self, name, ops):
        """What it makes is any; the base that it moves is not."""
        base, moved_by = None, []
        if name in ("vpush", "vpop"):
            base = "sp"
        elif name[:4] in ("vstm", "vldm"):
            base, ops = ops[0].strip("!") if ops[0][-1] == "!" else None, ops[1:]
        elif name[:3] in ("vst", "vld") and (m := re.fullmatch(r"\[(\w+)[^]]*\](!?)", ops[1])) and (m[2] or len(ops) > 2):
            base, moved_by = m[1], ops[2:]
        self.do_unlisted(name, ops)
        if name == "vmov" and len(ops) > 2 and self.register_of(ops[1]):
            self.set_reg(ops[1], (0, self.any), False)
        if base:
            self.set_reg(base, self.mix(self.source(base), *[self.source(o) for o in moved_by]))

    def move(self, text, after):
        base = text.strip("!").strip("[]").split(",")[0].strip()
        if base in ("pc", "r15"):
            return
        inside = [w for part in text.strip("!").strip("[]").split(",")[1:] for w in part.replace("-", " ").split()]
        self.set_reg(base, self.mix(self.source(base), *[self.source(w.strip("-")) for w in inside + after]))

    def access(self, name, ops):
        if name in ("ldrd", "strd") and ops[1][0] == "[":     # binutils leaves the second register out
            ops = [ops[0], f"r{int(ops[0][1:]) + 1}", *ops[1:]]
        at, n = next(i for i, o in enumerate(ops) if o[0] == "["), 4
        if name.endswith(("exb", "exh", "ex", "exd", "bt", "ht", "t")):
            return self.do_unlisted(name, ops)
        size = {"b": 1, "h": 2}.get(name[-1], 4)
        inside = [p.strip() for p in ops[at].strip("!").strip("[]").split(",")]
        base = self.pc_value(True) if inside[0] in ("pc", "r15") else self.value_of(inside[0])
        where = base
        if base is not None and len(inside) > 1:
            where = self.with_offset(base, inside[1:])
        values = [self.source(o) for o in ops[:at]]
        if ops[at].endswith("!") or len(ops) > at + 1:
            self.move(ops[at], ops[at + 1:])
        for i, o in enumerate(ops[:at]):
            place = None if where is None else where + i * n & 0xffffffff
            if name[:3] == "ldr":
                self.load(o, place, size, name[3:4] == "s")
            else:
                self.store(place, values[i], size)

    def with_offset(self, base, inside):
        if inside[0][0] == "#":
            return base + int(inside[0][1:], 0)
        sign = -1 if inside[0][0] == "-" else 1
        value = self.value_of(inside[0].strip("-"))
        if value is None or (len(inside) > 1 and not inside[1].startswith("lsl")):
            return None
        return base + sign * (value << (int(inside[1].split("#")[1], 0) if len(inside) > 1 else 0)) & 0xffffffff

    def many(self, name, ops):
        names = [x for o in ops[-1].strip("{}^ ").split(",") for x in self.spread(o.strip())]
        is_load = name in ("pop",) or name[:3] == "ldm"
        base = "sp" if name in ("push", "pop") else ops[0].strip("!")
        where = {"push": "db", "pop": "ia"}.get(name, {"fd": "ia" if is_load else "db", "": "ia"}.get(name[3:], name[3:]))
        at = self.value_of(base)
        size = 4 * len(names)
        if at is not None:
            at += {"ia": 0, "ib": 4, "db": -size, "da": 4 - size}[where]
        values = [self.source(n) for n in names]
        if name in ("push", "pop") or ops[0].endswith("!"):
            self.set_reg(base, self.mix(self.source(base)))
        for i, n in enumerate(names):
            place = None if at is None else at + 4 * i & 0xffffffff
            if not is_load:
                self.store(place, values[i], 4)
            elif n not in ("pc", "r15"):
                self.load(n, place, 4)

    @staticmethod
    def spread(text):
        if "-" not in text:
            return [text]
        first, last = (int(x.strip("r ")) for x in text.split("-"))
        return [f"r{i}" for i in range(first, last + 1)]
