/* SPDX-License-Identifier: MIT */
/*
 * Texts are read with a cursor that takes characters; the first malformed part is the failure in its error.
 */
#include "tracepoint.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/cursor.h"
#include "src/base/collections/hash.h"
#include "src/base/text/hex.h"

void ts_tracing_init(struct ts_tracing *t)
{
	*t = (struct ts_tracing){ 0 };
	t->points_end = &t->points;
	t->vars_end = &t->vars;
	t->status = (struct ts_run_status){
		.end = TS_RUN_NOT_RUN,
		.n_frames = TS_NO_COUNT,
		.n_created = TS_NO_COUNT,
		.n_free = TS_NO_COUNT,
		.n_bytes = TS_NO_COUNT,
	};
}

void ts_tracing_fini(struct ts_tracing *t)
{
	ts_arena_fini(&t->arena);
	ts_tracing_init(t);
}

void ts_tracing_drop_points(struct ts_tracing *t)
{
	t->points = NULL;
	t->points_end = &t->points;
	t->n_points = 0;
	memset(t->chains, 0, sizeof(t->chains));
}

static unsigned chain_of(uint32_t number, uint64_t addr)
{
	return (unsigned)(ts_hash(addr, number) % TS_N_CHAINS);
}

struct ts_tracepoint *ts_tracing_find(const struct ts_tracing *t, uint32_t number, uint64_t addr)
{
	struct ts_tracepoint *tp = t->chains[chain_of(number, addr)];

	while (tp && (tp->number != number || tp->addr != addr))
		tp = tp->next_alike;
	return tp;
}

struct ts_tracepoint *ts_tracing_find_number(const struct ts_tracing *t, uint32_t number)
{
	struct ts_tracepoint *tp = t->points;

	while (tp && tp->number != number)
		tp = tp->next;
	return tp;
}

struct ts_tvar *ts_tracing_find_var(const struct ts_tracing *t, uint32_t number)
{
	struct ts_tvar *v = t->vars;

	while (v && v->number != number)
		v = v->next;
	return v;
}

/* --------------------------------------------------------------------------------------------- characters */

static bool bad(struct ts_cursor *c, const char *wanted)
{
	return ts_fail(c->err, TS_ECORRUPT, c->off, "%s: %s expected, \"%.*s\" found", c->what, wanted,
		       c->left < 20 ? (int)c->left : 20, c->p ? (const char *)c->p : "");
}

static bool accept(struct ts_cursor *c, char ch)
{
	return ts_ok(c) && c->left && *c->p == (uint8_t)ch && ts_take(c, 1);
}

static void expect(struct ts_cursor *c, char ch)
{
	const char wanted[] = { '\'', ch, '\'', 0 };

	if (!accept(c, ch))
		bad(c, wanted);
}

/* The digits of a number of at most @max; 0 after a failure. */
static uint64_t number(struct ts_cursor *c, uint64_t max)
{
	uint64_t v = 0;
	unsigned n = 0;

	for (; ts_ok(c) && c->left && ts_hex_digit(*c->p) >= 0; n++) {
		unsigned digit = (unsigned)ts_hex_digit(*c->p);

		if (v > max >> 4 || (v << 4 | digit) > max) {
			bad(c, "a smaller number");
			return 0;
		}
		v = v << 4 | digit;
		ts_take(c, 1);
	}
	if (!n)
		bad(c, "a hex number");
	return ts_ok(c) ? v : 0;
}

static size_t count_digits(const struct ts_cursor *c)
{
	size_t n = 0;

	while (n < c->left && ts_hex_digit(c->p[n]) >= 0)
		n++;
	return n;
}

/*
 * Bytes written as hex digits, all that follow; an odd count begins with a digit alone.  The bytes are
 * terminated.
 */
static uint8_t *hex_bytes(struct ts_cursor *c, struct ts_arena *arena, size_t *len)
{
	size_t n = ts_ok(c) ? count_digits(c) : 0, at = n % 2;
	uint8_t *bytes = ts_arena_alloc(arena, n / 2 + 2);

	*len = 0;
	if (!bytes)
		return ts_no_memory(c->err, "tracepoints");
	for (size_t i = 0; i < n; i++, at++)
		bytes[at / 2] = (uint8_t)(bytes[at / 2] << 4 | (unsigned)ts_hex_digit(c->p[i]));
	ts_take(c, n);
	*len = (n + 1) / 2;
	return bytes;
}

/* Hex digits in pairs up to the next separator, as text. */
static const char *hex_text(struct ts_cursor *c, struct ts_arena *arena, size_t *len)
{
	if (ts_ok(c) && count_digits(c) % 2)
		bad(c, "pairs of hex digits");
	return (const char *)hex_bytes(c, arena, len);
}

/* LEN,HEX: the bytes of an agent expression. */
static const uint8_t *expression(struct ts_cursor *c, struct ts_arena *arena, size_t *len)
{
	uint64_t n = number(c, UINT32_MAX);

	expect(c, ',');
	if (ts_ok(c) && count_digits(c) / 2 < n)
		bad(c, "as many bytes as announced");
	if (ts_ok(c)) {
		struct ts_cursor digits = ts_sub(c, 2 * n, c->what);

		return hex_bytes(&digits, arena, len);
	}
	*len = 0;
	return NULL;
}

static bool done(struct ts_cursor *c)
{
	if (ts_ok(c) && c->left)
		bad(c, "the end");
	return ts_ok(c);
}

/* ------------------------------------------------------------------------------------ reading tracepoints */

/* The optional fields of a definition; false at an unknown one. */
static bool read_fields(struct ts_cursor *c, struct ts_arena *arena, struct ts_tracepoint *tp)
{
	while (accept(c, ':')) {
		if (accept(c, 'F')) {
			tp->is_fast = true;
			tp->fast_len = number(c, UINT64_MAX);
		} else if (accept(c, 'S')) {
			tp->is_static = true;
		} else if (accept(c, 'X')) {
			tp->cond = expression(c, arena, &tp->n_cond);
		} else {
			return false;
		}
	}
	done(c);
	return true;
}

static bool define(struct ts_tracing *t, struct ts_cursor *c, uint32_t num, uint64_t addr)
{
	struct ts_tracepoint *tp = ts_arena_alloc(&t->arena, sizeof(*tp)), **chain;
	bool is_known;

	if (!tp)
		return ts_no_memory(c->err, "tracepoints");
	if (ts_tracing_find(t, num, addr))
		return ts_fail(c->err, TS_ECORRUPT, c->off,
			       "tracepoint %" PRIx32 " at 0x%" PRIx64 " exists already", num, addr);
	if (t->n_points == TS_MAX_TRACEPOINTS)
		return ts_fail(c->err, TS_ELIMIT, c->off, "more than %d tracepoints", TS_MAX_TRACEPOINTS);
	tp->number = num;
	tp->addr = addr;
	tp->actions_end = &tp->actions;
	tp->sources_end = &tp->sources;
	tp->is_enabled = accept(c, 'E');
	if (!tp->is_enabled)
		expect(c, 'D');
	expect(c, ':');
	tp->n_steps = number(c, UINT64_MAX);
	expect(c, ':');
	tp->pass_count = number(c, UINT64_MAX);
	is_known = read_fields(c, &t->arena, tp);
	if (!ts_ok(c))
		return false;
	*t->points_end = tp;
	t->points_end = &tp->next;
	chain = &t->chains[chain_of(num, addr)];
	tp->next_alike = *chain;
	*chain = tp;
	t->n_points++;
	return is_known || ts_fail(c->err, TS_EUNSUPPORTED, c->off, "%s: unknown field \"%.*s\"", c->what,
				   c->left < 20 ? (int)c->left : 20, (const char *)c->p);
}

static void read_action(struct ts_cursor *c, struct ts_arena *arena, struct ts_action *a)
{
	if (accept(c, 'R')) {
		a->kind = TS_ACTION_REGS;
		a->bytes = hex_bytes(c, arena, &a->n_bytes);
	} else if (accept(c, 'M')) {
		a->kind = TS_ACTION_MEM;
		a->base = accept(c, '-') ? -(int32_t)number(c, -TS_NO_BASE) : (int32_t)number(c, INT32_MAX);
		expect(c, ',');
		a->addr = number(c, UINT64_MAX);
		expect(c, ',');
		a->len = number(c, UINT64_MAX);
	} else if (accept(c, 'X')) {
		a->kind = TS_ACTION_EXPR;
		a->bytes = expression(c, arena, &a->n_bytes);
	} else if (accept(c, 'L')) {
		a->kind = TS_ACTION_STATIC;
	} else {
		bad(c, "an action");
	}
}

/* Actions up to the end; none is added unless all are valid. */
static bool read_actions(struct ts_tracing *t, struct ts_cursor *c, struct ts_tracepoint *tp,
			 bool is_stepping)
{
	struct ts_action *first = NULL, **end = &first;

	while (ts_ok(c) && c->left) {
		struct ts_action *a = ts_arena_alloc(&t->arena, sizeof(*a));

		if (!a)
			return ts_no_memory(c->err, "tracepoints");
		a->is_stepping = is_stepping;
		read_action(c, &t->arena, a);
		*end = a;
		end = &a->next;
	}
	if (!ts_ok(c))
		return false;
	*tp->actions_end = first;
	if (first)
		tp->actions_end = end;
	tp->has_step_actions |= is_stepping;
	return true;
}

static bool read_source(struct ts_tracing *t, struct ts_cursor *c, struct ts_tracepoint *tp)
{
	struct ts_tp_source *s = ts_arena_alloc(&t->arena, sizeof(*s));
	size_t len = 0;

	if (!s)
		return ts_no_memory(c->err, "tracepoints");
	while (len < c->left && c->p[len] != ':')
		len++;
	s->type = ts_arena_text(&t->arena, (const char *)c->p, len);
	ts_take(c, len);
	expect(c, ':');
	s->start = number(c, UINT64_MAX);
	expect(c, ':');
	s->len = number(c, UINT64_MAX);
	expect(c, ':');
	s->text = (const uint8_t *)hex_text(c, &t->arena, &s->n_text);
	if (!s->type)
		ts_no_memory(c->err, "tracepoints");
	if (!done(c))
		return false;
	*tp->sources_end = s;
	tp->sources_end = &s->next;
	return true;
}

static bool read_use(struct ts_cursor *c, struct ts_tracepoint *tp)
{
	uint64_t n_hits = number(c, UINT64_MAX), n_bytes;

	expect(c, ':');
	n_bytes = number(c, UINT64_MAX);
	if (!done(c))
		return false;
	tp->has_use = true;
	tp->n_hits = n_hits;
	tp->n_bytes = n_bytes;
	return true;
}

bool ts_piece_of_letter(char letter, enum ts_piece *piece)
{
	static const char letters[] = { [TS_PIECE_DEFINE] = 'T',
					[TS_PIECE_ACTIONS] = 'A',
					[TS_PIECE_STEP_ACTIONS] = 'S',
					[TS_PIECE_SOURCE] = 'Z',
					[TS_PIECE_USE] = 'V' };
	const char *p = memchr(letters, letter, sizeof(letters));

	if (p)
		*piece = (enum ts_piece)(p - letters);
	return p != NULL;
}

bool ts_tracing_piece(struct ts_tracing *t, enum ts_piece piece, const char *text, size_t len, uint64_t off,
		      struct ts_error *err)
{
	struct ts_cursor c = ts_cursor((const uint8_t *)text, len, off, "tracepoint", err);
	struct ts_tracepoint *tp;
	uint32_t num = (uint32_t)number(&c, INT32_MAX);
	uint64_t addr;

	expect(&c, ':');
	addr = number(&c, UINT64_MAX);
	expect(&c, ':');
	if (!ts_ok(&c))
		return false;
	if (piece == TS_PIECE_DEFINE)
		return define(t, &c, num, addr);
	tp = ts_tracing_find(t, num, addr);
	if (!tp)
		return ts_fail(err, TS_ECORRUPT, off, "no tracepoint %" PRIx32 " at 0x%" PRIx64, num, addr);
	switch (piece) {
	case TS_PIECE_DEFINE:
	case TS_PIECE_ACTIONS:
		break;
	case TS_PIECE_STEP_ACTIONS:
		return read_actions(t, &c, tp, true);
	case TS_PIECE_SOURCE:
		return read_source(t, &c, tp);
	case TS_PIECE_USE:
		return read_use(&c, tp);
	case TS_PIECE_PACKET_ACTIONS:
		return read_actions(t, &c, tp, accept(&c, 'S') || tp->has_step_actions);
	}
	return read_actions(t, &c, tp, false);
}

bool ts_tracing_var(struct ts_tracing *t, const char *text, size_t len, uint64_t off, struct ts_error *err)
{
	struct ts_cursor c = ts_cursor((const uint8_t *)text, len, off, "trace state variable", err);
	struct ts_tvar v = { 0 }, *to;
	size_t n_name;

	v.number = (uint32_t)number(&c, INT32_MAX);
	expect(&c, ':');
	v.initial = (int64_t)number(&c, UINT64_MAX);
	expect(&c, ':');
	v.is_builtin = number(&c, UINT32_MAX);
	expect(&c, ':');
	v.name = hex_text(&c, &t->arena, &n_name);
	if (!done(&c))
		return false;
	to = ts_tracing_find_var(t, v.number);
	if (to) {
		v.next = to->next;
		*to = v;
		return true;
	}
	if (t->n_vars == TS_MAX_TVARS)
		return ts_fail(err, TS_ELIMIT, off, "more than %d trace state variables", TS_MAX_TVARS);
	to = ts_arena_alloc(&t->arena, sizeof(*to));
	if (!to)
		return ts_no_memory(err, "trace state variables");
	*to = v;
	*t->vars_end = to;
	t->vars_end = &to->next;
	t->n_vars++;
	return true;
}

/* --------------------------------------------------------------------------------------- reading a status */

/* The name of a reason, and what follows it. */
static const struct reason {
	const char *name;
	bool has_text, has_number;
} reasons[] = {
	[TS_RUN_NOT_RUN] = { "tnotrun", false, false },
	[TS_RUN_STOPPED] = { "tstop", true, false },
	[TS_RUN_FULL] = { "tfull", false, false },
	[TS_RUN_DISCONNECTED] = { "tdisconnected", false, false },
	[TS_RUN_PASS_COUNT] = { "tpasscount", false, true },
	[TS_RUN_ERROR] = { "terror", true, true },
	[TS_RUN_UNKNOWN] = { "tunknown", false, false },
};
#define N_REASONS (sizeof(reasons) / sizeof(reasons[0]))

static bool is_word(const uint8_t *p, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(p, word, len);
}

/* TEXT:N, or in the old form N alone. */
static void read_reason(struct ts_cursor *c, struct ts_arena *arena, struct ts_run_status *s,
			enum ts_run_end end)
{
	size_t len;

	s->end = end;
	s->text = NULL;
	if (reasons[end].has_text && memchr(c->p, ':', c->left)) {
		s->text = hex_text(c, arena, &len);
		expect(c, ':');
	}
	s->number = (uint32_t)number(c, UINT32_MAX);
}

static void read_key(struct ts_cursor *c, struct ts_arena *arena, struct ts_run_status *s, const uint8_t *key,
		     size_t n)
{
	const struct { const char *name; uint64_t *to; } counts[] = {
		{ "tframes", &s->n_frames }, { "tcreated", &s->n_created }, { "tfree", &s->n_free },
		{ "tsize", &s->n_bytes }, { "starttime", &s->start_time }, { "stoptime", &s->stop_time },
	};
	const struct { const char *name; bool *to; } flags[] = {
		{ "disconn", &s->is_disconnected }, { "circular", &s->is_circular },
	};
	const struct {
		const char *name;
		const char **to;
	} texts[] = { { "username", &s->user }, { "notes", &s->notes } };
	size_t len;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (is_word(key, n, counts[i].name))
			*counts[i].to = number(c, UINT64_MAX);
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (is_word(key, n, flags[i].name))
			*flags[i].to = number(c, UINT64_MAX) != 0;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (is_word(key, n, texts[i].name))
			*texts[i].to = hex_text(c, arena, &len);
	}
	for (size_t i = 0; i < N_REASONS; i++) {
		if (is_word(key, n, reasons[i].name))
			read_reason(c, arena, s, (enum ts_run_end)i);
	}
}

bool ts_tracing_status(struct ts_tracing *t, const char *text, size_t len, uint64_t off, struct ts_error *err)
{
	struct ts_cursor c = ts_cursor((const uint8_t *)text, len, off, "trace status", err);

	if (accept(&c, '1'))
		t->status.is_running = true;
	else if (accept(&c, '0'))
		t->status.is_running = false;
	else
		bad(&c, "0 or 1");
	while (accept(&c, ';') && c.left) {
		const uint8_t *end = memchr(c.p, ';', c.left);
		struct ts_cursor item = ts_sub(&c, end ? (uint64_t)(end - c.p) : c.left, c.what);
		const uint8_t *key = item.p, *colon = memchr(item.p, ':', item.left);

		if (!colon)
			return bad(&item, "KEY:VALUE");
		ts_take(&item, (uint64_t)(colon - key) + 1);
		read_key(&item, &t->arena, &t->status, key, (size_t)(colon - key));
	}
	return done(&c);
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_text(const char *text, struct ts_buf *out)
{
	if (text)
		ts_buf_hex(out, text, strlen(text));
}

/* As it is in pieces, without letter and address. */
static void format_action(const struct ts_action *a, struct ts_buf *out)
{
	switch (a->kind) {
	case TS_ACTION_REGS:
		ts_buf_putc(out, 'R');
		ts_buf_hex(out, a->bytes, a->n_bytes);
		break;
	case TS_ACTION_MEM:
		ts_buf_printf(out, a->base == TS_NO_BASE ? "M-1" : "M%" PRIx32, (uint32_t)a->base);
		ts_buf_printf(out, ",%" PRIx64 ",%" PRIx64, a->addr, a->len);
		break;
	case TS_ACTION_EXPR:
		ts_buf_printf(out, "X%08zX,", a->n_bytes);
		ts_buf_hex(out, a->bytes, a->n_bytes);
		break;
	case TS_ACTION_STATIC:
		ts_buf_putc(out, 'L');
		break;
	}
}

static void format_definition(const struct ts_tracepoint *tp, struct ts_buf *out)
{
	ts_buf_printf(out, "T%" PRIx32 ":%" PRIx64 ":%c:%" PRIx64 ":%" PRIx64, tp->number, tp->addr,
		      tp->is_enabled ? 'E' : 'D', tp->n_steps, tp->pass_count);
	if (tp->is_fast)
		ts_buf_printf(out, ":F%" PRIx64, tp->fast_len);
	if (tp->is_static)
		ts_buf_puts(out, ":S");
	if (tp->cond) {
		ts_buf_printf(out, ":X%zx,", tp->n_cond);
		ts_buf_hex(out, tp->cond, tp->n_cond);
	}
}

void ts_tp_source_format(const struct ts_tracepoint *tp, const struct ts_tp_source *s, struct ts_buf *out)
{
	ts_buf_printf(out, "Z%" PRIx32 ":%" PRIx64 ":%s:%" PRIx64 ":%" PRIx64 ":", tp->number, tp->addr,
		      s->type, s->start, s->len);
	ts_buf_hex(out, s->text, s->n_text);
}

void ts_tracepoint_use_format(const struct ts_tracepoint *tp, struct ts_buf *out)
{
	ts_buf_printf(out, "V%" PRIx32 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64, tp->number, tp->addr, tp->n_hits,
		      tp->n_bytes);
}

/* Action @i among those of stepping, or among the others; NULL after the last, and *i less by all of them. */
static const struct ts_action *nth_action(const struct ts_tracepoint *tp, bool is_stepping, unsigned *i)
{
	for (const struct ts_action *a = tp->actions; a; a = a->next) {
		if (a->is_stepping == is_stepping && !(*i)--)
			return a;
	}
	return NULL;
}

bool ts_tracepoint_format(const struct ts_tracepoint *tp, unsigned i, struct ts_buf *out)
{
	const struct ts_tp_source *s = tp->sources;
	const struct ts_action *a;

	if (!i--) {
		format_definition(tp, out);
		return true;
	}
	a = nth_action(tp, false, &i);
	if (!a)
		a = nth_action(tp, true, &i);
	if (a) {
		ts_buf_printf(out, "%c%" PRIx32 ":%" PRIx64 ":", a->is_stepping ? 'S' : 'A', tp->number,
			      tp->addr);
		format_action(a, out);
		return true;
	}
	while (s && i--)
		s = s->next;
	if (s)
		ts_tp_source_format(tp, s, out);
	return s != NULL;
}

void ts_tvar_format(const struct ts_tvar *v, struct ts_buf *out)
{
	ts_buf_printf(out, "%" PRIx32 ":%" PRIx64 ":%d:", v->number, (uint64_t)v->initial, v->is_builtin);
	put_text(v->name, out);
}

static void put_count(const char *key, uint64_t n, struct ts_buf *out)
{
	if (n != TS_NO_COUNT)
		ts_buf_printf(out, ";%s:%" PRIx64, key, n);
}

void ts_run_status_format(const struct ts_run_status *s, struct ts_buf *out)
{
	const struct reason *r = &reasons[s->end];

	ts_buf_printf(out, "%d;%s:", s->is_running, r->name);
	if (r->has_text) {
		put_text(s->text, out);
		ts_buf_putc(out, ':');
	}
	ts_buf_printf(out, "%" PRIx32, r->has_number ? s->number : 0);
	put_count("tframes", s->n_frames, out);
	put_count("tcreated", s->n_created, out);
	put_count("tfree", s->n_free, out);
	put_count("tsize", s->n_bytes, out);
	ts_buf_printf(out, ";circular:%d;disconn:%d;starttime:%" PRIx64 ";stoptime:%" PRIx64, s->is_circular,
		      s->is_disconnected, s->start_time, s->stop_time);
	ts_buf_puts(out, ";username:");
	put_text(s->user, out);
	ts_buf_puts(out, ";notes:");
	put_text(s->notes, out);
}
