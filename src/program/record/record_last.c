/* SPDX-License-Identifier: MIT */
/*
 * `record --last SIZE`: the end of a run.
 *
 * The stream is written to parts, unnamed files beside the output.  Each part begins with the state of the program.
 * When a part has half of the size, a new part begins, and replaces the second to last part.  At the end
 * the last two parts are copied into the recording.
 */
#include "recorder.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "src/source/spool.h"

#define COPY_LEN 65536u

static struct ts_record_part *part(struct ts_record_last *last, unsigned n)
{
	return &last->parts[n % 2];
}

bool ts_record_last_init(struct ts_record_last *last, uint64_t max, const char *path, struct ts_error *err)
{
	char name[PATH_MAX];
	const char *folder;

	*last = (struct ts_record_last){ .max = max, .parts = { { .fd = -1 }, { .fd = -1 } } };
	snprintf(name, sizeof(name), "%s", path);
	folder = dirname(name);
	for (unsigned i = 0; i < 2; i++) {
		last->parts[i].fd = ts_spool_open(folder);
		if (last->parts[i].fd < 0)
			return ts_fail_errno(err, "--last: no file can be created in %s", folder);
	}
	return true;
}

struct ucir_writer *ts_record_last_begin(struct ts_record_last *last, uint64_t n_steps, struct ts_error *err)
{
	struct ts_record_part *p = part(last, last->n);

	if (ftruncate(p->fd, 0) < 0 || lseek(p->fd, 0, SEEK_SET) < 0) {
		ts_fail_errno(err, "cannot be begun again");
		return NULL;
	}
	last->n++;
	p->first = n_steps;
	p->n_state = 0;
	p->writer.fd = p->fd;
	p->writer.n_file = p->writer.n = 0;
	return &p->writer;
}

void ts_record_last_end_state(struct ts_record_last *last)
{
	struct ts_record_part *p = part(last, last->n - 1);

	p->n_state = p->writer.n_file;
}

uint64_t ts_record_last_bound(const struct ts_record_last *last)
{
	return last->parts[(last->n - 1) % 2].n_state + last->max / 2;
}

uint64_t ts_record_last_n_lost(const struct ts_record_last *last)
{
	return last->n < 2 ? 0 : last->parts[last->n % 2].first;
}

/* The file from byte @from on. */
static bool copy_file(const struct ts_record_part *p, uint64_t from, struct ucir_writer *w, struct ts_error *err)
{
	uint8_t bytes[COPY_LEN];
	ssize_t n;

	while ((n = pread(p->fd, bytes, sizeof(bytes), (off_t)from)) > 0) {
		if (!ucir_writer_copy(w, bytes, (size_t)n, err))
			return false;
		from += (uint64_t)n;
	}
	return n == 0 || ts_fail_errno(err, "cannot read the last part");
}

bool ts_record_last_copy(const struct ts_record_last *last, struct ucir_writer *w, struct ts_error *err)
{
	const struct ts_record_part *first = &last->parts[last->n < 2 ? 0 : last->n % 2];
	const struct ts_record_part *second = &last->parts[(last->n - 1) % 2];

	if (!last->n)
		return true;
	if (!ucir_writer_flush(w, err) || !copy_file(first, 0, w, err))
		return false;
	/* the state is what the first part has led to */
	return first == second || copy_file(second, second->n_state, w, err);
}

void ts_record_last_fini(struct ts_record_last *last)
{
	for (unsigned i = 0; i < 2; i++) {
		if (last->parts[i].fd >= 0)
			close(last->parts[i].fd);
		last->parts[i].fd = -1;
	}
}
