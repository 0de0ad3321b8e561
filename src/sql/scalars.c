/* SPDX-License-Identifier: MIT */
/*
 * Functions of SQL that examine one position: reg(), mem(), u8() ... f64(), cstr(), sym(), addr(), and ult().
 *
 * An unknown value is NULL.
 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/symbols/names.h"
#include "src/ask/grammar/what.h"
#include "src/query/paging.h"

/* A text is read to its end, but no further. */
#define MAX_CSTR 4096u

/* The most that mem() reads. */
#define MAX_MEM (1024u * 1024u)

/* A function, and the recording that it examines. */
struct function {
	struct ts_sql *s;
	struct ts_ask *ask;
	void (*call)(sqlite3_context *out, int n, sqlite3_value **values);
};

static struct function *self(sqlite3_context *out)
{
	return sqlite3_user_data(out);
}

static void fail(sqlite3_context *out, const struct ts_error *err)
{
	self(out)->s->err = *err;
	sqlite3_result_error(out, err->text, -1);
}

/* The argument as a position.  Returns false if it is not one of the recording: the result is NULL then. */
static bool get_position(sqlite3_context *out, sqlite3_value *value, uint64_t *pos)
{
	sqlite3_int64 v = sqlite3_value_int64(value);

	*pos = (uint64_t)v;
	return sqlite3_value_type(value) == SQLITE_INTEGER && v >= 0 && *pos <= self(out)->ask->n_steps;
}

/* The thread that runs at @pos, or that of the optional argument.  Returns false if the thread does not exist. */
static bool get_thread(sqlite3_context *out, int n, sqlite3_value **values, int i, uint64_t pos, uint32_t *thread)
{
	struct ts_ask *ask = self(out)->ask;

	*thread = i < n ? ts_names_thread(ask->names, sqlite3_value_int64(values[i])) : ts_query_thread(ask->q, pos);
	return *thread != TS_NO_THREAD;
}

/* -------------------------------------------------------------------------------------------------- state */

static void put_number(sqlite3_context *out, const uint8_t *data, const uint8_t *known, size_t len, bool is_signed)
{
	uint64_t n;
	unsigned unused = 64 - 8 * (unsigned)len;

	if (!len || len > 8 || memchr(known, 0, len))
		return;
	n = ts_arch_get(ts_query_regset(self(out)->ask->q)->arch, data, len);
	sqlite3_result_int64(out, is_signed && unused < 64 ? (int64_t)(n << unused) >> unused : (sqlite3_int64)n);
}

static void put_register(sqlite3_context *out, const struct ts_what *what, uint8_t *g, size_t g_len)
{
	uint8_t *data = g + what->off, *known = data + g_len;
	bool is_big = ts_query_regset(self(out)->ask->q)->arch->is_big_endian;
	struct ts_buf text;

	if (what->is_flag)
		data[0] = data[0] >> what->bit & 1;
	if (what->len <= 8) {
		put_number(out, data, known, what->len, false);
		return;
	}
	ts_buf_init(&text);
	if (!memchr(known, 0, what->len))
		ts_put_value(&text, data, known, what->len, true, is_big);
	if (ts_buf_ok(&text) && text.len)
		sqlite3_result_text(out, ts_buf_text(&text), (int)text.len, SQLITE_TRANSIENT);
	ts_buf_fini(&text);
}

/* reg(name, position [, thread]) */
static void reg(sqlite3_context *out, int n, sqlite3_value **values)
{
	struct ts_ask *ask = self(out)->ask;
	const struct ts_regset *set = ts_query_regset(ask->q);
	const char *name = (const char *)sqlite3_value_text(values[0]);
	struct ts_error err = { 0 };
	struct ts_what what;
	uint32_t thread;
	uint64_t pos;
	uint8_t *g;

	if (!name || !ts_what_register(&what, name + (*name == '$'), strlen(name) - (*name == '$'), set)) {
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "reg: '%.60s' is not a register", name ? name : "");
		fail(out, &err);
		return;
	}
	if (!get_position(out, values[1], &pos) || !get_thread(out, n, values, 2, pos, &thread))
		return;
	g = sqlite3_malloc64(2 * (sqlite3_uint64)set->g_len);
	if (!g)
		sqlite3_result_error_nomem(out);
	else if (!ts_query_regs(ask->q, pos, thread, g, g + set->g_len, &err))
		fail(out, &err);
	else
		put_register(out, &what, g, set->g_len);
	sqlite3_free(g);
}

/* Memory at an address and a position.  Returns false if none is found, or it cannot be read (which is the result). */
static bool read_memory(sqlite3_context *out, sqlite3_value *addr, sqlite3_value *position, size_t len, uint8_t *data,
			uint8_t *known)
{
	struct ts_query *q = self(out)->ask->q;
	struct ts_error err = { 0 };
	uint64_t pos;

	if (sqlite3_value_type(addr) != SQLITE_INTEGER || !get_position(out, position, &pos))
		return false;
	if (ts_virtual_mem(q, pos, ts_query_process(q, ts_query_thread(q, pos)), (uint64_t)sqlite3_value_int64(addr), len,
			   data, known, &err))
		return true;
	fail(out, &err);
	return false;
}

/* mem(address, length, position): a blob, NULL unless all bytes are known. */
static void mem(sqlite3_context *out, int n, sqlite3_value **values)
{
	sqlite3_int64 len = sqlite3_value_int64(values[1]);
	uint8_t *data;

	(void)n;
	if (len < 0 || len > MAX_MEM) {
		sqlite3_result_error(out, "mem: the length is 0 to 1048576", -1);
		return;
	}
	data = sqlite3_malloc64(2 * (sqlite3_uint64)len + 1);
	if (!data)
		sqlite3_result_error_nomem(out);
	else if (read_memory(out, values[0], values[2], (size_t)len, data, data + len) &&
		 !memchr(data + len, 0, (size_t)len))
		sqlite3_result_blob(out, data, (int)len, SQLITE_TRANSIENT);
	sqlite3_free(data);
}

static void get_number(sqlite3_context *out, sqlite3_value **values, size_t len, bool is_signed)
{
	uint8_t data[8], known[8];

	if (read_memory(out, values[0], values[1], len, data, known))
		put_number(out, data, known, len, is_signed);
}

#define NUMBER(name, len, is_signed)                                                  \
	static void name(sqlite3_context *out, int n, sqlite3_value **values)         \
	{                                                                             \
		(void)n;                                                              \
		get_number(out, values, len, is_signed);                              \
	}
NUMBER(u8, 1, false)
NUMBER(u16, 2, false)
NUMBER(u32, 4, false)
NUMBER(u64, 8, false)
NUMBER(i8, 1, true)
NUMBER(i16, 2, true)
NUMBER(i32, 4, true)
NUMBER(i64, 8, true)

static void put_float(sqlite3_context *out, sqlite3_value **values, size_t len)
{
	uint8_t data[8], known[8];
	uint64_t bits;
	uint32_t low;
	double d;
	float f;

	if (!read_memory(out, values[0], values[1], len, data, known) || memchr(known, 0, len))
		return;
	bits = ts_arch_get(ts_query_regset(self(out)->ask->q)->arch, data, len);
	low = (uint32_t)bits;
	memcpy(&d, &bits, sizeof(d));
	memcpy(&f, &low, sizeof(f));
	sqlite3_result_double(out, len == 4 ? (double)f : d);
}

static void f32(sqlite3_context *out, int n, sqlite3_value **values)
{
	(void)n;
	put_float(out, values, 4);
}

static void f64(sqlite3_context *out, int n, sqlite3_value **values)
{
	(void)n;
	put_float(out, values, 8);
}

/* cstr(address, position): up to the NUL; NULL if a byte before it is not known. */
static void cstr(sqlite3_context *out, int n, sqlite3_value **values)
{
	uint8_t data[MAX_CSTR], known[MAX_CSTR];
	const uint8_t *end;

	(void)n;
	if (!read_memory(out, values[0], values[1], sizeof(data), data, known))
		return;
	for (size_t i = 0; i < sizeof(data) && known[i]; i++) {
		end = &data[i];
		if (*end)
			continue;
		sqlite3_result_text(out, (const char *)data, (int)i, SQLITE_TRANSIENT);
		return;
	}
}

/* -------------------------------------------------------------------------------------------------- names */

/* sym(address): the function that has it. */
static void sym(sqlite3_context *out, int n, sqlite3_value **values)
{
	const char *name = NULL;

	(void)n;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER)
		name = ts_ask_function(self(out)->ask, (uint64_t)sqlite3_value_int64(values[0]));
	if (name)
		sqlite3_result_text(out, name, -1, SQLITE_TRANSIENT);
}

/* addr('main+4'): the address of a WHAT. */
static void addr(sqlite3_context *out, int n, sqlite3_value **values)
{
	struct ts_ask *ask = self(out)->ask;
	const char *text = (const char *)sqlite3_value_text(values[0]);
	struct ts_error err = { 0 };
	struct ts_what what;

	(void)n;
	if (!text)
		return;
	if (!ts_what_parse(&what, text, strlen(text), ts_query_regset(ask->q), ask->symbols, &err))
		fail(out, &err);
	else if (what.kind == TS_WHAT_MEM)
		sqlite3_result_int64(out, (sqlite3_int64)what.addr);
}

/* ult(a, b): is a below b as unsigned numbers? */
static void ult(sqlite3_context *out, int n, sqlite3_value **values)
{
	(void)n;
	if (sqlite3_value_type(values[0]) != SQLITE_NULL && sqlite3_value_type(values[1]) != SQLITE_NULL)
		sqlite3_result_int(out, (uint64_t)sqlite3_value_int64(values[0]) < (uint64_t)sqlite3_value_int64(values[1]));
}

/* Of several recordings the first argument names one. */
static void call_one_of_several(sqlite3_context *out, int n, sqlite3_value **values)
{
	struct function *f = self(out);
	const char *name = (const char *)sqlite3_value_text(values[0]);
	const struct ts_sql_recording *r = ts_sql_find_recording(f->s, name);
	struct ts_error err = { 0 };

	if (r) {
		f->ask = r->ask;
		f->call(out, n - 1, values + 1);
		return;
	}
	ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "'%.60s' is not a recording: it is the first argument of functions here", name ? name : "");
	fail(out, &err);
}

static const struct {
	const char *name;
	int n;
	void (*call)(sqlite3_context *out, int n, sqlite3_value **values);
	bool is_pure; /* examines no recording */
} scalars[] = {
	{ "reg", 2, reg, 0 }, { "reg", 3, reg, 0 }, { "mem", 3, mem, 0 }, { "u8", 2, u8, 0 },   { "u16", 2, u16, 0 },
	{ "u32", 2, u32, 0 }, { "u64", 2, u64, 0 }, { "i8", 2, i8, 0 },	 { "i16", 2, i16, 0 }, { "i32", 2, i32, 0 },
	{ "i64", 2, i64, 0 }, { "f32", 2, f32, 0 }, { "f64", 2, f64, 0 }, { "cstr", 2, cstr, 0 }, { "sym", 1, sym, 0 },
	{ "addr", 1, addr, 0 }, { "ult", 2, ult, 1 },
};

#define N_SCALARS (sizeof(scalars) / sizeof(scalars[0]))

/* Has the function the name of a recording as its first argument? */
static bool is_named(const struct ts_sql *s, size_t i)
{
	return s->n > 1 && !scalars[i].is_pure;
}

const char *ts_sql_scalar(const struct ts_sql *s, size_t i, int *n_arguments)
{
	if (i >= N_SCALARS)
		return NULL;
	*n_arguments = scalars[i].n + is_named(s, i);
	return scalars[i].name;
}

bool ts_sql_has_scalar(const struct ts_sql *s, const char *name, size_t len, int n_arguments)
{
	for (size_t i = 0; i < N_SCALARS; i++) {
		if (strlen(scalars[i].name) == len && !memcmp(scalars[i].name, name, len) &&
		    scalars[i].n + is_named(s, i) == n_arguments)
			return true;
	}
	return false;
}

int ts_sql_add_scalars(struct ts_sql *s)
{
	int result = SQLITE_OK;

	for (size_t i = 0; i < N_SCALARS && result == SQLITE_OK; i++) {
		struct function *f = calloc(1, sizeof(*f));

		if (!f)
			return SQLITE_NOMEM;
		*f = (struct function){ s, s->recordings[0].ask, scalars[i].call };
		result = sqlite3_create_function_v2(s->db, scalars[i].name, scalars[i].n + is_named(s, i), SQLITE_UTF8, f,
						    is_named(s, i) ? call_one_of_several : scalars[i].call, NULL, NULL, free);
	}
	return result;
}
