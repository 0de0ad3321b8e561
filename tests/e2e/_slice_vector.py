# SPDX-License-Identifier: MIT
"""What instructions on vectors do to the shadow of places, after the processor manuals; a part of _slice_x86.py."""

CF, PF, AF, ZF, SF, DF, OF = 0, 2, 4, 6, 7, 10, 11
ALL = (CF, PF, AF, ZF, SF, OF)
LANES = {f"p{op}{t}" for op in ("add", "sub", "cmpeq", "cmpgt", "minu", "maxu", "mins", "maxs", "avg") for t in "bwdq"} | {
    "pand", "pandn", "por", "pxor", "andps", "andpd", "andnps", "andnpd", "orps", "orpd", "xorps", "xorpd", "addps", "addpd", "subps",
    "subpd", "mulps", "mulpd", "divps", "divpd", "pmullw"}
BITWISE = {"pand", "pandn", "por", "pxor", "andps", "andpd", "andnps", "andnpd", "orps", "orpd", "xorps", "xorpd"}
# Scalars: bytes of the result and of the second operand, and whether the first operand takes part.
SCALARS = {f"{op}{t}": (n, n, op not in ("sqrt", "rcp", "rsqrt")) for t, n in (("ss", 4), ("sd", 8))
           for op in ("add", "sub", "mul", "div", "min", "max", "sqrt", "rcp", "rsqrt")} | {
    "cvtsi2sd": (8, 0, False), "cvtsi2ss": (4, 0, False), "cvtss2sd": (8, 4, False), "cvtsd2ss": (4, 8, False)}


class Operand:
    def __init__(self, kind, size=0, **more):
        self.kind, self.size = kind, size
        self.__dict__.update(more)


class Vectors:
    # ------------------------------------------------------------------------------------------------ scalars

    def scalar(self, ops, size):
        to, source = ops
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("movs", ops)
            return
        places = self.places(source)
        if to.kind == "m":
            self.copy(to, places and places[:size], size)
        elif source.kind == "m":
            self.copy(to, places, size)
        else:
            for place, got in zip(self.register(to.off, size), [self.get(p) for p in places[:size]]):
                self.put(place, got)

    def do_movss(self, ops, prefixes):
        self.scalar(ops, 4)

    def do_movsd(self, ops, prefixes):
        self.scalar(ops, 8)

    def half(self, ops, at):
        """movlps and kin: a half, from byte @at on of the register."""
        to, source = ops
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("movh", ops)
        elif to.kind == "m":
            self.copy(to, self.register(source.off + at, 8))
        else:
            places = self.places(source)
            for i in range(8):
                self.put(self.base + to.off + at + i, self.get(places[i]) if places else (0, self.any))

    def do_movhps(self, ops, prefixes):
        self.half(ops, 8)

    def do_movlps(self, ops, prefixes):
        self.half(ops, 0)

    do_movhpd, do_movlpd = do_movhps, do_movlps

    def do_scalar(self, name, ops):
        """The low lane is written, the others are kept."""
        if any(o.kind == "?" for o in ops):
            self.do_unlisted(name, ops)
            return
        size, read, has_first = SCALARS[name]
        source = self.places(ops[1])
        low = self.register(ops[0].off, size)
        sets = self.mix(source and source[:read or len(source)], low if has_first else [])
        for place in low:
            self.put(place, sets)

    def to_integer(self, ops, size):
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("cvt", ops)
            return
        source = self.places(ops[1])
        self.write_mix(ops[0], self.mix(source and source[:size]))

    def do_cvtsd2si(self, ops, prefixes):
        self.to_integer(ops, 8)

    def do_cvtss2si(self, ops, prefixes):
        self.to_integer(ops, 4)

    do_cvttsd2si, do_cvttss2si = do_cvtsd2si, do_cvtss2si

    def ordered(self, ops, size):
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("comis", ops)
            return
        source = self.places(ops[1])
        self.set_flags(self.mix(self.register(ops[0].off, size), source and source[:size]), (CF, PF, ZF))
        self.set_flags((0, 0), (AF, SF, OF))

    def do_comisd(self, ops, prefixes):
        self.ordered(ops, 8)

    def do_comiss(self, ops, prefixes):
        self.ordered(ops, 4)

    do_ucomisd, do_ucomiss = do_comisd, do_comiss

    # ------------------------------------------------------------------------------------------------ lanes, shuffles

    def slide(self, ops, way):
        """pslldq and psrldq: zeros come in."""
        n, places = ops[1].value, self.places(ops[0])
        got = [self.get(p) for p in places]
        for i, place in enumerate(places):
            at = i + way * n
            self.put(place, got[at] if 0 <= at < 16 else (0, 0))

    def do_psrldq(self, ops, prefixes):
        self.slide(ops, 1)

    def do_pslldq(self, ops, prefixes):
        self.slide(ops, -1)

    def do_lanes(self, name, ops):
        if len(ops) != 2 or any(o.kind == "?" for o in ops):
            self.do_unlisted(name, ops)
            return
        to, source = ops
        a, b = self.places(to), self.places(source)
        if (name in ("pxor", "xorps", "xorpd") or name.startswith("psub")) and self.is_same(ops):
            self.write_mix(to, (0, 0))
            return
        unit = 1 if name in BITWISE else {"b": 1, "w": 2, "d": 4, "q": 8}.get(name[-1], 4)
        if name[-2:] in ("ps", "pd") and name not in BITWISE:
            unit = 4 if name.endswith("ps") else 8
        for i, place in enumerate(a):
            lane = slice(i // unit * unit, i // unit * unit + unit)
            self.put(place, self.mix(a[lane], None if b is None else b[lane]))

    def area(self, ops, is_saved):
        """fxsave and fxrstor: the vector registers lie from byte 160 on; the rest is not followed."""
        at = self.address(ops[0])
        if is_saved:
            self.do_x87(ops)
            for place in self.register(self.gprs[0], 2):
                del self.new[place]
            for bit in ALL:
                del self.new[self.flag(bit)]
        for i in range(16 if self.is_64 else 8):
            for held in self.r.registers.get(f"xmm{i}", (0, 0)),:
                for b, place in enumerate(self.register(*held)):
                    there = None if at is None else at + 160 + 16 * i + b
                    if is_saved and there is not None:
                        self.put(there, self.get(place))
                    elif not is_saved:
                        self.put(place, (0, self.any) if there is None else self.get(there))

    def do_fxsave(self, ops, prefixes):
        self.area(ops, True)

    def do_fxrstor(self, ops, prefixes):
        self.area(ops, False)

    do_fxsave64, do_fxrstor64 = do_fxsave, do_fxrstor

    def moves(self, ops, picks):
        """Byte i of the first operand is byte picks[i] of both, one after the other."""
        to, source = ops[:2]
        if any(o.kind == "?" for o in ops):
            self.do_unlisted("picks", ops)
            return
        a, b = self.places(to), self.places(source)
        both = [*a, *(b or [None] * 16)]
        for i, place in enumerate(a):
            p = both[picks[i]]
            self.put(place, (0, self.any) if p is None else self.get(p))

    def unpack(self, ops, unit, half):
        picks = []
        for i in range(half // unit, half // unit + 8 // unit):
            picks += [*range(i * unit, i * unit + unit), *range(16 + i * unit, 16 + i * unit + unit)]
        self.moves(ops, picks)

    def shuffle(self, ops, unit, first):
        imm, picks = ops[2].value, list(range(16, 32))
        for i in range(4):
            at = first + (imm >> 2 * i & 3) * unit
            picks[first + i * unit:first + (i + 1) * unit] = range(16 + at, 16 + at + unit)
        self.moves(ops, picks)

    def do_pshufd(self, ops, prefixes):
        self.shuffle(ops, 4, 0)

    def do_pmovmskb(self, ops, prefixes):
        self.write_mix(ops[0], self.mix(self.places(ops[1])) if ops[1].kind == "r" else (0, self.any))


def add_unpacks():
    for letters, unit in (("bw", 1), ("wd", 2), ("dq", 4), ("qdq", 8)):
        for half in "lh":
            setattr(Vectors, f"do_punpck{half}{letters}",
                    lambda self, ops, prefixes, unit=unit, half=half: self.unpack(ops, unit, 8 * (half == "h")))


add_unpacks()
