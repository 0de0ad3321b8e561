/* SPDX-License-Identifier: MIT */
#include "rvn_encode.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GROUP 14u
#define MORE      15u

void rvn_number(struct ts_buf *b, uint64_t n, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(b, i < 8 ? (uint8_t)(n >> 8 * i) : 0);
}

void rvn_text(struct ts_buf *b, const char *text)
{
	ts_buf_putc(b, (uint8_t)strlen(text));
	ts_buf_puts(b, text);
}

/* ------------------------------------------------------------------------------------------------ parts */

void rvn_parts_init(struct rvn_parts *p)
{
	*p = (struct rvn_parts){ .arch = "x641", .addr_len = 5 };
	ts_buf_putc(&p->header, 0);
}

void rvn_parts_fini(struct rvn_parts *p)
{
	ts_buf_fini(&p->header);
	ts_buf_fini(&p->regions.bytes);
	ts_buf_fini(&p->regs.bytes);
	ts_buf_fini(&p->ops.bytes);
	ts_buf_fini(&p->statics.bytes);
	ts_buf_fini(&p->padding);
	ts_buf_fini(&p->memory);
	ts_buf_fini(&p->initial.bytes);
	ts_buf_fini(&p->events.bytes);
}

void rvn_region(struct rvn_parts *p, uint64_t start, uint64_t len)
{
	rvn_number(&p->regions.bytes, start, p->addr_len);
	rvn_number(&p->regions.bytes, len, p->addr_len);
	p->regions.n++;
}

void rvn_register(struct rvn_parts *p, uint16_t id, uint16_t len, const char *name)
{
	rvn_number(&p->regs.bytes, id, 2);
	rvn_number(&p->regs.bytes, len, 2);
	rvn_text(&p->regs.bytes, name);
	p->regs.n++;
}

void rvn_operation(struct rvn_parts *p, uint8_t id, uint16_t reg, uint8_t kind, const void *operand,
		   unsigned len)
{
	rvn_number(&p->ops.bytes, id, 1);
	rvn_number(&p->ops.bytes, reg, 2);
	rvn_number(&p->ops.bytes, kind, 1);
	ts_buf_put(&p->ops.bytes, operand, len);
	p->ops.n++;
}

void rvn_static(struct rvn_parts *p, const char *name, const void *value, uint8_t len)
{
	rvn_text(&p->statics.bytes, name);
	rvn_number(&p->statics.bytes, len, 1);
	ts_buf_put(&p->statics.bytes, value, len);
	p->statics.n++;
}

void rvn_initial(struct rvn_parts *p, uint16_t id, const void *value, unsigned len)
{
	rvn_number(&p->initial.bytes, id, 2);
	ts_buf_put(&p->initial.bytes, value, len);
	p->initial.n++;
}

/* ------------------------------------------------------------------------------------------------ events */

void rvn_event_init(struct rvn_event *ev)
{
	*ev = (struct rvn_event){ 0 };
}

void rvn_event_fini(struct rvn_event *ev)
{
	ts_buf_fini(&ev->memory.bytes);
	ts_buf_fini(&ev->regs.bytes);
	free(ev->memory_ends);
	free(ev->reg_ends);
}

static void end_entry(struct rvn_list *list, uint32_t **ends, uint32_t *cap)
{
	if (list->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		*ends = realloc(*ends, *cap * sizeof(**ends));
	}
	(*ends)[list->n++] = (uint32_t)list->bytes.len;
}

void rvn_event_memory(struct rvn_event *ev, const struct rvn_parts *p, const struct rvn_form *form,
		      uint64_t addr, const void *data, size_t len)
{
	struct ts_buf *b = &ev->memory.bytes;

	rvn_number(b, addr, p->addr_len);
	if (len >= 0xff || form->has_long_lengths) {
		rvn_number(b, 0xff, 1);
		rvn_number(b, len, p->addr_len);
	} else {
		rvn_number(b, len, 1);
	}
	ts_buf_put(b, data, len);
	end_entry(&ev->memory, &ev->memory_ends, &ev->cap_memory);
}

void rvn_event_register(struct rvn_event *ev, const struct rvn_form *form, uint16_t id, const void *value,
			unsigned len)
{
	struct ts_buf *b = &ev->regs.bytes;

	if (id >= 0xff || form->has_long_ids) {
		rvn_number(b, 0xff, 1);
		rvn_number(b, id, 2);
	} else {
		rvn_number(b, id, 1);
	}
	ts_buf_put(b, value, len);
	end_entry(&ev->regs, &ev->reg_ends, &ev->cap_regs);
}

/* Append entries [from, from + n). */
static void put_entries(struct ts_buf *out, const struct rvn_list *list, const uint32_t *ends, uint32_t from,
			uint32_t n)
{
	uint32_t start = from ? ends[from - 1] : 0;

	if (n)
		ts_buf_put(out, list->bytes.data + start, ends[from + n - 1] - start);
}

/* A diff byte and its entries; with fewer than 14 of a kind the event can't go on. */
static void put_diff(struct ts_buf *out, const struct rvn_event *ev, uint32_t memory_from, uint32_t n_memory,
		     bool has_more_memory, uint32_t regs_from, uint32_t n_regs, bool has_more_regs)
{
	unsigned low = has_more_memory ? MORE : n_memory, high = has_more_regs ? MORE : n_regs;

	ts_buf_putc(out, (uint8_t)(high << 4 | low));
	put_entries(out, &ev->memory, ev->memory_ends, memory_from, n_memory);
	put_entries(out, &ev->regs, ev->reg_ends, regs_from, n_regs);
}

/*
 * As the library's writer does it: memory in groups of 14, its rest with the first 14 registers, the other
 * registers.
 */
static void put_as_library(struct ts_buf *out, const struct rvn_event *ev)
{
	uint32_t memory = 0, regs = 0, n_memory;

	for (; ev->memory.n - memory > MAX_GROUP; memory += MAX_GROUP)
		put_diff(out, ev, memory, MAX_GROUP, true, 0, 0, false);
	n_memory = ev->memory.n - memory;
	for (; ev->regs.n - regs > MAX_GROUP; regs += MAX_GROUP, memory += n_memory, n_memory = 0)
		put_diff(out, ev, memory, n_memory, false, regs, MAX_GROUP, true);
	put_diff(out, ev, memory, n_memory, false, regs, ev->regs.n - regs, false);
}

/* Another legal way: 14 of both as long as there are so many, then an end that may hold nothing. */
static void put_otherwise(struct ts_buf *out, const struct rvn_event *ev)
{
	uint32_t memory = 0, regs = 0;

	while (ev->memory.n - memory >= MAX_GROUP || ev->regs.n - regs >= MAX_GROUP) {
		bool is_regs = ev->regs.n - regs >= MAX_GROUP;
		uint32_t n = ev->memory.n - memory < MAX_GROUP ? ev->memory.n - memory : 0;

		if (is_regs) {
			put_diff(out, ev, memory, n, false, regs, MAX_GROUP, true);
			memory += n;
			regs += MAX_GROUP;
		} else {
			put_diff(out, ev, memory, MAX_GROUP, true, 0, 0, false);
			memory += MAX_GROUP;
		}
	}
	put_diff(out, ev, memory, ev->memory.n - memory, false, regs, ev->regs.n - regs, false);
}

void rvn_event_end(struct rvn_event *ev, struct rvn_parts *p, const struct rvn_form *form, const char *other)
{
	if (other) {
		rvn_number(&p->events.bytes, 0xffff, 2);
		rvn_text(&p->events.bytes, other);
	}
	if (form->is_split_otherwise)
		put_otherwise(&p->events.bytes, ev);
	else
		put_as_library(&p->events.bytes, ev);
	p->events.n++;
	ts_buf_reset(&ev->memory.bytes);
	ts_buf_reset(&ev->regs.bytes);
	ev->memory.n = ev->regs.n = 0;
}

/* ------------------------------------------------------------------------------------------ a small trace */

void rvn_small(struct rvn_parts *p)
{
	rvn_parts_init(p);
	rvn_region(p, 0x1000, 16);
	for (unsigned i = 0; i < 16; i++)
		rvn_number(&p->memory, i, 1);
	rvn_register(p, 0, 8, "rax");
	rvn_register(p, 1, 8, "rip");
	rvn_register(p, 2, 4, "eflags");
	rvn_register(p, 300, 8, "rbx");
	rvn_operation(p, 10, 1, 1, "\1\0\0\0\0\0\0\0", 8);
	rvn_operation(p, 11, 2, 3, "\1\0\0\0", 4);
	rvn_static(p, "cpuid_max_phy_addr", "\x28", 1);
	rvn_initial(p, 1, "\0\x10\x40\0\0\0\0\0", 8);
	rvn_initial(p, 0, "\x11\0\0\0\0\0\0\0", 8);
	rvn_initial(p, 300, "\x22\0\0\0\0\0\0\0", 8);
	rvn_initial(p, 2, "\2\0\0\0", 4);
}

/* ----------------------------------------------------------------------------------------------- the file */

static void put_field(struct ts_buf *b, const char *text, size_t field_len)
{
	rvn_number(b, strlen(text), 8);
	ts_buf_puts(b, text);
	for (size_t i = strlen(text); i < field_len; i++)
		ts_buf_putc(b, 0);
}

static void put_resource_header(const struct rvn_parts *p, struct ts_buf *file)
{
	ts_buf_puts(file, p->container == RVN_OLD_HEADER ? "crsrnibr" : "srnibnvr");
	if (p->container != RVN_OLD_HEADER)
		rvn_number(file, p->container == RVN_HEADER_1, 4);
	rvn_number(file, 1, 4);
	put_field(file, p->format ? p->format : "1.0.1", 512);
	put_field(file, "panda", 512);
	if (p->container == RVN_HEADER_1)
		put_field(file, "1.3.0", 512);
	put_field(file, "test - using rvnbintrace 1.1.0", 2048);
	rvn_number(file, 1600000000, 8);
}

static uint64_t put_section(struct ts_buf *file, const struct ts_buf *contents)
{
	uint64_t at = file->len;

	rvn_number(file, contents->len, 8);
	ts_buf_put(file, contents->data, contents->len);
	return at;
}

static void put_list(struct ts_buf *b, const struct rvn_list *list, unsigned count_len)
{
	rvn_number(b, list->n, count_len);
	ts_buf_put(b, list->bytes.data, list->bytes.len);
}

void rvn_assemble(struct rvn_parts *p, struct ts_buf *file)
{
	struct ts_buf b;

	ts_buf_init(&b);
	ts_buf_reset(file);
	if (p->container != RVN_BARE)
		put_resource_header(p, file);
	p->header_at = put_section(file, &p->header);
	ts_buf_puts(&b, p->arch);
	rvn_number(&b, p->addr_len, 1);
	put_list(&b, &p->regions, 4);
	put_list(&b, &p->regs, 4);
	put_list(&b, &p->ops, 4);
	put_list(&b, &p->statics, 4);
	ts_buf_put(&b, p->padding.data, p->padding.len);
	p->machine_at = put_section(file, &b);
	p->memory_at = put_section(file, &p->memory);
	ts_buf_reset(&b);
	put_list(&b, &p->initial, 4);
	ts_buf_put(&b, p->padding.data, p->padding.len);
	p->initial_at = put_section(file, &b);
	ts_buf_reset(&b);
	put_list(&b, &p->events, 8);
	p->events_at = put_section(file, &b);
	if (p->is_unfinished)
		memset(file->data + p->events_at, 0, 16);
	ts_buf_fini(&b);
}
