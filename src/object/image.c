/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "src/base/collections/vec.h"
#include "src/source/rooted.h"

void ts_image_init(struct ts_image *img)
{
	*img = (struct ts_image){ 0 };
}

void ts_image_fini(struct ts_image *img)
{
	for (uint32_t i = 0; i < img->n_sources; i++)
		ts_source_close(img->sources[i]);
	free(img->sources);
	free(img->ranges);
	free(img->real_sysroot);
	ts_image_init(img);
}

uint32_t ts_image_add_source(struct ts_image *img, struct ts_source *src)
{
	if (!ts_vec_reserve(&img->sources, img->n_sources, &img->cap_sources, 1, sizeof(*img->sources))) {
		ts_source_close(src);
		return UINT32_MAX;
	}
	img->sources[img->n_sources] = src;
	return img->n_sources++;
}

bool ts_image_add(struct ts_image *img, uint64_t map, uint64_t addr, uint64_t len, uint32_t source,
		  uint64_t off, struct ts_error *err)
{
	uint64_t file_len;

	assert(source < img->n_sources);
	file_len = ts_source_len(img->sources[source]);
	if (off >= file_len || !len)
		return true;
	if (len > file_len - off)
		len = file_len - off;
	if (len - 1 > UINT64_MAX - addr)
		len = UINT64_MAX - addr + 1;
	if (!ts_vec_reserve(&img->ranges, img->n_ranges, &img->cap_ranges, 1, sizeof(*img->ranges)))
		return ts_no_memory(err, "the image's ranges");
	img->ranges[img->n_ranges++] = (struct ts_image_range){ map, addr, addr + (len - 1), off, source };
	return true;
}

/* As in the file: what a loader changes for another base, and the addresses of imports, are not put in. */
static bool add_object(struct ts_image *img, const uint64_t *base, uint32_t source, struct ts_error *err)
{
	struct ts_object object;
	bool done = true;
	uint64_t move;

	if (!ts_object_init(&object, img->sources[source], err))
		return false;
	move = base ? *base - object.first : 0;
	for (size_t i = 0; i < object.n_loads && done; i++) {
		const struct ts_elf_load *l = &object.loads[i];

		done = ts_image_add(img, 0, l->addr + move, l->file_len, source, l->file_off, err);
	}
	ts_object_fini(&object);
	return done;
}

static bool add_raw(struct ts_image *img, const uint64_t *base, uint32_t source, struct ts_error *err)
{
	if (!base)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "neither an ELF nor a PE file: it needs an address, as FILE@BASE");
	return ts_image_add(img, 0, *base, ts_source_len(img->sources[source]), source, 0, err);
}

bool ts_image_add_file(struct ts_image *img, const char *path, const uint64_t *base, struct ts_error *err)
{
	static bool (*const kinds[])(struct ts_image * img, const uint64_t *base, uint32_t source,
				     struct ts_error *err) = { add_object, add_raw };
	struct ts_source *src = ts_source_open(path, err);
	uint32_t source;
	bool done = false;

	if (!src)
		return false;
	source = ts_image_add_source(img, src);
	if (source == UINT32_MAX)
		return ts_no_memory(err, "the image");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !done; i++) {
		ts_error_reset(err);
		done = kinds[i](img, base, source, err);
		if (!done && err->code != TS_EUNSUPPORTED)
			return false;
	}
	return done;
}

/* Set @name to the path under the sysroot of the file @path.  Returns false without a sysroot, or if the path is too long. */
static bool beneath_sysroot(const struct ts_image *img, const char *path, char name[PATH_MAX])
{
	return img->sysroot && snprintf(name, PATH_MAX, "%s/%s", img->sysroot, path) < PATH_MAX;
}

/* The source called @name if it is open already; UINT32_MAX if it is not. */
static uint32_t find_open(const struct ts_image *img, const char *name)
{
	for (uint32_t i = 0; i < img->n_sources; i++) {
		if (!strcmp(ts_source_name(img->sources[i]), name))
			return i;
	}
	return UINT32_MAX;
}

/* The rest of @path after the sysroot's own path.  Returns NULL if it does not begin with that. */
static const char *without_sysroot(const struct ts_image *img, const char *path)
{
	size_t len = img->real_sysroot ? strlen(img->real_sysroot) : 0;

	return len && !strncmp(path, img->real_sysroot, len) && path[len] == '/' ? path + len : NULL;
}

/* The source of @path in the sysroot, opened now if need be; UINT32_MAX when the file does not exist. */
static uint32_t open_in_sysroot(struct ts_image *img, const char *path)
{
	char name[PATH_MAX];
	uint32_t source;
	struct ts_error err = { 0 };
	struct ts_source *src;
	int fd;

	if (!beneath_sysroot(img, path, name))
		return UINT32_MAX;
	source = find_open(img, name);
	if (source != UINT32_MAX)
		return source;
	fd = ts_rooted_open(img->sysroot, path);
	src = fd < 0 ? NULL : ts_source_from_fd(fd, name, &err);
	return src ? ts_image_add_source(img, src) : UINT32_MAX;
}

static uint32_t find_source(struct ts_image *img, const char *path)
{
	uint32_t source = open_in_sysroot(img, path);
	char real[PATH_MAX];

	if (source != UINT32_MAX || !img->sysroot)
		return source;
	if (!img->real_sysroot && realpath(img->sysroot, real))
		img->real_sysroot = strdup(real);
	path = without_sysroot(img, path);
	return path ? open_in_sysroot(img, path) : UINT32_MAX;
}

void ts_image_open(struct ts_image *img, const char *path)
{
	find_source(img, path);
}

const struct ts_source *ts_image_find(const struct ts_image *img, const char *path)
{
	uint32_t source = UINT32_MAX;
	char name[PATH_MAX];

	for (; path && source == UINT32_MAX; path = without_sysroot(img, path)) {
		if (beneath_sysroot(img, path, name))
			source = find_open(img, name);
	}
	return source == UINT32_MAX ? NULL : img->sources[source];
}

bool ts_image_map(struct ts_image *img, uint64_t map, uint64_t addr, uint64_t len, const char *path,
		  uint64_t off, struct ts_error *err)
{
	uint32_t source = find_source(img, path);

	return source == UINT32_MAX || ts_image_add(img, map, addr, len, source, off, err);
}

/*
 * Up to @n bytes from @from on, of one read.  Returns how many there are; 0 also if the file cannot be read.
 */
static size_t fill_some(const struct ts_image *img, const struct ts_image_range *r, uint64_t from, size_t n,
			uint8_t *data, uint8_t *known)
{
	uint8_t bytes[4096], *to = bytes;
	struct ts_error err = { 0 };
	size_t got;

	if (!memchr(known, 1, n))
		to = data;
	else if (n > sizeof(bytes))
		n = sizeof(bytes);
	if (!ts_source_read(img->sources[r->source], r->off + (from - r->first), to, n, &got, &err))
		atomic_store((atomic_bool *)&img->has_failed, true);
	for (size_t i = 0; to == bytes && i < got; i++)
		data[i] = known[i] ? data[i] : bytes[i];
	memset(known, 1, got);
	return got;
}

static void fill_from(const struct ts_image *img, const struct ts_image_range *r, uint64_t addr, size_t len,
		      uint8_t *data, uint8_t *known)
{
	uint64_t last = addr + (len - 1);
	uint64_t from = addr > r->first ? addr : r->first;
	uint64_t to = last < r->last ? last : r->last;

	for (size_t got; from <= to; from += got) {
		size_t at = (size_t)(from - addr);

		got = fill_some(img, r, from, (size_t)(to - from) + 1, data + at, known + at);
		if (!got || to - from < got)
			return;
	}
}

bool ts_image_check(const struct ts_image *img, struct ts_error *err)
{
	return !img || !atomic_load((atomic_bool *)&img->has_failed) ||
	       !atomic_exchange((atomic_bool *)&img->has_failed, false) ||
	       ts_fail(err, TS_EIO, TS_NO_OFF, "a file with memory of the recording cannot be read");
}

void ts_image_fill(const struct ts_image *img, uint64_t map, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known)
{
	for (size_t i = img->n_ranges; i-- > 0;) {
		const struct ts_image_range *r = &img->ranges[i];

		if (r->map == map && r->first <= addr + (len - 1) && r->last >= addr && memchr(known, 0, len))
			fill_from(img, r, addr, len, data, known);
	}
}

bool ts_image_next_data(const struct ts_image *img, const struct ts_image_range *r, uint64_t addr,
			uint64_t *first, uint64_t *last)
{
	uint64_t off, end;

	if (!ts_source_next_data(img->sources[r->source], r->off + (addr - r->first), &off, &end) ||
	    off - r->off > r->last - r->first)
		return false;
	*first = r->first + (off - r->off);
	*last = end - 1 - r->off < r->last - r->first ? r->first + (end - 1 - r->off) : r->last;
	return true;
}
