/* SPDX-License-Identifier: MIT */
#include "gdbrecord.h"

#include "src/arch/traps.h"

void insn_code_init(struct insn_code *code, const struct core *core, const struct ts_regset *set)
{
	*code = (struct insn_code){ .core = core };
	code->is_x86 = !core->arch->is_fixed_insn && !core->arch->has_thumb;
	if (code->is_x86)
		ts_x86_init(&code->x86, set);
}

void insn_cache_init(struct insn_cache *cache)
{
	cache->written.first = UINT64_MAX;
	cache->written.last = 0;
}

/* -------------------------------------------------------------------------------------------------- bytes */

/* The bytes from @pc on that the core file has. */
static bool read_bytes(struct insn *insn, const struct core *core, uint64_t pc, struct ts_error *err)
{
	uint64_t room, at;
	const struct core_load *load = core_find(core, pc, &room);
	size_t len;

	if (!load || pc - load->addr >= load->file_len)
		return true;
	at = pc - load->addr;
	len = load->file_len - at < sizeof(insn->bytes) ? (size_t)(load->file_len - at) : sizeof(insn->bytes);
	if (!ts_source_read_all(core->src, load->off + at, insn->bytes, len, err))
		return false;
	insn->n_bytes = (uint8_t)len;
	return true;
}

/* Of Thumb code it has two bytes or four. */
static unsigned length(const struct insn *insn, const struct insn_code *code, bool is_thumb)
{
	if (code->is_x86)
		return ts_x86_length(&code->x86, insn->bytes, insn->n_bytes);
	if (!is_thumb)
		return insn->n_bytes < 4 ? 0 : 4;
	if (insn->n_bytes < 2)
		return 0;
	return ts_arch_get(code->core->arch, insn->bytes, 2) >> 11 >= 0x1d ? 4 : 2;
}

static void decode(struct insn *insn, const struct insn_code *code, bool is_thumb)
{
	insn->len = (uint8_t)length(insn, code, is_thumb);
	insn->is_syscall = insn->len && ts_insn_trap(code->core->arch, is_thumb, insn->bytes, insn->len) == TS_TRAP_SYSCALL;
}

/* -------------------------------------------------------------------------------------------------- cache */

void insn_note_write(struct insn_cache *cache, uint64_t addr, uint64_t len)
{
	if (addr < cache->written.first)
		cache->written.first = addr;
	if (addr + (len - 1) > cache->written.last)
		cache->written.last = addr + (len - 1);
}

/* May the program have written the instruction at @pc? */
static bool is_written(const struct insn_cache *cache, uint64_t pc)
{
	return pc <= cache->written.last && cache->written.first <= cache->written.last &&
	       (cache->written.first <= pc || cache->written.first - pc < TS_X86_MAX_INSN);
}

const struct insn *insn_at(struct insn_cache *cache, const struct insn_code *code, uint64_t pc, bool is_thumb,
			   struct ts_error *err)
{
	static const struct insn unknown;
	struct insn *insn = &cache->items[(pc ^ pc >> 12) % INSN_N_CACHED];
	uint8_t mode = is_thumb ? 2 : 1;

	if (is_written(cache, pc))
		return &unknown;
	if (insn->pc == pc && insn->mode == mode)
		return insn;
	*insn = (struct insn){ .pc = pc, .mode = mode };
	if (!read_bytes(insn, code->core, pc, err)) {
		insn->mode = 0;
		return NULL;
	}
	decode(insn, code, is_thumb);
	return insn;
}
