/* SPDX-License-Identifier: MIT */
#include "sql_answers.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/io_full.h"
#include "src/program/cli/interrupt.h"
#include "src/sql/answers.h"

/* A question is not longer: a statement's values are in it. */
#define MAX_REQUEST (128u * 1024 * 1024)

/* Read @len bytes.  Returns false at the end, or if they cannot be read: *err then says why. */
static bool receive(uint8_t *to, size_t len, struct ts_error *err)
{
	while (len) {
		ssize_t n = read(STDIN_FILENO, to, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail_errno(err, "cannot read from the extension");
		if (!n)
			return false;
		to += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_request(struct ts_buf *request, struct ts_error *err)
{
	uint8_t head[4];
	uint32_t len;

	ts_buf_reset(request);
	if (!receive(head, sizeof(head), err))
		return false;
	len = (uint32_t)ts_number(head, sizeof(head), false);
	if (len > MAX_REQUEST || !ts_buf_add(request, len))
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a message of %u bytes of the extension is too long", len);
	return receive(request->data, len, err);
}

bool ts_answer_sqlite(struct ts_sql *sql, struct ts_error *err)
{
	struct ts_sql_answers *a = ts_sql_answers_new(sql);
	struct ts_buf request, reply;

	ts_buf_init(&request);
	ts_buf_init(&reply);
	if (!a)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: answers to the extension");
	else
		ts_sql_answers_hello(a, &reply);
	while (err->code == TS_OK) {
		if (!ts_write_whole(STDOUT_FILENO, reply.data, reply.len))
			ts_fail_errno(err, "cannot write to the extension");
		signal(SIGINT, SIG_IGN); /* it is meant for a statement */
		if (err->code != TS_OK || !read_request(&request, err))
			break;
		ts_interrupt_catch_all();
		ts_sql_answers_take(a, request.data, request.len, &reply, err);
	}
	ts_sql_answers_free(a);
	ts_buf_fini(&request);
	ts_buf_fini(&reply);
	return err->code == TS_OK;
}
