/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include "asserts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/source/unpack.h"
#include "twins.h"
#include "unit.h"

const char *const sample_names[] = {
	"usercorn/x64_walk.ucir",
	"usercorn/x86_walk.ucir",
	"usercorn/arm_walk.ucir",
	"usercorn/mips_walk.ucir",
	"usercorn/v2_threads.ucir",
	"usercorn/x64_crash.ucir",
	"rvnbintrace-samples/tiny-fib.bin.gz", /* a whole machine's */
	"rvnbintrace-samples/edges.bin.gz", /* another one's, which maps memory at other addresses */
	"bap-samples/tw-x86_64.frames.gz",
	"bap-samples/tw-arm.frames.gz",
	"bap-samples/tw-ppc.frames.gz",
	"x64dbg-samples/list64.trace64.gz",
	"x64dbg-samples/threads-flagless.trace64.gz",
	"x64dbg-samples/fib32.trace32.gz",
	"gdbrecord-samples/walk64.core.gz",
	"gdbrecord-samples/list-aarch64.core.gz",
	"gdbrecord-samples/walk32.core.gz",
	"tenet-samples/pin-walk64.log.gz",
	"tenet-samples/pin-gap64.log.gz", /* with gaps */
	"tfile-samples/work-mem.tf",
	"tfile-samples/work-regs.tf",
};
const int sample_n_names = sizeof(sample_names) / sizeof(sample_names[0]);

/* The longest ranges of positions, each twice as long as the one before. */
#define MIN_RANGE UINT64_C(4)
#define N_RANGES  10u

#define PRESENT  UINT64_C(1)
#define LARGE    UINT64_C(0x80)
#define ADDRESS  UINT64_C(0x000ffffffffff000)
#define N_LEVELS 4u
#define ENTRIES  512u

/* Bytes of the address that an entry of the level covers; level 0 is that of pages. */
static uint64_t span_of(unsigned level)
{
	return UINT64_C(4096) << 9 * level;
}

bool sample_byte(const struct sample *x, uint64_t pos, uint32_t process, uint64_t addr, uint8_t *value)
{
	uint8_t is_known = 0;

	*value = 0;
	if (naive_is_tracked(x->nv, addr))
		return naive_mem(x->nv, pos, process, addr, value);
	ts_image_fill(&x->s->rec.memory, 0, addr, 1, value, &is_known);
	return is_known;
}

static uint64_t number_of(const struct sample *x, uint64_t pos, uint64_t phys)
{
	uint64_t number = 0;
	uint8_t bytes[8] = { 0 }, known[8] = { 0 };

	ts_image_fill(&x->s->rec.memory, 0, phys, sizeof(bytes), bytes, known);
	for (unsigned i = 8; i-- > 0;) {
		if (naive_is_tracked(x->nv, phys + i))
			naive_mem(x->nv, pos, 0, phys + i, &bytes[i]);
		number = number << 8 | bytes[i];
	}
	return number;
}

static uint64_t root_of(const struct sample *x, uint64_t pos)
{
	const struct ts_regset *set = &x->s->rec.regs;
	const struct ts_reg *r = &set->regs[ts_regset_find(set, "cr3")];
	uint64_t number = 0;

	for (unsigned i = r->len; i-- > 0;) {
		uint8_t value = 0;

		naive_reg(x->nv, pos, naive_thread(x->nv, pos), r->off + i, &value);
		number = number << 8 | value;
	}
	return number & ADDRESS;
}

static uint64_t canonical(uint64_t virt)
{
	return virt >> 47 & 1 ? virt | UINT64_C(0xffff) << 48 : virt;
}

bool sample_physical(const struct sample *x, uint64_t pos, uint64_t virt, uint64_t *phys)
{
	uint64_t table;

	*phys = virt;
	if (!x->s->rec.is_physical)
		return true;
	table = root_of(x, pos);
	for (unsigned level = N_LEVELS; level-- > 0;) {
		uint64_t entry = number_of(x, pos, table + virt / span_of(level) % ENTRIES * 8);

		if (!(entry & PRESENT))
			return false;
		table = entry & ADDRESS;
		if (!level || (entry & LARGE && level < 3)) {
			*phys = (table & ~(span_of(level) - 1)) | (virt & (span_of(level) - 1));
			return true;
		}
	}
	return false;
}

static void list_pages(struct sample *x, uint64_t table, uint64_t virt, unsigned level)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		uint64_t entry = number_of(x, 0, table + i * 8), at = virt + i * span_of(level);

		if (!(entry & PRESENT))
			continue;
		if (level && !(entry & LARGE && level < 3)) {
			list_pages(x, entry & ADDRESS, at, level - 1);
			continue;
		}
		x->pages = realloc(x->pages, (x->n_pages + 1) * sizeof(*x->pages));
		ck_assert_ptr_nonnull(x->pages);
		x->pages[x->n_pages++] = (struct sample_page){
			canonical(at), entry & ADDRESS & ~(span_of(level) - 1), span_of(level) };
	}
}

bool sample_virtual(const struct sample *x, uint64_t pos, uint64_t phys, uint64_t *virt, uint64_t *n_left)
{
	*virt = phys;
	*n_left = UINT64_MAX;
	if (!x->s->rec.is_physical)
		return true;
	for (size_t i = 0; i < x->n_pages; i++) {
		const struct sample_page *p = &x->pages[i];
		uint64_t found;

		if (phys < p->phys || phys - p->phys >= p->len)
			continue;
		*virt = p->virt + (phys - p->phys);
		*n_left = p->len - (phys - p->phys);
		return sample_physical(x, pos, *virt, &found) && found == phys;
	}
	return false;
}

void sample_open(struct sample *x, const char *name)
{
	const struct ts_loader_options opt = { 0 };
	const struct ts_unpack_options unpack = { 0 };
	const struct ts_loader *loader;
	struct ts_error err;

	*x = (struct sample){ 0 };
	ts_error_reset(&err);
	x->src = ts_trace_open(unit_data_path(name), &unpack, &err);
	loader = x->src ? ts_loader_probe(x->src, &err) : NULL;
	x->rec = loader ? ts_loader_open(loader, x->src, &opt, &err) : NULL;
	ck_assert_msg(x->rec, "%s: %s", name, err.text);
	x->s = script_read(x->rec);
	x->nv = naive_new(x->s, false, false);
	if (x->s->rec.is_physical)
		list_pages(x, root_of(x, 0), 0, N_LEVELS - 1);
}

void sample_close(struct sample *x)
{
	naive_free(x->nv);
	script_free(x->s);
	ts_recording_close(x->rec);
	ts_source_close(x->src);
	free(x->pages);
}

/* The name of a folder begins with that of the format. */
static size_t format_len(int i)
{
	return strcspn(sample_names[i], "/-");
}

static bool is_same_format(int i, int k)
{
	return format_len(i) == format_len(k) && !memcmp(sample_names[i], sample_names[k], format_len(i));
}

unsigned sample_n_questions(int i, unsigned few)
{
	uint64_t wanted = twins_n_questions();
	unsigned n = 0;

	for (int k = 0; k < sample_n_names; k++)
		n += is_same_format(i, k);
	return wanted ? (unsigned)(wanted / n + 1) : few;
}

void sample_range(struct script_random *r, uint64_t n_steps, uint64_t *from, uint64_t *to, char *words)
{
	uint64_t max;

	*from = 0;
	*to = n_steps;
	if (script_chance(r, 4))
		return;
	max = MIN_RANGE << script_below(r, N_RANGES);
	*from = script_below(r, 1 + script_below(r, n_steps));
	max = max < n_steps - *from ? max : n_steps - *from;
	*to = *from + 1 + script_below(r, max);
	sprintf(words + strlen(words), " in %" PRIu64 ":%" PRIu64, *from, *to);
}

TCase *sample_case(const TTest *test)
{
	TCase *c = twins_case();
	char format[32];

	for (int i = 0; i < sample_n_names; i++) {
		snprintf(format, sizeof(format), "%.*s", (int)format_len(i), sample_names[i]);
		if (twins_has_format(format))
			tcase_add_loop_test(c, test, i, i + 1);
	}
	return c;
}
