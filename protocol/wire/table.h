/* SPDX-License-Identifier: MIT */
/*
 * Finding the handler of a packet.
 *
 * Each topic has a constant array of packets, one line for each packet (protocol/packets); the table joins
 * them.  The longest matching name wins, so the order of lines does not matter.  The features for qSupported
 * are listed with the packets that need them.
 */
#ifndef RSP_TABLE_H
#define RSP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reply.h"

struct rsp_args;
struct rsp_session;
struct ts_error;

/* The bytes that may follow a name. */
enum rsp_packet_kind {
	RSP_EXACT,  /* nothing */
	RSP_ARGS,   /* nothing, or one of ":;," followed by the arguments */
	RSP_PREFIX, /* the arguments, directly */
};

struct rsp_packet {
	const char *name;
	enum rsp_packet_kind kind;
	enum rsp_done (*handler)(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r);
	const char *feature; /* as in the reply to qSupported, "ReverseStep+"; NULL: none */
	unsigned arg;        /* for the handler, where packets share one: it gets it as a->arg */
	const char *reply;   /* of a packet without a handler */
};

/* The packets of one topic: const struct rsp_packets rsp_regs_packets = RSP_PACKETS(packets); */
struct rsp_packets {
	const struct rsp_packet *packets;
	unsigned n;
};
#define RSP_PACKETS(array) { array, sizeof(array) / sizeof((array)[0]) }

struct rsp_table {
	struct rsp_entry *entries; /* owned; sorted by name */
	unsigned n;
	const char **features; /* owned; without duplicates, in the order of the topics */
	unsigned n_features;
};

/*
 * Join the packets of @n_topics topics, which must outlive the table.  Duplicate names are asserted against.
 *
 * Returns false if memory is exhausted (TS_ENOMEM in @err); @t then needs no rsp_table_fini().
 */
bool rsp_table_init(struct rsp_table *t, const struct rsp_packets *const *topics, unsigned n_topics,
		    struct ts_error *err);
void rsp_table_fini(struct rsp_table *t);

/*
 * Find the packet of a payload.  The time does not depend on the order of the table.
 *
 * A name of several letters matches only if the payload ends after it or continues as its kind allows; an
 * RSP_EXACT name followed by a separator matches, as a packet with arguments that it must not have.  A name
 * of one letter matches whatever follows.  @a is set to the arguments, without the separator; it is already
 * bad if the packet may not have them.
 *
 * Returns the packet.
 * Returns NULL if it is unknown.
 */
const struct rsp_packet *rsp_table_find(const struct rsp_table *t, const uint8_t *payload, size_t len,
					struct rsp_args *a);

/*
 * Find the packet and run its handler.
 *
 * Returns the handler's result.
 * Returns RSP_UNSUPPORTED for an unknown packet, RSP_BAD (handler not called) if the packet has arguments
 * that it must not have.
 */
enum rsp_done rsp_table_run(const struct rsp_table *t, struct rsp_session *s, const uint8_t *payload,
			    size_t len, struct rsp_reply *r);

/*
 * Add ";feature" to @r for each feature of the table, each once.
 *
 * @is_wanted, unless NULL, returns true for a feature that this session announces.
 */
void rsp_table_features(const struct rsp_table *t,
			bool (*is_wanted)(const struct rsp_session *s, const char *feature),
			const struct rsp_session *s, struct rsp_reply *r);

#endif
