/* SPDX-License-Identifier: Apache-2.0 */
/* setting - describes the settings of the configuration file and checks their values. This code keeps no state, so
 * any thread may use it. */
#pragma once

#include <collet/types.h>

/*
 * Types, and the form in which code reads their values:
 *   boolean                       "on" or "off"; the file may also have yes, true, 1, no, false, 0
 *   integer                       decimal digits, at most INT32_MAX
 *   size                          bytes in decimal digits; the file may have a suffix K, M or G
 *                                 (powers of 1024)
 *   string, path, path list, list any text
 *   choice                        one of `values`
 *   words                         some of `values`, separated by one blank; in the file also commas
 *   probe                         from the choices of the backend's probe; the file cannot set it
 */
typedef struct setting {
    const char *key;
    const char *environment; /* the variable, or "" */
    const char *type;
    const char *values;   /* separated by blanks: the words of choice and words; other types also accept these */
    const char *fallback; /* the default in the form above, or "" */
    const char *help; /* "internal: ...": for tests and developers */
} setting;

/* 1 if the type exists and `values` is set as the type requires. */
int setting_type_valid(const setting *s);

/* Sets *value to `word` in the form above; the caller frees it. INVALID if the type does not accept
 * the word; the text begins with `where`. */
collet_status setting_parse(const setting *s, const char *word, const char *where, char **value,
                            collet_error *err);
