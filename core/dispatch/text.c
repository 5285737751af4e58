/* SPDX-License-Identifier: Apache-2.0 */
/* An array as a text.
 * Tests: tests/core/test_array_text.c */
#include <stdio.h>
#include <string.h>

#include <collet/collet.h>
#include <collet/floating.h>

#include "context/context.h"
#include "memory/array.h"
#include "util/literal.h"
#include "util/numerals.h"

#define EDGE 3     /* elements at both ends of an axis */
#define SHOWN 1000 /* arrays with at most this many elements are shown whole */

typedef struct writer {
    collet_context *cx;
    char *at, *end; /* the end of the text so far; the last byte of the buffer, for the NUL */
    int all, full;  /* full: nothing more fits */
} writer;

static void add(writer *w, const char *part)
{
    size_t length = strlen(part), room = (size_t)(w->end - w->at);
    w->full |= length > room;
    length = length < room ? length : room;
    memcpy(w->at, part, length);
    w->at += length;
    *w->at = '\0';
}

static collet_status add_element(writer *w, const collet_array *a)
{
    collet_scalar s = {.dtype = a->dtype};
    char text[LITERAL_TEXT];
    collet_status status = collet_array_read(w->cx, a, s.value.bytes, collet_dtype_size(a->dtype));
    if (status != COLLET_OK)
        return status;
    const literal n = literal_read(&s, 0);
    if (literal_is_whole(&n)) {
        add(w, literal_text(&n, text));
        return COLLET_OK;
    }
    locale_t before = numerals_begin();
    if (a->dtype == COLLET_C64 || a->dtype == COLLET_C128)
        snprintf(text, sizeof text, "%.8g%+.8gj", n.re, n.im);
    else
        snprintf(text, sizeof text, "%.8g", n.re);
    numerals_end(before);
    add(w, text);
    return COLLET_OK;
}

static collet_status add_axes(writer *w, const collet_array *a, int depth)
{
    collet_status status = COLLET_OK;
    if (!a->ndim)
        return add_element(w, a);
    int64_t n = a->shape[0];
    add(w, "[");
    for (int64_t i = 0; i < n && status == COLLET_OK && !w->full; i++) {
        collet_array *part;
        if (i && a->ndim == 1)
            add(w, ", ");
        for (int k = 0; i && a->ndim > 1 && k <= depth + a->ndim; k++)
            add(w, k ? k < a->ndim ? "\n" : " " : ",");
        if (!w->all && i == EDGE && n > 2 * EDGE) {
            add(w, "...");
            i = n - EDGE - 1;
            continue;
        }
        status = collet_array_select(w->cx, a, &part, 0, i);
        if (status != COLLET_OK)
            break;
        status = add_axes(w, part, depth + 1);
        collet_array_destroy(part);
    }
    add(w, "]");
    return status;
}

collet_status collet_array_text(collet_context *cx, const collet_array *array, char *text,
                                size_t capacity)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, array);
    COLLET_FLOATING_SCOPE;
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!array || !text || !capacity)
        return context_fail(cx, COLLET_INVALID,
                            "collet_array_text: the array or the text is NULL, or capacity is 0");
    writer w = {.cx = cx, .at = text, .end = text + capacity - 1, .all = array->size <= SHOWN};
    return add_axes(&w, array, 0);
}
