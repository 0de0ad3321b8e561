/* SPDX-License-Identifier: MIT */
/* Types of arguments and results as the x86-64 System V ABI classifies them (section 3.2.3), and results in named registers. */
#ifndef TS_VALUE_TYPE_H
#define TS_VALUE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* The form in which a value is printed. */
enum ts_value_form {
	TS_FORM_NONE,    /* void: no value */
	TS_FORM_NUMBER,  /* an integer, a pointer, a truth value */
	TS_FORM_FLOAT,   /* IEEE 754, of 4 or 8 bytes; x87's, of 16 */
	TS_FORM_BYTES,   /* a structure, a vector */
	TS_FORM_UNKNOWN, /* its place cannot be determined */
};

/* The class of an eightbyte of a type. */
enum ts_value_class {
	TS_CLASS_NONE,
	TS_CLASS_INTEGER,
	TS_CLASS_SSE,
	TS_CLASS_SSE_UP, /* the upper half of the vector register before it */
	TS_CLASS_X87,    /* a long double: an argument is in memory, a result in st0 */
	TS_CLASS_MEMORY,
};

struct ts_value_type {
	enum ts_value_form form;
	uint32_t size; /* bytes */
	uint8_t classes[2]; /* enum ts_value_class */
	bool is_by_reference; /* the caller passes the address of a copy */
	bool is_text; /* a string of Go or Rust: its address, then its length, of 8 bytes each */
};

/* A function has at most this many results; a further one makes all of them unknown. */
#define TS_MAX_RESULTS 8u

/* The maximum number of registers of a result. */
#define TS_MAX_RESULT_PIECES 31u

/* A scalar of a result. */
struct ts_result_piece {
	uint8_t reg, len; /* DWARF's number; bytes */
	uint32_t off;     /* in the result */
};

struct ts_placed_result {
	struct ts_value_type type; /* UNKNOWN: its place is not known */
	struct ts_result_piece pieces[TS_MAX_RESULT_PIECES];
	unsigned n_pieces;
};

#endif
