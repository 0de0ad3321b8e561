/* SPDX-License-Identifier: MIT */
/*
 * Traces as text, to be written by hand or by a script: the example of a loader.
 *
 *      tracestub text 1 ARCH    the first line; ARCH as --arch takes it
 *      # words                  a comment
 *      reg NAME VALUE           the register has this value, one hex number; the program counter too
 *      mem ADDR BYTES           memory holds these bytes
 *      read ADDR BYTES          the instruction read these bytes
 *      thread TID               the lines after it are of this thread (decimal; 1 at first)
 *      step PC [CODE]           an instruction; its bytes, from which its length is known
 *      end [STATUS]             the program exited (decimal); the last line
 *
 * Words are separated by blanks, which may come before a line too; empty lines are skipped.  Addresses,
 * values and bytes are hex, bytes in the order of their addresses.  Lines before the first step say how
 * position 0 is. Lines after a step say what it did, with values after it.  What no line says is unknown.
 *
 * A decode point is where the next step begins, and its thread.
 */
#include <string.h>

#include "loaders/kit/line_reader.h"
#include "src/trace/point.h"
#include "loaders/loader.h"
#include "src/base/text/hex.h"

#define MAGIC "tracestub text 1 "

/* The maximum number of bytes of memory on a line, and of threads of a trace. */
#define MAX_BYTES 4096u
#define MAX_LINE (2 * MAX_BYTES + 256u)
#define MAX_THREADS 1024u

struct text {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed */
	uint64_t first;              /* file offset of the first step's line, or of its thread */
};

struct text_reader {
	struct ts_reader base;
	struct text *rec;            /* borrowed */
	struct ts_line_reader lines;
	uint32_t thread;             /* ordinal, of the lines that come next */
};

/* ---------------------------------------------------------------------------------------- words of a line */

/* A line's words, one after the other.  After the first failure all are empty. */
struct words {
	struct ts_text_line left;
	struct ts_error *err;
};

static bool fail(struct words *w, const char *what)
{
	const struct ts_text_line *l = &w->left;

	ts_fail(w->err, TS_ECORRUPT, l->off, "%s: \"%.*s\"", what, l->len < 40 ? (int)l->len : 40, l->text);
	w->left.len = 0;
	return false;
}

static void skip_blanks(struct words *w)
{
	while (ts_text_line_skip(&w->left, " ") || ts_text_line_skip(&w->left, "\t"))
		;
}

/* The next word, of which there must be one; it is empty after a failure. */
static struct ts_text_line take_word(struct words *w)
{
	struct ts_text_line word = w->left;

	word.len = 0;
	while (word.len < w->left.len && word.text[word.len] != ' ' && word.text[word.len] != '\t')
		word.len++;
	if (!word.len && w->err->code == TS_OK)
		fail(w, "a word is missing at the end of the line");
	w->left.text += word.len;
	w->left.off += word.len;
	w->left.len -= word.len;
	skip_blanks(w);
	return word;
}

/* A number of this base (10 or 16); 0 after a failure. */
static uint64_t take_number(struct words *w, unsigned base)
{
	struct ts_text_line word = take_word(w);
	uint64_t n = 0;

	for (size_t i = 0; i < word.len; i++) {
		int digit = ts_hex_digit((uint8_t)word.text[i]);

		if (digit < 0 || (unsigned)digit >= base || !ts_mul(n, base, &n) ||
		    !ts_add(n, (unsigned)digit, &n)) {
			w->left = word;
			fail(w, "not a number of 64 bits");
			return 0;
		}
	}
	return n;
}

/* The highest address that a program counter of the trace's processor holds. */
static uint64_t last_address(const struct text *rec)
{
	const struct ts_regset *set = &rec->base.regs;

	return UINT64_MAX >> (64 - 8 * (set->regs[set->pc].len < 8 ? set->regs[set->pc].len : 8));
}

/* An address of the trace's processor; 0 after a failure. */
static uint64_t take_address(const struct text *rec, struct words *w)
{
	const struct ts_text_line word = w->left;
	uint64_t addr = take_number(w, 16);

	if (addr <= last_address(rec))
		return addr;
	w->left = word;
	fail(w, "not an address of this architecture");
	return 0;
}

/* Bytes; returns how many, 0 after a failure. */
static uint32_t take_bytes(struct words *w, uint8_t bytes[MAX_BYTES])
{
	struct ts_text_line word = take_word(w);
	size_t n = ts_hex_bytes(word.text, word.len, bytes, MAX_BYTES);

	if (2 * n == word.len)
		return (uint32_t)n;
	w->left = word;
	fail(w, "not pairs of hex digits, 4096 at the most");
	return 0;
}

/* ------------------------------------------------------------------------------------------------ effects */

/* "ADDR BYTES", one after the other in memory. */
static bool put_memory(const struct text *rec, struct words *w, struct ts_steps *out, enum ts_effect_kind kind)
{
	uint64_t addr = take_address(rec, w);
	uint8_t bytes[MAX_BYTES];
	uint32_t len = take_bytes(w, bytes);

	if (len && len - 1 > last_address(rec) - addr)
		return fail(w, "memory beyond the last address");
	if (len)
		ts_steps_value(out, kind, addr, bytes, len);
	return w->err->code == TS_OK;
}

/* "NAME VALUE"; the program counter says where the thread goes, which is not an effect. */
static bool put_register(const struct text *rec, struct words *w, struct ts_steps *out, struct ts_end *end)
{
	const struct ts_regset *set = &rec->base.regs;
	struct ts_text_line name = take_word(w), value;
	uint8_t bytes[64] = { 0 };
	char text[32] = "";
	int reg;

	memcpy(text, name.text, name.len < sizeof(text) ? name.len : 0);
	reg = ts_regset_find(set, text);
	if (reg < 0 && name.len) {
		w->left = name;
		return fail(w, "not a register of this architecture");
	}
	if (reg >= 0 && reg == set->pc) {
		end->pc = take_address(rec, w);
		end->has_pc = w->err->code == TS_OK;
		return end->has_pc;
	}
	value = take_word(w);
	if (reg < 0 || w->err->code != TS_OK)
		return false;
	for (size_t i = 0; i < value.len; i++) { /* the last digit is the lowest */
		int digit = ts_hex_digit((uint8_t)value.text[value.len - 1 - i]);
		size_t at = set->arch->is_big_endian ? set->regs[reg].len - 1u - i / 2 : i / 2;

		if (digit < 0 || i / 2 >= set->regs[reg].len || at >= sizeof(bytes)) {
			w->left = value;
			return fail(w, "not a value of this register");
		}
		bytes[at] |= (uint8_t)(digit << 4 * (i % 2));
	}
	ts_steps_value(out, TS_FX_REG_WRITE, set->regs[reg].off, bytes, set->regs[reg].len);
	return true;
}

static bool put_exit(struct words *w, struct ts_steps *out)
{
	struct ts_event *ev = ts_steps_event(out, TS_EV_EXIT);
	bool has_status = w->left.len > 0;
	uint64_t status = has_status ? take_number(w, 10) : 0;

	if (ev) {
		ev->has_ret = has_status;
		ev->number = status;
	}
	return w->err->code == TS_OK;
}

/* One line that is an effect, whole. */
static bool put_effect(const struct text *rec, struct words *w, struct ts_steps *out, struct ts_end *end)
{
	struct ts_text_line word = take_word(w);
	bool done;

	if (word.len == 3 && !memcmp(word.text, "reg", 3))
		done = put_register(rec, w, out, end);
	else if (word.len == 3 && !memcmp(word.text, "mem", 3))
		done = put_memory(rec, w, out, TS_FX_WRITE);
	else if (word.len == 4 && !memcmp(word.text, "read", 4))
		done = put_memory(rec, w, out, TS_FX_READ);
	else if (word.len == 3 && !memcmp(word.text, "end", 3)) {
		done = put_exit(w, out);
		end->has_exit = done;
	} else {
		w->left = word;
		done = fail(w, "not a word that begins a line");
	}
	return done && (!w->left.len || fail(w, "too many words"));
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The next line that says something. */
static enum ts_next next_line(struct ts_line_reader *lines, struct words *w, struct ts_error *err)
{
	enum ts_next next;

	do {
		next = ts_line_reader_next(lines, &w->left, err);
		w->err = err;
		if (next == TS_ITEM && w->left.len && w->left.text[w->left.len - 1] == '\r')
			w->left.len--;
		if (next == TS_ITEM)
			skip_blanks(w);
	} while (next == TS_ITEM && (!w->left.len || *w->left.text == '#'));
	return next;
}

/* Does a step begin here, or the lines of a thread? */
static bool is_bounds(const struct words *w)
{
	struct words rest = *w;
	struct ts_text_line word = w->left.len ? take_word(&rest) : w->left;

	return rest.left.len && ((word.len == 4 && !memcmp(word.text, "step", 4)) ||
				 (word.len == 6 && !memcmp(word.text, "thread", 6)));
}

static bool read_thread(struct text_reader *r, struct words *w)
{
	uint64_t tid;

	take_word(w);
	tid = take_number(w, 10);
	if (w->left.len)
		fail(w, "too many words");
	if (w->err->code != TS_OK)
		return false;
	r->thread = ts_recording_thread(&r->rec->base, 0, 1, tid);
	if (r->rec->base.n_threads > MAX_THREADS)
		return ts_fail(w->err, TS_ELIMIT, w->left.off, "more than %u threads", MAX_THREADS);
	return r->thread != TS_NO_THREAD || ts_no_memory(w->err, "a thread");
}

/* "step PC [CODE]": what it read of the code. */
static bool read_step(const struct text *rec, struct words *w, struct ts_steps *out, uint64_t *pc, uint32_t *len)
{
	uint8_t code[MAX_BYTES];
	struct ts_effect *e;

	take_word(w);
	*pc = take_address(rec, w);
	*len = w->left.len ? take_bytes(w, code) : 0;
	if (*len > 16 || w->left.len)
		return fail(w, "not one instruction");
	if (w->err->code == TS_OK && *len && *len - 1 > last_address(rec) - *pc)
		return fail(w, "memory beyond the last address");
	e = *len ? ts_steps_value(out, TS_FX_READ, *pc, code, *len) : NULL;
	if (e)
		e->is_hidden = true; /* no instruction asked for it */
	return w->err->code == TS_OK;
}

/* The lines up to the next step.  TS_FAIL: one of them is bad. */
static enum ts_next read_effects(struct text_reader *r, struct ts_steps *out, struct ts_error *err)
{
	enum ts_next next;
	struct words w;

	for (;;) {
		next = next_line(&r->lines, &w, err);
		if (next != TS_ITEM)
			return next;
		if (r->base.end.has_exit) {
			fail(&w, "nothing may follow the end");
			return TS_FAIL;
		}
		if (is_bounds(&w)) {
			r->lines.off = w.left.off;
			return TS_ITEM;
		}
		if (!put_effect(r->rec, &w, out, &r->base.end))
			return TS_FAIL;
	}
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct text_reader *r = (struct text_reader *)base;
	const uint64_t start = r->lines.off;
	const uint32_t was = r->thread;
	enum ts_next next;
	struct words w;
	uint64_t pc;
	uint32_t len;

	do {
		next = next_line(&r->lines, &w, err);
		if (next == TS_ITEM && !is_bounds(&w)) {
			fail(&w, "a step must come before this");
			next = TS_FAIL;
		}
		if (next == TS_ITEM && *w.left.text == 's')
			break;
		if (next == TS_ITEM && !read_thread(r, &w))
			next = TS_FAIL;
	} while (next == TS_ITEM);
	if (next == TS_END)
		return next;
	base->end = (struct ts_end){ .is_assumed = true };
	if (next == TS_ITEM && read_step(r->rec, &w, out, &pc, &len) && read_effects(r, out, err) != TS_FAIL) {
		base->end.is_assumed = !base->end.has_pc;
		ts_steps_close(out, pc, (uint16_t)len, r->thread);
		return TS_ITEM;
	}
	r->lines.off = start;
	r->thread = was;
	return TS_FAIL;
}

/* A decode point: where the next line is, the thread, the end. */
static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct text_reader *r = (struct text_reader *)base;

	r->lines.off = ts_point_between(p, r->lines.off, r->rec->first, ts_source_len(r->rec->src));
	TS_POINT(p, r->thread, r->rec->base.n_threads - 1);
	ts_point_end(p, &r->base.end);
	return ts_point_close(p);
}

static void close_reader(struct ts_reader *base)
{
	struct text_reader *r = (struct text_reader *)base;

	ts_line_reader_fini(&r->lines);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct text_reader), .next = next, .point = point, .close = close_reader
};

static struct text_reader *reader_at(struct text *rec, uint64_t off, struct ts_error *err)
{
	struct text_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->rec = rec;
	ts_line_reader_init(&r->lines, rec->src, off, MAX_LINE);
	return r;
}

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	struct text *rec = (struct text *)base;
	struct text_reader *r = reader_at(rec, rec->first, err);

	return r ? &r->base : NULL;
}

/* ------------------------------------------------------------------------------------------------ opening */

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	return len >= strlen(MAGIC) && !memcmp(head, MAGIC, strlen(MAGIC)) ? 64 : 0;
}

/* The first line. */
static bool read_head(struct text *rec, struct text_reader *r, struct ts_error *err)
{
	const struct ts_arch *arch;
	struct ts_text_line word;
	char name[32] = "";
	struct words w;

	if (next_line(&r->lines, &w, err) != TS_ITEM || !ts_text_line_skip(&w.left, MAGIC))
		return ts_fail(err, TS_EUNSUPPORTED, 0, "the first line is not \"" MAGIC "ARCH\"");
	word = take_word(&w);
	memcpy(name, word.text, word.len < sizeof(name) ? word.len : 0);
	arch = ts_arch_find(name);
	if (w.left.len)
		return fail(&w, "too many words");
	w.left = word;
	return arch ? ts_regset_init(&rec->base.regs, arch, 0, err) : fail(&w, "an unknown architecture");
}

static bool read_start(struct text *rec, struct text_reader *r, struct ts_error *err)
{
	if (ts_recording_thread(&rec->base, 0, 1, 1) == TS_NO_THREAD)
		return ts_no_memory(err, "a thread");
	if (!read_head(rec, r, err) || read_effects(r, &rec->base.initial, err) == TS_FAIL)
		return false;
	rec->first = r->lines.off;
	rec->base.has_reads = true;
	return !rec->base.initial.is_failed || ts_no_memory(err, "the state at position 0");
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *,
		 struct ts_error *err)
{
	struct text *rec = (struct text *)base;
	struct text_reader *r;
	bool done;

	rec->src = src;
	r = reader_at(rec, 0, err);
	done = r && read_start(rec, r, err);
	if (r)
		ts_reader_close(&r->base);
	return done;
}

extern const struct ts_loader text_loader;
const struct ts_loader text_loader = {
	.name = "text",
	.summary = "traces written by hand",
	.probe = probe,
	.ops = { .size = sizeof(struct text), .reader = new_reader },
	.fill = fill,
};
