/* SPDX-License-Identifier: MIT */
/*
 * The functions of the SQLite that has loaded the extension (https://www.sqlite.org/loadext.html).
 */
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1
