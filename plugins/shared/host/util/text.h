/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - JSON written into a buffer that may be too small. */
#pragma once

#include <collet/types.h>

typedef struct text {
    char *at;
    uint64_t capacity;
    uint64_t used; /* length of the whole text without its NUL, even if the text did not fit */
} text;

void text_add(text *t, const char *format, ...) COLLET_PRINTF(2, 3);

/* Writes a string in quotes; control characters become blanks. */
void text_quote(text *t, const char *string);

/* Writes a member of an object that already has members: `, "name": value`. */
void text_string(text *t, const char *name, const char *value);
/* The same for a number; writes nothing if it is 0. */
void text_number(text *t, const char *name, uint64_t value);
/* The member "uuid", 8-4-4-4-12. */
void text_uuid(text *t, const unsigned char uuid[16]);
