/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - parses JSON from a file, and checks it by a table of fields before any field is used. */
#pragma once

#include <cjson/cJSON.h>
#include <collet/collet.h>

typedef enum io_json_type {
    IO_JSON_TEXT,
    IO_JSON_BOOLEAN,
    IO_JSON_WHOLE,  /* a whole number from low to high */
    IO_JSON_NUMBER, /* from low to high */
    IO_JSON_OBJECT,
    IO_JSON_LIST, /* with low to high elements */
} io_json_type;

#define IO_JSON_OPTIONAL 1 /* may be absent */
#define IO_JSON_NULLABLE 2 /* may be null */

/* A row of a table: one field of an object. Fields of the JSON text that have no row are not checked. */
typedef struct io_json_field {
    const char *name;
    io_json_type type;
    uint32_t flags;
    double low, high; /* within 2^53 if WHOLE */
    const struct io_json_field
        *fields; /* OBJECT: its fields; LIST: one row, which holds for each element; NULL: any content */
    int64_t n_fields;
} io_json_field;

/* Expands to a table and its number of rows: for the members `fields` and `n_fields`, and for io_json_check. */
#define IO_JSON_ROWS(table) (table), (int64_t)(sizeof(table) / sizeof *(table))

/* Parses a text that is one JSON value; the caller deletes *out with cJSON_Delete. FORMAT if the text is not
 * one value, or if an object repeats a key; NO_MEMORY. The message begins with `source`, a path. */
collet_status io_json_parse(const char *source, const char *text, size_t length, cJSON **out,
                            collet_error *err);

/* Checks the fields of an object. FORMAT: "SOURCE: notes.frames[2] is -1; it must be a whole number from
 * 0 to 5". `place` is the object's name with a dot, "notes."; "": the root. */
collet_status io_json_check(const char *source, const char *place, const cJSON *object,
                            const io_json_field *fields, int64_t n_fields, collet_error *err);

/* Members of an object that io_json_check accepted; 0 or NULL if the member is absent or null. */
int64_t io_json_whole(const cJSON *object, const char *key);
double io_json_number(const cJSON *object, const char *key);
const char *io_json_text(const cJSON *object, const char *key);
