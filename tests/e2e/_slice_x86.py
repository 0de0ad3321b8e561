# SPDX-License-Identifier: MIT
"""What x86 instructions do to the shadow of places, after the processor manuals."""
import re

from _slice import INPUT, Slicer, objdump
from _slice_vector import AF, ALL, CF, DF, LANES, OF, PF, SCALARS, SF, ZF, Operand, Vectors

FLAG_NAMES = {"cf": CF, "pf": PF, "af": AF, "zf": ZF, "sf": SF, "df": DF, "of": OF}
SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "TBYTE": 10, "XMMWORD": 16, "YMMWORD": 32, "FWORD": 6, "OWORD": 16}
MEMORY = re.compile(r"(?:(\w+) PTR )?(?:(\w\w):)?(?:\[([^\]]*)\]|(0x[0-9a-f]+))$")
PREFIXES = {"rep", "repz", "repnz", "lock", "bnd", "notrack", "data16", "addr32", "cs", "ds", "es", "ss", "xacquire", "xrelease"}
LEGACY = {"ax": 0, "cx": 1, "dx": 2, "bx": 3, "sp": 4, "bp": 5, "si": 6, "di": 7}
CONDITIONS = {"o": (OF,), "b": (CF,), "ae": (CF,), "e": (ZF,), "ne": (ZF,), "be": (CF, ZF), "a": (CF, ZF), "s": (SF,), "ns": (SF,),
              "p": (PF,), "np": (PF,), "l": (SF, OF), "ge": (SF, OF), "le": (ZF, SF, OF), "g": (ZF, SF, OF), "no": (OF,)}
NOTHING = {"nop", "nopw", "nopl", "endbr64", "endbr32", "hlt", "pause", "mfence", "lfence", "sfence", "fwait", "prefetcht0", "prefetcht1",
           "prefetcht2", "prefetchnta", "prefetchw", "ud2", "cld", "std", "cmc", "clc", "stc", "emms", "int3"}


class X86(Vectors, Slicer):
    def __init__(self, recorded):
        super().__init__(recorded)
        self.is_64 = "rip" in recorded.registers
        names = "rax rcx rdx rbx rsp rbp rsi rdi" if self.is_64 else "eax ecx edx ebx esp ebp esi edi"
        self.gprs = [recorded.registers[n][0] for n in names.split()]
        if self.is_64:
            self.gprs += [recorded.registers[f"r{i}"][0] for i in range(8, 16)]
        self.word = 8 if self.is_64 else 4
        self.eflags = recorded.registers["eflags"]
        self.ignored = {"eflags", "cs", "ss", "ds", "es", "fs", "gs", "orig_rax", "orig_eax", "fctrl", "fstat", "ftag", "fiseg", "fioff",
                        "foseg", "fooff", "fop", "mxcsr", "fs_base", "gs_base", "k_gs_base"} | {f"st{i}" for i in range(8)}
        self.insns = {}

    def decode_all(self):
        """Every instruction that runs; by its address, for code does not change in what is sliced."""
        r, at = self.r, {}
        for k in range(r.n):
            pc = r.value(k, *r.pc)
            if pc is not None and pc not in at:
                at[pc] = r.code_at(k, 15)
        codes = sorted({c for c in at.values() if c})
        assert codes, "no code is known: --exec or --image may have it"
        texts = objdump("objdump", ["-m", "i386:x86-64" if self.is_64 else "i386", "-M", "intel"], codes)
        for pc, code in at.items():
            text, length = texts.get(code) or ("(bad)", 0)
            insn = None if "(bad)" in text else self.parse(text)
            self.insns[pc] = insn and (pc + length, *insn)

    def places_named(self, name, first, end):
        """The places of "$NAME" or "$NAME[FIRST:END]" in an answer; flags are named together."""
        if name.lower() in FLAG_NAMES:
            return [self.flag(FLAG_NAMES[name.lower()])]
        if name == "eflags":
            return [self.flag(bit) for bit in FLAG_NAMES.values()]
        found = self.r.registers.get(name) or self.register_of(name)
        places = self.register(*found) if found else []
        return places[int(first):int(end)] if first else places

    # ------------------------------------------------------------------------------------------------ operands

    def parse(self, text):
        words = text.split()
        prefixes = []
        while len(words) > 1 and words[0] in PREFIXES or words[0].startswith("rex"):
            prefixes.append(words.pop(0))
            if not words:
                return None
        rest = " ".join(words[1:])
        operands = [self.operand(o.strip()) for o in re.split(r",(?![^\[]*\])", rest)] if rest else []
        sized = [o.size for o in operands if o.size and o.kind != "i"]
        for o in operands:
            if o.kind == "m" and not o.size and sized:
                o.size = sized[0]
        return words[0], operands, prefixes

    def register_of(self, name):
        r = self.r.registers
        if name in ("ah", "ch", "dh", "bh"):
            return self.gprs["acdb".index(name[0])] + 1, 1
        if m := re.fullmatch(r"r(\d+)([dwb]?)", name):
            return self.gprs[int(m[1])], {"": 8, "d": 4, "w": 2, "b": 1}[m[2]]
        if name in LEGACY:
            return self.gprs[LEGACY[name]], 2
        if name[0] in "re" and name[1:] in LEGACY:
            return self.gprs[LEGACY[name[1:]]], 8 if name[0] == "r" else 4
        if name.endswith("l") and (name[:-1] in LEGACY or name[:-1] + "x" in LEGACY):
            return self.gprs[LEGACY.get(name[:-1], LEGACY.get(name[:-1] + "x"))], 1
        if m := re.fullmatch(r"([xy])mm(\d+)", name):
            low = r.get(f"xmm{m[2]}")
            return (low[0], 16) if low and m[1] == "x" else None
        return None

    def operand(self, text):
        if m := MEMORY.match(text):
            if m[3] is not None or m[1] or m[2]:
                return self.memory(m)
            return Operand("i", value=int(m[4], 16))
        found = self.register_of(text)
        if found:
            return Operand("r", found[1], off=found[0], name=text)
        if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text):
            return Operand("i", value=int(text, 0))
        m = re.fullmatch(r"([xy])mm(\d+)", text)
        return Operand("?", {"x": 16, "y": 32}[m[1]] if m else 0, name=text)

    def memory(self, m):
        o = Operand("m", SIZES.get(m[1], 0), segment=m[2], base=None, index=None, scale=1, disp=0, has_pc=False)
        if m[3] is None:
            o.disp = int(m[4], 16)
            return o
        for sign, part in re.findall(r"([+-]?)([^+-]+)", m[3]):
            if part in ("rip", "eip"):
                o.has_pc = True
            elif "*" in part:
                name, scale = part.split("*")
                o.index, o.scale = self.register_of(name), int(scale)
            elif re.match("0x|[0-9]", part):
                o.disp += int(part, 0) * (-1 if sign == "-" else 1)
            else:
                o.base = self.register_of(part)
        if "riz" in m[3] or "eiz" in m[3]:
            o.index = None
        return o

    def address(self, o, moved=0):
        """Where a memory operand lies; None if that is not known."""
        k, r = self.k, self.r
        if o.segment in ("fs", "gs"):
            base = r.registers.get(f"{o.segment}_base")
            at = r.value(k, *base) if base else None
            if at is None:
                return None
        else:
            at = 0
        at += o.disp + moved
        if o.has_pc:
            at += self.next_pc
        for reg, scale in ((o.base, 1), (o.index, o.scale)):
            if reg:
                value = r.value(k, *reg)
                if value is None:
                    return None
                at += value * scale
        return at & (1 << 8 * self.word) - 1

    def places(self, o, moved=0):
        """Places of an operand; None if it is not known where it lies, [] of an immediate."""
        if o.kind == "r":
            return self.register(o.off, o.size)
        if o.kind == "i":
            return []
        if o.kind == "m" and o.size:
            at = self.address(o, moved)
            return None if at is None else list(range(at, at + o.size))
        return None

    # --------------------------------------------------------------------------------------------- effects

    def clear_above(self, o):
        if self.is_64 and o.kind == "r" and o.size == 4 and o.off in self.gprs:
            for place in self.register(o.off + 4, 4):
                self.put(place, (0, 0))

    def write_mix(self, o, sets, is_certain=True):
        places = self.places(o)
        if places is None:
            self.write_anywhere(o)
            return
        for place in places:
            self.put(place, sets, is_certain)
        self.clear_above(o)

    def write_anywhere(self, o):
        """A store whose address is not known: where the recording saw one of its size."""
        if o.kind == "?":
            return
        for first, length in self.r.writes.get(self.k, ()):
            for place in range(first, first + length):
                self.put(place, (0, self.any), False)

    def copy(self, to, source, n=None, fill=0):
        """The low @n bytes of @to are those of the list @source; what is above is made of @fill."""
        places = self.places(to)
        if places is None:
            self.write_anywhere(to)
            return
        n = len(places) if n is None else n
        got = [(0, self.any)] * n if source is None else [self.get(p) for p in source[:n]]
        got += [(0, 0)] * (n - len(got))
        for i, place in enumerate(places):
            self.put(place, got[i] if i < n else fill or (0, 0))
        self.clear_above(to)

    def set_flags(self, sets, flags=ALL, is_certain=True):
        for bit in flags:
            self.put(self.flag(bit), sets, is_certain)

    def undefine(self, *flags):
        self.set_flags((0, self.any), flags, False)

    def flags_of(self, name):
        bits = CONDITIONS.get(name)
        return [self.flag(b) for b in bits] if bits else None

    def holds(self, condition):
        """Does the condition hold?  None if the flags are not known."""
        f = self.r.value(self.k, *self.eflags)
        if f is None:
            return None
        c, p, z, s, o = (f >> b & 1 for b in (CF, PF, ZF, SF, OF))
        return bool({"o": o, "b": c, "e": z, "be": c | z, "s": s, "p": p, "l": s ^ o, "le": z | s ^ o, "no": not o, "ae": not c,
                     "ne": not z, "a": not c | z, "ns": not s, "np": not p, "ge": not s ^ o, "g": not z | (s ^ o)}[condition])

    def step(self, k):
        self.enter(k)
        pc = self.r.value(k, *self.r.pc)
        insn = self.insns.get(pc)
        if insn is None:
            self.lose_all()
        else:
            self.next_pc = insn[0]
            self.run(*insn[1:])
        self.leave()

    def lose_all(self):
        """An instruction that is not known: anything may have changed."""
        for off in range(self.r.pc[0] + 400):
            self.put(self.base + off, (0, self.any), False)
        self.undefine(*ALL)
        for first, length in self.r.writes.get(self.k, ()):
            for place in range(first, first + length):
                self.put(place, (0, self.any), False)

    def run(self, name, ops, prefixes):
        bare = name[1:] if name[0] == "v" and name not in ("verr", "verw") else name
        method = getattr(self, f"do_{name}", None)
        if method:
            method(ops, prefixes)
        elif name in NOTHING or name.startswith("prefetch"):
            self.do_flags_only(name)
        elif name[0] == "j" or name in ("loop",):
            pass
        elif name.startswith("set") and name[3:] in CONDITIONS:
            self.write_mix(ops[0], self.mix(self.flags_of(name[3:])))
        elif name.startswith("cmov"):
            self.do_cmov(name[4:], ops)
        elif name[:4] in ("movs", "stos", "lods", "cmps", "scas") and ops and ops[0].kind != "?" and any(o.kind == "m" for o in ops) \
                and name in ("movs", "stos", "lods", "cmps", "scas"):
            self.do_string(name, ops, prefixes)
        elif bare in LANES:
            self.do_lanes(bare, ops)
        elif name in SCALARS:
            self.do_scalar(name, ops)
        elif name[0] == "f":
            self.do_x87(ops)
        else:
            self.do_unlisted(name, ops)

    def do_flags_only(self, name):
        for names, bit in ((("clc", "stc"), CF), (("cld", "std"), DF)):
            if name in names:
                self.set_flags((0, 0), (bit,))
        if name == "cmc":
            self.set_flags(self.mix([self.flag(CF)]), (CF,))

    def do_x87(self, ops):
        """Not followed; what it stores is of unknown origin, and the flags are left alone but by the comparisons."""
        for first, length in self.r.writes.get(self.k, ()):
            for place in range(first, first + length):
                self.put(place, (0, self.any), False)
        self.undefine(*ALL)
        self.put(self.base + self.gprs[0], (0, self.any), False)
        self.put(self.base + self.gprs[0] + 1, (0, self.any), False)

    def do_unlisted(self, name, ops):
        self.unknown[name] += 1
        self.undefine(*ALL)
        for o in ops[:2]:
            low = self.r.registers.get(f"xmm{o.name[3:]}") if o.kind == "?" else None
            for place in self.register(*low) if low else self.places(o) if o.kind == "r" else ():
                self.put(place, (0, self.any), False)
        for first, length in self.r.writes.get(self.k, ()):
            for place in range(first, first + length):
                self.put(place, (0, self.any), False)

    # -------------------------------------------------------------------------------------------- moves

    def do_mov(self, ops, prefixes):
        to, source = ops
        if to.kind == "?" or source.kind == "?":
            self.write_mix(to, (0, self.any)) if to.kind != "?" else None
            return
        self.copy(to, self.places(source))

    do_movabs = do_movnti = do_movaps = do_movups = do_movapd = do_movupd = do_movdqa = do_movdqu = do_lddqu = do_movntdq = do_mov

    def do_movzx(self, ops, prefixes):
        self.copy(ops[0], self.places(ops[1]), min(ops[0].size, ops[1].size))

    def do_movq(self, ops, prefixes):
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("movq", ops)
            return
        source = self.places(ops[1])
        self.copy(ops[0], source and source[:8], min(8, ops[0].size))

    def do_movd(self, ops, prefixes):
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("movd", ops)
            return
        source = self.places(ops[1])
        self.copy(ops[0], source and source[:4], min(4, ops[0].size))

    def do_movsx(self, ops, prefixes):
        source, size = self.places(ops[1]), min(ops[0].size, ops[1].size)
        sign = (0, self.any) if source is None else self.get(source[-1])
        self.copy(ops[0], source, size, sign)

    do_movsxd = do_movsx

    def widen(self, size):
        reg = Operand("r", 2 * size, off=self.gprs[0])
        source = self.register(self.gprs[0], size)
        self.copy(reg, source, size, self.get(source[-1]))

    def do_cbw(self, ops, prefixes):
        self.widen(1)

    def do_cwde(self, ops, prefixes):
        self.widen(2)

    def do_cdqe(self, ops, prefixes):
        self.widen(4)

    def sign(self, size):
        self.write_mix(Operand("r", size, off=self.gprs[2]), self.mix([self.base + self.gprs[0] + size - 1]))

    def do_cwd(self, ops, prefixes):
        self.sign(2)

    def do_cdq(self, ops, prefixes):
        self.sign(4)

    def do_cqo(self, ops, prefixes):
        self.sign(8)

    def do_cmov(self, condition, ops):
        to, source = ops
        old, new = self.places(to), self.places(source)
        holds, tested = self.holds(condition), self.mix(self.flags_of(condition))
        may = self.sets.union(self.mix(old, new)[1], tested[1])
        chosen = [] if holds is None else new if holds else old
        for i, place in enumerate(old):
            self.put(place, (self.get(chosen[i])[0] if chosen else 0, may))
        self.clear_above(to)

    def do_xchg(self, ops, prefixes):
        if self.is_same(ops) and ops[0].size == 2:
            return      # 66 90 is a nop
        a, b = self.places(ops[0]), self.places(ops[1])
        self.copy(ops[0], b)
        self.copy(ops[1], a)

    def do_bswap(self, ops, prefixes):
        self.copy(ops[0], self.places(ops[0])[::-1])

    def do_lea(self, ops, prefixes):
        # what is above the result has no part in it
        parts = [self.register(reg[0], min(reg[1], ops[0].size)) for reg in (ops[1].base, ops[1].index) if reg]
        self.write_mix(ops[0], self.mix(*parts))

    # -------------------------------------------------------------------------------------------- the stack

    def move_sp(self):
        sp = self.register(self.gprs[4], self.word)
        sets = self.mix(sp)
        for place in sp:
            self.put(place, sets)

    def top(self, size, moved=0):
        sp = self.r.value(self.k, self.gprs[4], self.word)
        return None if sp is None else [sp + moved + i for i in range(size)]

    def do_push(self, ops, prefixes):
        size = 2 if ops[0].kind == "r" and ops[0].size == 2 or "data16" in prefixes else self.word
        to, source = self.top(size, -size), self.places(ops[0])
        self.move_sp()
        if to is None:
            self.write_anywhere(Operand("m"))
            return
        for i, place in enumerate(to):
            self.put(place, (0, self.any) if source is None else self.get(source[i]) if i < len(source) else (0, 0))

    def do_pop(self, ops, prefixes):
        source = self.top(ops[0].size or self.word)
        self.move_sp()
        if ops[0].kind == "m":
            ops = [Operand(**{**ops[0].__dict__, "disp": ops[0].disp + (self.word if ops[0].base == (self.gprs[4], self.word) else 0)})]
        if ops[0].kind != "?":
            self.copy(ops[0], source)

    def do_call(self, ops, prefixes):
        self.do_push([Operand("i", self.word, value=0)], ())

    def do_ret(self, ops, prefixes):
        self.move_sp()

    def do_leave(self, ops, prefixes):
        bp = self.register(self.gprs[5], self.word)
        at = self.r.value(self.k, self.gprs[5], self.word)
        sets = self.mix(bp)
        for place in self.register(self.gprs[4], self.word):
            self.put(place, sets)
        for i, place in enumerate(bp):
            self.put(place, (0, self.any) if at is None else self.get(at + i))

    # -------------------------------------------------------------------------------------------- arithmetic

    def arithmetic(self, ops, reads, flags, with_carry=False, is_stored=True):
        lists = [self.places(o) for o in reads] + ([[self.flag(CF)]] if with_carry else [])
        sets = self.mix(*lists)
        if is_stored:
            self.write_mix(ops[0], sets)
        self.set_flags(sets, flags)

    def is_same(self, ops):
        return len(ops) == 2 and ops[0].kind == "r" and ops[1].kind == "r" and (ops[0].off, ops[0].size) == (ops[1].off, ops[1].size)

    def do_add(self, ops, prefixes):
        self.arithmetic(ops, ops, ALL)

    def do_sub(self, ops, prefixes):
        self.arithmetic(ops, [] if self.is_same(ops) else ops, ALL)

    def do_adc(self, ops, prefixes):
        self.arithmetic(ops, ops, ALL, True)

    def do_sbb(self, ops, prefixes):
        self.arithmetic(ops, [] if self.is_same(ops) else ops, ALL, True)

    def do_cmp(self, ops, prefixes):
        # of two equal operands nothing is left, but the contract does not ask for that
        must, may = self.mix(*[self.places(o) for o in ops])
        self.set_flags((0 if self.is_same(ops) else must, may))

    def do_inc(self, ops, prefixes):
        self.arithmetic(ops, ops, (PF, AF, ZF, SF, OF))

    do_dec = do_inc

    def do_neg(self, ops, prefixes):
        self.arithmetic(ops, ops, ALL)

    def do_not(self, ops, prefixes):
        places = self.places(ops[0])
        must, may = self.mix(places)
        if places is None:
            self.write_anywhere(ops[0])
            return
        for place in places:
            self.put(place, (self.get(place)[0], may))
        self.clear_above(ops[0])

    def bitwise(self, ops, clears):
        to, source = ops
        a, b = self.places(to), self.places(source)
        if clears and self.is_same(ops):
            self.write_mix(to, (0, 0))
            self.set_flags((0, 0), (CF, PF, ZF, SF, OF))
            self.undefine(AF)
            return
        all_of = self.mix(a, b)
        if a is None:
            self.write_anywhere(to)
        else:
            for i, place in enumerate(a):
                self.put(place, self.mix([place], None if b is None else b[i:i + 1]))
            self.clear_above(to)
        self.set_flags(all_of, (PF, ZF, SF))
        self.set_flags((0, 0), (CF, OF))
        self.undefine(AF)

    def do_and(self, ops, prefixes):
        self.bitwise(ops, False)

    do_or = do_and

    def do_xor(self, ops, prefixes):
        self.bitwise(ops, True)

    def do_test(self, ops, prefixes):
        self.set_flags(self.mix(*[self.places(o) for o in ops]), (PF, ZF, SF))
        self.set_flags((0, 0), (CF, OF))
        self.undefine(AF)

    def shift(self, ops, flags, with_carry=False):
        count = ops[-1] if len(ops) > 1 else Operand("i", value=1)
        n = count.value if count.kind == "i" else self.r.value(self.k, self.gprs[1], 1)
        sets = self.mix(*[self.places(o) for o in ops], [self.flag(CF)] if with_carry else [])
        # a rotation keeps bits: by how much is not asked
        self.write_mix(ops[0], sets)
        if n is None:
            self.undefine(*ALL)
        elif n & (63 if ops[0].size == 8 else 31):
            self.set_flags(sets, flags)
            if n != 1:
                self.undefine(OF)
            if SF in flags:
                self.undefine(AF)

    def do_shl(self, ops, prefixes):
        self.shift(ops, (CF, PF, ZF, SF, OF))

    do_shr = do_sar = do_sal = do_shld = do_shrd = do_shl

    def do_rol(self, ops, prefixes):
        self.shift(ops, (CF, OF))

    do_ror = do_rol

    def do_rcl(self, ops, prefixes):
        self.shift(ops, (CF, OF), True)

    do_rcr = do_rcl

    def wide(self, source, reads):
        """mul and div: ax, or dx:ax; undefined flags are not asked about."""
        sets = self.mix(self.places(source), reads)
        if source.size == 1:
            self.write_mix(Operand("r", 2, off=self.gprs[0]), sets)
        else:
            self.write_mix(Operand("r", source.size, off=self.gprs[0]), sets)
            self.write_mix(Operand("r", source.size, off=self.gprs[2]), sets)
        return sets

    def do_mul(self, ops, prefixes):
        sets = self.wide(ops[0], self.register(self.gprs[0], ops[0].size))
        self.undefine(*ALL)
        self.set_flags(sets, (CF, OF))

    def do_imul(self, ops, prefixes):
        if len(ops) == 1:
            self.do_mul(ops, prefixes)
            return
        sets = self.mix(*[self.places(o) for o in (ops if len(ops) == 2 else ops[1:])])
        self.write_mix(ops[0], sets)
        self.undefine(*ALL)
        self.set_flags(sets, (CF, OF))

    def do_div(self, ops, prefixes):
        size = ops[0].size
        reads = self.register(self.gprs[0], 2) if size == 1 else self.register(self.gprs[0], size) + self.register(self.gprs[2], size)
        self.wide(ops[0], reads)
        self.undefine(*ALL)

    do_idiv = do_div

    def do_xadd(self, ops, prefixes):
        sets, old = self.mix(*[self.places(o) for o in ops]), self.places(ops[0])
        self.copy(ops[1], old)
        self.write_mix(ops[0], sets)
        self.set_flags(sets)

    def do_cmpxchg(self, ops, prefixes):
        """Either operand may be written: only what is certain in both cases is."""
        old = self.mix(self.register(self.gprs[0], ops[0].size), *[self.places(o) for o in ops])
        compared = self.mix(self.register(self.gprs[0], ops[0].size), self.places(ops[0]))
        for o in (ops[0], Operand("r", ops[0].size, off=self.gprs[0])):
            self.write_mix(o, self.maybe(old), False)
        self.set_flags(compared)

    def bit_test(self, ops, is_written):
        places = self.places(ops[0])
        if ops[0].kind == "m" and ops[1].kind == "r":
            self.undefine(*ALL)
            self.write_anywhere(Operand("m"))
            return
        sets = self.mix(places, self.places(ops[1]))
        self.undefine(PF, AF, SF, OF)
        self.set_flags(sets, (CF,))
        if is_written:
            self.write_mix(ops[0], sets)

    def do_bt(self, ops, prefixes):
        self.bit_test(ops, False)

    def do_bts(self, ops, prefixes):
        self.bit_test(ops, True)

    do_btr = do_btc = do_bts

    def do_bsf(self, ops, prefixes):
        sets = self.mix(self.places(ops[1]))
        self.write_mix(ops[0], self.join(sets, (0, self.mix(self.places(ops[0]))[1])))
        self.undefine(*ALL)
        self.set_flags(sets, (ZF,))

    do_bsr = do_bsf

    def do_tzcnt(self, ops, prefixes):
        sets = self.mix(self.places(ops[1]))
        self.write_mix(ops[0], sets)
        self.undefine(*ALL)
        self.set_flags(sets, (CF, ZF))

    do_lzcnt = do_tzcnt

    def do_popcnt(self, ops, prefixes):
        sets = self.mix(self.places(ops[1]))
        self.write_mix(ops[0], sets)
        self.undefine(*ALL)
        self.set_flags(sets, (ZF,))

    # ------------------------------------------------------------------------------------------- the processor

    def do_cpuid(self, ops, prefixes):
        for i in range(4):
            self.write_mix(Operand("r", 4, off=self.gprs[i]), (0, self.any))

    def do_rdtsc(self, ops, prefixes):
        for i in (0, 2):
            self.write_mix(Operand("r", 4, off=self.gprs[i]), (0, self.any))

    do_xgetbv = do_rdtsc

    def do_syscall(self, ops, prefixes):
        is_last = self.k == self.r.n - 1        # an exit does not return: the return address and the flags may not be there
        for reg in [0] + ([1, 11] if self.is_64 else []):
            for place in self.register(self.gprs[reg], self.word):
                self.put(place, (0, self.any) if is_last and reg else self.leaf(INPUT, place, self.k), not is_last or not reg)

    def do_int(self, ops, prefixes):
        for place in self.register(self.gprs[0], self.word):
            self.put(place, self.leaf(INPUT, place, self.k))

    # ------------------------------------------------------------------------------------------- strings

    def count(self, prefixes):
        """Turns of a repeated instruction in this step; None if it is not known."""
        if not {"rep", "repz", "repnz"} & set(prefixes):
            return 1
        before, after = (self.r.value(k, self.gprs[1], self.word) for k in (self.k, self.k + 1))
        return None if before is None or after is None else before - after

    def do_string(self, name, ops, prefixes):
        n, size = self.count(prefixes), max(o.size for o in ops)
        flags = self.r.value(self.k, *self.eflags)
        si, di = (self.r.value(self.k, self.gprs[i], self.word) for i in (6, 7))
        is_repeated = {"rep", "repz", "repnz"} & set(prefixes)
        is_up = None if flags is None else not flags >> DF & 1
        if n == 0:
            return
        moved = {"movs": (6, 7), "stos": (7,), "lods": (6,), "cmps": (6, 7), "scas": (7,)}[name] + ((1,) if is_repeated else ())
        for reg in moved:
            places = self.register(self.gprs[reg], self.word)
            sets = self.mix(places)
            for place in places:
                self.put(place, (sets[0], self.sets.union(sets[1], self.any)))
        if n is None or is_up is None or si is None or di is None:
            self.do_unlisted("string", [])
            return
        self.turns(name, n, size, 1 if is_up else -1, si, di)

    def turns(self, name, n, size, way, si, di):
        ax = self.register(self.gprs[0], size)
        made = {}
        for turn in range(n if name in ("movs", "stos") else 0):
            to = di + way * turn * size
            source = si + way * turn * size
            got = [self.get(ax[i]) if name == "stos" else made.get(source + i) or self.get(source + i) for i in range(size)]
            made.update((to + i, got[i]) for i in range(size))
        for place, sets in made.items():
            self.put(place, sets)
        last_si, last_di = si + way * (n - 1) * size, di + way * (n - 1) * size
        if name == "lods":
            self.copy(Operand("r", size, off=self.gprs[0]), list(range(last_si, last_si + size)))
        if name in ("cmps", "scas"):
            other = ax if name == "scas" else list(range(last_si, last_si + size))
            must, may = self.mix(other, list(range(last_di, last_di + size)))
            self.set_flags((must, self.sets.union(may, self.any)))
