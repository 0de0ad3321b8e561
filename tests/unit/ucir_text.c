/* SPDX-License-Identifier: MIT */
#include "ucir_text.h"

#include "unit.h"

#include <ctype.h>
#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/snappy.h"

const struct ucir_form ucir_v1 = { .version = 1, .is_framed = true };
const struct ucir_form ucir_v2 = { .version = 2, .is_framed = true };
const struct ucir_form ucir_v0 = { .version = 0 };

/* ---------------------------------------------------------------------------------------------- text to ops */

struct scan {
	const char *p;
	unsigned version;
	char word[8192];
};

static bool next_word(struct scan *s)
{
	size_t n = 0;

	while (isspace((unsigned char)*s->p))
		s->p++;
	while (*s->p && !isspace((unsigned char)*s->p)) {
		ck_assert_uint_lt(n, sizeof(s->word) - 1);
		s->word[n++] = *s->p++;
	}
	s->word[n] = '\0';
	return n > 0;
}

static uint64_t number(struct scan *s, int base)
{
	char *end;
	uint64_t v;

	ck_assert_msg(next_word(s), "a number is missing");
	v = strtoull(s->word, &end, base);
	ck_assert_msg(*end == '\0', "no number: %s", s->word);
	return v;
}

static void le(struct ts_buf *out, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(out, (uint8_t)(v >> 8 * i));
}

static void hex(struct ts_buf *out, const char *text)
{
	for (; *text; text += 2) {
		unsigned b;

		ck_assert_msg(sscanf(text, "%2x", &b) == 1 && text[1], "no bytes: %s", text);
		ts_buf_putc(out, (uint8_t)b);
	}
}

/* Bytes in hex, "-" for none, "N*XX" for N times. */
static void bytes(struct scan *s, struct ts_buf *out)
{
	struct ts_buf once;
	const char *star;

	ck_assert_msg(next_word(s), "bytes are missing");
	if (strcmp(s->word, "-") == 0)
		return;
	star = strchr(s->word, '*');
	ts_buf_init(&once);
	hex(&once, star ? star + 1 : s->word);
	for (unsigned long n = star ? strtoul(s->word, NULL, 10) : 1; n > 0; n--)
		ts_buf_put(out, once.data, once.len);
	ts_buf_fini(&once);
}

static void put_buf(struct ts_buf *out, struct ts_buf *part)
{
	ts_buf_put(out, part->data, part->len);
	ts_buf_fini(part);
}

static uint32_t ops_until_brace(struct scan *s, struct ts_buf *out);

static void braces(struct scan *s, struct ts_buf *out, uint32_t *n_ops)
{
	ck_assert_msg(next_word(s) && strcmp(s->word, "{") == 0, "{ is missing at %s", s->word);
	*n_ops = ops_until_brace(s, out);
}

static void encode_map(struct scan *s, struct ts_buf *out)
{
	char desc[256], file[256];

	le(out, number(s, 16), 8);
	le(out, number(s, 16), s->version ? 8 : 4);
	le(out, number(s, 10), 1);
	le(out, 0, 8);
	le(out, 0, 8);
	next_word(s);
	snprintf(desc, sizeof(desc), "%s", strcmp(s->word, "-") ? s->word : "");
	next_word(s);
	snprintf(file, sizeof(file), "%s", strcmp(s->word, "-") ? s->word : "");
	le(out, strlen(desc), 2);
	le(out, strlen(file), 2);
	ts_buf_puts(out, desc);
	ts_buf_puts(out, file);
}

static void encode_syscall(struct scan *s, struct ts_buf *out, int64_t n_forced)
{
	struct ts_buf args, ops;
	uint32_t n_ops;
	uint8_t n_args = 0;

	ts_buf_init(&args);
	ts_buf_init(&ops);
	le(out, number(s, 10), s->version ? 4 : 2);
	le(out, number(s, 16), 8);
	next_word(s);
	for (char *arg = strtok(s->word, ","); arg && strcmp(arg, "-"); arg = strtok(NULL, ",")) {
		le(&args, strtoull(arg, NULL, 16), 8);
		n_args++;
	}
	braces(s, &ops, &n_ops);
	le(out, n_args, 1);
	le(out, n_forced >= 0 ? (uint64_t)n_forced : n_ops, s->version < 2 ? 2 : 4);
	put_buf(out, &args);
	put_buf(out, &ops);
}

/* A pid, or process:thread. */
static uint64_t pid(struct scan *s)
{
	unsigned long long process, thread;

	ck_assert_msg(next_word(s), "a pid is missing");
	switch (sscanf(s->word, "%llu:%llu", &process, &thread)) {
	case 1:
		return process;
	case 2:
		return process << 32 | thread;
	default:
		ck_abort_msg("no pid: %s", s->word);
	}
	return 0;
}

/* The count of the ops in braces, and the ops. */
static void encode_inner(struct scan *s, struct ts_buf *out, int64_t n_forced)
{
	struct ts_buf ops;
	uint32_t n_ops;

	ts_buf_init(&ops);
	braces(s, &ops, &n_ops);
	le(out, n_forced >= 0 ? (uint64_t)n_forced : n_ops, 4);
	put_buf(out, &ops);
}

static void encode_signal(struct scan *s, struct ts_buf *out, int64_t n_forced)
{
	le(out, number(s, 10), 2);
	ck_assert_msg(next_word(s), "a code is missing");
	le(out, (uint64_t)strtoll(s->word, NULL, 10), 4);
	le(out, number(s, 16), 8);
	le(out, number(s, 10), 1);
	encode_inner(s, out, n_forced);
}

/* Text after "=", or bytes. */
static void encode_note(struct scan *s, struct ts_buf *out)
{
	struct ts_buf text;

	ts_buf_init(&text);
	le(out, number(s, 10), 1);
	while (isspace((unsigned char)*s->p))
		s->p++;
	if (*s->p == '=') {
		ck_assert(next_word(s));
		ts_buf_puts(&text, s->word + 1);
	} else {
		bytes(s, &text);
	}
	le(out, text.len, 4);
	put_buf(out, &text);
}

static void encode_frame(struct scan *s, struct ts_buf *out, int64_t n_forced)
{
	le(out, pid(s), 8);
	encode_inner(s, out, n_forced);
}

static void encode_write(struct scan *s, struct ts_buf *out, unsigned len_len)
{
	struct ts_buf data;

	ts_buf_init(&data);
	bytes(s, &data);
	le(out, data.len, len_len);
	put_buf(out, &data);
}

static void encode_op(struct scan *s, struct ts_buf *out)
{
	static const char *const names[] = { "NOP",  "FRAME", "KEY", "JMP",   "STEP", "REG",     "SPREG",
					     "READ", "WRITE", "MAP", "UNMAP", "PROT", "SYSCALL", "EXIT",
					     "SIGNAL", "THREAD_END", "FORGET", "CHANGED", "NOTE", "END",
					     "GAP" };
	char *slash = strchr(s->word, '/');
	int64_t n_forced = slash ? strtoll(slash + 1, NULL, 10) : -1;
	uint8_t kind = 0;

	if (slash)
		*slash = '\0';
	if (strcmp(s->word, "RAW") == 0) {
		bytes(s, out);
		return;
	}
	while (kind < sizeof(names) / sizeof(names[0]) && strcmp(names[kind], s->word))
		kind++;
	ck_assert_msg(kind < sizeof(names) / sizeof(names[0]), "unknown op %s", s->word);
	ts_buf_putc(out, kind);
	switch (kind) {
	case 1:
	case 2:
		encode_frame(s, out, n_forced);
		break;
	case 3:
		le(out, number(s, 16), 8);
		le(out, 0, 4);
		break;
	case 4:
		le(out, number(s, 10), 1);
		break;
	case 5:
		le(out, number(s, 10), 2);
		le(out, number(s, 16), 8);
		break;
	case 6:
		le(out, number(s, 10), 2);
		encode_write(s, out, 2);
		break;
	case 7:
		le(out, number(s, 16), 8);
		le(out, number(s, 16), 4);
		break;
	case 8:
		le(out, number(s, 16), 8);
		encode_write(s, out, 4);
		break;
	case 9:
		encode_map(s, out);
		break;
	case 10:
	case 11:
		le(out, number(s, 16), 8);
		le(out, number(s, 16), s->version ? 8 : 4);
		if (kind == 11)
			le(out, number(s, 10), 1);
		break;
	case 12:
		encode_syscall(s, out, n_forced);
		break;
	case 14:
		encode_signal(s, out, n_forced);
		break;
	case 15:
		le(out, number(s, 10), 4);
		break;
	case 16:
		le(out, number(s, 16), 8);
		le(out, number(s, 16), 8);
		break;
	case 17:
		le(out, number(s, 16), 8);
		encode_write(s, out, 4);
		break;
	case 18:
		encode_note(s, out);
		break;
	case 19:
		le(out, number(s, 10), 1);
		le(out, number(s, 10), 4);
		break;
	case 20:
		le(out, number(s, 10), 8);
		encode_inner(s, out, n_forced);
		break;
	}
}

static uint32_t ops_until_brace(struct scan *s, struct ts_buf *out)
{
	uint32_t n = 0;

	while (next_word(s) && strcmp(s->word, "}") != 0) {
		encode_op(s, out);
		n++;
	}
	return n;
}

void ucir_encode_ops(struct ts_buf *out, const char *text, unsigned version)
{
	struct scan s = { .p = text, .version = version };

	ops_until_brace(&s, out);
	ck_assert_msg(!*s.p, "a } too much before: %s", s.p);
}

/* --------------------------------------------------------------------------------------------- ops to files */

void ucir_encode_chunk(struct ts_buf *out, const uint8_t *data, size_t len, bool is_stored)
{
	size_t body_len = snappy_max_compressed_length(len);
	char *body = malloc(body_len + 1);

	ck_assert_ptr_nonnull(body);
	ck_assert_int_eq(snappy_compress((const char *)data, len, body, &body_len), SNAPPY_OK);
	le(out, is_stored, 1);
	le(out, (is_stored ? len : body_len) + 4, 3);
	le(out, snappy_mask_crc(snappy_crc32c(data, len)), 4);
	if (is_stored)
		ts_buf_put(out, data, len);
	else
		ts_buf_put(out, body, body_len);
	free(body);
}

static void pad(struct ts_buf *out, const char *name)
{
	ts_buf_puts(out, name);
	for (size_t n = strlen(name); n < 32; n++)
		ts_buf_putc(out, 0);
}

void ucir_encode_stream(struct ts_buf *out, const struct ucir_form *form, const uint8_t *ops, size_t len)
{
	size_t chunk = form->chunk ? form->chunk : 65536,
	       first = form->first_chunk ? form->first_chunk : chunk;

	ts_buf_puts(out, "UCIR");
	le(out, form->is_version_le ? form->version : __builtin_bswap32(form->version), 4);
	pad(out, form->arch ? form->arch : "x86_64");
	pad(out, form->os ? form->os : "linux");
	le(out, form->is_big_endian, 1);
	le(out, form->is_big_endian, 1);
	if (!form->is_framed) {
		ts_buf_put(out, ops, len);
		return;
	}
	ts_buf_put(out, SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
	for (size_t n = first; len; ops += n, len -= n, n = chunk) {
		if (n > len)
			n = len;
		ucir_encode_chunk(out, ops, n, form->is_stored);
	}
}

void ucir_encode(struct ts_buf *out, const struct ucir_form *form, const char *text)
{
	struct ts_buf ops;

	ts_buf_init(&ops);
	ucir_encode_ops(&ops, text, form->version);
	ucir_encode_stream(out, form, ops.data, ops.len);
	ck_assert(ts_buf_ok(&ops) && ts_buf_ok(out));
	ts_buf_fini(&ops);
}

/* -------------------------------------------------------------------------------------------- steps to text */

static void describe_reg(struct ts_buf *out, const struct ts_regset *set, const struct ts_effect *e,
			 const uint8_t *data)
{
	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *r = &set->regs[i];

		if (r->off > e->addr || e->addr - r->off >= r->len)
			continue;
		ts_buf_puts(out, r->name);
		if (r->off != e->addr || r->len != e->len)
			ts_buf_printf(out, "[%" PRIu64 "..%" PRIu64 "]", e->addr - r->off,
				      e->addr - r->off + e->len - 1);
		ts_buf_puts(out, e->kind == TS_FX_REG_READ ? "?=" : "=");
		if (data && e->len <= 8 && r->len == e->len)
			ts_buf_printf(out, "%" PRIx64, ts_arch_get(set->arch, data, (size_t)e->len));
		else if (data)
			ts_buf_hex(out, data, (size_t)e->len);
		return;
	}
	ts_buf_printf(out, "noreg@%" PRIu64, e->addr);
}

static void describe_event(struct ts_buf *out, const struct ts_event *ev)
{
	static const char *const names[] = { "syscall",	  "signal", "fault",	"exit",
					     "threadend", "gap",    "interrupt" };

	ts_buf_puts(out, names[ev->kind]);
	if (ev->kind == TS_EV_SYSCALL) {
		ts_buf_printf(out, "%" PRIu64 "(", ev->number);
		for (unsigned i = 0; i < ev->n_args; i++)
			ts_buf_printf(out, "%s%" PRIx64, i ? "," : "", ev->args[i]);
		ts_buf_puts(out, ")");
		if (ev->has_ret)
			ts_buf_printf(out, "=%" PRIx64, ev->ret);
	} else if (ev->kind == TS_EV_SIGNAL) {
		ts_buf_printf(out, "%" PRIu64 "%s", ev->number, ev->is_after ? "+" : "");
		if (ev->has_ret)
			ts_buf_printf(out, "/%" PRId64, (int64_t)ev->ret);
		if (ev->has_addr)
			ts_buf_printf(out, "@%" PRIx64, ev->addr);
	} else if ((ev->kind == TS_EV_EXIT || ev->kind == TS_EV_THREAD_END) && ev->has_ret) {
		ts_buf_printf(out, "%" PRIu64, ev->number);
	} else if (ev->has_addr) {
		ts_buf_printf(out, "%" PRIx64, ev->addr);
	} else if (*ev->text) {
		ts_buf_printf(out, "(%s)", ev->text);
	}
}

static void describe_map(struct ts_buf *out, const struct ts_steps *b, const struct ts_map *m)
{
	const char *desc = ts_steps_text(b, m->desc), *file = ts_steps_text(b, m->file);

	ts_buf_printf(out, "M%" PRIx64 ",%" PRIx64 ",%u,%s,%s%s", m->addr, m->len, m->prot, desc ? desc : "-",
		      file ? file : "-", m->fill == TS_FILL_ZERO ? "" : ",unknown");
}

static void describe_effect(struct ts_buf *out, const struct ts_recording *rec, const struct ts_steps *b,
			    const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(b, e);

	switch (e->kind) {
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
		describe_reg(out, &rec->regs, e, data);
		break;
	case TS_FX_WRITE:
		ts_buf_printf(out, "W%" PRIx64, e->addr);
		if (data) {
			ts_buf_putc(out, '=');
			ts_buf_hex(out, data, (size_t)e->len);
		} else {
			ts_buf_printf(out, ",%" PRIx64, e->len);
		}
		break;
	case TS_FX_READ:
		ts_buf_printf(out, "R%" PRIx64 ",%" PRIx64 "%s", e->addr, e->len, data ? "=" : "");
		break;
	case TS_FX_MAP:
		describe_map(out, b, &b->maps[e->item]);
		break;
	case TS_FX_UNMAP:
		ts_buf_printf(out, "U%" PRIx64 ",%" PRIx64, e->addr, e->len);
		break;
	case TS_FX_PROTECT:
		ts_buf_printf(out, "P%" PRIx64 ",%" PRIx64 ",%u", e->addr, e->len, e->item);
		break;
	case TS_FX_FORGET:
		ts_buf_printf(out, "F%" PRIx64 ",%" PRIx64, e->addr, e->len);
		break;
	case TS_FX_FORGET_REGS:
		ts_buf_printf(out, "Fregs");
		break;
	case TS_FX_UNSEEN:
		ts_buf_printf(out, "unseen");
		break;
	case TS_FX_EVENT:
		describe_event(out, &b->events[e->item]);
		break;
	case TS_FX_THREAD:
		ts_buf_printf(out, "T%u", e->item);
		break;
	case TS_FX_LOAD:
	case TS_FX_UNLOAD:
		break; /* the format has no modules */
	}
	if (e->is_hidden && e->kind != TS_FX_THREAD)
		ts_buf_puts(out, "!");
}

void ucir_describe_effects(struct ts_buf *out, const struct ts_recording *rec, const struct ts_steps *b,
			   uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		ts_buf_putc(out, ' ');
		describe_effect(out, rec, b, &b->effects[i]);
	}
}

void ucir_describe(struct ts_buf *out, const struct ts_recording *rec, const struct ts_steps *b, uint32_t i)
{
	const struct ts_step *s = &b->steps[i];

	ts_buf_printf(out, "%" PRIx64 "/%u@%u", s->pc, s->insn_len, s->thread);
	ucir_describe_effects(out, rec, b, s->first, s->first + s->n_effects);
	ts_buf_putc(out, '\n');
}

/* -------------------------------------------------------------------------------- traces */

bool ucir_open(struct ucir_trace *t, const char *exec)
{
	struct ts_loader_options opt = { .exec = exec };
	struct ts_source *grammar = NULL;
	const struct ts_loader *loader = ts_loader_find(t->format ? t->format : "usercorn");

	ck_assert_ptr_nonnull(loader);
	ts_error_reset(&t->err);
	ts_steps_init(&t->steps);
	t->rec = NULL;
	t->reader = NULL;
	unit_seed(t->bytes.data, t->bytes.len);
	t->src = ts_source_from_memory(t->bytes.data, t->bytes.len, "test", &t->err);
	ck_assert_ptr_nonnull(t->src);
	if (t->grammar)
		opt.grammar = grammar = ts_source_from_memory((const uint8_t *)t->grammar, strlen(t->grammar), "grammar", &t->err);
	t->rec = ts_loader_open(loader, t->src, &opt, &t->err);
	ts_source_close(grammar);
	if (!t->rec) {
		ck_assert_int_ne(t->err.code, TS_OK);
		return false;
	}
	ck_assert_int_eq(t->err.code, TS_OK);
	t->reader = t->rec->ops->reader(t->rec, &t->err);
	ck_assert_ptr_nonnull(t->reader);
	return true;
}

void ucir_close(struct ucir_trace *t)
{
	ts_steps_fini(&t->steps);
	ts_reader_close(t->reader);
	ts_recording_close(t->rec);
	ts_source_close(t->src);
	ts_buf_fini(&t->bytes);
	*t = (struct ucir_trace){ 0 };
}

/* Steps that are read many at a time, from the decode point @point on, are the lines @wanted, and end as @t did. */
static void read_plain(struct ucir_trace *t, const struct ts_buf *point, const char *wanted, enum ts_next end)
{
	struct ts_error err = { 0 };
	struct ts_reader *r = t->rec->ops->reader(t->rec, &err);
	struct ts_buf lines;
	struct ts_steps b;
	enum ts_next next;

	ck_assert_ptr_nonnull(r);
	ck_assert_msg(ts_reader_resume(r, point->data, point->len, &err), "%s", err.text);
	ts_buf_init(&lines);
	ts_steps_init(&b);
	ck_assert(ts_steps_grow_steps(&b) && ts_steps_room(&b, 4096, 4096)); /* else nothing is plain at first */
	do {
		ts_steps_reset(&b);
		next = ts_reader_next_steps(r, 1000, &b, &err);
		for (uint32_t i = 0; i < b.n_steps; i++)
			ucir_describe(&lines, t->rec, &b, i);
	} while (next == TS_ITEM);
	ck_assert_str_eq(ts_buf_text(&lines), wanted);
	ck_assert_int_eq(next, end);
	ck_assert_str_eq(err.text, t->err.text);
	ck_assert(r->end.pc == t->reader->end.pc && r->end.has_pc == t->reader->end.has_pc &&
		  r->end.is_assumed == t->reader->end.is_assumed && r->end.has_exit == t->reader->end.has_exit &&
		  r->end.is_fault == t->reader->end.is_fault);
	ts_steps_fini(&b);
	ts_buf_fini(&lines);
	ts_reader_close(r);
}

enum ts_next ucir_read_all(struct ucir_trace *t, struct ts_buf *out)
{
	struct ts_buf point, lines;
	enum ts_next next;

	ts_buf_init(&point);
	ts_buf_init(&lines);
	ts_reader_save(t->reader, &point);
	for (;;) {
		ts_steps_reset(&t->steps);
		next = ts_reader_next(t->reader, &t->steps, &t->err);
		if (t->steps.n_closed != t->steps.n_effects || t->steps.n_steps != (next == TS_ITEM) ||
		    (t->err.code != TS_OK) != (next == TS_FAIL))
			ck_abort_msg("next() gave %d with %u steps and error \"%s\"", next, t->steps.n_steps,
				     t->err.text);
		if (next != TS_ITEM)
			break;
		ucir_describe(&lines, t->rec, &t->steps, 0);
	}
	if (t->reader->ops->next_plain)
		read_plain(t, &point, ts_buf_text(&lines), next);
	if (out)
		ts_buf_put(out, lines.data, lines.len);
	ts_buf_fini(&lines);
	ts_buf_fini(&point);
	return next;
}

uint64_t ucir_warned(const struct ts_recording *rec, const char *word)
{
	for (unsigned i = 0; i < rec->n_warnings; i++)
		if (strstr(rec->warnings[i].text, word))
			return rec->warnings[i].count;
	return 0;
}

void ucir_resume_everywhere(struct ucir_trace *t)
{
	struct ts_buf points, lines, again;
	size_t point_at[256], line_at[256], n = 0;
	struct ts_reader *other = t->rec->ops->reader(t->rec, &t->err);
	struct ts_end end;
	enum ts_next next;

	ts_buf_init(&points);
	ts_buf_init(&lines);
	ts_buf_init(&again);
	do {
		ck_assert_uint_lt(n, 255);
		point_at[n] = points.len;
		line_at[n++] = lines.len;
		ts_reader_save(t->reader, &points);
		ts_steps_reset(&t->steps);
		next = t->reader->ops->next(t->reader, &t->steps, &t->err);
		if (next == TS_ITEM)
			ucir_describe(&lines, t->rec, &t->steps, 0);
	} while (next == TS_ITEM);
	ck_assert_int_eq(next, TS_END);
	end = t->reader->end;
	point_at[n] = points.len;
	ts_reader_close(t->reader);
	t->reader = other;
	for (size_t i = n; i-- > 0;) {
		ck_assert_msg(ts_reader_resume(other, points.data + point_at[i],
						 point_at[i + 1] - point_at[i], &t->err),
			      "%s", t->err.text);
		ts_buf_reset(&again);
		ck_assert_int_eq(ucir_read_all(t, &again), TS_END);
		ck_assert_str_eq(ts_buf_text(&again), ts_buf_text(&lines) + line_at[i]);
		ck_assert_uint_eq(other->end.pc, end.pc);
		ck_assert(other->end.has_pc == end.has_pc && other->end.has_exit == end.has_exit &&
			  other->end.is_fault == end.is_fault);
	}
	ts_buf_fini(&points);
	ts_buf_fini(&lines);
	ts_buf_fini(&again);
}
