/* SPDX-License-Identifier: MIT */
#include "trace_check.h"

#include <string.h>

#include "src/base/log.h"
#include "src/index/index_verified.h"

void ts_trace_check_init(struct ts_trace_check *c, struct ts_timeline *tl, const struct ts_index_trace *trace)
{
	struct ts_error err = { 0 };

	*c = (struct ts_trace_check){ .src = trace->src, .is_compared = trace->is_left };
	if (!tl->file || (ts_index_is_finished(tl->file) && !trace->is_left))
		return;
	memcpy(c->wanted, trace->hash, sizeof(c->wanted));
	c->hash = ts_trace_hash_new(c->src, &ts_index_file_key(tl->file)->signer, &err);
	if (!c->hash)
		ts_log(TS_LOG_INFO, "%s: %s", ts_source_name(c->src), err.text);
	tl->is_unverified = c->is_compared && c->hash;
	tl->is_foreign = c->is_compared && !c->hash;
}

void ts_trace_check_fini(struct ts_trace_check *c)
{
	ts_trace_hash_free(c->hash);
	*c = (struct ts_trace_check){ 0 };
}

/* All bytes are in the hash. */
static void finish(const struct ts_trace_check *c, struct ts_timeline *tl)
{
	uint8_t hash[TS_TRACE_HASH_LEN];

	ts_trace_hash_value(c->hash, hash);
	tl->is_unverified = false;
	tl->is_foreign = c->is_compared && memcmp(hash, c->wanted, sizeof(hash)) != 0;
	if (!tl->is_foreign) {
		ts_index_note_file(tl->file, c->src, hash);
		return;
	}
	ts_log(TS_LOG_WARN, "%s: the trace has changed since it was made; removed", ts_index_path(tl->file));
	ts_index_remove(tl->file);
}

bool ts_trace_check_grow(struct ts_trace_check *c, struct ts_timeline *tl, uint64_t len)
{
	bool is_read = !tl->builder;
	struct ts_error err = { 0 };
	enum ts_next next;

	if (!c->hash)
		return false;
	next = ts_trace_hash_grow(c->hash, is_read ? UINT64_MAX : ts_source_reached(c->src), len, &err);
	if (next == TS_ITEM || (next == TS_END && !is_read))
		return true;
	if (next == TS_END && ts_index_is_finished(tl->file))
		finish(c, tl);
	tl->is_foreign |= tl->is_unverified; /* it could not be compared */
	ts_trace_hash_free(c->hash);
	c->hash = NULL;
	return false;
}
