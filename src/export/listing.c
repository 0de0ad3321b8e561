/* SPDX-License-Identifier: MIT */
/*
 * Tenet: a line is the state before an instruction, with the accesses of the instruction before it.
 * Tenet++: the same for each thread, with its number and its thread's accesses; modules come before their code.
 * execlog: a line is an instruction, with what it accesses and the registers that it changed.
 */
#include "listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/operands/operands.h"
#include "src/base/atomic_file.h"
#include "src/base/collections/buf.h"
#include "src/base/collections/vec.h"

/* Lines are written when so much has come together. */
#define MAX_WAITING (1u << 16)
/* More bytes of a module are not written; a piece is asked for at once. */
#define MAX_IMAGE (UINT64_C(64) << 20)
#define IMAGE_PIECE 65536u

/* A thread: its registers on its last line, and the accesses of its last step, as its next line has them. */
struct line_thread {
	uint8_t *g, *known; /* owned, one block; NULL: no line yet */
	struct ts_buf accesses;
	uint64_t pos; /* of its last line */
};

struct ts_listing {
	struct ts_query *q;        /* borrowed */
	const struct ts_regset *set; /* borrowed */
	enum ts_listing_form form;
	struct ts_atomic_file file;
	struct ts_buf text;
	uint64_t first, pos, last, n_steps;
	struct ts_listing_lost lost;
	struct line_thread *threads; /* owned */
	size_t n_threads;
	uint8_t *g, *known;        /* owned, one block: of the position */
};

bool ts_listing_find(const char *name, enum ts_listing_form *form)
{
	static const char *const names[] = { "tenet", "tenetpp", "execlog", "csv" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name)) {
			*form = (enum ts_listing_form)i;
			return true;
		}
	}
	return false;
}

/* ----------------------------------------------------------------------------------------------- registers */

/* The general registers: those before the program counter. */
static bool is_general(const struct ts_regset *set, int i)
{
	return i < set->pc && strcmp(set->regs[i].name, "zero") != 0 && set->regs[i].len <= 8;
}

static bool is_known(const uint8_t *known, const struct ts_reg *r)
{
	return !memchr(known + r->off, 0, r->len);
}

/* Has the register another value than on the thread's last line?  One that is unknown has none. */
static bool is_news(const struct ts_listing *l, const struct line_thread *t, const struct ts_reg *r)
{
	return is_known(l->known, r) &&
	       (!t->g || !is_known(t->known, r) || memcmp(l->g + r->off, t->g + r->off, r->len) != 0);
}

static uint64_t value(const struct ts_listing *l, const struct ts_reg *r)
{
	return ts_arch_get(l->set->arch, l->g + r->off, r->len);
}

/* Was register @i known on the thread's last line, and is not any more? */
static bool is_forgotten(const struct ts_listing *l, const struct line_thread *t, int i)
{
	const struct ts_reg *r = &l->set->regs[i];

	return t->g && is_general(l->set, i) && is_known(t->known, r) && !is_known(l->known, r);
}

/* General registers of the thread's last line that are not known any more: Tenet++ can say that. */
static void count_forgotten(struct ts_listing *l, const struct line_thread *t)
{
	for (int i = 0; i < l->set->pc && l->form != TS_LISTING_TENETPP; i++)
		l->lost.n_forgotten += is_forgotten(l, t, i);
}

/* The registers of the position are those of the thread's last line. */
static bool keep_registers(struct ts_listing *l, struct line_thread *t, struct ts_error *err)
{
	uint32_t len = l->set->g_len;

	count_forgotten(l, t);
	if (!t->g)
		t->g = malloc(2 * (size_t)len);
	if (!t->g)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	t->known = t->g + len;
	memcpy(t->g, l->g, 2 * (size_t)len);
	return true;
}

static struct line_thread *thread_of(struct ts_listing *l, uint32_t thread, struct ts_error *err)
{
	size_t old = l->n_threads;

	if (!ts_vec_extend(&l->threads, &l->n_threads, thread, sizeof(*l->threads))) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
		return NULL;
	}
	for (size_t i = old; i < l->n_threads; i++)
		ts_buf_init(&l->threads[i].accesses);
	return &l->threads[thread];
}

/* ------------------------------------------------------------------------------------------------ accesses */

/* Longer accesses without a value are not written, nor are accesses beyond this length of a line: readers have limits. */
#define MAX_UNKNOWN  65536u
#define MAX_ON_A_LINE (UINT32_C(1) << 19)

/*
 * An access whose value is not known: Tenet++ has "?" in place of digits, which Ghidra's reader passes over; Tenet has
 * blanks, which its viewer takes for an access of no bytes.  Readers that do not know that show the bytes before.
 */
static void put_unknown(struct ts_listing *l, struct ts_buf *to, const char *name, uint64_t addr, uint64_t len)
{
	if (len > MAX_UNKNOWN || to->len > MAX_ON_A_LINE) {
		l->lost.n_left_out += name[1] != 'r';
		return;
	}
	ts_buf_printf(to, ",%s=0x%" PRIx64 ":", name, addr);
	for (uint64_t i = 0; i < 2 * len; i++)
		ts_buf_putc(to, l->form == TS_LISTING_TENET ? ' ' : '?');
}

static void put_known(struct ts_listing *l, struct ts_buf *to, const char *name, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (to->len + 2 * len > MAX_ON_A_LINE) {
		l->lost.n_left_out += name[1] != 'r';
		return;
	}
	ts_buf_printf(to, ",%s=0x%" PRIx64 ":", name, addr);
	ts_buf_hex(to, data, (size_t)len);
}

/* What is mapped anew, or not any more, or may have been written, as a form can say it that has values. */
static void put_loss(struct ts_listing *l, struct ts_buf *to, const struct ts_effect *e)
{
	if (l->form == TS_LISTING_EXECLOG || !e->len)
		return;
	if (e->kind != TS_FX_FORGET || e->len > MAX_UNKNOWN || l->form == TS_LISTING_CSV)
		l->lost.n_unmapped++;
	else
		put_unknown(l, to, "mw", e->addr, e->len);
}

/* What the step did to memory that this form can say, as a line says it. */
static void put_access(struct ts_listing *l, struct ts_buf *to, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(b, e);
	bool is_write = e->kind == TS_FX_WRITE;
	const char *name = is_write ? "mw" : "mr";

	if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET)
		put_loss(l, to, e);
	if ((e->kind != TS_FX_READ && !is_write) || (!is_write && e->is_hidden) || !e->len ||
	    (e->is_inferred && l->form == TS_LISTING_CSV))
		return;
	if (l->form == TS_LISTING_EXECLOG) {
		if (!e->is_hidden)
			ts_buf_printf(to, ", %s, 0x%" PRIx64, is_write ? "store" : "load", e->addr);
		return;
	}
	if (!data && l->form != TS_LISTING_CSV) {
		put_unknown(l, to, name, e->addr, e->len);
		return;
	}
	if (l->form != TS_LISTING_CSV) {
		put_known(l, to, name, e->addr, data, e->len);
		return;
	}
	ts_buf_printf(to, "%s0x%" PRIx64 ":", to->len ? ";" : "", e->addr);
	if (data)
		ts_buf_hex(to, data, (size_t)e->len);
	else
		ts_buf_printf(to, "?%" PRIu64, e->len);
}

static bool put_accesses(struct ts_listing *l, struct ts_buf *to, enum ts_effect_kind only, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *s;

	if (l->pos >= l->n_steps)
		return true;
	s = ts_query_step(l->q, l->pos, &b, err);
	if (!s)
		return false;
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (only == TS_FX_EVENT || e->kind == only)
			put_access(l, to, b, e);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------- modules */

/* The known bytes of a module from its base on. */
static bool put_bytes(struct ts_listing *l, const struct ts_module_info *m, struct ts_error *err)
{
	uint8_t data[IMAGE_PIECE], known[IMAGE_PIECE];
	uint64_t left = m->last - m->first + 1 < MAX_IMAGE ? m->last - m->first + 1 : MAX_IMAGE;

	for (uint64_t addr = m->first; left;) {
		size_t n = left < IMAGE_PIECE ? (size_t)left : IMAGE_PIECE, good = 0;

		if (!ts_query_mem(l->q, l->pos, m->process, addr, n, data, known, err))
			return false;
		while (good < n && known[good])
			good++;
		ts_buf_hex(&l->text, data, good);
		if (l->text.len > MAX_WAITING && !ts_atomic_file_write(&l->file, l->text.data, l->text.len, err))
			return false;
		if (l->text.len > MAX_WAITING)
			ts_buf_reset(&l->text);
		if (good < n)
			break;
		addr += n;
		left -= n;
	}
	return true;
}

/* Modules that appear at the position; all that are there at the first one. */
static bool put_modules(struct ts_listing *l, bool is_first, struct ts_error *err)
{
	struct ts_module_info m;

	for (size_t i = 0; ts_query_module(l->q, i, &m); i++) {
		bool is_there = m.from <= l->pos && (m.until == TS_NO_POS || l->pos < m.until);

		if (!is_there || (!is_first && m.from != l->pos))
			continue;
		ts_buf_printf(&l->text, "Loaded image: 0x%" PRIx64 ":0x%" PRIx64 " -> ", m.first, m.last);
		for (const char *c = m.file ? m.file : "?"; *c; c++)
			ts_buf_putc(&l->text, (uint8_t)*c < ' ' || *c == 0x7f ? '?' : (uint8_t)*c);
		ts_buf_puts(&l->text, " Bytes: ");
		if (!put_bytes(l, &m, err))
			return false;
		ts_buf_putc(&l->text, '\n');
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------- lines */

/*
 * Does the line begin with its program counter?  Readers take registers that a thread's first line leaves out for zero, as
 * the Pin tools do, which write the program counter last.
 */
static bool is_pc_first(const struct ts_listing *l, const struct line_thread *t)
{
	for (int i = 0; i < l->set->pc && !t->g; i++) {
		if (is_general(l->set, i) && !is_known(l->known, &l->set->regs[i]))
			return true;
	}
	return false;
}

static const char *put_register(struct ts_listing *l, const char *comma, int reg, uint64_t number)
{
	ts_buf_printf(&l->text, "%s%s=0x%" PRIx64, comma, l->set->regs[reg].name, number);
	return ",";
}

#define MAX_FETCHED  4096u /* bytes that are looked up at once */
#define MAX_ACCESSES 64u   /* of a step */

/* Bytes of an access of a step some positions ago, as they are there now. */
static bool put_piece(struct ts_listing *l, struct ts_buf *to, uint32_t thread, const char *name, uint64_t addr, size_t len,
		      struct ts_error *err)
{
	uint8_t data[MAX_FETCHED], known[MAX_FETCHED];

	if (!ts_query_mem(l->q, l->pos, ts_query_process(l->q, thread), addr, len, data, known, err))
		return false;
	if (memchr(known, 0, len))
		put_unknown(l, to, name, addr, len);
	else
		put_known(l, to, name, addr, data, len);
	return true;
}

static bool put_fetched(struct ts_listing *l, struct ts_buf *to, uint32_t thread, const struct ts_effect *e, struct ts_error *err)
{
	uint64_t n;

	for (uint64_t at = 0; at < e->len; at += n) {
		n = e->len - at < MAX_FETCHED ? e->len - at : MAX_FETCHED;
		if (to->len > MAX_ON_A_LINE) {
			l->lost.n_left_out += e->kind == TS_FX_WRITE;
			break;
		}
		if (!put_piece(l, to, thread, e->kind == TS_FX_WRITE ? "mw" : "mr", e->addr + at, (size_t)n, err))
			return false;
	}
	return true;
}

/*
 * Other threads ran since the thread's last line, and may have written where its step did: readers take bytes to be those
 * at the line that shows them, as the Pin tool fetches them then.
 */
static bool fetch_accesses(struct ts_listing *l, struct line_thread *t, uint32_t thread, struct ts_error *err)
{
	struct ts_effect accesses[MAX_ACCESSES];
	unsigned n = 0;
	const struct ts_steps *b;
	const struct ts_step *s;

	if (!t->g || t->pos + 1 == l->pos || l->form != TS_LISTING_TENETPP)
		return true;
	s = ts_query_step(l->q, t->pos, &b, err);
	if (!s)
		return false;
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		bool is_access = (e->kind == TS_FX_WRITE || (e->kind == TS_FX_READ && !e->is_hidden)) && e->len;

		if (is_access && n < MAX_ACCESSES)
			accesses[n++] = *e;
		else
			l->lost.n_left_out += is_access && e->kind == TS_FX_WRITE;
	}
	ts_buf_reset(&t->accesses);
	for (unsigned i = 0; i < n; i++) {
		if (!put_fetched(l, &t->accesses, thread, &accesses[i], err))
			return false;
	}
	return true;
}

/*
 * The instruction's bytes where another thread's line comes next: what the instruction does is on the thread's own next
 * line, and readers know before by its code.
 */
static bool put_code(struct ts_listing *l, uint32_t thread, uint64_t pc, struct ts_error *err)
{
	uint8_t data[TS_MAX_INSN], known[TS_MAX_INSN];
	size_t n = 0;

	if (l->form != TS_LISTING_TENETPP || l->pos >= l->n_steps || ts_query_thread(l->q, l->pos + 1) == thread)
		return true;
	if (!ts_query_mem(l->q, l->pos, ts_query_process(l->q, thread), pc, sizeof(data), data, known, err))
		return false;
	while (n < sizeof(data) && known[n])
		n++;
	if (!n)
		return true;
	ts_buf_printf(&l->text, ",ma=0x%" PRIx64 ":", pc);
	ts_buf_hex(&l->text, data, n);
	return true;
}

/*
 * What the step before wrote, which was another thread's, is there at this line, though it is an access only on the line of
 * that thread.
 */
static bool put_others(struct ts_listing *l, uint32_t thread, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *s;

	if (l->form != TS_LISTING_TENETPP || l->pos == l->first || ts_query_thread(l->q, l->pos - 1) == thread)
		return true;
	s = ts_query_step(l->q, l->pos - 1, &b, err);
	if (!s)
		return false;
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind != TS_FX_WRITE || !e->len)
			continue;
		if (data)
			put_known(l, &l->text, "ma", e->addr, data, e->len);
		else
			put_unknown(l, &l->text, "ma", e->addr, e->len);
	}
	return true;
}

static bool put_state(struct ts_listing *l, uint32_t thread, uint64_t pc, bool has_pc, struct ts_error *err)
{
	struct line_thread *t = thread_of(l, thread, err);
	bool is_plus = l->form == TS_LISTING_TENETPP;
	const char *comma = "";
	bool is_first;

	if (!t || (is_plus && l->pos != l->first && !put_modules(l, false, err)))
		return false;
	if (!has_pc)
		return true;
	if (!fetch_accesses(l, t, thread, err))
		return false;
	if (is_plus) {
		ts_buf_printf(&l->text, "tid=%" PRIx32, thread);
		comma = ",";
	}
	is_first = is_pc_first(l, t);
	if (is_first)
		comma = put_register(l, comma, l->set->pc, pc);
	for (int i = 0; i < l->set->pc; i++) {
		if (is_general(l->set, i) && is_news(l, t, &l->set->regs[i]))
			comma = put_register(l, comma, i, value(l, &l->set->regs[i]));
		else if (is_plus && is_forgotten(l, t, i))
			ts_buf_printf(&l->text, ",%s=0x%.*s", l->set->regs[i].name, 2 * l->set->regs[i].len, "????????????????");
	}
	if (!is_first)
		put_register(l, comma, l->set->pc, pc);
	if (!put_code(l, thread, pc, err) || !put_others(l, thread, err))
		return false;
	ts_buf_put(&l->text, t->accesses.data, t->accesses.len);
	ts_buf_putc(&l->text, '\n');
	ts_buf_reset(&t->accesses);
	t->pos = l->pos;
	return keep_registers(l, t, err) && put_accesses(l, &t->accesses, TS_FX_EVENT, err);
}

/* The first bytes of the instruction as the number that execlog shows; 0: unknown. */
static bool code_at(struct ts_listing *l, uint32_t thread, uint64_t pc, uint32_t *code, struct ts_error *err)
{
	uint8_t data[4], known[4];

	*code = 0;
	if (!ts_query_mem(l->q, l->pos, ts_query_process(l->q, thread), pc, sizeof(data), data, known, err))
		return false;
	for (unsigned i = 0; i < sizeof(data) && known[i]; i++)
		*code |= (uint32_t)data[i] << 8 * i;
	return true;
}

static bool read_registers(struct ts_listing *l, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	return ts_query_regs(l->q, pos, thread, l->g, l->known, err);
}

static bool put_insn(struct ts_listing *l, uint32_t thread, uint64_t pc, bool has_pc, struct ts_error *err)
{
	struct line_thread *t = thread_of(l, thread, err);
	uint64_t next;
	uint32_t code;

	if (l->pos >= l->n_steps || !has_pc)
		return true;
	next = ts_query_next_step(l->q, thread, l->pos + 1);
	if (next == TS_NO_POS || next > l->n_steps)
		next = l->n_steps;
	if (!t || !code_at(l, thread, pc, &code, err))
		return false;
	ts_buf_printf(&l->text, "%" PRIu32 ", 0x%" PRIx64 ", 0x%" PRIx32 ", \"\"", thread, pc, code);
	if (!put_accesses(l, &l->text, TS_FX_EVENT, err) || !read_registers(l, next, thread, err))
		return false;
	for (int i = 0; i < l->set->pc; i++) {
		const struct ts_reg *r = &l->set->regs[i];

		if (is_general(l->set, i) && is_news(l, t, r))
			ts_buf_printf(&l->text, ", %s -> 0x%0*" PRIx64, r->name, 2 * r->len, value(l, r));
	}
	ts_buf_putc(&l->text, '\n');
	return keep_registers(l, t, err);
}

static void put_columns(struct ts_listing *l)
{
	ts_buf_puts(&l->text, "position,thread,pc");
	for (int i = 0; i < l->set->pc; i++) {
		if (is_general(l->set, i))
			ts_buf_printf(&l->text, ",%s", l->set->regs[i].name);
	}
	ts_buf_puts(&l->text, ",reads,writes\n");
}

static bool put_row(struct ts_listing *l, uint32_t thread, uint64_t pc, bool has_pc, struct ts_error *err)
{
	struct ts_buf accesses;
	bool done = true;

	ts_buf_init(&accesses);
	ts_buf_printf(&l->text, "%" PRIu64 ",%" PRIu64 ",", l->pos, ts_query_thread_facts(l->q, thread)->tid);
	if (has_pc)
		ts_buf_printf(&l->text, "0x%" PRIx64, pc);
	for (int i = 0; i < l->set->pc; i++) {
		if (!is_general(l->set, i))
			continue;
		ts_buf_putc(&l->text, ',');
		if (is_known(l->known, &l->set->regs[i]))
			ts_buf_printf(&l->text, "0x%" PRIx64, value(l, &l->set->regs[i]));
	}
	for (unsigned i = 0; i < 2 && done; i++) {
		ts_buf_reset(&accesses);
		done = put_accesses(l, &accesses, i ? TS_FX_WRITE : TS_FX_READ, err);
		ts_buf_putc(&l->text, ',');
		ts_buf_put(&l->text, accesses.data, accesses.len);
	}
	ts_buf_putc(&l->text, '\n');
	ts_buf_fini(&accesses);
	return done;
}

static bool put_position(struct ts_listing *l, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(l->q, l->pos);
	uint64_t pc = 0;
	bool has_pc;

	if (!ts_query_pc(l->q, l->pos, thread, &pc, &has_pc, err) || !read_registers(l, l->pos, thread, err))
		return false;
	switch (l->form) {
	case TS_LISTING_EXECLOG: return put_insn(l, thread, pc, has_pc, err);
	case TS_LISTING_CSV: return put_row(l, thread, pc, has_pc, err);
	default: return put_state(l, thread, pc, has_pc, err);
	}
}

/* ----------------------------------------------------------------------------------------------- the file */

/* Can the form have such a recording? */
static bool check(const struct ts_listing *l, struct ts_error *err)
{
	const char *arch = l->set->arch->name;
	bool is_x86 = !strcmp(arch, "x86_64") || !strcmp(arch, "i386");

	if (l->form == TS_LISTING_TENET && ts_query_n_threads(l->q) > 1)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "a Tenet log is of one thread, and the recording has %" PRIu32 ": --as tenetpp has all",
			       ts_query_n_threads(l->q));
	if (l->form == TS_LISTING_TENET && !is_x86 && strcmp(arch, "arm") && strcmp(arch, "aarch64"))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "Tenet has no processor like %s", arch);
	return true;
}

struct ts_listing *ts_listing_new(struct ts_query *q, enum ts_listing_form form, const char *path, uint64_t first,
			      uint64_t last, struct ts_error *err)
{
	struct ts_listing *l = calloc(1, sizeof(*l));

	if (!l) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
		return NULL;
	}
	l->q = q;
	l->form = form;
	l->set = ts_query_regset(q);
	l->n_steps = ts_query_n_steps(q);
	l->first = l->pos = first;
	l->last = last < ts_query_end(q) ? last : ts_query_end(q);
	l->file.fd = -1;
	ts_buf_init(&l->text);
	l->g = malloc(2 * (size_t)l->set->g_len);
	l->known = l->g ? l->g + l->set->g_len : NULL;
	if (!l->g)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	if (l->g && check(l, err) && ts_atomic_file_init(&l->file, path, err)) {
		if (form == TS_LISTING_CSV)
			put_columns(l);
		if (form != TS_LISTING_TENETPP || put_modules(l, true, err))
			return l;
	}
	ts_listing_free(l);
	return NULL;
}

void ts_listing_free(struct ts_listing *l)
{
	for (size_t i = 0; i < l->n_threads; i++) {
		free(l->threads[i].g);
		ts_buf_fini(&l->threads[i].accesses);
	}
	free(l->threads);
	free(l->g);
	ts_buf_fini(&l->text);
	ts_atomic_file_fini(&l->file);
	free(l);
}

static bool write_text(struct ts_listing *l, struct ts_error *err)
{
	if (!ts_buf_ok(&l->text))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to export");
	if (l->text.len && !ts_atomic_file_write(&l->file, l->text.data, l->text.len, err))
		return false;
	ts_buf_reset(&l->text);
	return true;
}

enum ts_next ts_listing_run(struct ts_listing *l, uint64_t n, struct ts_error *err)
{
	for (; n && l->pos <= l->last; n--, l->pos++) {
		if (!put_position(l, err) || (l->text.len > MAX_WAITING && !write_text(l, err)))
			return TS_FAIL;
	}
	if (l->pos <= l->last)
		return TS_MORE;
	return write_text(l, err) && ts_atomic_file_finish(&l->file, err) ? TS_END : TS_FAIL;
}

uint64_t ts_listing_done(const struct ts_listing *l)
{
	return l->pos;
}

const struct ts_listing_lost *ts_listing_lost(const struct ts_listing *l)
{
	return &l->lost;
}
