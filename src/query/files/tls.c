/* SPDX-License-Identifier: MIT */
#include "tls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/text/suffix.h"
#include "src/object/elf_image.h"
#include "src/object/symtab.h"

/*
 * No more objects, or threads, are examined in a list: recorded memory may hold a list without end, and the server answers no
 * other client meanwhile.
 */
#define MAX_NODES 1024u

/* ----------------------------------------------------------------------------------------- facts of files */

enum kind {
	FIELD,   /* the last of three words of 32 bits: the field's width in bits, the number of elements, the offset */
	WORD,    /* such a word, the first or only one */
	ADDRESS, /* the symbol's own address */
};

static const struct {
	const char *name;
	enum kind kind;
} symbols[TS_TLS_N_FACTS] = {
	[TS_TLS_L_TLS_OFFSET] = { "_thread_db_link_map_l_tls_offset", FIELD },
	[TS_TLS_PTHREAD_LIST] = { "_thread_db_pthread_list", FIELD },
	[TS_TLS_PTHREAD_TID] = { "_thread_db_pthread_tid", FIELD },
	[TS_TLS_STACK_USED] = { "_thread_db_rtld_global__dl_stack_used", FIELD },
	[TS_TLS_STACK_USER] = { "_thread_db_rtld_global__dl_stack_user", FIELD },
	[TS_TLS_L_TLS_MODID] = { "_thread_db_link_map_l_tls_modid", FIELD },
	[TS_TLS_SLOTS] = { "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list", FIELD },
	[TS_TLS_SLOTS_LEN] = { "_thread_db_dtv_slotinfo_list_len", FIELD },
	[TS_TLS_SLOTS_NEXT] = { "_thread_db_dtv_slotinfo_list_next", FIELD },
	[TS_TLS_SLOTS_ITEMS] = { "_thread_db_dtv_slotinfo_list_slotinfo", FIELD },
	[TS_TLS_SLOT_GEN] = { "_thread_db_dtv_slotinfo_gen", FIELD },
	[TS_TLS_SLOT_MAP] = { "_thread_db_dtv_slotinfo_map", FIELD },
	[TS_TLS_PTHREAD_DTVP] = { "_thread_db_pthread_dtvp", FIELD },
	[TS_TLS_DTV_COUNTER] = { "_thread_db_dtv_t_counter", FIELD },
	[TS_TLS_DTV_POINTER] = { "_thread_db_dtv_t_pointer_val", FIELD },
	[TS_TLS_SIZEOF_PTHREAD] = { "_thread_db_sizeof_pthread", WORD },
	[TS_TLS_SIZEOF_SLOT] = { "_thread_db_sizeof_dtv_slotinfo", WORD },
	[TS_TLS_DTV_BITS] = { "_thread_db_dtv_dtv", WORD },
	[TS_TLS_RTLD_GLOBAL] = { "_rtld_global", ADDRESS },
	[TS_TLS_R_DEBUG] = { "_r_debug", ADDRESS },
};

struct learning {
	struct ts_tls_facts *facts;
	const struct ts_source *file;
	struct ts_elf elf;
	uint64_t moved;
};

/* The word of 32 bits at address @addr as linked; returns false if the file does not hold it. */
static bool word_of_file(const struct learning *l, uint64_t addr, uint64_t *value)
{
	struct ts_error ignored = { 0 };
	uint8_t bytes[4];

	for (size_t i = 0; i < l->elf.n_loads; i++) {
		const struct ts_elf_load *load = &l->elf.loads[i];
		uint64_t in = addr - load->addr;

		if (addr < load->addr || in > load->file_len || load->file_len - in < sizeof(bytes))
			continue;
		if (!ts_source_read_all(l->file, load->file_off + in, bytes, sizeof(bytes), &ignored))
			return false;
		*value = ts_number(bytes, sizeof(bytes), l->elf.is_big_endian);
		return true;
	}
	return false;
}

static void use_symbol(void *user, const struct ts_symtab_entry *e)
{
	const struct learning *l = user;

	for (unsigned i = 0; i < TS_TLS_N_FACTS; i++) {
		uint64_t value = e->addr + l->moved;

		if (strcmp(e->name, symbols[i].name))
			continue;
		if (symbols[i].kind == ADDRESS ||
		    word_of_file(l, e->addr + (symbols[i].kind == FIELD ? 8 : 0), &value)) {
			l->facts->values[i] = value;
			l->facts->known |= 1u << i;
		}
	}
}

bool ts_tls_is_of_glibc(const char *path)
{
	static const char *const begins[] = { "ld", "libc.", "libc-", "libpthread" };
	const char *name = ts_last_name(path);

	for (unsigned i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	}
	return false;
}

void ts_tls_learn(struct ts_tls_facts *facts, const struct ts_source *file, uint64_t moved)
{
	struct learning l = { .facts = facts, .file = file, .moved = moved };
	struct ts_error not_elf = { 0 };

	if (!ts_elf_init(&l.elf, file, &not_elf))
		return;
	ts_symtab_walk(file, use_symbol, &l);
	ts_elf_fini(&l.elf);
}

/* ------------------------------------------------------------------------------------ the recorded memory */

/* The query and the position of a lookup. */
struct asking {
	struct ts_query *q;
	uint64_t pos;
	uint32_t process;
	const struct ts_tls_facts *facts;
	unsigned word_len; /* bytes of an address */
	bool is_big_endian;
};

static bool is_told(const struct ts_tls_facts *facts, enum ts_tls_fact fact)
{
	return facts->known >> fact & 1;
}

static bool need(const struct asking *a, enum ts_tls_fact fact, struct ts_error *err)
{
	return is_told(a->facts, fact) ||
	       ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "no file of glibc is available that describes the dynamic linker's thread-local storage (%s)",
		       symbols[fact].name);
}

/* The number of @len bytes at @addr; @what it is, for people. */
static bool read_number(const struct asking *a, uint64_t addr, unsigned len, const char *what,
			uint64_t *value, struct ts_error *err)
{
	uint8_t bytes[8], known[8];

	if (!ts_query_mem(a->q, a->pos, a->process, addr, len, bytes, known, err))
		return false;
	if (memchr(known, 0, len))
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "%s at 0x%" PRIx64 " is not known at position %" PRIu64, what, addr, a->pos);
	*value = ts_number(bytes, len, a->is_big_endian);
	return true;
}

static bool read_word(const struct asking *a, uint64_t addr, const char *what, uint64_t *value,
		      struct ts_error *err)
{
	return read_number(a, addr, a->word_len, what, value, err);
}

static bool fail_long(const char *what, struct ts_error *err)
{
	return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "%s has more than %u entries", what, MAX_NODES);
}

/* Is the link map at @map that of @object? */
static bool is_map_of(const struct asking *a, uint64_t map, const struct ts_tls_object *object, bool *is_it,
		      struct ts_error *err)
{
	static const char what[] = "the dynamic linker's list of objects";
	uint64_t moved, dynamic;

	*is_it = object->is_program || map == object->link_map;
	if (*is_it || object->link_map)
		return true;
	if (!read_word(a, map, what, &moved, err) ||
	    !read_word(a, map + UINT64_C(2) * a->word_len, what, &dynamic, err))
		return false;
	*is_it = moved == object->moved && dynamic == object->dynamic;
	return true;
}

/*
 * struct r_debug {int r_version; struct link_map *r_map; ...}; struct link_map {l_addr, l_name, l_ld, l_next,
 * ...}.
 */
static bool find_map(const struct asking *a, const struct ts_tls_object *object, uint64_t *map,
		     struct ts_error *err)
{
	static const char what[] = "the dynamic linker's list of objects";
	bool is_it = false;
	unsigned n;

	if (!need(a, TS_TLS_R_DEBUG, err) ||
	    !read_word(a, a->facts->values[TS_TLS_R_DEBUG] + a->word_len, what, map, err))
		return false;
	for (n = 0; *map && n < MAX_NODES; n++) {
		if (!is_map_of(a, *map, object, &is_it, err))
			return false;
		if (is_it)
			return true;
		if (!read_word(a, *map + UINT64_C(3) * a->word_len, what, map, err))
			return false;
	}
	if (n == MAX_NODES)
		return fail_long(what, err);
	return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "the dynamic linker does not list the object at position %" PRIu64, a->pos);
}

/*
 * The struct pthread with the number @tid in the list whose head is at @head; *pthread is 0 if it is not in
 * it.
 */
static bool find_in_list(const struct asking *a, uint64_t head, uint64_t tid, uint64_t *pthread,
			 struct ts_error *err)
{
	static const char what[] = "the list of threads";
	uint64_t node, found;
	unsigned n;

	*pthread = 0;
	if (!read_word(a, head, what, &node, err))
		return false;
	for (n = 0; node && node != head && n < MAX_NODES; n++) {
		uint64_t at = node - a->facts->values[TS_TLS_PTHREAD_LIST];

		if (!read_number(a, at + a->facts->values[TS_TLS_PTHREAD_TID], 4, what, &found, err))
			return false;
		if (found == tid) {
			*pthread = at;
			return true;
		}
		if (!read_word(a, node, what, &node, err))
			return false;
	}
	return n < MAX_NODES || fail_long(what, err);
}

static bool find_pthread(const struct asking *a, uint64_t tid, uint64_t *pthread, struct ts_error *err)
{
	static const enum ts_tls_fact lists[] = { TS_TLS_STACK_USER, TS_TLS_STACK_USED };

	if (!need(a, TS_TLS_RTLD_GLOBAL, err) || !need(a, TS_TLS_PTHREAD_LIST, err) ||
	    !need(a, TS_TLS_PTHREAD_TID, err))
		return false;
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		uint64_t head = a->facts->values[TS_TLS_RTLD_GLOBAL] + a->facts->values[lists[i]];

		if (!need(a, lists[i], err) || !find_in_list(a, head, tid, pthread, err))
			return false;
		if (*pthread)
			return true;
	}
	return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "glibc's lists of threads do not have thread %" PRIu64 " at position %" PRIu64, tid, a->pos);
}

/* --------------------------------------------------------------------------------------------- the answer */

enum variant {
	BELOW, /* blocks lie below struct pthread ("variant II") */
	ABOVE, /* blocks lie above the end of struct pthread ("variant I") */
};

struct layout {
	const char *arch;
	enum variant variant;
	const char *pointer; /* the register that holds the thread pointer; NULL: recordings do not have it */
	bool has_first_at_0; /* an offset of 0 is a place: that of the program */
};

static const struct layout *layout_of(const struct ts_arch *arch)
{
	static const struct layout layouts[] = {
		{ "x86_64", BELOW, "fs_base", false }, { "i386", BELOW, NULL, false }, { "aarch64", ABOVE, NULL, false },
		{ "arm", ABOVE, NULL, false },         { "riscv64", ABOVE, "tp", true },
	};

	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!strcmp(arch->name, layouts[i].arch))
			return &layouts[i];
	}
	return NULL;
}

bool ts_tls_pointer(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *value)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct layout *layout = layout_of(set->arch);
	int i = layout && layout->pointer ? ts_regset_find(set, layout->pointer) : -1;
	struct ts_error ignored = { 0 };
	bool is_known = false;
	uint8_t *room;

	if (i < 0 || set->regs[i].len != 8)
		return false;
	room = malloc(2 * (size_t)set->g_len);
	if (room && ts_query_regs(q, pos, thread, room, room + set->g_len, &ignored)) {
		*value = ts_number(room + set->regs[i].off, 8, set->arch->is_big_endian);
		is_known = !memchr(room + set->g_len + set->regs[i].off, 0, 8);
	}
	free(room);
	return is_known;
}

bool ts_tls_program_block(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t len, uint64_t align, uint64_t *addr,
			  struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(q)->arch;
	const struct layout *layout = layout_of(arch);

	if (!layout || !layout->pointer)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "recordings of %s do not have the thread pointer, to which thread-local variables are relative", arch->name);
	if (!ts_tls_pointer(q, pos, thread, addr) || !*addr)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "the thread pointer is not known at position %" PRIu64, pos);
	align = align && !(align & (align - 1)) ? align : 1;
	if (layout->variant == BELOW)
		*addr -= (len + align - 1) & ~(align - 1);
	*addr &= ts_arch_addr_mask(arch);
	return true;
}

/*
 * Does @offset mean that the block is allocated at a thread's first access?  (NO_TLS_OFFSET,
 * FORCED_DYNAMIC_...)
 */
static bool is_dynamic(const struct layout *layout, uint64_t offset, uint64_t mask)
{
	return offset == mask || (layout->has_first_at_0 ? offset == mask - 1 : !offset);
}

/* Read the word at the offset @fact of the struct at @at. */
static bool read_field(const struct asking *a, uint64_t at, enum ts_tls_fact fact, const char *what, uint64_t *value,
		       struct ts_error *err)
{
	return need(a, fact, err) && read_word(a, at + a->facts->values[fact], what, value, err);
}

/* When the object with the link map @map got its number @id; it has that still. */
static bool find_generation(const struct asking *a, uint64_t map, uint64_t id, uint64_t *generation, struct ts_error *err)
{
	static const char what[] = "the dynamic linker's list of objects with thread-local storage";
	uint64_t list, len, slot, holder;

	if (!need(a, TS_TLS_RTLD_GLOBAL, err) ||
	    !read_field(a, a->facts->values[TS_TLS_RTLD_GLOBAL], TS_TLS_SLOTS, what, &list, err))
		return false;
	for (unsigned n = 0;; n++) {
		if (n == MAX_NODES)
			return fail_long(what, err);
		if (!read_field(a, list, TS_TLS_SLOTS_LEN, what, &len, err))
			return false;
		if (id < len)
			break;
		id -= len;
		if (!read_field(a, list, TS_TLS_SLOTS_NEXT, what, &list, err))
			return false;
	}
	if (!need(a, TS_TLS_SLOTS_ITEMS, err) || !need(a, TS_TLS_SIZEOF_SLOT, err))
		return false;
	slot = list + a->facts->values[TS_TLS_SLOTS_ITEMS] + id * a->facts->values[TS_TLS_SIZEOF_SLOT];
	if (!read_field(a, slot, TS_TLS_SLOT_MAP, what, &holder, err) || !read_field(a, slot, TS_TLS_SLOT_GEN, what, generation, err))
		return false;
	return holder == map || ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "%s does not have the object", what);
}

/* The block that the thread whose struct pthread is at @pthread has for the object, if it has one. */
static bool find_in_dtv(const struct asking *a, uint64_t pthread, uint64_t map, uint64_t *addr, struct ts_error *err)
{
	static const char what[] = "the thread's list of thread-local storage";
	uint64_t id, dtv, counter, generation;

	if (!read_field(a, map, TS_TLS_L_TLS_MODID, "the number of the object's thread-local storage", &id, err))
		return false;
	if (!id)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "the object has no thread-local storage at position %" PRIu64, a->pos);
	if (!find_generation(a, map, id, &generation, err) || !read_field(a, pthread, TS_TLS_PTHREAD_DTVP, what, &dtv, err) ||
	    !need(a, TS_TLS_DTV_BITS, err) || !read_field(a, dtv, TS_TLS_DTV_COUNTER, what, &counter, err))
		return false;
	*addr = 1;
	if (counter >= generation &&
	    !read_field(a, dtv + id * (a->facts->values[TS_TLS_DTV_BITS] / 8), TS_TLS_DTV_POINTER, what, addr, err))
		return false;
	return (*addr && !(*addr & 1)) ||
	       ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
		       "the thread has no storage for the object's thread-local variables at position %" PRIu64
		       ": it is allocated when the thread first uses one of them", a->pos);
}

/* The end of the thread's struct pthread that blocks are counted from. */
static bool find_origin(const struct asking *a, const struct layout *layout, uint32_t thread,
			uint64_t *origin, struct ts_error *err)
{
	if (ts_tls_pointer(a->q, a->pos, thread, origin))
		return true;
	if (!find_pthread(a, ts_query_thread_facts(a->q, thread)->tid, origin, err))
		return false;
	if (layout->variant == BELOW)
		return true;
	*origin += a->facts->values[TS_TLS_SIZEOF_PTHREAD];
	return need(a, TS_TLS_SIZEOF_PTHREAD, err);
}

bool ts_tls_block(struct ts_query *q, uint64_t pos, uint32_t thread, const struct ts_tls_facts *facts,
		  const struct ts_tls_object *object, uint64_t *addr, struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(q)->arch;
	const struct asking a = { q,     pos, ts_query_process(q, thread),
				  facts, arch->addr_bits / 8u, arch->is_big_endian };
	const struct layout *layout = layout_of(arch);
	uint64_t mask = ts_arch_addr_mask(arch), map, offset, origin;

	if (!layout)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "the layout of thread-local storage on %s is not known to tracestub", arch->name);
	if (!find_map(&a, object, &map, err) || !need(&a, TS_TLS_L_TLS_OFFSET, err) ||
	    !read_word(&a, map + facts->values[TS_TLS_L_TLS_OFFSET],
		       "the place of the object's thread-local storage", &offset, err))
		return false;
	if (!find_origin(&a, layout, thread, &origin, err))
		return false;
	if (is_dynamic(layout, offset, mask)) {
		if (layout->variant == ABOVE && !need(&a, TS_TLS_SIZEOF_PTHREAD, err))
			return false;
		origin -= layout->variant == ABOVE ? facts->values[TS_TLS_SIZEOF_PTHREAD] : 0;
		return find_in_dtv(&a, origin, map, addr, err);
	}
	*addr = (layout->variant == BELOW ? origin - offset : origin + offset) & mask;
	return true;
}
