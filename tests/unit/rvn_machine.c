/* SPDX-License-Identifier: MIT */
#include "rvn_machine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- registers */

struct reg {
	const char *name;
	uint16_t len;
	uint8_t recorders; /* bit by enum rvn_recorder */
};

#define BOTH       3
#define ONLY_PANDA 1

/* In the order of their ids, which both recorders begin alike. */
static const struct reg machine_regs[] = {
	{ "rax", 8, BOTH },	     { "rbx", 8, BOTH },	  { "rcx", 8, BOTH },
	{ "rdx", 8, BOTH },	     { "rsi", 8, BOTH },	  { "rdi", 8, BOTH },
	{ "rbp", 8, BOTH },	     { "r8", 8, BOTH },		  { "r9", 8, BOTH },
	{ "r10", 8, BOTH },	     { "r11", 8, BOTH },	  { "r12", 8, BOTH },
	{ "r13", 8, BOTH },	     { "r14", 8, BOTH },	  { "r15", 8, BOTH },
	{ "rsp", 8, BOTH },	     { "eflags", 4, BOTH },	  { "rip", 8, BOTH },
	{ "top", 1, ONLY_PANDA },    { "x87r0", 10, BOTH },	  { "x87r1", 10, BOTH },
	{ "x87r2", 10, BOTH },	     { "x87r3", 10, BOTH },	  { "x87r4", 10, BOTH },
	{ "x87r5", 10, BOTH },	     { "x87r6", 10, BOTH },	  { "x87r7", 10, BOTH },
	{ "x87lastip", 8, BOTH },    { "x87lastdp", 8, BOTH },	  { "x87opcode", 2, BOTH },
	{ "x87status", 2, BOTH },    { "x87control", 2, BOTH },	  { "x87tags", 2, BOTH },
	{ "cs", 2, BOTH },	     { "ss", 2, BOTH },		  { "ds", 2, BOTH },
	{ "es", 2, BOTH },	     { "fs", 2, BOTH },		  { "gs", 2, BOTH },
	{ "cs_shadow", 8, BOTH },    { "ss_shadow", 8, BOTH },	  { "gs_shadow", 8, BOTH },
	{ "ldtr_limit", 3, BOTH },   { "cr0", 8, BOTH },	  { "cr2", 8, BOTH },
	{ "cr3", 8, BOTH },	     { "cr4", 8, BOTH },	  { "cr8", 8, BOTH },
	{ "dr7", 8, BOTH },	     { "zmm0", 64, BOTH },	  { "zmm1", 64, BOTH },
	{ "zmm31", 64, BOTH },	     { "mxcsr", 4, BOTH },	  { "msr_c0000080", 8, BOTH },
	{ "msr_c0000100", 8, BOTH }, { "msr_c0000101", 8, BOTH }, { "msr_c0000102", 8, BOTH },
};
#define N_REGS ((unsigned)(sizeof(machine_regs) / sizeof(machine_regs[0])))

#define FIRST_REGS    18 /* those before PANDA's operations */
#define N_OPS         41
#define OP_RIP        0 /* += 1 .. 15 */
#define OP_SET_FLAG   15
#define OP_CLEAR_FLAG 24
#define OP_RSP        33

static const uint8_t flag_bits[9] = { 0, 2, 4, 6, 7, 8, 9, 10, 11 };
static const int stack_steps[8] = { 2, 4, 8, 16, -2, -4, -8, -16 };

static bool is_recorded(const struct rvn_machine *m, unsigned reg)
{
	return machine_regs[reg].recorders >> m->recorder & 1;
}

/* PANDA's operations have the ids behind the first registers, those of the other are behind all registers. */
static uint16_t id_of(const struct rvn_machine *m, unsigned reg)
{
	uint16_t id = 0;

	for (unsigned i = 0; i < reg; i++)
		id += is_recorded(m, i);
	return reg >= FIRST_REGS && m->recorder == RVN_PANDA ? id + N_OPS : id;
}

static uint8_t op_id(const struct rvn_machine *m, unsigned op)
{
	return (uint8_t)(m->recorder == RVN_PANDA ? FIRST_REGS + op : id_of(m, N_REGS) + op);
}

static unsigned find_reg(const struct rvn_machine *m, const char *name)
{
	for (unsigned i = 0; i < N_REGS; i++)
		if (!strcmp(machine_regs[i].name, name) && is_recorded(m, i))
			return i;
	fprintf(stderr, "no register %s\n", name);
	abort();
}

static uint64_t number(const uint8_t *p, unsigned len)
{
	uint64_t n = 0;

	while (len-- > 0)
		n = n << 8 | p[len];
	return n;
}

static void put_number(uint8_t *p, uint64_t n, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		p[i] = i < 8 ? (uint8_t)(n >> 8 * i) : 0;
}

void rvn_machine_set(struct rvn_machine *m, const char *name, uint64_t value)
{
	unsigned reg = find_reg(m, name);

	put_number(m->values[reg].now, value, machine_regs[reg].len);
}

uint64_t rvn_machine_get(const struct rvn_machine *m, const char *name)
{
	unsigned reg = find_reg(m, name);

	return number(m->values[reg].now, machine_regs[reg].len < 8 ? machine_regs[reg].len : 8);
}

/* ---------------------------------------------------------------------------------------- physical memory */

void rvn_machine_ram(struct rvn_machine *m, uint64_t start, uint64_t len)
{
	assert(m->n_regions < RVN_MAX_MACHINE_REGIONS && !m->is_started);
	m->regions[m->n_regions++] = (struct rvn_ram){ start, len, calloc(1, (size_t)len) };
}

static uint8_t *bytes_at(const struct rvn_machine *m, uint64_t phys)
{
	for (unsigned i = m->n_regions; i-- > 0;)
		if (phys >= m->regions[i].start && phys - m->regions[i].start < m->regions[i].len)
			return m->regions[i].bytes + (phys - m->regions[i].start);
	return NULL;
}

const uint8_t *rvn_machine_bytes(const struct rvn_machine *m, uint64_t phys)
{
	return bytes_at(m, phys);
}

void rvn_machine_write(struct rvn_machine *m, uint64_t phys, const void *data, size_t len)
{
	assert(bytes_at(m, phys) && bytes_at(m, phys + len - 1));
	memcpy(bytes_at(m, phys), data, len);
	if (m->is_started)
		rvn_event_memory(&m->event, &m->parts, &m->form, phys, data, len);
}

uint64_t rvn_machine_frame(struct rvn_machine *m)
{
	assert(m->n_frames < RVN_N_FRAMES);
	return RVN_FRAMES_AT + (m->n_frames++ * 197 + 13) % RVN_N_FRAMES * RVN_PAGE_LEN;
}

/* ------------------------------------------------------------------------------------------------ tables */

/* One level of a mode's tables: which bits of the address choose the entry. */
struct level {
	unsigned shift, bits;
};

static const struct level levels_32[] = { { 22, 10 }, { 12, 10 } };
static const struct level levels_pae[] = { { 30, 2 }, { 21, 9 }, { 12, 9 } };
static const struct level levels_4[] = { { 39, 9 }, { 30, 9 }, { 21, 9 }, { 12, 9 } };
static const struct level levels_5[] = { { 48, 9 }, { 39, 9 }, { 30, 9 }, { 21, 9 }, { 12, 9 } };

static const struct level *levels_of(enum rvn_paging paging)
{
	static const struct level *const all[RVN_N_PAGINGS] = { NULL, levels_32, levels_pae, levels_4,
								levels_5 };

	return all[paging];
}

/* Bits of an entry that have nothing to do with the address, here and there. */
static uint64_t entry_noise(struct rvn_machine *m, bool is_leaf, unsigned shift)
{
	uint64_t noise = 1 | (m->noise & 1 ? 0x26 : 0x6); /* present, writable, for users, accessed or not */

	m->noise = m->noise * 1103515245 + 12345;
	if (m->paging == RVN_PAGING_PAE && shift == 30)
		return 1;
	noise |= m->noise & 0xe00; /* for the system's use */
	if (is_leaf && shift == 12)
		noise |= m->noise >> 3 & 0x80; /* PAT, not a large page */
	if (is_leaf && shift > 12)
		noise |= 0x80 | (m->noise & 0x1000); /* a large page, with PAT */
	if (m->paging == RVN_PAGING_PAE && is_leaf)
		noise |= (uint64_t)(m->noise >> 5 & 1) << 63;
	if (m->paging >= RVN_PAGING_4_LEVEL)
		noise |= (uint64_t)(m->noise >> 8 & 0xfff)
			 << 52; /* no execution, protection key, for the system's use */
	return noise;
}

static unsigned entry_len(const struct rvn_machine *m)
{
	return m->paging == RVN_PAGING_32 ? 4 : 8;
}

static uint64_t entry_addr(const struct rvn_machine *m, uint64_t table, const struct level *l, uint64_t virt)
{
	return table + (virt >> l->shift & ((1u << l->bits) - 1)) * entry_len(m);
}

static void put_entry(struct rvn_machine *m, uint64_t at, uint64_t entry)
{
	uint8_t bytes[8];

	put_number(bytes, entry, 8);
	rvn_machine_write(m, at, bytes, entry_len(m));
}

#define ENTRY_ADDR UINT64_C(0x000ffffffffff000)

/* The entry of @l for an address, tables above it made as they are missing. */
static uint64_t walk(struct rvn_machine *m, uint64_t virt, unsigned shift)
{
	const struct level *l = levels_of(m->paging);
	uint64_t table = m->root;

	for (; l->shift != shift; l++) {
		uint64_t at = entry_addr(m, table, l, virt), entry = number(bytes_at(m, at), entry_len(m));

		assert(l->shift > 12);
		if (!(entry & 1)) {
			entry = rvn_machine_frame(m) | (entry_noise(m, false, l->shift) & ~UINT64_C(0x80));
			put_entry(m, at, entry);
		}
		table = entry & (m->paging == RVN_PAGING_32 ? 0xfffff000 : ENTRY_ADDR);
	}
	return entry_addr(m, table, l, virt);
}

static void forget_mapping(struct rvn_machine *m, uint64_t virt)
{
	for (unsigned i = 0; i < m->n_mappings; i++)
		if (m->mappings[i].virt == virt)
			m->mappings[i] = m->mappings[--m->n_mappings];
}

void rvn_machine_map(struct rvn_machine *m, uint64_t virt, uint64_t phys, uint64_t len)
{
	unsigned shift = (unsigned)__builtin_ctzll(len);
	uint64_t entry;

	assert(m->paging != RVN_PAGING_OFF && m->n_mappings < RVN_MAX_MAPPINGS);
	entry = entry_noise(m, true, shift) | (phys & ~(len - 1));
	if (shift == 22)
		entry = (entry & 0xffffffff) | (phys >> 32 & 0xff) << 13;
	put_entry(m, walk(m, virt, shift), entry);
	forget_mapping(m, virt);
	m->mappings[m->n_mappings++] = (struct rvn_mapping){ virt, phys, len };
}

void rvn_machine_unmap(struct rvn_machine *m, uint64_t virt)
{
	put_entry(m, walk(m, virt, 12), 0xfffe & ~1u); /* not present, whatever else it says */
	forget_mapping(m, virt);
}

bool rvn_machine_find(const struct rvn_machine *m, uint64_t virt, uint64_t *phys)
{
	if (m->paging == RVN_PAGING_OFF) {
		*phys = virt;
		return bytes_at(m, virt) != NULL;
	}
	for (unsigned i = 0; i < m->n_mappings; i++) {
		const struct rvn_mapping *p = &m->mappings[i];

		if (virt >= p->virt && virt - p->virt < p->len) {
			*phys = p->phys + (virt - p->virt);
			return true;
		}
	}
	return false;
}

void rvn_machine_write_virtual(struct rvn_machine *m, uint64_t virt, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t n; len; virt += n, p += n, len -= n) {
		uint64_t phys;
		bool is_mapped = rvn_machine_find(m, virt, &phys);

		assert(is_mapped);
		n = RVN_PAGE_LEN - virt % RVN_PAGE_LEN;
		n = n < len ? n : len;
		rvn_machine_write(m, phys, p, n);
	}
}

/* ------------------------------------------------------------------------------------------------ modes */

static void set_mode(struct rvn_machine *m)
{
	static const uint64_t cr0[RVN_N_PAGINGS] = { 0x50033, 0x80050033, 0x80050033, 0x80050033,
						     0x80050033 };
	static const uint64_t cr4[RVN_N_PAGINGS] = { 0x600, 0x690, 0x6a0, 0x6a0, 0x16a0 };
	bool is_64 = m->paging >= RVN_PAGING_4_LEVEL;

	rvn_machine_set(m, "cr0", cr0[m->paging]);
	rvn_machine_set(m, "cr4", cr4[m->paging]);
	rvn_machine_set(m, "msr_c0000080", is_64 ? 0xd01 : 0);
	if (m->paging == RVN_PAGING_OFF)
		return;
	m->root = rvn_machine_frame(m);
	if (m->paging == RVN_PAGING_PAE)
		m->root += 0x40; /* of 32 bytes, not of a page */
}

void rvn_machine_enter(struct rvn_machine *m, bool is_kernel)
{
	static const uint64_t low_bits[RVN_N_PAGINGS] = { 0, 0x18, 0x18, 0x5, 0x5 };
	bool is_64 = m->paging >= RVN_PAGING_4_LEVEL;
	uint64_t user_cs = is_64 ? 0x33 : 0x23,
		 shadow = is_64 ? UINT64_C(0x00af9b000000ffff) : UINT64_C(0x00cf9b000000ffff);

	rvn_machine_set(m, "cs", is_kernel ? 0x10 : user_cs);
	rvn_machine_set(m, "ss", is_kernel ? 0x18 : 0x2b);
	rvn_machine_set(m, "cs_shadow", shadow | (is_kernel ? 0 : UINT64_C(0x600000000000)));
	if (m->paging != RVN_PAGING_OFF)
		rvn_machine_set(m, "cr3", m->root | (is_kernel ? 0 : low_bits[m->paging]));
}

/* ------------------------------------------------------------------------------------------ the recording */

static void describe(struct rvn_machine *m)
{
	uint8_t operand[8];

	for (unsigned i = 0; i < N_REGS; i++)
		if (is_recorded(m, i))
			rvn_register(&m->parts, id_of(m, i), machine_regs[i].len, machine_regs[i].name);
	for (unsigned i = 0; i < 15; i++) {
		put_number(operand, i + 1, 8);
		rvn_operation(&m->parts, op_id(m, OP_RIP + i), id_of(m, find_reg(m, "rip")), 1, operand, 8);
	}
	for (unsigned i = 0; i < 9; i++) {
		put_number(operand, 1u << flag_bits[i], 4);
		rvn_operation(&m->parts, op_id(m, OP_SET_FLAG + i), id_of(m, find_reg(m, "eflags")), 3,
			      operand, 4);
		put_number(operand, ~(1u << flag_bits[i]), 4);
		rvn_operation(&m->parts, op_id(m, OP_CLEAR_FLAG + i), id_of(m, find_reg(m, "eflags")), 2,
			      operand, 4);
	}
	for (unsigned i = 0; i < 8; i++) {
		put_number(operand, (uint64_t)(int64_t)stack_steps[i], 8);
		rvn_operation(&m->parts, op_id(m, OP_RSP + i), id_of(m, find_reg(m, "rsp")), 1, operand, 8);
	}
	rvn_static(&m->parts, "cpuid_pat", "\1", 1);
	rvn_static(&m->parts, "cpuid_max_phy_addr", "\x28", 1);
}

void rvn_machine_init(struct rvn_machine *m, enum rvn_paging paging, enum rvn_recorder recorder)
{
	*m = (struct rvn_machine){ .paging = paging, .recorder = recorder, .noise = 1 };
	rvn_parts_init(&m->parts);
	m->parts.container = RVN_HEADER_1;
	rvn_event_init(&m->event);
	m->values = calloc(N_REGS, sizeof(*m->values));
	rvn_machine_ram(m, 0, 0x10000);
	rvn_machine_ram(m, RVN_FRAMES_AT, RVN_N_FRAMES * RVN_PAGE_LEN);
	rvn_machine_ram(m, 0xfffc0000, RVN_PAGE_LEN);
	set_mode(m);
	rvn_machine_enter(m, false);
}

void rvn_machine_fini(struct rvn_machine *m)
{
	rvn_parts_fini(&m->parts);
	rvn_event_fini(&m->event);
	for (unsigned i = 0; i < m->n_regions; i++)
		free(m->regions[i].bytes);
	free(m->values);
}

static void remember(struct rvn_machine *m)
{
	for (unsigned i = 0; i < N_REGS; i++)
		memcpy(m->values[i].before, m->values[i].now, RVN_MAX_VALUE);
}

void rvn_machine_start(struct rvn_machine *m)
{
	describe(m);
	for (unsigned i = 0; i < m->n_regions; i++) {
		rvn_region(&m->parts, m->regions[i].start, m->regions[i].len);
		ts_buf_put(&m->parts.memory, m->regions[i].bytes, (size_t)m->regions[i].len);
	}
	for (unsigned i = N_REGS; i-- > 0;)
		if (is_recorded(m, i))
			rvn_initial(&m->parts, id_of(m, i), m->values[i].now, machine_regs[i].len);
	remember(m);
	m->is_started = true;
}

static void put_op(struct rvn_machine *m, unsigned op)
{
	rvn_event_register(&m->event, &m->form, op_id(m, op), NULL, 0);
}

/* Operations that make the change; false if there are none. */
static bool put_as_ops(struct rvn_machine *m, const char *name, uint64_t before, uint64_t now)
{
	if (!strcmp(name, "rip") && now - before >= 1 && now - before <= 15) {
		put_op(m, OP_RIP + (unsigned)(now - before) - 1);
		return true;
	}
	for (unsigned i = 0; !strcmp(name, "rsp") && i < 8; i++) {
		if (before + (uint64_t)(int64_t)stack_steps[i] == now) {
			put_op(m, OP_RSP + i);
			return true;
		}
	}
	if (strcmp(name, "eflags") || (before ^ now) & ~UINT64_C(0xfd5))
		return false;
	for (unsigned i = 0; i < 9; i++)
		if ((before ^ now) >> flag_bits[i] & 1)
			put_op(m, (now >> flag_bits[i] & 1 ? OP_SET_FLAG : OP_CLEAR_FLAG) + i);
	return true;
}

void rvn_machine_end_event(struct rvn_machine *m, const char *other)
{
	for (unsigned i = 0; i < N_REGS; i++) {
		const struct rvn_value *v = &m->values[i];
		unsigned len = machine_regs[i].len;

		if (!is_recorded(m, i) || !memcmp(v->before, v->now, len))
			continue;
		if (len > 8 ||
		    !put_as_ops(m, machine_regs[i].name, number(v->before, len), number(v->now, len)))
			rvn_event_register(&m->event, &m->form, id_of(m, i), v->now, len);
	}
	rvn_event_end(&m->event, &m->parts, &m->form, other);
	remember(m);
	m->n_events++;
	m->noise = m->noise * 1103515245 + 12345;
	m->form = (struct rvn_form){
		.has_long_ids = m->noise >> 16 & 1,
		.has_long_lengths = m->noise >> 17 & 1,
		.is_split_otherwise = m->noise >> 18 & 1,
	};
}

void rvn_machine_finish(struct rvn_machine *m, struct ts_buf *file)
{
	rvn_assemble(&m->parts, file);
}
