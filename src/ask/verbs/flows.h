/* SPDX-License-Identifier: MIT */
/* The verb flows: the uses of a value, forwards. */
#ifndef TS_ASK_FLOWS_H
#define TS_ASK_FLOWS_H

#include "src/ask/verb.h"

extern const struct ts_verb ts_verb_flows;

#endif
