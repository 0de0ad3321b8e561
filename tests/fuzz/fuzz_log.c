/* SPDX-License-Identifier: MIT */
/*
 * A log of the Valgrind tool, as a recorded program could write it into the shared memory.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/decoder.h"

struct sink {
	size_t len, cap;
	uint8_t *bytes;
};

static bool put(void *user, const uint8_t *bytes, size_t len)
{
	struct sink *s = user;

	if (s->cap - s->len < len) {
		s->cap = 2 * (s->len + len);
		s->bytes = realloc(s->bytes, s->cap);
		if (!s->bytes)
			abort();
	}
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
	return s->len < 64u << 20;
}

/* @modules: as of ts_log_decoder_only(), or NULL. */
static void decode(const char *arch, const uint8_t *bytes, size_t len, const char *const *modules)
{
	struct sink s = { 0 };
	struct ts_op_frames *frames = calloc(1, sizeof(*frames));
	struct ts_log_decoder *d;
	uint8_t *log = malloc(len + 8), *ops = malloc(TS_OP_FRAMES_CAP);

	if (!frames || !log || !ops)
		abort();
	frames->put = put;
	frames->user = &s;
	frames->ops = ops;
	frames->cap = TS_OP_FRAMES_CAP;
	d = ts_log_decoder_new(arch, 1, frames);
	if (!d)
		abort();
	if (modules)
		ts_log_decoder_only(d, modules);
	memcpy(log, bytes, len);
	ts_log_decoder_set_fatal(d, 11, 1, 0x10, 0);
	ts_log_decoder_take(d, log, len);
	ts_log_decoder_put_gaps(d);
	ts_op_frames_close(frames);
	if (ts_log_decoder_is_settled(d))
		ts_log_decoder_put_state(d); /* as --last does between two chunks */
	ts_log_decoder_finish(d);
	ts_log_decoder_free(d);
	free(log);
	free(ops);
	free(frames);
	free(s.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char *const modules[] = { "*e*", NULL };

	decode("x86_64", bytes, len, NULL);
	decode("x86_64", bytes, len, modules);
	decode("x86", bytes, len, NULL);
	decode("arm64", bytes, len, NULL);
	return 0;
}
