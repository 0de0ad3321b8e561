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
	int pid, owner;   /* the process, and who started it */
	int messages;     /* a file with what the process writes to its standard error */
	uint64_t n_shown; /* bytes of it that were passed on */
	struct ts_buf request; /* of whoever asks next */
	bool (*is_stopped)(void *user); /* asked while an answer is waited for: is the statement to end? */
	void *user;
	bool is_opening;  /* nothing has been answered: the process may be ended */
	struct ts_link_table *tables;
	uint32_t n_tables;
	struct ts_link_function *functions;
	uint32_t n_functions;
	uint64_t cursors[16]; /* which numbers of cursors are in use, a bit each */
};

/*
 * Start the process for @n arguments, the recordings and options, and wait until it has read them.  When @is_stopped returns
 * true the process is ended.
 *
 * Returns NULL on failure: @why gets a sentence.
 */
struct ts_link *ts_link_new(const char *const *arguments, int n, bool (*is_stopped)(void *user), void *user, struct ts_error *why);
struct ts_link *ts_link_use(struct ts_link *l);
void ts_link_release(struct ts_link *l);

/*
 * Send l->request, and read the answer to @reply; *c is at what follows its result, and reports to @err.  When l->is_stopped()
 * returns true the process ends the statement that it answers, with SQLITE_INTERRUPT.
 *
 * Returns SQLite's result; if it is not SQLITE_OK, @err says why.
 */
int ts_link_ask(struct ts_link *l, struct ts_buf *reply, struct ts_cursor *c, struct ts_error *err);

/* A number for a cursor.  Returns false if too many are in use. */
bool ts_link_take_cursor(struct ts_link *l, uint32_t *i);
void ts_link_return_cursor(struct ts_link *l, uint32_t i);

#endif
