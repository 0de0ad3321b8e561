/* SPDX-License-Identifier: MIT */
/*
 * From a packet to its handler.
 *
 * Each topic has a constant array of packets, one line a packet (pkt_*.c); the table joins them.  The longest
 * name that fits wins, so that the order of lines means nothing.  The features for qSupported stand beside
 * the packets that need them.
 */
#ifndef RSP_TABLE_H
#define RSP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rsp_args;
struct rsp_reply;
struct rsp_session;
struct ts_error;

/* What a handler did, and what remains for its caller. */
enum rsp_done {
	RSP_REPLIED,     /* the reply holds data or an error: send it */
	RSP_OK,          /* done: send OK */
	RSP_BAD,         /* malformed arguments: send an error */
	RSP_DEFERRED,    /* the reply comes later if the session has a job now: send nothing */
	RSP_WAIT,        /* nothing is done yet: run the packet again when there is more (see wait.h) */
	RSP_CLOSE,       /* the session ends: send nothing */
	RSP_UNSUPPORTED, /* not for this recording or client: send the empty reply */
};

/* What may follow a name. */
enum rsp_packet_kind {
	RSP_EXACT,  /* nothing */
	RSP_ARGS,   /* nothing, or one of ":;," and then the arguments */
	RSP_PREFIX, /* the arguments, at once */
};

struct rsp_packet {
	const char *name;
	enum rsp_packet_kind kind;
	enum rsp_done (*handler)(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r);
	const char *feature; /* as qSupported claims it, "ReverseStep+"; NULL: none */
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
	const char **features; /* owned; each once, in the order of the topics */
	unsigned n_features;
};

/*
 * Join the packets of @n_topics topics, which must outlive the table.  No name may stand there twice:
 * asserted.
 *
 * Returns false if memory is exhausted (TS_ENOMEM in @err); @t then needs no rsp_table_fini().
 */
bool rsp_table_init(struct rsp_table *t, const struct rsp_packets *const *topics, unsigned n_topics,
		    struct ts_error *err);
void rsp_table_fini(struct rsp_table *t);

/*
 * Find the packet that a payload is, in time that does not depend on the order of the table.
 *
 * A name of several letters is that packet only if the payload ends with it or goes on as its kind allows;
 * RSP_EXACT with a separator behind it is the packet with arguments that it must not have.  A name of one
 * letter is the packet whatever follows.  @a gets the arguments, without the separator, and is bad already
 * where nothing of the kind may follow.
 *
 * Returns the packet, NULL if it is unknown.
 */
const struct rsp_packet *rsp_table_find(const struct rsp_table *t, const uint8_t *payload, size_t len,
					struct rsp_args *a);

/*
 * Find the packet and run its handler.
 *
 * Returns what the handler did, RSP_UNSUPPORTED for an unknown packet, RSP_BAD (handler not called) when
 * something follows that may not.
 */
enum rsp_done rsp_table_run(const struct rsp_table *t, struct rsp_session *s, const uint8_t *payload,
			    size_t len, struct rsp_reply *r);

/*
 * Add ";feature" to @r for each feature of the table, each once.
 *
 * @is_wanted, unless NULL, says of each whether this session claims it.
 */
void rsp_table_features(const struct rsp_table *t,
			bool (*is_wanted)(const struct rsp_session *s, const char *feature),
			const struct rsp_session *s, struct rsp_reply *r);

#endif
