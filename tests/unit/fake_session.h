/* SPDX-License-Identifier: MIT */
/*
 * A session over a small recording that is made up here, so that packets can be sent to it without a trace or
 * a socket.
 *
 * x86_64, ten steps, two processes:
 *
 *      step    thread            pc        effects
 *      0..2    0 (p100, 1000)    0x401000  step 1 writes 11 22 33 44 at 0x602000
 *      3..5    1 (p100, 1001)    0x402000  step 5 ends the thread, which is called "w<&>"
 *      6..7    0                 0x401003  step 6 is system call 1; step 7 maps the page at 0x700000, called
 *              "brk"
 *      8       2 (p101, 1002)    0x501000
 *      9       0                 0x401005  position 10 has pc 0x401006
 *
 * At position 0 are known: sixteen bytes 0x90 at 0x401000, the bytes 0 to 15 at 0x7fffffffeff0, and of thread
 * 0's registers rax (0x1122334455667788) and the lower half of rbx.  Mapped are the program's text, a page at
 * 0x602000 and the stack.
 */
#ifndef TS_TESTS_FAKE_SESSION_H
#define TS_TESTS_FAKE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/session/session.h"
#include "src/timeline/timeline.h"
#include "unit.h"

#define FAKE_N_STEPS 10u

struct script;

struct fake {
	struct script *script;
	struct ts_image image;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct rsp_target target;
	struct rsp_session session;
	struct rsp_reply reply;
	char text[RSP_PACKET_SIZE + 1]; /* the last reply, terminated; its length is reply.len */
};

/* The one that the tests of a suite use: each begins with a new one. */
extern struct fake fake;

/* What a test may want otherwise. */
struct fake_options {
	const char *exec;    /* the program's file */
	const char *sysroot; /* where files that the recording maps are looked for */
	void (*change)(struct ts_recording *rec);
	struct script *(*make)(void); /* another recording instead of the one above */
	size_t packet_size; /* of replies; 0: RSP_PACKET_SIZE */
	uint64_t n_read; /* positions up to this one are read at first, at least; 0: all */
};

/* The first, and its end: for suites other than those of fake_suite(). */
void fake_begin(const struct fake_options *opt);
void fake_end(void);

/* Once more from the beginning. */
void fake_again(const struct fake_options *opt);

/* Read on until more can be asked about.  Returns false if everything has been read. */
bool fake_read_on(void);

/*
 * Send a packet; the reply as text, finished as a server does it, "(none)" if the server sends none.  A question waits for
 * symbols here.
 */
const char *fake_send(const char *packet);
const char *fake_send_bytes(const void *packet, size_t len);

/* Send a packet that resumes or starts another job; its reply, however long it takes. */
const char *fake_resume(const char *packet);
const char *fake_resume_bytes(const void *packet, size_t len);

/* Send a packet with the hex digits of @text for the "%s" in @format. */
const char *fake_send_hex(const char *format, const char *text);

/* The hex digits of @text; valid until the fourth call after this one. */
const char *fake_hex(const char *text);

/* The text that the console got since the last call. */
const char *fake_console(void);

/* A suite of such tests. */
Suite *fake_suite(const char *name, const TTest *const *tests, size_t n_tests);
#define FAKE_SUITE(name, ...)                                                     \
	Suite *unit_suite(void)                                                   \
	{                                                                         \
		const TTest *const tests[] = { __VA_ARGS__ };                     \
		return fake_suite(name, tests, sizeof(tests) / sizeof(tests[0])); \
	}

#endif
