/* SPDX-License-Identifier: MIT */
#include "locate.h"

#include <string.h>
#include <strings.h>

#include "src/base/bytes.h"

#define PAGE_LEN UINT64_C(0x1000)
#define AT_BASE 7
#define AT_ENTRY 9

/* The value of an entry of the auxiliary vector. */
static bool find_auxv(const struct ts_facts *facts, uint64_t type, uint64_t *value)
{
	const struct ts_arch *arch = facts->regs->arch;
	unsigned word = ts_arch_addr_mask(arch) > UINT32_MAX ? 8 : 4;

	for (size_t at = 0; facts->auxv && facts->auxv_len - at >= 2 * word; at += 2 * word) {
		if (ts_number(facts->auxv + at, word, arch->is_big_endian) == type) {
			*value = ts_number(facts->auxv + at + word, word, arch->is_big_endian);
			return true;
		}
	}
	return false;
}

bool ts_has_interpreter(const struct ts_facts *facts)
{
	uint64_t base;

	return find_auxv(facts, AT_BASE, &base) && base;
}

/* Of a path of Linux or of Windows. */
static const char *last_part(const char *path)
{
	for (const char *p = path; *p; p++) {
		if (*p == '/' || *p == '\\')
			path = p + 1;
	}
	return path;
}

/* Does the recording call the program @name, or is it called as the file is? */
static bool is_program(const struct ts_facts *facts, const struct ts_source *src, const char *name)
{
	if (!name || !*name)
		return false;
	if (facts->exec_path)
		return strcmp(name, facts->exec_path) == 0;
	return strcasecmp(last_part(name), last_part(ts_source_name(src))) == 0;
}

/* Where the recording's modules have the program; they are its mapped files where it lists none. */
static bool find_module(const struct ts_query *q, const struct ts_source *src, uint32_t process,
			uint64_t *first)
{
	struct ts_module_info m;

	for (size_t i = 0; ts_query_module(q, i, &m); i++) {
		if (m.process == process && is_program(ts_query_facts(q), src, m.file)) {
			*first = m.first;
			return true;
		}
	}
	return false;
}

/* Locate the object by the user's options or by the recording. */
static void ask(const struct ts_query *q, const struct ts_source *src, const struct ts_object *o,
		uint32_t process, const uint64_t *base, struct ts_located *at)
{
	uint64_t entry, first;

	*at = (struct ts_located){ 0 };
	if (base) {
		at->by = TS_LOCATED_GIVEN;
		at->moved = *base - o->first;
	} else if (!o->is_movable) {
		at->by = TS_LOCATED_LINKED;
	} else if (!o->is_pe && find_auxv(ts_query_facts(q), AT_ENTRY, &entry) &&
		   !((entry - o->entry) % PAGE_LEN)) {
		at->by = TS_LOCATED_AUXV;
		at->moved = entry - o->entry;
	} else if (find_module(q, src, process, &first)) {
		at->by = TS_LOCATED_MODULE;
		at->moved = first - o->first;
	}
}

static bool is_movable(const struct ts_located *at)
{
	return at->by != TS_LOCATED_LINKED && at->by != TS_LOCATED_GIVEN;
}

/* The executed code has the last word, except over the user. */
static bool check(const struct ts_code_samples *samples, const struct ts_source *src,
		  const struct ts_object *o, struct ts_located *at, struct ts_error *err)
{
	uint64_t moved;

	if (at->by != TS_LOCATED_NOT && !ts_code_match(samples, src, o, at->moved, &at->match, err))
		return false;
	if (!is_movable(at) || (at->by != TS_LOCATED_NOT && !at->match.n_different))
		return true;
	if (!ts_load_base_by_code(samples, src, o, &moved, err))
		return err->code == TS_OK;
	at->by = TS_LOCATED_CODE;
	at->moved = moved;
	return ts_code_match(samples, src, o, moved, &at->match, err);
}

bool ts_locate(struct ts_query *q, const struct ts_source *src, const struct ts_object *o, uint32_t process,
	       const uint64_t *base, struct ts_located *at, struct ts_error *err)
{
	struct ts_code_samples samples;
	uint64_t mask;
	bool done;

	if (!ts_code_samples_init(&samples, q, process, err))
		return false;
	ask(q, src, o, process, base, at);
	done = check(&samples, src, o, at, err);
	at->is_pe = o->is_pe;
	at->n_samples = samples.n;
	mask = ts_arch_addr_mask(ts_query_regset(q)->arch);
	at->moved &= mask;
	at->first = (at->moved + o->first) & mask;
	ts_code_samples_fini(&samples);
	return done;
}

const char *ts_located_text(enum ts_located_by by)
{
	static const char *const texts[] = {
		[TS_LOCATED_NOT] = "it was not found in the recording",
		[TS_LOCATED_LINKED] = "where it is linked",
		[TS_LOCATED_GIVEN] = "as given",
		[TS_LOCATED_AUXV] = "by the auxiliary vector",
		[TS_LOCATED_MODULE] = "by the modules of the recording",
		[TS_LOCATED_CODE] = "by its code",
	};

	return texts[by];
}
