/* SPDX-License-Identifier: Apache-2.0 */
/* setting - what the configuration file may set, and the check of its values. Strings only: any
 * thread. */
#ifndef CORE_UTIL_SETTING_H
#define CORE_UTIL_SETTING_H

#include <collet/types.h>

/*
 * Types, and their values as code reads them:
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
    const char *values;   /* separated by blanks: words that any type but "words" also accepts */
    const char *fallback; /* the default in the form above, or "" */
    const char *help;
} setting;

/* Whether there is such a type, and it has the values that it needs. */
int setting_type_valid(const setting *s);

/*
 * Sets *value to `word` in the form above; the caller frees it. INVALID, with a text that begins
 * with `where`, when the type does not have that value.
 */
collet_status setting_parse(const setting *s, const char *word, const char *where, char **value,
                            collet_error *err);

#endif
