/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/text/utf8.h"

void ts_error_reset(struct ts_error *err)
{
	err->code = TS_OK;
	err->off = TS_NO_OFF;
	err->text[0] = '\0';
}

/* A message may quote bytes of a trace: make them printable, so that the message stays one line on a terminal. */
static void make_printable(char *text)
{
	ts_utf8_make_shown(text, strlen(text), false);
}

bool ts_fail(struct ts_error *err, enum ts_code code, uint64_t off, const char *fmt, ...)
{
	va_list ap;

	if (err->code != TS_OK)
		return false;
	err->code = code;
	err->off = off;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	make_printable(err->text);
	return false;
}

bool ts_fail_prefix(struct ts_error *err, const char *fmt, ...)
{
	char prefix[sizeof(err->text)];
	size_t text_len = strlen(err->text), room = sizeof(err->text) - 1 - text_len, len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	make_printable(prefix);
	len = strlen(prefix);
	if (room <= 2)
		return false;
	len = len < room - 2 ? len : room - 2;
	memmove(err->text + len + 2, err->text, text_len + 1);
	memcpy(err->text, prefix, len);
	memcpy(err->text + len, ": ", 2);
	return false;
}

bool ts_fail_errno(struct ts_error *err, const char *fmt, ...)
{
	int saved = errno;
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return ts_fail(err, saved == ENOMEM ? TS_ENOMEM : TS_EIO, TS_NO_OFF, "%s: %s", what, strerror(saved));
}

void *ts_no_memory(struct ts_error *err, const char *what)
{
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %s", what);
	return NULL;
}

void ts_error_format(const struct ts_error *err, const char *file, char *text, unsigned len)
{
	const char *sep = file ? ": " : "";

	if (!file)
		file = "";
	if (err->off == TS_NO_OFF)
		snprintf(text, len, "%s%s%s", file, sep, err->text);
	else
		snprintf(text, len, "%s%s0x%" PRIx64 ": %s", file, file[0] ? ":" : "", err->off, err->text);
}
