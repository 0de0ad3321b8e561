/* SPDX-License-Identifier: MIT */
/*
 * Recorded text in a document for the client.
 */
#ifndef RSP_XML_H
#define RSP_XML_H

#include "src/base/collections/buf.h"

/*
 * Append @text, as an attribute's value or between tags.  It may contain anything; characters that XML does
 * not allow become '?'.
 */
void rsp_xml_text(const char *text, struct ts_buf *out);

#endif
