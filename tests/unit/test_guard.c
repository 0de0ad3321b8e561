/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire/guard.h"

/* What passes of @text that arrives in pieces of @piece bytes; *is_good: the stream goes on. */
static const char *pass(const char *text, size_t len, size_t piece, bool *is_good)
{
	static uint8_t out[4096];
	struct rsp_guard g = { 0 };
	size_t n_out = 0, n;

	*is_good = true;
	for (size_t i = 0; i < len && *is_good; i += piece) {
		*is_good = rsp_guard_take(&g, (const uint8_t *)text + i, len - i < piece ? len - i : piece, out + n_out, &n);
		n_out += n;
		ck_assert_uint_lt(n_out + RSP_GUARD_HEAD, sizeof(out));
	}
	ck_assert(*is_good || g.why);
	out[n_out] = '\0';
	return (const char *)out;
}

static void passes(const char *text)
{
	bool is_good;

	for (size_t piece = 1; piece <= strlen(text); piece++) {
		ck_assert_str_eq(pass(text, strlen(text), piece, &is_good), text);
		ck_assert_msg(is_good, "%s", text);
	}
}

/* Of @text only what comes before the packet passes: the first @n bytes. */
static void stops(const char *text, size_t n)
{
	bool is_good;

	for (size_t piece = 1; piece <= strlen(text); piece++) {
		const char *out = pass(text, strlen(text), piece, &is_good);

		ck_assert_msg(!is_good && strlen(out) == n && !strncmp(out, text, n), "%s in %zu: %s", text, piece, out);
	}
}

START_TEST(what_a_server_says_passes)
{
	passes("+$T05thread:1;#e7");
	passes("+-+$#00$OK#9a%Stop:T05#00");
	passes("$O68656c6c6f0a#00$OK#9a"); /* console output */
	passes("$0* #00$a}\003}\004b#11");   /* repeated, escaped */
	passes("$E.Failed#00");
	passes("$m0,F,Fopen,1#00"); /* not at the beginning */
}
END_TEST

START_TEST(answers_to_the_debuggers_own_requests_pass)
{
	passes("$F0#76");
	passes("$F-1,2#00");
	passes("$F-1#00");
	passes("$F4d2T1#00"); /* of QTFrame */
	passes("$F1a;abc}\004#00");
	passes("$F0,0;#00");
	passes("$F1000* ;#00"); /* three digits more */
	passes("$Fffffffff#00");
}
END_TEST

START_TEST(requests_to_use_files_do_not_pass)
{
	static const char *const calls[] = { "open",  "close", "read",	"write",	"lseek",  "rename", "unlink",
					     "stat",  "fstat", "gettimeofday", "isatty", "system" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "+$F%s,1000/5,601,1a4#00", calls[i]);
		stops(text, 1);
		snprintf(text, sizeof(text), "$OK#9a$F%s#00", calls[i]);
		stops(text, 6);
	}
	passes("$Fc*\"ose,1#00"); /* "Fccccccose": no request that gdb knows */
	stops("$F#00", 0);
	stops("$F,1#00", 0);
	stops("$F-,1#00", 0);
	stops("$F0000000000000000000000000000000000000000000000,1#00", 0);
}
END_TEST

/* gdb would begin a packet where none begins here, or end it elsewhere. */
START_TEST(what_is_read_differently_does_not_pass)
{
	stops("$a$Fopen,1#00", 2);
	stops("$a*#$Fopen,1#00", 3);
	stops("$a*\x7f#00", 3);
	stops("$a* #$F", 5);
	stops("$a#0$Fopen,1#00", 4);
	stops("$*\"Fopen#00", 0);
	stops("junk$Fopen#00", 0);
	stops("+\003", 1);
	stops("%Stop$Fopen#00", 5);
}
END_TEST

UNIT_SUITE("guard", what_a_server_says_passes, answers_to_the_debuggers_own_requests_pass,
	   requests_to_use_files_do_not_pass, what_is_read_differently_does_not_pass)
