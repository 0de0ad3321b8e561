/* SPDX-License-Identifier: MIT */
/*
 * A block of the program, and what logs its execution.
 *
 * The block is described once.  Each execution stores only what the description does not say: the values of
 * temporaries, each once, which do not change as VEX's temporaries are assigned once.
 */
#include "tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>

#include "processor.h"

#define MAX_EVENTS 4096u
#define MAX_EXITS 512u
#define MAX_TEMPS 16384u
#define HEAD_LEN 8u

static struct {
	IRSB *out;
	IRTemp base;            /* address of this execution's record */
	UInt len;               /* bytes of the record so far */
	UShort at[MAX_TEMPS];   /* where the record has a temporary; 0: it has not */
	Int ip_off;             /* of the program counter in the guest state */
	struct ts_log_block block;
	struct ts_log_insn insns[TS_LOG_MAX_INSNS];
	struct ts_log_exit exits[MAX_EXITS];
	struct ts_log_event events[MAX_EVENTS];
	UInt n_events;
	Addr pc;
} b;

/* -------------------------------------------------------------------------------- values */

static IRExpr *number(Addr val)
{
	return IRExpr_Const(TS_CONST(val));
}

static IRExpr *assign(IRType type, IRExpr *what)
{
	IRTemp to = newIRTemp(b.out->tyenv, type);

	addStmtToIRSB(b.out, IRStmt_WrTmp(to, what));
	return IRExpr_RdTmp(to);
}

static void store(UInt off, IRExpr *atom)
{
	IRExpr *at = assign(TS_WORD, IRExpr_Binop(TS_ADD, IRExpr_RdTmp(b.base), number(off)));

	addStmtToIRSB(b.out, IRStmt_Store(Iend_LE, at, atom));
}

/* Room for @len bytes in the record. */
static UShort room(UInt len)
{
	UInt at = b.len;

	b.len += len;
	if (b.len > TS_LOG_MAX_BLOCK - 64)
		VG_(tool_panic)("tracestub: a block changes too much");
	return (UShort)at;
}

/* AArch64's VEX makes no byte of a bit. */
static IRExpr *of_bit(IRExpr *bit)
{
	return assign(TS_WORD, IRExpr_Unop(TS_OF_BIT, bit));
}

static IRExpr *low_byte(IRExpr *word)
{
	return assign(Ity_I8, IRExpr_Unop(TS_LOW_BYTE, word));
}

/* Where the record has the value of @atom. */
static UShort place_of(IRExpr *atom)
{
	IRType type = typeOfIRExpr(b.out->tyenv, atom);
	IRTemp temp = atom->tag == Iex_RdTmp ? atom->Iex.RdTmp.tmp : IRTemp_INVALID;
	UShort at;

	if (temp != IRTemp_INVALID && temp < MAX_TEMPS && b.at[temp])
		return b.at[temp];
	if (type == Ity_I1) {
		atom = low_byte(of_bit(atom));
		type = Ity_I8;
	}
	at = room((UInt)sizeofIRType(type));
	store(at, atom);
	if (temp != IRTemp_INVALID && temp < MAX_TEMPS)
		b.at[temp] = at;
	return at;
}

static Bool const_bits(const IRConst *c, ULong *bits)
{
	*bits = 0;
	switch (c->tag) {
	case Ico_U1: *bits = c->Ico.U1; return True;
	case Ico_U8: *bits = c->Ico.U8; return True;
	case Ico_U16: *bits = c->Ico.U16; return True;
	case Ico_U32: *bits = c->Ico.U32; return True;
	case Ico_U64: *bits = c->Ico.U64; return True;
	case Ico_F64i: *bits = c->Ico.F64i; return True;
	case Ico_V128: return c->Ico.V128 == 0;
	case Ico_V256: return c->Ico.V256 == 0;
	default: return False;
	}
}

static ULong value_of(IRExpr *atom, UChar is_const, UChar *flags)
{
	ULong bits;

	if (atom->tag == Iex_Const && const_bits(atom->Iex.Const.con, &bits)) {
		*flags |= is_const;
		return bits;
	}
	return place_of(atom);
}

/* -------------------------------------------------------------------------------- events */

static struct ts_log_event *new_event(UChar kind, UInt len)
{
	struct ts_log_event *e = &b.events[b.n_events++];

	if (b.n_events == MAX_EVENTS)
		VG_(tool_panic)("tracestub: a block has too many events");
	*e = (struct ts_log_event){ .kind = kind, .len = (UShort)len };
	b.insns[b.block.n_insns - 1].n_events++;
	return e;
}

static void set_guard(struct ts_log_event *e, IRExpr *guard)
{
	if (!guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1))
		return;
	e->flags |= TS_LOG_GUARDED;
	e->guard = place_of(guard);
}

static struct ts_log_event *access(UChar kind, IRExpr *addr, UInt len, IRExpr *guard)
{
	struct ts_log_event *e = new_event(kind, len);

	e->addr = value_of(addr, TS_LOG_CONST_ADDR, &e->flags);
	set_guard(e, guard);
	return e;
}

static void set_value(struct ts_log_event *e, IRExpr *atom)
{
	e->value = value_of(atom, TS_LOG_CONST_VALUE, &e->flags);
}

static UInt size_of(IRExpr *atom)
{
	IRType type = typeOfIRExpr(b.out->tyenv, atom);

	return type == Ity_I1 ? 1 : (UInt)sizeofIRType(type);
}

/* Is @off in the part of the guest state that is recorded? */
static Bool is_recorded(Int off)
{
	return off >= (Int)TS_FIRST_OFF && (UInt)off < TS_STATE_LEN;
}

static void log_put(Int off, IRExpr *atom)
{
	struct ts_log_event *e;

	off = off == b.ip_off ? -1 : ts_guest_place(off);
	if (!is_recorded(off))
		return;
	e = new_event(TS_LOG_PUT, size_of(atom));
	e->off = (UShort)off;
	set_value(e, atom);
}

static void log_puti(const IRPutI *p)
{
	struct ts_log_event *e = new_event(TS_LOG_PUTI, size_of(p->data));

	e->off = (UShort)p->descr->base;
	e->n_elements = (UInt)p->descr->nElems;
	e->bias = p->bias;
	e->addr = place_of(p->ix);
	set_value(e, p->data);
}

static void add(IRStmt *st)
{
	addStmtToIRSB(b.out, st);
}

/* AArch64's VEX stores no half-precision number: its bytes are in the guest state. */
static void on_put(IRStmt *st)
{
	Int off = st->Ist.Put.offset;

	if (typeOfIRExpr(b.out->tyenv, st->Ist.Put.data) == Ity_F16) {
		add(st);
		log_put(off, assign(Ity_I16, IRExpr_Get(off, Ity_I16)));
		return;
	}
	log_put(off, st->Ist.Put.data);
	add(st);
}

#if defined(VGA_arm64)
/*
 * stxr etc.: VEX translates them to a load and a compare-and-swap, but the instruction does not read memory.
 */
static Bool only_stores(void)
{
	return (*(const UInt *)b.pc & 0x3fc00000) == 0x08000000;
}
#else
static Bool only_stores(void)
{
	return False;
}
#endif

static void on_assign(IRStmt *st)
{
	IRExpr *from = st->Ist.WrTmp.data;
	struct ts_log_event *e;

	if (from->tag != Iex_Load || only_stores()) {
		add(st);
		return;
	}
	e = access(TS_LOG_LOAD, from->Iex.Load.addr, (UInt)sizeofIRType(from->Iex.Load.ty), NULL);
	add(st);
	set_value(e, IRExpr_RdTmp(st->Ist.WrTmp.tmp));
}

static void on_guarded_load(IRStmt *st)
{
	IRLoadG *l = st->Ist.LoadG.details;
	IRType result, loaded;
	struct ts_log_event *e;

	typeOfIRLoadGOp(l->cvt, &result, &loaded);
	e = access(TS_LOG_LOAD, l->addr, (UInt)sizeofIRType(loaded), l->guard);
	add(st);
	set_value(e, IRExpr_RdTmp(l->dst));
}

static void on_store(IRStmt *st, IRExpr *addr, IRExpr *data, IRExpr *guard)
{
	set_value(access(TS_LOG_STORE, addr, size_of(data), guard), data);
	add(st);
}

static IRExpr *as_word(IRExpr *x)
{
	static const IROp ops[sizeof(Addr)] = TS_OF_SIZE;
	UInt len = size_of(x);

	return len == sizeof(Addr) ? x : assign(TS_WORD, IRExpr_Unop(ops[len], x));
}

/* Returns a word, 1 or 0. */
static IRExpr *is_equal(IRExpr *x, IRExpr *y)
{
	return of_bit(assign(Ity_I1, IRExpr_Binop(TS_EQUAL, as_word(x), as_word(y))));
}

/* Both halves of a pair are stored, or none. */
static void on_cas(IRStmt *st)
{
	IRCAS *cas = st->Ist.CAS.details;
	Bool is_pair = cas->expdHi != NULL;
	UInt len = size_of(cas->dataLo);
	IRExpr *high = is_pair ? assign(TS_WORD, IRExpr_Binop(TS_ADD, cas->addr, number(len))) : NULL;
	IRExpr *old = IRExpr_RdTmp(cas->oldLo), *done;
	Bool has_load = !only_stores();
	struct ts_log_event *low_load = has_load ? access(TS_LOG_LOAD, cas->addr, len, NULL) : NULL, *high_load = NULL, *e;

	if (is_pair && has_load)
		high_load = access(TS_LOG_LOAD, high, len, NULL);
	add(st);
	if (low_load)
		set_value(low_load, old);
	done = is_equal(old, cas->expdLo);
	if (high_load)
		set_value(high_load, IRExpr_RdTmp(cas->oldHi));
	if (is_pair)
		done = assign(TS_WORD, IRExpr_Binop(TS_AND, done, is_equal(IRExpr_RdTmp(cas->oldHi), cas->expdHi)));
	done = low_byte(done);
	e = access(TS_LOG_STORE, cas->addr, len, done);
	set_value(e, cas->dataLo);
	if (is_pair)
		set_value(access(TS_LOG_STORE, high, len, done), cas->dataHi);
}

/* A load-linked, or a store-conditional, which stores if its result is 1. */
static void on_exclusive(IRStmt *st)
{
	IRExpr *addr = st->Ist.LLSC.addr, *data = st->Ist.LLSC.storedata, *result = IRExpr_RdTmp(st->Ist.LLSC.result);
	struct ts_log_event *e;

	if (!data) {
		e = access(TS_LOG_LOAD, addr, size_of(result), NULL);
		add(st);
		set_value(e, result);
		return;
	}
	add(st);
	set_value(access(TS_LOG_STORE, addr, size_of(data), result), data);
}

/* -------------------------------------------------------------------------------- helpers of VEX */

/* Called by translated code: memory that a helper reads, or has written, into the record. */
static VG_REGPARM(3) void copy_memory(Addr to, Addr from, HWord len)
{
	VG_(memcpy)((void *)to, (const void *)from, len);
}

static void copy_after(const IRDirty *d, UShort at)
{
	IRExpr *to = assign(TS_WORD, IRExpr_Binop(TS_ADD, IRExpr_RdTmp(b.base), number(at)));
	IRDirty *copy = unsafeIRDirty_0_N(3, "copy_memory", VG_(fnptr_to_fnentry)(copy_memory),
					  mkIRExprVec_3(to, d->mAddr, number((Addr)d->mSize)));

	copy->guard = d->guard;
	copy->mFx = Ifx_Read;
	copy->mAddr = d->mAddr;
	copy->mSize = d->mSize;
	add(IRStmt_Dirty(copy));
}

static void log_helper_memory(const IRDirty *d, UChar kind)
{
	struct ts_log_event *e = access(kind, d->mAddr, (UInt)d->mSize, d->guard);

	e->value = room((UInt)d->mSize);
	copy_after(d, (UShort)e->value);
}

/* What the helper put into the guest state, in pieces that have a type. */
static void log_helper_state(Int off, Int len)
{
	while (len > 0) {
		IRType type = len >= sizeofIRType(TS_PIECE) ? TS_PIECE : len >= 16 ? Ity_V128 : len >= 8 ? Ity_I64 : len >= 4 ? Ity_I32 :
			      len >= 2 ? Ity_I16 : Ity_I8;

		log_put(off, assign(type, IRExpr_Get(off, type)));
		off += sizeofIRType(type);
		len -= sizeofIRType(type);
	}
}

static void on_dirty(IRStmt *st)
{
	const IRDirty *d = st->Ist.Dirty.details;

	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		log_helper_memory(d, TS_LOG_LOAD);
	add(st);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		log_helper_memory(d, TS_LOG_STORE);
	for (Int i = 0; i < d->nFxState; i++) {
		for (Int k = 0; d->fxState[i].fx != Ifx_Read && k <= d->fxState[i].nRepeats; k++)
			log_helper_state(d->fxState[i].offset + k * d->fxState[i].repeatLen, d->fxState[i].size);
	}
}

/* -------------------------------------------------------------------------------- instructions */

static Bool is_fault(IRJumpKind kind)
{
	return kind == Ijk_NoDecode || kind == Ijk_SigILL || kind == Ijk_SigSEGV || kind == Ijk_SigBUS ||
	       kind == Ijk_SigFPE || kind == Ijk_SigFPE_IntDiv || kind == Ijk_SigFPE_IntOvf || kind == Ijk_EmFail ||
	       kind == Ijk_MapFail;
}

#if !defined(VGA_arm64)
/* Not of an instruction that moves control or status words, or a value of 4 or 8 bytes (Intel's manual, 2, table A). */
static Bool is_x87_arithmetic(UChar code, UChar modrm)
{
	UChar reg = modrm >> 3 & 7;

	if (code < 0xd8 || code > 0xdf)
		return False;
	if (modrm >= 0xc0) /* fxch, fnop, fnclex, fninit, ffree, fstp st(i), fnstsw ax */
		return !(code == 0xd9 && modrm < 0xd8) && !(code == 0xdb && modrm >= 0xe2 && modrm <= 0xe3) &&
		       code != 0xdd && !(code == 0xdf && modrm == 0xe0);
	if (code == 0xd9)
		return False;
	return code == 0xdb ? reg >= 5 : code != 0xdd;
}

/* The flags of an instruction that its bytes determine and its IR does not show. */
static UChar classify(const UChar *insn, UInt len)
{
	Bool is_rep = False;
	UInt i = 0;

	for (; i < len; i++) {
		UChar c = insn[i];

		is_rep |= c == 0xf2 || c == 0xf3;
		if (c != 0x66 && c != 0xf2 && c != 0xf3 && c != 0x2e && c != 0x36 && c != 0x3e && c != 0x26 &&
		    c != 0x64 && c != 0x65 && c != 0x67 && (c & 0xf0) != TS_PREFIXES)
			break;
	}
	if (i == len)
		return 0;
	if (is_rep && ((insn[i] >= 0xa4 && insn[i] <= 0xa7) || (insn[i] >= 0xaa && insn[i] <= 0xaf) ||
		       (insn[i] >= 0x6c && insn[i] <= 0x6f)))
		return TS_LOG_INSN_REP;
	return i + 1 < len && is_x87_arithmetic(insn[i], insn[i + 1]) ? TS_LOG_INSN_X87 : 0;
}
#else
static UChar classify(const UChar *, UInt)
{
	return 0;
}
#endif

/* Is @c the address of the present instruction? */
static Bool is_here(const IRConst *c)
{
	ULong bits;

	return const_bits(c, &bits) && bits == b.pc;
}

static void on_insn(IRStmt *st)
{
	struct ts_log_insn *insn = &b.insns[b.block.n_insns++];
	UInt len = st->Ist.IMark.len;

	if (b.block.n_insns > TS_LOG_MAX_INSNS)
		VG_(tool_panic)("tracestub: a block has too many instructions");
	b.pc = st->Ist.IMark.addr + st->Ist.IMark.delta;
	*insn = (struct ts_log_insn){ .off = (UShort)(b.pc - b.block.addr), .len = (UChar)len };
	insn->flags = len ? classify((const UChar *)b.pc, len) : TS_LOG_INSN_FAULT;
	add(st);
}

static void on_exit(IRStmt *st)
{
	struct ts_log_exit *e = &b.exits[b.block.n_exits++];

	if (b.block.n_exits == MAX_EXITS)
		VG_(tool_panic)("tracestub: a block has too many exits");
	e->insn = (UShort)(b.block.n_insns - 1);
	e->n_events = b.n_events;
	e->is_fault = is_fault(st->Ist.Exit.jk) && is_here(st->Ist.Exit.dst);
	store(4, IRExpr_Const(IRConst_U32(b.block.n_exits)));
	add(st);
}

static void on_statement(IRStmt *st)
{
	switch (st->tag) {
	case Ist_IMark:
		on_insn(st);
		break;
	case Ist_Put:
		on_put(st);
		break;
	case Ist_PutI:
		log_puti(st->Ist.PutI.details);
		add(st);
		break;
	case Ist_WrTmp:
		on_assign(st);
		break;
	case Ist_Store:
		on_store(st, st->Ist.Store.addr, st->Ist.Store.data, NULL);
		break;
	case Ist_StoreG:
		on_store(st, st->Ist.StoreG.details->addr, st->Ist.StoreG.details->data,
			 st->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		on_guarded_load(st);
		break;
	case Ist_CAS:
		on_cas(st);
		break;
	case Ist_Dirty:
		on_dirty(st);
		break;
	case Ist_Exit:
		on_exit(st);
		break;
	case Ist_LLSC:
		on_exclusive(st);
		break;
	default:
		add(st);
	}
}

/* -------------------------------------------------------------------------------- the block */

/* Reserve space for the record.  Its length is filled in when it is known. */
static IRConst *begin_record(void)
{
	IRConst *len = TS_CONST(0);
	IRExpr *cur_at = number((Addr)&ts_log->cur), *cur, *limit, *is_full, *after;
	IRDirty *next = unsafeIRDirty_0_N(0, "ts_log_next_chunk", VG_(fnptr_to_fnentry)(ts_log_next_chunk),
					  mkIRExprVec_0());

	cur = assign(TS_WORD, IRExpr_Load(Iend_LE, TS_WORD, cur_at));
	limit = assign(TS_WORD, IRExpr_Load(Iend_LE, TS_WORD, number((Addr)&ts_log->limit)));
	is_full = assign(Ity_I1, IRExpr_Binop(TS_LESS, limit, cur));
	next->guard = is_full;
	next->mFx = Ifx_Modify;
	next->mAddr = cur_at;
	next->mSize = 16;
	add(IRStmt_Dirty(next));
	b.base = newIRTemp(b.out->tyenv, TS_WORD);
	add(IRStmt_WrTmp(b.base, IRExpr_Load(Iend_LE, TS_WORD, cur_at)));
	add(IRStmt_Store(Iend_LE, IRExpr_RdTmp(b.base),
			 IRExpr_Const(IRConst_U64((ULong)TS_LOG_IN_BLOCK << 32 | b.block.num))));
	after = assign(TS_WORD, IRExpr_Binop(TS_ADD, IRExpr_RdTmp(b.base), IRExpr_Const(len)));
	add(IRStmt_Store(Iend_LE, cur_at, after));
	return len;
}

static void describe(void)
{
	SizeT n_insns = b.block.n_insns * sizeof(b.insns[0]), n_exits = b.block.n_exits * sizeof(b.exits[0]);
	SizeT n_events = b.n_events * sizeof(b.events[0]);
	UChar *to = ts_log_room(TS_LOG_DESCRIBE, sizeof(b.block) + n_insns + n_exits + n_events);

	if (!to)
		return;
	VG_(memcpy)(to, &b.block, sizeof(b.block));
	VG_(memcpy)(to + sizeof(b.block), b.insns, n_insns);
	VG_(memcpy)(to + sizeof(b.block) + n_insns, b.exits, n_exits);
	VG_(memcpy)(to + sizeof(b.block) + n_insns + n_exits, b.events, n_events);
}

static void end_record(const IRSB *in, IRConst *len)
{
	struct ts_log_insn *last = &b.insns[b.block.n_insns - 1];

	store(4, IRExpr_Const(IRConst_U32(0)));
	if (is_fault(in->jumpkind) && in->next->tag == Iex_Const && is_here(in->next->Iex.Const.con))
		last->flags |= TS_LOG_INSN_FAULT;
	b.block.len = (b.len + 7) & ~7u;
	b.block.n_events = b.n_events;
	*len = *TS_CONST(b.block.len);
	describe();
}

/* -------------------------------------------------------------------------------- where the recording begins or ends */

/* The statement of the first instruction; stmts_used if none is found. */
static Int first_insn(const IRSB *in)
{
	Int i = 0;

	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		i++;
	return i;
}

static Addr addr_of(const IRStmt *mark)
{
	return mark->Ist.IMark.addr + mark->Ist.IMark.delta;
}

/* The block up to the instruction of statement @n, with which another block begins. */
static IRSB *cut(const IRSB *in, Int n)
{
	IRSB *out = deepCopyIRSBExceptStmts(in);

	for (Int i = 0; i < n; i++)
		addStmtToIRSB(out, in->stmts[i]);
	out->next = number(addr_of(in->stmts[n]));
	out->jumpkind = Ijk_Boring;
	return out;
}

/* The block without what is at the place and after it, unless it begins there: *is_at. */
static IRSB *cut_at(IRSB *in, const struct ts_place *p, Int first, Bool *is_at)
{
	*is_at = ts_place_is_at(p, addr_of(in->stmts[first]));
	for (Int i = first + 1; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag == Ist_IMark && ts_place_is_at(p, addr_of(in->stmts[i])))
			return cut(in, i);
	}
	return in;
}

/* Leave the block by a request to Valgrind if this is the time to begin, or to end. */
static void look_at_place(void)
{
	IRExpr *args = assign(TS_WORD, IRExpr_Get(TS_REQUEST_OFF, TS_WORD));
	IRExpr *result = assign(TS_WORD, IRExpr_Get(TS_RESULT_OFF, TS_WORD));
	IRTemp is_now = newIRTemp(b.out->tyenv, TS_WORD);
	IRDirty *ask = unsafeIRDirty_1_N(is_now, 0, "ts_window_arrive", VG_(fnptr_to_fnentry)(ts_window_arrive),
					 mkIRExprVec_2(args, result));
	IRExpr *is;

	add(IRStmt_Dirty(ask));
	is = assign(Ity_I1, IRExpr_Binop(TS_UNEQUAL, IRExpr_RdTmp(is_now), number(0)));
	add(IRStmt_Put(TS_REQUEST_OFF, assign(TS_WORD, IRExpr_ITE(is, number(ts_window_request()), args))));
	add(IRStmt_Exit(is, Ijk_ClientReq, TS_CONST(b.pc), b.ip_off));
}

/* -------------------------------------------------------------------------------- code that is written */

static Bool is_store(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_Store:
	case Ist_StoreG:
	case Ist_CAS:
	case Ist_LLSC:
		return True;
	case Ist_Dirty:
		return st->Ist.Dirty.details->mFx == Ifx_Write || st->Ist.Dirty.details->mFx == Ifx_Modify;
	default:
		return False;
	}
}

/* The block up to the first instruction that stores: it may have written the next one, which is translated when it comes. */
static IRSB *cut_after_store(IRSB *in, Int first)
{
	Bool has_stored = False;

	for (Int i = first; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag == Ist_IMark && has_stored)
			return cut(in, i);
		has_stored |= is_store(in->stmts[i]);
	}
	return in;
}

/* Called by translated code: is the code no more what was translated? */
static VG_REGPARM(3) UWord is_other_code(Addr addr, Addr kept, UWord len)
{
	return VG_(memcmp)((const void *)addr, (const void *)kept, len) != 0;
}

static void compare_code(Addr addr, UInt len)
{
	UChar *kept = VG_(malloc)("tracestub", len); /* as long as the translation, whose end the tool does not see */
	IRTemp is_other = newIRTemp(b.out->tyenv, TS_WORD);
	IRDirty *ask = unsafeIRDirty_1_N(is_other, 3, "is_other_code", VG_(fnptr_to_fnentry)(is_other_code),
					 mkIRExprVec_3(number(addr), number((Addr)kept), number(len)));

	VG_(memcpy)(kept, (const void *)addr, len);
	ask->mFx = Ifx_Read;
	ask->mAddr = number(addr);
	ask->mSize = (Int)len;
	add(IRStmt_Dirty(ask));
	add(IRStmt_Put(offsetof(TsGuest, guest_CMSTART), number(addr)));
	add(IRStmt_Put(offsetof(TsGuest, guest_CMLEN), number(len)));
	add(IRStmt_Exit(assign(Ity_I1, IRExpr_Binop(TS_UNEQUAL, IRExpr_RdTmp(is_other), number(0))), Ijk_InvalICache,
			TS_CONST(b.pc), b.ip_off));
}

/* The block, which is left if its code has changed; *first moves with the first instruction. */
static IRSB *compare_first(const IRSB *in, const VexGuestExtents *extents, Int *first)
{
	Int n = *first;

	b.out = deepCopyIRSBExceptStmts(in);
	for (Int i = 0; i < n; i++)
		add(in->stmts[i]);
	for (UInt i = 0; i < extents->n_used; i++)
		compare_code(extents->base[i], extents->len[i]);
	*first = b.out->stmts_used;
	for (Int i = n; i < in->stmts_used; i++)
		add(in->stmts[i]);
	return b.out;
}

/* -------------------------------------------------------------------------------- translation */

/* Translate a block without logging. */
static IRSB *translate_plain(IRSB *in, Int first, Bool is_at)
{
	if (!is_at)
		return in;
	b.out = deepCopyIRSBExceptStmts(in);
	for (Int i = 0; i <= first; i++)
		add(in->stmts[i]);
	look_at_place();
	for (Int i = first + 1; i < in->stmts_used; i++)
		add(in->stmts[i]);
	return b.out;
}

static IRSB *translate_logged(const IRSB *in, Int first, Bool is_at)
{
	IRConst *len;

	VG_(memset)(b.at, 0, sizeof(b.at));
	b.out = deepCopyIRSBExceptStmts(in);
	b.len = HEAD_LEN;
	b.n_events = 0;
	for (Int i = 0; i < first; i++)
		add(in->stmts[i]);
	if (is_at)
		look_at_place();
	b.block = (struct ts_log_block){ .num = ts_log_next_block(), .addr = b.pc };
	len = begin_record();
	for (Int i = first; i < in->stmts_used; i++)
		on_statement(in->stmts[i]);
	end_record(in, len);
	return b.out;
}

/* The guest's registers are described by the layout. */
IRSB *ts_translate(VgCallbackClosure *, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		   const VexArchInfo *, IRType guest_word, IRType host_word)
{
	const struct ts_place *place = ts_window_place();
	Int first = first_insn(in);
	Bool is_at = False, is_unseen;

	if (first == in->stmts_used)
		return in;
	tl_assert(guest_word == host_word);
	b.ip_off = layout->offset_IP;
	b.pc = addr_of(in->stmts[first]);
	if (ts_memory_is_written_code(b.pc, &is_unseen))
		in = cut_after_store(in, first);
	if (is_unseen)
		in = compare_first(in, extents, &first);
	if (!ts_is_on && !place)
		return in;
	if (place)
		in = cut_at(in, place, first, &is_at);
	return ts_is_on ? translate_logged(in, first, is_at) : translate_plain(in, first, is_at);
}
