/* SPDX-License-Identifier: MIT */
/*
 * The trace frame that a client has selected, in the form in which it sees registers and memory.
 */
#ifndef RSP_TRACE_FRAME_H
#define RSP_TRACE_FRAME_H

#include "session.h"

/*
 * As rsp_session_regs(), for the selected frame.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_trace_frame_regs(const struct rsp_session *s, uint8_t *data, uint8_t *known, struct ts_error *err);

/*
 * As rsp_session_mem(), for the selected frame.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_trace_frame_mem(const struct rsp_session *s, uint64_t addr, size_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err);

/*
 * Append gdb's document of the contents of the selected frame, which must not be a frame with all known state.
 */
void rsp_trace_frame_xml(const struct rsp_session *s, struct ts_buf *out);

#endif
