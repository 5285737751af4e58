/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_shards.c */
#include "notes.h"

#include "io/json/json.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void trajectory_notes_row(trajectory_notes *n, int64_t index, double time)
{
    if (n->n_frames == 0) {
        n->first_frame = index;
        n->first_time = time;
    }
    if (isnan(time) && n->n_timed == n->n_frames)
        n->first_untimed = index;
    if (!isnan(time)) {
        if (n->n_timed > 0 && time <= n->latest && n->times_not_rising++ == 0) {
            n->first_not_rising = index;
            n->not_rising[0] = n->latest;
            n->not_rising[1] = time;
        }
        n->latest = time;
        n->n_timed++;
    }
    n->n_frames++;
    n->last_frame = index;
    n->last_time = time;
}

/* ---- The table --------------------------------------------------------------------------- */

/* How a member of a part is added to the notes. FIRST: copied while the member `guard` of the notes is 0. LAST: copied
 * if the part has frames. ROWS: not added; trajectory_notes_row counts it. UNUSED: copied while gaps.unused is 0. */
typedef enum rule { SUM, LEAST, MOST, BITS, FIRST, LAST, ROWS, UNUSED } rule;
typedef enum type { I64, U32, I32, F64 } type;
/* The upper limit of a number. */
typedef enum bound { ANY, ATOM, BODY, AXIS } bound;

typedef struct member {
    const char *name;
    size_t offset;
    type type;
    bound bound;
    rule rule;
    size_t guard; /* offset of the int64_t guard; the guard's row must come after the rows that it guards */
} member;

#define AT(name) offsetof(trajectory_notes, name)
#define MEMBER(name, type, bound, rule)                                                            \
    {                                                                                              \
#name, AT(name), type, bound, rule, 0                                                      \
    }
#define GUARDED(name, type, bound, guard)                                                          \
    {                                                                                              \
#name, AT(name), type, bound, FIRST, AT(guard)                                             \
    }

static const member members[] = {
    GUARDED(first_empty, I64, ANY, n_empty),
    GUARDED(empty_body, I64, BODY, n_empty),
    MEMBER(n_empty, I64, ANY, SUM),
    GUARDED(first_partial, I64, ANY, n_partial),
    GUARDED(partial_body, I64, BODY, n_partial),
    MEMBER(n_partial, I64, ANY, SUM),
    GUARDED(first_apart, I64, ANY, n_apart),
    GUARDED(apart_body, I64, BODY, n_apart),
    MEMBER(n_apart, I64, ANY, SUM),
    GUARDED(arranged.frame, I64, ANY, boxed),
    GUARDED(arranged.cut.count, I64, ANY, boxed),
    GUARDED(arranged.cut.atom, I64, ATOM, boxed),
    GUARDED(arranged.cut.next, I64, ATOM, boxed),
    GUARDED(arranged.cut.axis, I32, AXIS, boxed),
    GUARDED(arranged.cut.distance, F64, ANY, boxed),
    GUARDED(arranged.left[1], I64, ANY, boxed),
    GUARDED(arranged.left[2], I64, ANY, boxed),
    GUARDED(arranged.left_atom[1], I64, ATOM, boxed),
    GUARDED(arranged.left_atom[2], I64, ATOM, boxed),
    MEMBER(boxed, I64, ANY, SUM),
    GUARDED(clash[0], I64, ATOM, n_clashes),
    GUARDED(clash[1], I64, ATOM, n_clashes),
    MEMBER(n_clashes, I64, ANY, MOST),
    /* Each shard follows molecules from the trajectory's first frame on, so its count includes the counts of earlier
     * shards. The largest count is therefore the total. */
    GUARDED(arranged.far_frame, I64, ANY, arranged.far),
    GUARDED(arranged.far_atom, I64, ATOM, arranged.far),
    MEMBER(arranged.far, I64, ANY, MOST),
    MEMBER(arranged.known, U32, ANY, BITS),
    GUARDED(gaps.first, I64, ANY, gaps.frames),
    GUARDED(gaps.fields, U32, ANY, gaps.frames),
    MEMBER(gaps.frames, I64, ANY, SUM),
    MEMBER(gaps.lacks[0], I64, ANY, SUM),
    MEMBER(gaps.lacks[1], I64, ANY, SUM),
    MEMBER(gaps.lacks[2], I64, ANY, SUM),
    MEMBER(gaps.first_unused, I64, ANY, UNUSED),
    MEMBER(gaps.unused, U32, ANY, BITS),
    MEMBER(n_bad_times, I64, ANY, SUM),
    MEMBER(least_atoms, I64, ANY, LEAST),
    MEMBER(most_atoms, I64, ANY, MOST),
    MEMBER(end_offset, I64, ANY, LAST),
    MEMBER(n_frames, I64, ANY, ROWS),
    MEMBER(truncated, I32, ANY, SUM),
};

#define N_MEMBERS (sizeof members / sizeof *members)

static double get(const trajectory_notes *notes, const member *m)
{
    const char *at = (const char *)notes + m->offset;

    switch (m->type) {
    case I64:
        return (double)*(const int64_t *)(const void *)at;
    case U32:
        return (double)*(const uint32_t *)(const void *)at;
    case I32:
        return (double)*(const int32_t *)(const void *)at;
    default:
        return *(const double *)(const void *)at;
    }
}

static void set(trajectory_notes *notes, const member *m, double value)
{
    char *at = (char *)notes + m->offset;

    switch (m->type) {
    case I64:
        *(int64_t *)(void *)at = (int64_t)value;
        break;
    case U32:
        *(uint32_t *)(void *)at = (uint32_t)value;
        break;
    case I32:
        *(int32_t *)(void *)at = (int32_t)value;
        break;
    default:
        *(double *)(void *)at = value;
    }
}

/* ---- Adding ------------------------------------------------------------------------------ */

static double sum(const trajectory_notes *notes, const trajectory_notes *part, const member *m)
{
    double own = get(notes, m), value = get(part, m);
    const int64_t *guard = (const int64_t *)(const void *)((const char *)notes + m->guard);

    switch (m->rule) {
    case SUM:
        return own + value;
    case LEAST:
        return part->n_frames > 0 ? fmin(own, value) : own;
    case MOST:
        return fmax(own, value);
    case BITS:
        return (double)((uint32_t)own | (uint32_t)value);
    case FIRST:
        return *guard == 0 ? value : own;
    case LAST:
        return part->n_frames > 0 ? value : own;
    case UNUSED:
        return notes->gaps.unused == 0 ? value : own;
    default:
        return own;
    }
}

void trajectory_notes_add(trajectory_notes *notes, const trajectory_notes *part)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        set(notes, &members[i], sum(notes, part, &members[i]));
    notes->truncation = part->truncation;
}

/* ---- JSON -------------------------------------------------------------------------------- */

#define WHOLE_MOST 0x1p53 /* the limit of json.h; stands for INT64_MAX, the least_atoms of a shard without frames */

static const char message[] = "truncation";

cJSON *trajectory_notes_write(const trajectory_notes *notes)
{
    cJSON *json = cJSON_CreateObject();
    int done = json != NULL;

    for (size_t i = 0; done && i < N_MEMBERS; i++)
        done = cJSON_AddNumberToObject(json, members[i].name,
                                       members[i].type == I64 ? fmin(get(notes, &members[i]), WHOLE_MOST)
                                                              : get(notes, &members[i])) != NULL;
    if (done && notes->truncated)
        done = cJSON_AddStringToObject(json, message, notes->truncation.text) != NULL;
    if (!done) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

/* Returns the check of a member's JSON. */
static io_json_field field_of(const member *m, int64_t n_atoms, int64_t n_bodies)
{
    const double most[] = {[ANY] = m->type == I64   ? WHOLE_MOST
                                   : m->type == F64 ? DBL_MAX
                                                    : 0x1p31 - 1,
                           [ATOM] = (double)(n_atoms > 0 ? n_atoms - 1 : 0),
                           [BODY] = (double)(n_bodies > 0 ? n_bodies - 1 : 0),
                           [AXIS] = 2};

    return (io_json_field){.name = m->name,
                           .type = m->type == F64 ? IO_JSON_NUMBER : IO_JSON_WHOLE,
                           .low = m->bound == ATOM ? -1 : 0,
                           .high = most[m->bound]};
}

collet_status trajectory_notes_read(const cJSON *json, const char *path, int64_t n_atoms,
                                    int64_t n_bodies, trajectory_notes *notes, collet_error *err)
{
    const char *text = io_json_text(json, message);
    collet_status status = COLLET_OK;

    memset(notes, 0, sizeof *notes);
    for (size_t i = 0; status == COLLET_OK && i < N_MEMBERS; i++) {
        const io_json_field field = field_of(&members[i], n_atoms, n_bodies);
        status = io_json_check(path, "notes.", json, &field, 1, err);
        if (status == COLLET_OK)
            set(notes, &members[i], io_json_number(json, field.name));
    }
    if (notes->truncated)
        snprintf(notes->truncation.text, sizeof notes->truncation.text, "%s", text ? text : "");
    return status;
}
