/* SPDX-License-Identifier: MIT */
/*
 * Puts the contents of a keyframe's regions in their places.
 *
 * The tool trims zero bytes from both ends of a region's contents and still writes them at the region's
 * start, so that the contents of a region that begins with a zero byte are too low in the trace: the stack
 * always, .data often.  The shift is not recorded.  It follows from facts about the region, from the
 * program's file, or from the execution; if it cannot be found, the contents stay where they were recorded,
 * with a warning.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/object/elf_image.h"

#define PAGE_LEN UINT64_C(4096)
#define VSYSCALL_PAGE UINT64_C(0xffffffffff600000)

/* Limit on the segments of the program's file that are examined. */
#define MAX_LOADS 64

/* A region whose contents are fewer bytes than itself and were recorded at its start. */
struct region {
	uint64_t addr, len;
	uint32_t prot;       /* enum ts_prot bits */
	bool has_file;       /* it maps a file, from file_off on */
	uint64_t file_off;
	const char *desc;    /* "" for none; borrowed from the initial effects */
	const uint8_t *data; /* likewise; not empty */
	uint64_t data_len;
	uint32_t thread;
	uint32_t effect; /* ordinal of the write in the initial effects */
	uint64_t shift;
	const char *by; /* the source of the shift, a literal; NULL: not known yet */
};

struct places {
	struct usercorn *rec; /* borrowed */
	struct region *items; /* owned; grouped by thread */
	size_t n;
	/* For the thread queried last. */
	uint32_t thread; /* TS_NO_THREAD before the first */
	bool has_sp;
	uint64_t sp;   /* initial stack pointer */
	uint64_t bias; /* load address of the program less the address that it was linked for */
	/* The program's file, if there is one. */
	struct ts_source *src; /* owned */
	struct ts_elf elf;
};

static void place(struct region *r, uint64_t shift, const char *by)
{
	if (r->by || shift > r->len - r->data_len)
		return;
	r->shift = shift;
	r->by = by;
}

/* -------------------------------------------------------------------------------- what there is */

/* Does the region's write at effect @i follow its map at once, with nothing more written there? */
static bool is_snapshot(const struct ts_steps *b, uint32_t i)
{
	const struct ts_effect *map = &b->effects[i - 1], *write = &b->effects[i],
			       *after = &b->effects[i + 1];

	if (map->kind != TS_FX_MAP || write->kind != TS_FX_WRITE || write->addr != map->addr ||
	    write->len > map->len)
		return false;
	/* an address below the region is a huge number above it */
	return i + 1 == b->n_effects || after->kind != TS_FX_WRITE || after->addr - map->addr >= map->len;
}

static bool collect(struct places *p, struct ts_error *err)
{
	const struct ts_steps *b = &p->rec->base.initial;
	uint32_t thread = 0;

	p->items = calloc((size_t)b->n_maps + 1, sizeof(*p->items));
	if (!p->items)
		return ts_no_memory(err, "the regions of the trace");
	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];
		const char *desc;

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (!i || !is_snapshot(b, i))
			continue;
		desc = ts_steps_text(b, b->maps[e[-1].item].desc);
		p->items[p->n++] = (struct region){
			.addr = e->addr,
			.len = e[-1].len,
			.prot = b->maps[e[-1].item].prot,
			.has_file = b->maps[e[-1].item].file != TS_NO_DATA,
			.file_off = b->maps[e[-1].item].file_off,
			.desc = desc ? desc : "",
			.data = ts_effect_data(b, e),
			.data_len = e->len,
			.thread = thread,
			.effect = i,
		};
	}
	return true;
}

static bool has_desc(const struct region *r, const char *desc)
{
	return strcmp(r->desc, desc) == 0;
}

/* The value of register @reg of a thread at the beginning.  Returns false if it is unknown. */
static bool initial_value(const struct usercorn *rec, uint32_t thread, int reg, uint64_t *value)
{
	const struct ts_steps *b = &rec->base.initial;
	const struct ts_regset *regs = &rec->base.regs;
	uint32_t current = 0;
	bool is_known = false;

	for (uint32_t i = 0; i < b->n_effects && reg >= 0; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_THREAD)
			current = e->item;
		if (current != thread || e->kind != TS_FX_REG_WRITE || e->addr != regs->regs[reg].off)
			continue;
		*value = ts_arch_get(rec->model, ts_effect_data(b, e), (size_t)e->len) & rec->addr_mask;
		is_known = true;
	}
	return is_known;
}

/* -------------------------------------------------------------------------------- the program's file */

/* Is the failure temporary?  Then it says nothing about the file. */
static bool is_passing(const struct ts_error *err)
{
	return err->code == TS_EIO || err->code == TS_ENOMEM;
}

/* Returns false if it cannot be read (TS_EIO, TS_ENOMEM); warns of a file that is not a program. */
static bool open_exec(struct places *p, const char *exec, struct ts_error *err)
{
	p->src = ts_source_open(exec, err);
	if (p->src && ts_elf_init(&p->elf, p->src, err)) {
		if (p->elf.n_loads > MAX_LOADS)
			p->elf.n_loads = MAX_LOADS;
		return true;
	}
	if (is_passing(err))
		return ts_fail_prefix(err, "%s", exec);
	ts_recording_warn(&p->rec->base, "%s does not help to place the regions' contents: %s", exec,
			  err->text);
	ts_error_reset(err);
	return true;
}

/* Load address of the program less the address that it was linked for. */
static uint64_t find_bias(const struct places *p, uint32_t thread)
{
	uint64_t linked = UINT64_MAX, loaded = UINT64_MAX;

	for (size_t i = 0; i < p->elf.n_loads; i++)
		if (p->elf.loads[i].addr < linked)
			linked = p->elf.loads[i].addr;
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].thread == thread && has_desc(&p->items[i], "exe") &&
		    p->items[i].addr < loaded)
			loaded = p->items[i].addr;
	return loaded - (linked & ~(PAGE_LEN - 1));
}

/* Find what the rules need to know of a thread. */
static void look_at(struct places *p, uint32_t thread)
{
	if (p->thread == thread)
		return;
	p->thread = thread;
	p->has_sp = initial_value(p->rec, thread, p->rec->base.regs.sp, &p->sp);
	p->bias = find_bias(p, thread);
}

/*
 * The part of a segment's file bytes that lies in the region from shift @from on: *at gets its shift, *off
 * its offset in the file.
 * Returns its length.
 */
static uint64_t clip(const struct places *p, const struct ts_elf_load *load, const struct region *r,
		     uint64_t from, uint64_t *at, uint64_t *off)
{
	uint64_t start = load->addr + p->bias - r->addr; /* below the region: a huge number */
	uint64_t skip = 0;

	if (start >= r->len && -start < load->file_len)
		skip = -start;
	else if (start >= r->len)
		return 0;
	*at = skip ? 0 : start;
	if (from > *at) {
		if (from - *at >= load->file_len - skip)
			return 0;
		skip += from - *at;
		*at = from;
	}
	*off = load->file_off + skip;
	return load->file_len - skip < r->len - *at ? load->file_len - skip : r->len - *at;
}

/*
 * *best gets the shift of the first byte of the file's image of the region, from @from on, that is not zero;
 * r->len if none is found.
 *
 * Returns false if the file cannot be read.
 */
static bool first_nonzero(const struct places *p, const struct region *r, uint64_t from, uint64_t *best,
			  struct ts_error *err)
{
	*best = r->len;
	for (size_t i = 0; i < p->elf.n_loads; i++) {
		uint64_t at, off, len = clip(p, &p->elf.loads[i], r, from, &at, &off);

		for (size_t n = 0; len && at < *best; at += n, off += n, len -= n) {
			uint8_t bytes[4096];
			size_t want = len < sizeof(bytes) ? (size_t)len : sizeof(bytes), j = 0;

			if (!ts_source_read(p->src, off, bytes, want, &n, err))
				return false;
			if (!n)
				break;
			while (j < n && !bytes[j])
				j++;
			if (j < n && at + j < *best)
				*best = at + j;
		}
	}
	return true;
}

/* The file's image of the region at @shift, as long as the region's data; to be freed.  NULL on failure. */
static uint8_t *read_image(const struct places *p, const struct region *r, uint64_t shift,
			   struct ts_error *err)
{
	uint8_t *image = calloc(1, (size_t)r->data_len);

	if (!image)
		ts_no_memory(err, "the regions of the trace");
	for (size_t i = 0; i < p->elf.n_loads && image; i++) {
		uint64_t at, off, len = clip(p, &p->elf.loads[i], r, shift, &at, &off);
		size_t got;

		if (!len || at - shift >= r->data_len)
			continue;
		if (len > r->data_len - (at - shift))
			len = r->data_len - (at - shift);
		if (!ts_source_read(p->src, off, image + (at - shift), (size_t)len, &got, err)) {
			free(image);
			image = NULL;
		}
	}
	return image;
}

/* Is the file's image at @shift the region's data, and is all after it zero? */
static bool compare(const struct places *p, const struct region *r, uint64_t shift, bool *is_equal,
		    struct ts_error *err)
{
	uint64_t after = r->len;
	uint8_t *image;

	*is_equal = false;
	if (shift > r->len - r->data_len)
		return true;
	image = read_image(p, r, shift, err);
	if (!image)
		return false;
	*is_equal = memcmp(image, r->data, (size_t)r->data_len) == 0;
	free(image);
	if (!*is_equal)
		return true;
	if (!first_nonzero(p, r, shift + r->data_len, &after, err))
		return false;
	*is_equal = after == r->len;
	return true;
}

/*
 * The kernel maps whole pages: what follows a segment in its last page is what follows it in the file.  Is
 * the data that, with the zeros at both ends that the tool trims?  *shift gets how many come before it.
 */
static bool compare_mapped(const struct places *p, const struct region *r, uint64_t *shift, bool *is_equal,
			   struct ts_error *err)
{
	uint64_t file_len = ts_source_len(p->src), len;
	size_t got = 0, first = 0;
	uint8_t *page;
	bool done;

	*is_equal = false;
	if (!r->has_file || r->file_off >= file_len)
		return true;
	len = file_len - r->file_off < r->len ? file_len - r->file_off : r->len;
	page = malloc((size_t)len);
	if (!page)
		return ts_no_memory(err, "the regions of the trace");
	done = ts_source_read(p->src, r->file_off, page, (size_t)len, &got, err);
	while (first < got && !page[first])
		first++;
	while (got > first && !page[got - 1])
		got--;
	*shift = first;
	*is_equal = done && got - first == r->data_len && !memcmp(page + first, r->data, (size_t)r->data_len);
	free(page);
	return done;
}

/* Is the region's memory of a segment that the program, or its dynamic linker, may write? */
static bool is_of_data(const struct places *p, const struct region *r)
{
	for (size_t i = 0; i < p->elf.n_loads; i++) {
		const struct ts_elf_load *load = &p->elf.loads[i];
		uint64_t start = load->addr + p->bias;

		if (load->prot & TS_PROT_WRITE &&
		    (r->addr - start < load->mem_len || start - r->addr < r->len))
			return true;
	}
	return false;
}

/*
 * The region's image in the file, trimmed as the tool trims it, must be the data.  Data that a program may
 * write says nothing about its file: the recording may begin after it was written.
 */
static bool place_by_file(const struct places *p, struct region *r, struct ts_error *err)
{
	uint64_t shift;
	bool is_equal;

	if (!first_nonzero(p, r, 0, &shift, err) || !compare(p, r, shift, &is_equal, err) ||
	    (!is_equal && !compare_mapped(p, r, &shift, &is_equal, err)))
		return false;
	if (is_equal)
		place(r, shift, "the program's file");
	else if (!is_of_data(p, r))
		ts_recording_warn(
			&p->rec->base,
			"the given program is not quite the one that was recorded: the region at 0x%" PRIx64
			" differs",
			r->addr);
	return true;
}

/* -------------------------------------------------------------------------------- rules */

/*
 * Linux: the stack pointer points at the argument count, whose only byte that is not zero is the first one of
 * a little-endian number and the last one of a big-endian one.
 */
static void place_linux_stack(const struct places *p, struct region *r)
{
	unsigned word_len = p->rec->model->addr_bits / 8;

	if (!p->has_sp || p->sp < r->addr || p->sp - r->addr >= r->len)
		return;
	place(r, p->sp - r->addr + (p->rec->model->is_big_endian ? word_len - 1 : 0), "the stack pointer");
}

static bool place_by_rule(struct places *p, struct region *r, struct ts_error *err)
{
	const char *os = p->rec->base.os;
	/* an image of a file is mapped from its header on, and read-only */
	bool is_image = has_desc(r, "exe") || has_desc(r, "interp") ||
			(*r->desc && !has_desc(r, "stack") && !(r->prot & TS_PROT_WRITE));

	look_at(p, r->thread);
	/*
	 * The tool removes all zeros at both ends: this comes from another producer, which put it where it
	 * belongs.
	 */
	if (r->data_len == r->len || !r->data[0] || !r->data[r->data_len - 1])
		place(r, 0, "its length or its ends");
	if (!r->by && p->elf.n_loads && has_desc(r, "exe") && !place_by_file(p, r, err))
		return false;
	if (has_desc(r, "stack") && strcmp(os, "linux") == 0)
		place_linux_stack(p, r);
	if (has_desc(r, "stack") && strcmp(os, "darwin") == 0 && r->data_len < r->len)
		place(r, r->len - 1 - r->data_len, "darwin's stack layout");
	if (has_desc(r, "gdt"))
		place(r, 8, "the null descriptor");
	if (is_image && r->data_len >= 4 && memcmp(r->data, "\177ELF", 4) == 0)
		place(r, 0, "the ELF header");
	if (r->addr == VSYSCALL_PAGE && p->rec->model->addr_bits == 64)
		place(r, 0, "the vsyscall page's first entry");
	return true;
}

static bool place_by_votes(struct places *p, struct ts_error *err)
{
	struct ucir_vote votes[UCIR_MAX_VOTES];
	struct region *asked[UCIR_MAX_VOTES];
	size_t n = 0;

	for (size_t i = 0; i < p->n && n < UCIR_MAX_VOTES; i++) {
		struct region *r = &p->items[i];

		if (r->by)
			continue;
		asked[n] = r;
		votes[n++] = (struct ucir_vote){
			.addr = r->addr,
			.len = r->len,
			.data_len = r->data_len,
			.data = r->data,
			.thread = r->thread,
		};
	}
	if (n && !ucir_vote(p->rec, votes, n, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		ts_log(TS_LOG_DEBUG,
		       "usercorn: region at 0x%" PRIx64 ": shift 0x%" PRIx64
		       " has %u bytes for it, %u against",
		       asked[i]->addr, votes[i].shift, votes[i].n_for, votes[i].n_against);
		if (votes[i].is_decided)
			place(asked[i], votes[i].shift, "what the execution shows");
	}
	return true;
}

/* -------------------------------------------------------------------------------- all of it */

static void settle(struct places *p)
{
	struct ts_steps *b = &p->rec->base.initial;

	for (size_t i = 0; i < p->n; i++) {
		struct region *r = &p->items[i];

		b->effects[r->effect].addr += r->shift;
		ts_log(TS_LOG_DEBUG,
		       "usercorn: region at 0x%" PRIx64 " (%s): contents at +0x%" PRIx64 " by %s", r->addr,
		       r->desc, r->shift, r->by ? r->by : "nothing");
		if (!r->by)
			ts_recording_warn(&p->rec->base,
					  "the contents of the region at 0x%" PRIx64
					  "%s%s are uncertain: their offset"
					  " in it is unknown%s",
					  r->addr, *r->desc ? " of " : "", r->desc,
					  has_desc(r, "exe") && !p->src ? "; give --exec" : "");
	}
}

/* Do both begin with the same effects, but for where contents are? */
static bool is_alike(const struct ts_steps *a, const struct ts_steps *b)
{
	if (a->n_effects != b->n_effects)
		return false;
	for (uint32_t i = 0; i < a->n_effects; i++)
		if (a->effects[i].kind != b->effects[i].kind || a->effects[i].len != b->effects[i].len)
			return false;
	return true;
}

bool ucir_place(struct usercorn *rec, const struct usercorn *like, const char *exec, struct ts_error *err)
{
	struct places p = { .rec = rec, .thread = TS_NO_THREAD };
	bool done;

	if (like && is_alike(&rec->base.initial, &like->base.initial)) {
		for (uint32_t i = 0; i < rec->base.initial.n_effects; i++)
			rec->base.initial.effects[i].addr = like->base.initial.effects[i].addr;
		return true;
	}
	done = collect(&p, err) && (!exec || open_exec(&p, exec, err));

	for (size_t i = 0; done && i < p.n; i++)
		if (p.items[i].data_len)
			done = place_by_rule(&p, &p.items[i], err);
	done = done && place_by_votes(&p, err);
	if (done)
		settle(&p);
	free(p.items);
	ts_elf_fini(&p.elf);
	ts_source_close(p.src);
	return done;
}

/* -------------------------------------------------------------------------------- the stack */

/* The region in which the stack pointer points; bytes without contents are zero. */
struct stack {
	const struct usercorn *rec; /* borrowed */
	uint64_t first, last;       /* addresses, both inclusive */
};

/* The byte at @addr; -1 outside. */
static int stack_byte(const struct stack *s, uint64_t addr)
{
	size_t n;
	const uint8_t *p;

	if (addr < s->first || addr > s->last)
		return -1;
	p = ucir_initial_bytes(s->rec, 0, addr, &n);
	return p ? *p : 0;
}

/* The word at @addr, which moves after it. */
static bool stack_word(const struct stack *s, uint64_t *addr, uint64_t *v)
{
	uint8_t bytes[8];
	size_t len = s->rec->model->addr_bits / 8;

	for (size_t i = 0; i < len; i++) {
		int b = stack_byte(s, *addr + i);

		if (b < 0)
			return false;
		bytes[i] = (uint8_t)b;
	}
	*addr += len;
	*v = ts_arch_get(s->rec->model, bytes, len);
	return true;
}

/* The limits that Linux sets for arguments, environment and auxiliary vector. */
#define MAX_TEXT_LEN (2u << 20)
#define MAX_ARGS 4096
#define MAX_AUXV 256

/* Append the text at @addr with its NUL. */
static bool stack_text(const struct stack *s, uint64_t addr, struct ts_buf *out)
{
	int b;

	do {
		b = stack_byte(s, addr++);
		if (b < 0 || out->len >= MAX_TEXT_LEN)
			return false;
		ts_buf_putc(out, (uint8_t)b);
	} while (b);
	return true;
}

/* argc, argv and the NULL after it.  False if it isn't that. */
static bool read_args(const struct stack *s, uint64_t *at, struct ts_buf *out)
{
	uint64_t argc, arg;

	if (!stack_word(s, at, &argc) || argc > MAX_ARGS)
		return false;
	for (uint64_t i = 0; i < argc; i++)
		if (!stack_word(s, at, &arg) || !stack_text(s, arg, out))
			return false;
	return stack_word(s, at, &arg) && arg == 0;
}

static bool skip_env(const struct stack *s, uint64_t *at)
{
	uint64_t v = 1;

	for (unsigned i = 0; i < MAX_ARGS && v; i++)
		if (!stack_word(s, at, &v) || (v && stack_byte(s, v) < 0))
			return false;
	return v == 0;
}

/* Pairs up to AT_NULL; *end gets the address after it. */
static bool find_auxv_end(const struct stack *s, uint64_t at, uint64_t *end)
{
	uint64_t type = 1, v;

	for (unsigned i = 0; i < MAX_AUXV && type; i++)
		if (!stack_word(s, &at, &type) || !stack_word(s, &at, &v) || type > 0xffff)
			return false;
	*end = at;
	return type == 0;
}

static bool keep_auxv(struct usercorn *rec, const struct stack *s, uint64_t at, uint64_t end)
{
	rec->base.auxv = malloc((size_t)(end - at));
	if (!rec->base.auxv)
		return false;
	rec->base.auxv_len = (size_t)(end - at);
	for (size_t i = 0; at + i < end; i++)
		rec->base.auxv[i] = (uint8_t)stack_byte(s, at + i);
	return true;
}

/* The region of thread 0 with @addr. */
static bool find_stack(const struct usercorn *rec, uint64_t addr, struct stack *s)
{
	const struct ts_steps *b = &rec->base.initial;
	uint32_t thread = 0;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind != TS_FX_MAP || thread != 0 || addr < e->addr || addr - e->addr >= e->len)
			continue;
		*s = (struct stack){ rec, e->addr, e->addr + (e->len - 1) };
		return true;
	}
	return false;
}

bool ucir_read_stack(struct usercorn *rec, struct ts_error *err)
{
	struct ts_buf args;
	struct stack s;
	uint64_t sp, end;
	bool done = true;

	if (strcmp(rec->base.os, "linux") != 0 || !initial_value(rec, 0, rec->base.regs.sp, &sp) ||
	    !find_stack(rec, sp, &s))
		return true;
	ts_buf_init(&args);
	if (read_args(&s, &sp, &args) && skip_env(&s, &sp) && find_auxv_end(&s, sp, &end) && end > sp) {
		ts_buf_reset(&rec->base.cmdline); /* a NOTE may have given it */
		ts_buf_put(&rec->base.cmdline, args.data, args.len);
		done = keep_auxv(rec, &s, sp, end);
	}
	done &= ts_buf_ok(&args) && ts_buf_ok(&rec->base.cmdline);
	ts_buf_fini(&args);
	return done || ts_no_memory(err, "the regions of the trace");
}
