/* SPDX-License-Identifier: MIT */
/*
 * Shows what is known at every position of a trace to tests that compare it with an oracle.
 *
 *      states regs TRACE [EXEC]          a line a position: position, thread id, pc, then NAME=HEX (target
 *                                        byte order) for each register whose value or knowledge changed since
 *                                        the last line of that thread; NAME= is unknown now
 *      states mem TRACE POS ADDR LEN...  a line for each position and range: the bytes in hexadecimal, ".."
 *      where unknown
 *      states ask TRACE                  the same; positions, addresses and lengths come from stdin, a line
 *                                        each
 *      states steps TRACE                a line a step: pc, then R:ADDR:HEX for what it reads, W: what it
 *                                        writes, K: what the kernel does
 *      states frames TRACE               a line a trace frame: its number, tracepoint, "regs" and "pc" if it
 *                                        has them, then ADDR+LEN for each range of memory and $NUMBER=VALUE
 *                                        for each variable, in the order of collection
 *      states info TRACE [EXEC]          N, warnings, damage
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/frames/frames.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

struct job {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_error err;
};

static bool open_job(struct job *job, const char *path, const char *exec)
{
	const struct ts_loader_options opt = { .exec = exec };
	const struct ts_loader *loader;
	enum ts_next grow = TS_MORE;

	job->src = ts_source_open(path, &job->err);
	loader = job->src ? ts_loader_probe(job->src, &job->err) : NULL;
	job->rec = loader ? ts_loader_open(loader, job->src, &opt, &job->err) : NULL;
	job->tl = job->rec ? ts_timeline_new(job->rec, NULL, &job->err) : NULL;
	while (job->tl && grow == TS_MORE)
		grow = ts_timeline_grow(job->tl, 1 << 16, &job->err);
	if (grow == TS_END)
		job->q = ts_query_new(job->tl, &job->err);
	return job->q != NULL;
}

static void close_job(struct job *job)
{
	ts_query_free(job->q);
	ts_timeline_free(job->tl);
	ts_recording_close(job->rec);
	ts_source_close(job->src);
}

/* The last line of a thread: values and what is known. */
struct shown {
	uint8_t *data, *known;
	bool is_shown;
};

static void show_changes(const struct ts_regset *set, struct shown *s, const uint8_t *data,
			 const uint8_t *known)
{
	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *r = &set->regs[i];
		bool is_known = !memchr(known + r->off, 0, r->len),
		     was_known = !memchr(s->known + r->off, 0, r->len);

		if ((int)i == set->pc || (is_known == was_known &&
					  (!is_known || !memcmp(data + r->off, s->data + r->off, r->len))))
			continue;
		printf(" %s=", r->name);
		for (unsigned j = 0; is_known && j < r->len; j++)
			printf("%02x", data[r->off + j]);
	}
	memcpy(s->data, data, set->g_len);
	memcpy(s->known, known, set->g_len);
}

static bool show_regs(struct job *job)
{
	const struct ts_regset *set = &job->rec->regs;
	struct shown *shown = calloc(job->rec->n_threads, sizeof(*shown));
	uint8_t *data = calloc(2, set->g_len), *known = data + set->g_len;
	bool done = shown && data;

	for (uint64_t pos = 0; pos <= job->tl->n_steps && done; pos++) {
		uint32_t thread = ts_query_thread(job->q, pos);
		struct shown *s = &shown[thread];
		uint64_t pc;
		bool has_pc;

		if (!s->data)
			s->data = calloc(2, set->g_len);
		s->known = s->data + set->g_len;
		done = ts_query_pc(job->q, pos, thread, &pc, &has_pc, &job->err) &&
		       ts_query_regs(job->q, pos, thread, data, known, &job->err);
		printf("%" PRIu64 " %" PRIu64 " %" PRIx64, pos, job->rec->threads[thread].tid, pc);
		show_changes(set, s, data, known);
		putchar('\n');
	}
	for (uint32_t i = 0; shown && i < job->rec->n_threads; i++)
		free(shown[i].data);
	free(shown);
	free(data);
	return done;
}

static bool show_mem(struct job *job, uint64_t pos, uint64_t addr, size_t len)
{
	uint8_t *data = calloc(2, len), *known = data + len;
	bool done = data && ts_query_mem(job->q, pos, 0, addr, len, data, known, &job->err);

	for (size_t i = 0; i < len && done; i++) {
		if (known[i])
			printf("%02x", data[i]);
		else
			printf("..");
	}
	putchar('\n');
	free(data);
	return done;
}

static bool show_asked(struct job *job)
{
	uint64_t pos, addr;
	bool done = true;
	size_t len;

	while (done && scanf("%" SCNu64 " %" SCNu64 " %zu", &pos, &addr, &len) == 3)
		done = show_mem(job, pos, addr, len);
	return done;
}

static void show_access(const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *data = ts_effect_data(b, e);

	if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || (e->is_hidden && e->kind == TS_FX_READ))
		return;
	printf(" %c:%" PRIx64 ":", e->kind == TS_FX_READ ? 'R' : e->is_hidden ? 'K' : 'W', e->addr);
	for (uint64_t i = 0; i < e->len; i++) {
		if (data)
			printf("%02x", data[i]);
		else
			printf("..");
	}
}

static bool show_steps(struct job *job)
{
	for (uint64_t pos = 0; pos < job->tl->n_steps; pos++) {
		const struct ts_steps *b;
		const struct ts_step *s = ts_query_step(job->q, pos, &b, &job->err);

		if (!s)
			return false;
		printf("%" PRIx64, s->pc);
		for (uint32_t i = 0; i < s->n_effects; i++)
			show_access(b, &b->effects[s->first + i]);
		putchar('\n');
	}
	return true;
}

static bool show_frames(struct job *job)
{
	struct ts_frames *frames = job->rec->frames;
	struct ts_frame f;
	bool done = frames != NULL;

	ts_frame_init(&f);
	for (uint64_t n = 0; done && n < frames->n_frames; n++) {
		done = ts_frames_get(frames, n, &f, &job->err);
		printf("%" PRIu64 " %" PRIu32 "%s%s", n, f.tracepoint, f.has_regs ? " regs" : "",
		       f.has_pc ? " pc" : "");
		for (size_t i = 0; i < f.n_ranges; i++)
			printf(" %" PRIx64 "+%" PRIx64, f.ranges[i].addr, f.ranges[i].len);
		for (size_t i = 0; i < f.n_vars; i++)
			printf(" $%" PRIu32 "=%" PRId64, f.vars[i].number, f.vars[i].value);
		putchar('\n');
	}
	ts_frame_fini(&f);
	return done;
}

static void show_info(const struct job *job)
{
	struct ts_timeline_stats stats;
	char text[1024];

	ts_timeline_stats(job->tl, &stats);
	printf("%" PRIu64 " steps, %" PRIu64 " unexplained, %" PRIu64 " inferred, %s\n", job->tl->n_steps,
	       stats.n_unexplained, stats.n_inferred, job->rec->variant);
	for (unsigned i = 0; i < job->rec->n_warnings; i++)
		printf("warning: %s (%" PRIu64 ")\n", job->rec->warnings[i].text,
		       job->rec->warnings[i].count);
	if (job->tl->damage.code != TS_OK) {
		ts_error_format(&job->tl->damage, NULL, text, sizeof(text));
		printf("damage: %s\n", text);
	}
}

static bool run(struct job *job, int argc, char **argv)
{
	if (!strcmp(argv[1], "mem")) {
		bool done = argc % 3 == 0 && open_job(job, argv[2], NULL);

		for (int i = 3; i < argc && done; i += 3)
			done = show_mem(job, strtoull(argv[i], NULL, 0), strtoull(argv[i + 1], NULL, 0),
					(size_t)strtoull(argv[i + 2], NULL, 0));
		return done;
	}
	if (!open_job(job, argv[2], argc > 3 ? argv[3] : NULL))
		return false;
	if (!strcmp(argv[1], "regs"))
		return show_regs(job);
	if (!strcmp(argv[1], "ask"))
		return show_asked(job);
	if (!strcmp(argv[1], "frames"))
		return show_frames(job);
	if (!strcmp(argv[1], "steps"))
		return show_steps(job);
	show_info(job);
	return true;
}

int main(int argc, char **argv)
{
	struct job job = { 0 };
	char text[1024];
	bool done;

	if (argc < 3)
		return 2;
	ts_error_reset(&job.err);
	done = run(&job, argc, argv);
	if (!done) {
		ts_error_format(&job.err, argv[2], text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	close_job(&job);
	return !done;
}
