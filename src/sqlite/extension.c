/* SPDX-License-Identifier: MIT */
/* The entry of the extension: tracestub_open(), and the functions that examine a recording. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

/* The limit on arguments of tracestub_open(). */
#define MAX_ARGUMENTS 60

/* A function that SQLite knows; it stays when another recording is opened. */
struct function {
	struct extension *e;
	struct function *next;
	int n_arguments;
	char name[32];
};

/* Of one connection. */
struct extension {
	sqlite3 *db;
	struct ts_link *link; /* the recordings that were opened last; NULL: none */
	struct function *functions; /* owned */
	unsigned n_users;
	struct extension *next; /* of those of all connections */
};

/* A connection that loads the extension again keeps what it has. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct extension *all;

static bool is_loaded(const sqlite3 *db)
{
	const struct extension *e;

	pthread_mutex_lock(&lock);
	for (e = all; e && e->db != db; e = e->next)
		;
	pthread_mutex_unlock(&lock);
	return e;
}

static void add(struct extension *e)
{
	pthread_mutex_lock(&lock);
	e->next = all;
	all = e;
	pthread_mutex_unlock(&lock);
}

static void leave_out(struct extension *e)
{
	struct extension **at = &all;

	pthread_mutex_lock(&lock);
	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
	pthread_mutex_unlock(&lock);
}

static void release(void *user)
{
	struct extension *e = user;

	if (--e->n_users)
		return;
	leave_out(e);
	ts_link_release(e->link);
	while (e->functions) {
		struct function *f = e->functions;

		e->functions = f->next;
		free(f);
	}
	free(e);
}

static void release_function(void *user)
{
	release(((struct function *)user)->e);
}

/* ------------------------------------------------------------------------------------------------- functions */

static bool has_function(const struct ts_link *l, const struct function *f)
{
	for (uint32_t i = 0; i < l->n_functions; i++) {
		if (!strcmp(l->functions[i].name, f->name) && l->functions[i].n_arguments == f->n_arguments)
			return true;
	}
	return false;
}

static void call(sqlite3_context *out, int n, sqlite3_value **values)
{
	const struct function *f = sqlite3_user_data(out);
	struct ts_link *l = f->e->link;
	struct ts_wire_value value;
	struct ts_buf reply;
	struct ts_cursor c;
	struct ts_error err;
	int result;

	if (!has_function(l, f)) {
		sqlite3_result_error(out, "the function has other arguments: the first one names a recording where there are several", -1);
		return;
	}
	ts_wire_begin(&l->request);
	ts_buf_putc(&l->request, 'S');
	ts_wire_put_text(&l->request, f->name, strlen(f->name));
	ts_wire_put_u32(&l->request, (uint32_t)n);
	for (int i = 0; i < n; i++)
		ts_wire_put_value(&l->request, values[i]);
	ts_buf_init(&reply);
	result = ts_link_ask(l, &reply, &c, &err);
	if (result == SQLITE_OK) {
		ts_wire_value(&c, &value);
		if (ts_ok(&c))
			ts_sqlite_put_value(out, &value);
	}
	if (err.code != TS_OK)
		sqlite3_result_error(out, err.text, -1);
	if (result == SQLITE_INTERRUPT)
		sqlite3_result_error_code(out, result);
	ts_buf_fini(&reply);
}

static int add_function(struct extension *e, const struct ts_link_function *x)
{
	struct function *f = e->functions;

	while (f && (strcmp(f->name, x->name) != 0 || f->n_arguments != x->n_arguments))
		f = f->next;
	if (f)
		return SQLITE_OK;
	f = calloc(1, sizeof(*f));
	if (!f)
		return SQLITE_NOMEM;
	*f = (struct function){ e, e->functions, x->n_arguments, "" };
	strncat(f->name, x->name, sizeof(f->name) - 1);
	e->functions = f;
	e->n_users++;
	return sqlite3_create_function_v2(e->db, f->name, f->n_arguments, SQLITE_UTF8, f, call, NULL, NULL, release_function);
}

/* Statements that were prepared before are prepared again: a change of any setting makes SQLite do that. */
static void expire_statements(sqlite3 *db)
{
	int is_on = 0;

	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &is_on);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, !is_on, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, is_on, NULL);
}

/*
 * Was sqlite3_interrupt() called for the statement that runs?  SQLite before 3.41 says so only by this: whatever is begun from
 * then on, until no statement runs, is interrupted, too.
 */
static bool is_interrupted(void *user)
{
	sqlite3_stmt *stmt = NULL;
	int result = sqlite3_prepare_v2(user, "SELECT 1", -1, &stmt, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	return result == SQLITE_INTERRUPT;
}

static int take_link(struct extension *e, struct ts_link *l)
{
	int result = ts_sqlite_add_tables(e->db, l);

	for (uint32_t i = 0; i < l->n_functions && result == SQLITE_OK; i++)
		result = add_function(e, &l->functions[i]);
	ts_link_release(e->link);
	e->link = l;
	expire_statements(e->db);
	return result;
}

/* tracestub_open(RECORDING..., OPTION...): its tables are tables of this connection, instead of those opened before. */
static void open_recordings(sqlite3_context *out, int n, sqlite3_value **values)
{
	struct extension *e = sqlite3_user_data(out);
	const char *arguments[MAX_ARGUMENTS];
	struct ts_error why = { .code = TS_OK };
	struct ts_link *l = NULL;
	int i;

	for (i = 0; i < n && i < MAX_ARGUMENTS; i++) {
		arguments[i] = (const char *)sqlite3_value_text(values[i]);
		if (!arguments[i])
			break;
	}
	if (!n || i < n)
		ts_fail(&why, TS_EUSAGE, TS_NO_OFF, "the arguments of tracestub_open() are names of recordings and options: "
						    "tracestub_open('run.ucir', '--exec=program')");
	else
		l = ts_link_new(arguments, n, is_interrupted, e->db, &why);
	if (!l && is_interrupted(e->db))
		sqlite3_result_error_code(out, SQLITE_INTERRUPT);
	else if (!l)
		sqlite3_result_error(out, why.text, -1);
	else if (take_link(e, l) != SQLITE_OK)
		sqlite3_result_error(out, sqlite3_errmsg(e->db), -1);
}

__attribute__((visibility("default")))
int sqlite3_tracestub_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_tracestub_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	struct extension *e;

	SQLITE_EXTENSION_INIT2(api);
	(void)error;
	if (is_loaded(db))
		return SQLITE_OK;
	e = calloc(1, sizeof(*e));
	if (!e)
		return SQLITE_NOMEM;
	e->db = db;
	e->n_users = 1;
	add(e);
	return sqlite3_create_function_v2(db, "tracestub_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, e, open_recordings, NULL, NULL,
					  release);
}
