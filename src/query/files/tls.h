/* SPDX-License-Identifier: MIT */
/*
 * Where a thread's copy of an object's thread-local variables lies, in a program that glibc's dynamic linker
 * loaded.
 *
 * Nothing is guessed: the linker's list of loaded objects and its list of threads are read in the recorded
 * memory, at the places that glibc itself gives to debuggers.  For them libc and ld.so have the symbols
 * _thread_db_... and _rtld_global (glibc: nptl_db/structs.def, nptl_db/td_thr_tlsbase.c) and _r_debug
 * (<link.h>).
 */
#ifndef TS_TLS_H
#define TS_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"

/* Facts from the files of libc and ld.so. */
enum ts_tls_fact {
	TS_TLS_L_TLS_OFFSET,   /* offsets in bytes: in struct link_map */
	TS_TLS_L_TLS_MODID,    /* the same: the object's number */
	TS_TLS_PTHREAD_LIST,   /* in struct pthread: its node in the list of threads */
	TS_TLS_PTHREAD_TID,    /* in struct pthread */
	TS_TLS_STACK_USED,     /* in _rtld_global: the list of threads that have a stack of the linker's */
	TS_TLS_STACK_USER,     /* in _rtld_global: the list of the others, such as the first one */
	TS_TLS_SLOTS,          /* in _rtld_global: the first list of objects by their numbers */
	TS_TLS_SLOTS_LEN,      /* in such a list */
	TS_TLS_SLOTS_NEXT,
	TS_TLS_SLOTS_ITEMS,
	TS_TLS_SLOT_GEN,       /* in an entry: when the object was loaded; its link map */
	TS_TLS_SLOT_MAP,
	TS_TLS_PTHREAD_DTVP,   /* in struct pthread: the address of the thread's blocks, by the numbers of objects */
	TS_TLS_DTV_COUNTER,    /* in entry 0 of these: up to which loading they are right */
	TS_TLS_DTV_POINTER,    /* in the others */
	TS_TLS_SIZEOF_PTHREAD, /* bytes */
	TS_TLS_SIZEOF_SLOT,
	TS_TLS_DTV_BITS,       /* of an entry of dtv */
	TS_TLS_RTLD_GLOBAL,    /* addresses in memory */
	TS_TLS_R_DEBUG,
};
#define TS_TLS_N_FACTS (TS_TLS_R_DEBUG + 1)

struct ts_tls_facts {
	uint64_t values[TS_TLS_N_FACTS];
	unsigned known; /* bits 1 << ts_tls_fact */
};

/* Is this the file of the dynamic linker or of libc, by its name: ld-linux-x86-64.so.2, libc.so.6, libpthread-2.31.so? */
bool ts_tls_is_of_glibc(const char *path);

/*
 * Add the facts of @file, a library that is @moved bytes above its linked address, to @facts (zero at first).
 * If the file is damaged or is not an ELF file, the facts that were found before that are added.
 */
void ts_tls_learn(struct ts_tls_facts *facts, const struct ts_source *file, uint64_t moved);

/* A loaded object: the program, or by its link map if the asker has that, or by what its link map holds. */
struct ts_tls_object {
	bool is_program;         /* the first in the linker's list; the rest is ignored */
	uint64_t link_map;       /* 0: not known */
	uint64_t moved, dynamic; /* l_addr and l_ld */
};

/*
 * The address of the first byte of @object's thread-local block for @thread (an ordinal) at position @pos.
 *
 * Returns true with *addr set.
 * Returns false if the recording or @facts do not contain the address (TS_EUNSUPPORTED).
 * Returns false if the thread has no block of the library yet (TS_EUNSUPPORTED).  A library that dlopen()
 * loaded has a block in each thread that has accessed it.
 * Returns false if the processor is not x86, ARM or RISC-V (TS_EUNSUPPORTED).
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_tls_block(struct ts_query *q, uint64_t pos, uint32_t thread, const struct ts_tls_facts *facts,
		  const struct ts_tls_object *object, uint64_t *addr, struct ts_error *err);

/*
 * The block of the program itself, which is as linked @len bytes long and so aligned: its place is a fixed distance from the
 * thread pointer.
 *
 * Returns false if the processor's recordings do not have the thread pointer (TS_EUNSUPPORTED).
 * Returns false if it is not known (TS_EUNSUPPORTED with a sentence that says which).
 */
bool ts_tls_program_block(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t len, uint64_t align, uint64_t *addr,
			  struct ts_error *err);

/*
 * The thread pointer of @thread at @pos: on x86-64 fs_base, on RISC-V tp.
 *
 * Returns false if it is not known.
 * Returns false if recordings of the processor do not have it.
 */
bool ts_tls_pointer(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *value);

#endif
