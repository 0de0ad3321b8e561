/* SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "trace_frame.h"

bool rsp_bytes_init(struct rsp_bytes *b, size_t len, struct ts_error *err)
{
	b->data = malloc(2 * len + 1);
	b->known = b->data ? b->data + len : NULL;
	return b->data ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read %zu bytes", len);
}

void rsp_bytes_fini(struct rsp_bytes *b)
{
	free(b->data);
	*b = (struct rsp_bytes){ 0 };
}

bool rsp_bytes_read(struct rsp_bytes *b, const struct rsp_session *s, uint64_t addr, size_t len,
		    struct ts_error *err)
{
	return rsp_tracing_is_looking(&s->tracing) ?
		       rsp_trace_frame_mem(s, addr, len, b->data, b->known, err) :
		       rsp_session_mem(s, s->pos, rsp_process(s), addr, len, b->data, b->known, err);
}

size_t rsp_bytes_n_known(const struct rsp_bytes *b, size_t len)
{
	const uint8_t *end = len ? memchr(b->known, 0, len) : NULL;

	return end ? (size_t)(end - b->known) : len;
}
