/* SPDX-License-Identifier: MIT */
#include "part.h"

#include <stdlib.h>

#include "index_policy.h"
#include "src/trace/chunk.h"

/* Chunks that are passed over at once, and the unit in which a recording is divided. */
#define STRETCH 8u

enum stage { COUNT, FIND, DECODE };

/* A reader that passes over the recording. */
struct pass {
	struct ts_recording *rec; /* owned */
	struct ts_reader *reader; /* owned */
	struct ts_buf here;       /* its position */
	bool is_skipping;         /* skip() was called since ts_reader_resume() */
	uint64_t n_stretches;
};

struct ts_part {
	struct ts_model_options opt;
	struct ts_source *src; /* borrowed */
	struct ts_part_number number;
	struct ts_index_key key; /* of the recording as it is before anything of it was read */
	enum stage stage;
	struct pass pass;
	struct ts_batch batch;
	uint64_t first, end;   /* stretches of the part */
	uint64_t n_learned;    /* by the reader: those of batches, and those that were passed over */
	struct ts_part_writer *writer; /* owned */
	uint64_t n_steps;
	const char *path;
};

static void close_pass(struct pass *p)
{
	ts_reader_close(p->reader);
	ts_recording_close(p->rec);
	ts_buf_fini(&p->here);
	*p = (struct pass){ 0 };
}

/* Open the recording anew, at its beginning. */
static bool open_pass(struct ts_part *p, struct ts_error *err)
{
	struct pass *pass = &p->pass;

	close_pass(pass);
	ts_buf_init(&pass->here);
	pass->rec = p->opt.load(p->opt.user, NULL, err);
	if (!pass->rec)
		return false;
	pass->rec->source = p->src;
	pass->reader = pass->rec->ops->reader(pass->rec, err);
	if (!pass->reader)
		return ts_fail_prefix(err, "%s", pass->rec->format);
	if (!pass->reader->ops->skip)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "%s: a recording of this format cannot be read from the middle: index it as a whole", pass->rec->format);
	p->n_learned = pass->rec->n_learned;
	ts_reader_save(pass->reader, &pass->here);
	return ts_buf_ok(&pass->here) || ts_no_memory(err, "the segment");
}

/* The reader is here again, and can decode.  What is odd on the way was found before. */
static bool resume(struct pass *p, struct ts_error *err)
{
	uint64_t n_learned = p->rec->n_learned;
	struct ts_learned before;
	bool done;

	ts_learned_init(&before);
	done = (ts_learned_take(&before, p->rec) || ts_no_memory(err, "the segment")) &&
	       ts_reader_resume(p->reader, p->here.data, p->here.len, err);
	if (done && p->rec->n_learned != n_learned)
		ts_learned_give(&before, p->rec); /* there is room: it had as much */
	ts_learned_fini(&before);
	p->is_skipping = false;
	return done;
}

/* The next chunk to the part's batch.  Returns false if memory is exhausted. */
static bool decode(struct ts_part *p, struct ts_error *err)
{
	struct ts_batch *b = &p->batch;

	ts_error_reset(&b->err);
	ts_batch_read_steps(b, p->pass.reader, &b->steps);
	ts_batch_close(b, p->pass.reader, p->pass.rec, &p->n_learned);
	ts_buf_reset(&p->pass.here);
	ts_buf_put(&p->pass.here, b->after.data, b->after.len);
	if ((b->next != TS_FAIL || b->err.code != TS_ENOMEM) && ts_buf_ok(&p->pass.here))
		return true;
	return ts_no_memory(err, "the segment");
}

/* Pass over a stretch.  Returns TS_END after the recording's last one. */
static enum ts_next pass_stretch(struct ts_part *p, struct ts_error *err)
{
	struct pass *pass = &p->pass;
	struct ts_reader *r = pass->reader;

	p->batch.next = TS_ITEM;
	if (r->ops->skip(r, (uint64_t)STRETCH * TS_CHUNK_STEPS)) {
		pass->is_skipping = true;
		ts_buf_reset(&pass->here);
		ts_reader_save(r, &pass->here);
	} else {
		if (!resume(pass, err))
			return TS_FAIL;
		for (unsigned i = 0; i < STRETCH && p->batch.next == TS_ITEM; i++) {
			if (!decode(p, err))
				return TS_FAIL;
		}
	}
	pass->n_stretches++;
	if (!ts_buf_ok(&pass->here)) {
		ts_no_memory(err, "the segment");
		return TS_FAIL;
	}
	return p->batch.next == TS_ITEM ? TS_ITEM : TS_END;
}

/* The stretches of the part, of all stretches of the recording. */
static bool divide(struct ts_part *p, struct ts_error *err)
{
	uint64_t n = p->pass.n_stretches;

	p->first = n / p->number.n * (p->number.i - 1) + n % p->number.n * (p->number.i - 1) / p->number.n;
	p->end = n / p->number.n * p->number.i + n % p->number.n * p->number.i / p->number.n;
	p->stage = FIND;
	return open_pass(p, err);
}

/* The part begins here. */
static bool begin_part(struct ts_part *p, struct ts_error *err)
{
	struct ts_index_places places;

	if (p->pass.is_skipping && !resume(&p->pass, err))
		return false;
	p->n_learned = p->pass.rec->n_learned;
	p->stage = DECODE;
	if (!ts_index_places_init(&places, p->opt.trace, p->opt.index.path))
		return ts_no_memory(err, "the segment");
	p->writer = ts_part_writer_new(&places, &p->key, &p->number, p->first * STRETCH, &p->pass.here, err);
	ts_index_places_fini(&places);
	return p->writer != NULL;
}

/* Decode a stretch of the part. */
static bool decode_stretch(struct ts_part *p, struct ts_error *err)
{
	p->batch.next = TS_ITEM;
	for (unsigned i = 0; i < STRETCH && p->batch.next == TS_ITEM; i++) {
		if (!decode(p, err) || !ts_part_writer_add(p->writer, &p->batch, err))
			return false;
		p->n_steps += p->batch.steps.n_steps;
	}
	p->first++;
	return true;
}

static bool end_part(struct ts_part *p, struct ts_error *err)
{
	p->path = ts_part_writer_finish(p->writer, err);
	return p->path != NULL;
}

enum ts_next ts_part_run(struct ts_part *p, struct ts_error *err)
{
	enum ts_next next;

	switch (p->stage) {
	case COUNT:
		next = pass_stretch(p, err);
		if (next == TS_END)
			next = divide(p, err) ? TS_ITEM : TS_FAIL;
		return next;
	case FIND:
		if (p->pass.n_stretches < p->first)
			return pass_stretch(p, err) == TS_FAIL ? TS_FAIL : TS_ITEM;
		return begin_part(p, err) ? TS_ITEM : TS_FAIL;
	case DECODE:
		if (p->first < p->end)
			return decode_stretch(p, err) ? TS_ITEM : TS_FAIL;
		return end_part(p, err) ? TS_END : TS_FAIL;
	}
	abort();
}

struct ts_part *ts_part_new(const struct ts_model_options *opt, struct ts_source *src, const struct ts_part_number *number,
			    struct ts_error *err)
{
	struct ts_part *p = calloc(1, sizeof(*p));

	if (!p)
		return ts_no_memory(err, "the segment");
	p->opt = *opt;
	p->src = src;
	p->number = *number;
	ts_batch_init(&p->batch);
	if (open_pass(p, err) && ts_index_policy_part_key(p->pass.rec, src, opt, &p->key, err))
		return p;
	ts_part_free(p);
	return NULL;
}

void ts_part_free(struct ts_part *p)
{
	if (!p)
		return;
	ts_part_writer_free(p->writer);
	close_pass(&p->pass);
	ts_batch_fini(&p->batch);
	free(p);
}

struct ts_part_facts ts_part_facts(const struct ts_part *p)
{
	return (struct ts_part_facts){
		.n_steps = p->n_steps,
		.len = p->writer ? ts_part_writer_len(p->writer) : 0,
		.path = p->path,
		.is_passing = p->stage != DECODE,
		.n_passed = p->pass.n_stretches * STRETCH * TS_CHUNK_STEPS,
	};
}
