/* SPDX-License-Identifier: MIT */
/*
 * The listening socket for the COMM argument of the command line.
 */
#ifndef RSP_LISTEN_H
#define RSP_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/error.h"

struct rsp_listener {
	int fd;             /* owned; -1 for stdio */
	char address[300];  /* readable: "127.0.0.1:1234", "[::1]:1234", a path, "-" */
	char *unix_path;    /* owned; removed at the end, NULL for none */
	dev_t dev;          /* of the socket file: another file of that name is not removed */
	ino_t ino;
	bool is_stdio;
};

/*
 * Listen at @comm: HOST:PORT, :PORT (loopback), a path with '/' (a unix socket of mode 0600), or "-" (no
 * socket).
 *
 * A stale socket file, on which no process listens, is replaced; any other file is not.
 *
 * An address that other machines can reach is a warning.
 *
 * Returns false if @comm is malformed, or a socket in a folder where other users can replace it (TS_EUSAGE).
 * Returns false if the address cannot be bound (TS_EIO).
 */
bool rsp_listen(struct rsp_listener *l, const char *comm, struct ts_error *err);
void rsp_listener_fini(struct rsp_listener *l);

#endif
