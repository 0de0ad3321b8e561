/* SPDX-License-Identifier: MIT */
/*
 * NOTEs of version 2: facts about the program, the recorder, and the parts that could not be recorded.
 */
#ifndef LOADERS_USERCORN_NOTE_H
#define LOADERS_USERCORN_NOTE_H

#include "effects.h"

enum ucir_note_key {
	UCIR_NOTE_ARGUMENTS = 1, /* each terminated by NUL */
	UCIR_NOTE_FOLDER,
	UCIR_NOTE_PROGRAM,       /* absolute path */
	UCIR_NOTE_BUILD_ID,      /* bytes */
	UCIR_NOTE_RECORDER,
	UCIR_NOTE_EMULATOR,
	UCIR_NOTE_PROCESSOR,
	UCIR_NOTE_UNRECORDED,    /* names of registers */
	UCIR_NOTE_CHILD,         /* process id in decimal */
	UCIR_NOTE_BECAME,        /* path */
	UCIR_NOTE_UNEXPLAINED,   /* the number of CHANGED ops, in decimal */
	UCIR_NOTE_TEXT,
	UCIR_NOTE_THREAD_NAME,   /* process << 32 | thread, u64; the name */
};

/*
 * Store the fact in a NOTE before the first frame.  Unknown keys are ignored.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_note_fact(struct usercorn *rec, const struct ucir_op *op, struct ts_error *err);

/* Process a NOTE at any place: after the first step it becomes a warning, once; before that it is ignored. */
void ucir_note(const struct ucir_walk *w, const struct ucir_op *op);

#endif
