/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/smaps: the ranges of memory that are known at the session's position.
 *
 * gdb reads this file only to write a core (gcore), and writes the listed ranges.  Therefore the file lists the known
 * ranges, which may be less than the mapped memory (a core would have zeros for the rest), or more
 * (many recordings have no map, and /proc/PID/maps does not exist then).  A range has the protection and the file
 * of its region; without a region it is readable.  There are no counters: gdb then writes all ranges.
 */
#include "proc.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/session/bytes.h"
#include "protocol/session/session.h"
#include "src/base/clock.h"
#include "src/query/search/scan.h"

#define PAGE_LEN (UINT64_C(1) << TS_SCAN_PAGE_BITS)

/* Error numbers of the protocol's files. */
#define FILE_ENOENT 2u
#define FILE_EINTR  4u
#define FILE_EMFILE 24u
#define FILE_EIO    9999u

struct smaps {
	unsigned fd, reply_fd;
	uint64_t *pages;                /* owned; numbers of pages of which something may be known */
	size_t n_pages, at;
	struct ts_region_info *regions; /* owned; by address */
	size_t n_regions, region;       /* the first that does not end before the page */
	struct rsp_bytes bytes;         /* of a page */
	struct ts_region_info range;    /* what will be the next line, if has_range */
	bool has_range;
};

static void smaps_free(struct smaps *m)
{
	if (!m)
		return;
	free(m->pages);
	free(m->regions);
	rsp_bytes_fini(&m->bytes);
	free(m);
}

/* ------------------------------------------------------------------------------------------------ ranges */

static void put_range(struct rsp_session *s, struct smaps *m)
{
	if (m->has_range)
		rsp_proc_put_region(s, &m->range, &s->files[m->fd].text);
	m->has_range = false;
}

/* The region at @addr, or the gap before the next one: as a range from @addr to its end. */
static struct ts_region_info range_at(struct smaps *m, uint64_t addr)
{
	struct ts_region_info range = { .first = addr, .last = UINT64_MAX, .prot = TS_PROT_READ };
	const struct ts_region_info *r;

	while (m->region < m->n_regions && m->regions[m->region].last < addr)
		m->region++;
	r = &m->regions[m->region];
	if (m->region == m->n_regions)
		return range;
	if (addr < r->first) {
		range.last = r->first - 1;
		return range;
	}
	range = *r;
	range.first = addr;
	range.file_off += r->file ? addr - r->first : 0;
	return range;
}

/* Does @next go on where @range ends, in the same region? */
static bool is_continued(const struct ts_region_info *range, const struct ts_region_info *next)
{
	return range->last + 1 == next->first && range->prot == next->prot && range->file == next->file &&
	       range->desc == next->desc &&
	       (!range->file || range->file_off + (next->first - range->first) == next->file_off);
}

/* The bytes [@first, @last] are known. */
static void add_known(struct rsp_session *s, struct smaps *m, uint64_t first, uint64_t last)
{
	for (;;) {
		struct ts_region_info range = range_at(m, first);

		if (range.last > last)
			range.last = last;
		if (m->has_range && is_continued(&m->range, &range)) {
			m->range.last = range.last;
		} else {
			put_range(s, m);
			m->range = range;
			m->has_range = true;
		}
		if (range.last == last)
			return;
		first = range.last + 1;
	}
}

static bool add_page(struct rsp_session *s, struct smaps *m, struct ts_error *err)
{
	uint64_t page = m->pages[m->at++] << TS_SCAN_PAGE_BITS;
	const uint8_t *known = m->bytes.known;

	if (!rsp_bytes_read(&m->bytes, s, page, PAGE_LEN, err))
		return false;
	for (size_t i = 0, end; i < PAGE_LEN; i = end) {
		const uint8_t *other = memchr(known + i, known[i] ? 0 : 1, PAGE_LEN - i);

		end = other ? (size_t)(other - known) : PAGE_LEN;
		if (known[i])
			add_known(s, m, page + i, page + end - 1);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------ the job */

static void cancel(struct rsp_session *s)
{
	smaps_free(s->job.state);
	s->job.state = NULL;
}

/* The list is complete, or nothing can be added. */
static void finish(struct rsp_session *s, struct rsp_reply *r, unsigned error)
{
	struct smaps *m = s->job.state;
	struct rsp_file *f = &s->files[m->fd];

	put_range(s, m);
	if (!error && !ts_buf_ok(&f->text))
		error = FILE_EIO;
	if (!error && !f->text.len)
		error = FILE_ENOENT;
	if (!error && !rsp_session_open(s, f))
		error = FILE_EMFILE;
	if (error)
		rsp_reply_printf(r, "F-1,%x", error);
	else
		rsp_reply_printf(r, "F%x", m->reply_fd);
	cancel(s);
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct smaps *m = s->job.state;
	struct ts_error err = { 0 };
	bool done = true;

	while (done && m->at < m->n_pages && !s->job.is_interrupted && ts_now_ns() < end_ns)
		done = add_page(s, m, &err);
	if (!done)
		finish(s, r, FILE_EIO);
	else if (s->job.is_interrupted)
		finish(s, r, FILE_EINTR);
	else if (m->at == m->n_pages)
		finish(s, r, 0);
	else
		return false;
	return true;
}

static bool take_regions(const struct rsp_session *s, struct smaps *m)
{
	uint32_t process = rsp_process(s);

	m->n_regions = ts_query_regions(s->target->q, process, s->pos, NULL, 0);
	m->regions = calloc(m->n_regions + 1, sizeof(*m->regions));
	if (m->regions)
		ts_query_regions(s->target->q, process, s->pos, m->regions, m->n_regions);
	return m->regions != NULL;
}

bool rsp_smaps_start(struct rsp_session *s, unsigned fd, unsigned reply_fd)
{
	static const struct rsp_job_ops ops = { .slice = slice, .cancel = cancel };
	struct smaps *m = calloc(1, sizeof(*m));
	uint64_t last = ts_arch_addr_mask(rsp_regset(s)->arch);
	struct ts_error ignored = { 0 };

	if (!m || !take_regions(s, m) || !rsp_bytes_init(&m->bytes, PAGE_LEN, &ignored) ||
	    !ts_query_pages(s->target->q, false, rsp_process(s), 0, last, &m->pages, &m->n_pages)) {
		smaps_free(m);
		return false;
	}
	m->fd = fd;
	m->reply_fd = reply_fd;
	s->files[fd].source = NULL;
	ts_buf_reset(&s->files[fd].text);
	rsp_job_start(&s->job, &ops, m);
	return true;
}
