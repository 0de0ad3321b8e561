/* SPDX-License-Identifier: MIT */
/*
 * NOTEs of version 2: what the recorder says of the program, of itself, and of what it could not record.
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
	UCIR_NOTE_UNEXPLAINED,   /* how many CHANGED, in decimal */
	UCIR_NOTE_TEXT,
	UCIR_NOTE_THREAD_NAME,   /* process << 32 | thread, u64; the name */
};

/*
 * A NOTE before the first frame: a fact about the recording.  Unknown keys are passed over.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_note_fact(struct usercorn *rec, const struct ucir_op *op, struct ts_error *err);

/* A NOTE anywhere: after the first step a warning, once however often it is read; before it nothing. */
void ucir_note(const struct ucir_walk *w, const struct ucir_op *op);

#endif
