/* SPDX-License-Identifier: MIT */
/*
 * A header of ustar (POSIX.1-1988; pax(1), "ustar Interchange Format"), 512 bytes: at 0 the name, at 100
 * mode, owner, group in octal, at 124 the length, at 136 the time, at 148 the checksum, at 156 '0' for a
 * file, at 257 the magic, at 500 the part of the time below a second (pack.h). A length of 8 GiB or more is binary, big-endian, with the first bit set, as GNU tar
 * and star write it.
 */
#include "pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "src/base/collections/vec.h"
#include "zstd_frames.h"

#define BLOCK       512u
#define MAX_MEMBERS 20000u /* a recording has at most 16,384 threads */
#define MAX_FACTS   4096u
#define PIECE       (256u << 10)

#define FACTS_NAME "tracestub-pack"
#define MAGIC     \
	"ustar\0" \
	"00"

#define AT_MODE    100u
#define AT_LEN     124u
#define AT_TIME    136u
#define AT_SUM     148u
#define AT_TYPE    156u
#define AT_MAGIC   257u
#define AT_NS      500u
#define NUMBER_LEN 12u

/* The sum of all bytes, those of the checksum taken for blanks. */
static unsigned sum_of(const uint8_t block[BLOCK])
{
	unsigned sum = 8 * ' ';

	for (unsigned i = 0; i < BLOCK; i++)
		sum += i < AT_SUM || i >= AT_SUM + 8 ? block[i] : 0;
	return sum;
}

static uint64_t round_up(uint64_t len)
{
	return (len + BLOCK - 1) / BLOCK * BLOCK;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* An octal number, ended by a blank or a zero; or a binary one.  UINT64_MAX if it is neither. */
static uint64_t parse_number(const uint8_t *p, size_t len)
{
	uint64_t v = 0;
	size_t i = 0;

	if (p[0] & 0x80) {
		for (i = len - 8; i < len; i++)
			v = v << 8 | p[i];
		for (i = 1; i < len - 8; i++)
			v = p[i] ? UINT64_MAX : v;
		return p[0] == 0x80 ? v : UINT64_MAX;
	}
	for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	return i && (i == len || p[i] == ' ' || !p[i]) ? v : UINT64_MAX;
}

static bool is_zero(const uint8_t block[BLOCK])
{
	unsigned i = 0;

	while (i < BLOCK && !block[i])
		i++;
	return i == BLOCK;
}

/* Read the header at @off into @m. */
static bool read_header(const struct ts_source *src, uint64_t off, const uint8_t block[BLOCK],
			struct ts_pack_member *m, struct ts_error *err)
{
	memcpy(m->name, block, TS_PACK_NAME_LEN);
	m->name[TS_PACK_NAME_LEN] = '\0';
	m->off = off + BLOCK;
	m->len = parse_number(block + AT_LEN, NUMBER_LEN);
	m->mtime = parse_number(block + AT_TIME, NUMBER_LEN) * 1000000000;
	if (block[AT_NS])
		m->mtime += parse_number(block + AT_NS, NUMBER_LEN);
	if (memcmp(block + AT_MAGIC, MAGIC, 8) || parse_number(block + AT_SUM, 8) != sum_of(block) ||
	    block[AT_TYPE] != '0')
		return ts_fail(err, TS_ECORRUPT, off,
			       "the packed recording is damaged: this is not the header of a member");
	if (m->off > ts_source_len(src) || m->len > ts_source_len(src) - m->off)
		return ts_fail(err, TS_ETRUNC, off,
			       "the packed recording is truncated: %" PRIu64
			       " bytes are missing of its last member",
			       m->len - (ts_source_len(src) - m->off));
	return true;
}

static bool make_room(struct ts_pack *p, struct ts_error *err)
{
	return ts_vec_reserve(&p->members, p->n, &p->cap, 1, sizeof(*p->members)) || ts_no_memory(err, "opening it");
}

static bool read_members(struct ts_pack *p, struct ts_error *err)
{
	uint8_t block[BLOCK];

	for (uint64_t off = 0;; off = p->members[p->n - 1].off + round_up(p->members[p->n - 1].len)) {
		if (!ts_source_read_all(p->src, off, block, BLOCK, err))
			return false;
		if (is_zero(block))
			return true;
		if (p->n == MAX_MEMBERS)
			return ts_fail(err, TS_ELIMIT, off, "the packed recording has more than %u members",
				       MAX_MEMBERS);
		if (!make_room(p, err) || !read_header(p->src, off, block, &p->members[p->n], err))
			return false;
		p->n++;
	}
}

/* The number after @word, which begins a line. */
static bool find_number(const char *text, const char *word, uint64_t *value)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len) && line[len] == ' ') {
			*value = strtoull(line + len + 1, NULL, 0);
			return true;
		}
	}
	return false;
}

static bool read_facts(struct ts_pack *p, struct ts_error *err)
{
	const struct ts_pack_member *m = p->members;
	char text[MAX_FACTS + 1] = "";
	uint64_t version = 0;

	if (!p->n || strcmp(m->name, FACTS_NAME) || m->len > MAX_FACTS)
		return ts_fail(err, TS_ECORRUPT, 0,
			       "the packed recording is damaged: its first member is not " FACTS_NAME);
	if (!ts_source_read_all(p->src, m->off, text, (size_t)m->len, err))
		return false;
	if (!find_number(text, "version", &version) || version != 1)
		return ts_fail(err, TS_EUNSUPPORTED, m->off,
			       "the packed recording is of version %" PRIu64 "; this program reads version 1",
			       version);
	find_number(text, "mtime", &p->facts.mtime);
	p->facts.has_base = find_number(text, "base", &p->facts.base);
	for (size_t i = 0; i < p->n; i++) {
		if (strncmp(p->members[i].name, "trace/", 6))
			continue;
		p->members[i].mtime = p->facts.mtime;
		return true;
	}
	return ts_fail(err, TS_ECORRUPT, 0, "the packed recording has no trace");
}

bool ts_pack_is(const struct ts_source *src)
{
	struct ts_error ignored = { 0 };
	uint8_t block[BLOCK];

	return ts_source_len(src) >= BLOCK && ts_source_read_all(src, 0, block, BLOCK, &ignored) &&
	       !memcmp(block, FACTS_NAME, sizeof(FACTS_NAME)) && !memcmp(block + AT_MAGIC, MAGIC, 8);
}

struct ts_source *ts_pack_open_archive(const char *path, struct ts_error *err)
{
	struct ts_source *file = ts_source_open(path, err),
			 *archive = file ? ts_zstd_seek_open(file, err) : NULL;

	if (archive && ts_pack_is(archive))
		return archive;
	ts_source_close(archive ? archive : file);
	ts_fail(err, TS_EUSAGE, TS_NO_OFF, "not a packed recording, which `tracestub pack` makes");
	return NULL;
}

bool ts_pack_init(struct ts_pack *p, const struct ts_source *src, struct ts_error *err)
{
	*p = (struct ts_pack){ .src = src };
	return read_members(p, err) && read_facts(p, err);
}

void ts_pack_fini(struct ts_pack *p)
{
	free(p->members);
	*p = (struct ts_pack){ 0 };
}

const struct ts_pack_member *ts_pack_next(const struct ts_pack *p, const struct ts_pack_member *m,
					  const char *folder)
{
	size_t len = strlen(folder);

	for (m = m ? m + 1 : p->members; m < p->members + p->n; m++) {
		if (!strncmp(m->name, folder, len))
			return m;
	}
	return NULL;
}

const struct ts_pack_member *ts_pack_find(const struct ts_pack *p, const char *name)
{
	const struct ts_pack_member *m = NULL;

	while ((m = ts_pack_next(p, m, name))) {
		if (name[strlen(name) - 1] == '/' || !strcmp(m->name, name))
			break;
	}
	return m;
}

const char *ts_pack_file_name(const struct ts_pack_member *m)
{
	const char *slash = strrchr(m->name, '/'), *name = slash ? slash + 1 : m->name;

	return *name && strcmp(name, ".") && strcmp(name, "..") ? name : NULL;
}

struct ts_source *ts_pack_open(const struct ts_pack *p, const struct ts_pack_member *m, struct ts_error *err)
{
	struct ts_source *archive = ts_source_dup(p->src, err), *src = NULL;
	const char *slash = strrchr(m->name, '/');
	char *name;

	if (archive && asprintf(&name, "%s/%s", ts_source_name(p->src), slash ? slash + 1 : m->name) < 0) {
		ts_source_close(archive);
		ts_no_memory(err, "opening it");
	} else if (archive) {
		src = ts_part_open(archive, m->off, m->len, name, err);
		free(name);
	}
	if (src)
		src->mtime = m->mtime;
	return src;
}

bool ts_pack_copy(const struct ts_pack *p, const struct ts_pack_member *m, struct ts_atomic_file *file,
		  struct ts_error *err)
{
	uint8_t *bytes = malloc(PIECE);
	bool done = bytes || ts_no_memory(err, "opening it");

	for (uint64_t off = 0; done && off < m->len; off += PIECE) {
		size_t n = m->len - off < PIECE ? (size_t)(m->len - off) : PIECE;

		done = ts_source_read_all(p->src, m->off + off, bytes, n, err) &&
		       ts_atomic_file_write(file, bytes, n, err);
	}
	free(bytes);
	return done;
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_len(uint8_t *at, uint64_t len)
{
	if (len >> 33) {
		at[0] = 0x80;
		for (unsigned i = 0; i < 8; i++)
			at[NUMBER_LEN - 1 - i] = (uint8_t)(len >> 8 * i);
	} else {
		snprintf((char *)at, NUMBER_LEN, "%011" PRIo64, len);
	}
}

static bool add_header(struct ts_pack_writer *w, const char *folder, const char *path, uint64_t len,
		       uint64_t mtime, struct ts_error *err)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path ? path : "";
	size_t room = TS_PACK_NAME_LEN - 1 - strlen(folder), n_name = strlen(name);
	uint8_t block[BLOCK] = { 0 };

	snprintf((char *)block, TS_PACK_NAME_LEN, "%s%s", folder, name + (n_name > room ? n_name - room : 0));
	memcpy(block + AT_MODE,
	       "0000600\0"
	       "0000000\0"
	       "0000000",
	       24);
	put_len(block + AT_LEN, len);
	put_len(block + AT_TIME, mtime / 1000000000);
	put_len(block + AT_NS, mtime % 1000000000);
	block[AT_TYPE] = '0';
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
	memcpy(block + AT_MAGIC, MAGIC, 8);
	snprintf((char *)block + AT_SUM, 8, "%06o", sum_of(block));
	return ts_zstd_writer_add(&w->zstd, block, BLOCK, err);
}

static bool add_zeros(struct ts_pack_writer *w, size_t len, struct ts_error *err)
{
	static const uint8_t zeros[2 * BLOCK];

	return ts_zstd_writer_add(&w->zstd, zeros, len, err);
}

static bool add_facts(struct ts_pack_writer *w, const struct ts_pack_facts *facts, struct ts_error *err)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "version 1\nmtime %" PRIu64 "\n", facts->mtime);

	if (facts->has_base)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "base 0x%" PRIx64 "\n", facts->base);
	return add_header(w, FACTS_NAME, NULL, (uint64_t)len, facts->mtime, err) &&
	       ts_zstd_writer_add(&w->zstd, text, (size_t)len, err) &&
	       add_zeros(w, (size_t)(round_up((uint64_t)len) - (uint64_t)len), err);
}

bool ts_pack_writer_init(struct ts_pack_writer *w, const char *path, const struct ts_pack_facts *facts,
			 struct ts_error *err)
{
	bool done;

	*w = (struct ts_pack_writer){ 0 };
	done = ts_atomic_file_init(&w->file, path, err);
	return ts_zstd_writer_init(&w->zstd, &w->file, err) && done && add_facts(w, facts, err);
}

void ts_pack_writer_fini(struct ts_pack_writer *w)
{
	ts_zstd_writer_fini(&w->zstd);
	ts_atomic_file_fini(&w->file);
}

bool ts_pack_writer_add(struct ts_pack_writer *w, const char *folder, const char *path,
			const struct ts_source *src, struct ts_error *err)
{
	uint64_t len = ts_source_len(src);
	uint8_t *bytes = malloc(PIECE);
	bool done = bytes || ts_no_memory(err, "opening it");

	done = done && ts_zstd_writer_end_frame(&w->zstd, err) &&
	       add_header(w, folder, path, len, ts_source_mtime(src), err);
	for (uint64_t off = 0; done && off < len; off += PIECE) {
		size_t n = len - off < PIECE ? (size_t)(len - off) : PIECE;

		done = ts_source_read_all(src, off, bytes, n, err) &&
		       ts_zstd_writer_add(&w->zstd, bytes, n, err);
		if (done && w->progress)
			w->progress(w->user, w->zstd.n_in);
	}
	free(bytes);
	return done && add_zeros(w, (size_t)(round_up(len) - len), err);
}

bool ts_pack_writer_finish(struct ts_pack_writer *w, struct ts_error *err)
{
	return add_zeros(w, sizeof(uint8_t[2 * BLOCK]), err) && ts_zstd_writer_finish(&w->zstd, err) &&
	       ts_atomic_file_finish(&w->file, err);
}
