/* SPDX-License-Identifier: MIT */
/* The process that reads a recording for the extension. */
#ifndef TS_SQLITE_LINK_H
#define TS_SQLITE_LINK_H

#include "src/sql/wire.h"

struct ts_link_table {
	char *name, *declaration; /* owned */
};

struct ts_link_function {
	char *name; /* owned */
	int n_arguments;
};

struct ts_link {
	unsigned n_users;
	int fd;           /* -1: the process has ended */
	int pid, owner;   /* the process, and the process that started it */
	int messages;     /* a file with the process's standard error */
	uint64_t n_shown; /* bytes of it that were forwarded */
	struct ts_buf request; /* the next request */
	bool (*is_stopped)(void *user); /* polled while an answer is awaited: must the statement end? */
	void *user;
	bool is_opening;  /* no request was answered yet: the process may be killed */
	struct ts_link_table *tables;
	uint32_t n_tables;
	struct ts_link_function *functions;
	uint32_t n_functions;
	uint64_t cursors[16]; /* a bit for each cursor number: in use */
};

/*
 * Start the process with @n arguments, the recordings and options, and wait until it has read them.  If @is_stopped
 * returns true, the process is killed.
 *
 * Returns NULL on failure, with the reason in @why.
 */
struct ts_link *ts_link_new(const char *const *arguments, int n, bool (*is_stopped)(void *user), void *user, struct ts_error *why);
struct ts_link *ts_link_use(struct ts_link *l);
void ts_link_release(struct ts_link *l);

/*
 * Send l->request, and read the answer to @reply; *c is set to a cursor after its result, which reports errors to @err.
 * If l->is_stopped() returns true, the process ends the statement with SQLITE_INTERRUPT.
 *
 * Returns SQLITE_OK on success.
 * Returns SQLITE_NOMEM if memory is exhausted (TS_ENOMEM).
 * Returns another result of SQLite, with the reason in @err (TS_EUSAGE, TS_EIO, TS_ENOMEM), if the process is gone or refuses
 * the request.
 */
int ts_link_ask(struct ts_link *l, struct ts_buf *reply, struct ts_cursor *c, struct ts_error *err);

/* Allocate a cursor number.  Returns false if too many are in use. */
bool ts_link_take_cursor(struct ts_link *l, uint32_t *i);
void ts_link_return_cursor(struct ts_link *l, uint32_t i);

/* table.c: add all tables of @l to @db, as virtual tables that query the process.  Returns SQLite's result. */
int ts_sqlite_add_tables(sqlite3 *db, struct ts_link *l);

/* Set the result of a function or a column to the value. */
void ts_sqlite_put_value(sqlite3_context *out, const struct ts_wire_value *v);

#endif
