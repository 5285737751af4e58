/* SPDX-License-Identifier: Apache-2.0 */
/* The values and steps of a recording. */
#pragma once

#include <collet/recording.h>

#include "context/context.h"
#include "memory/array.h"

typedef enum value_kind { VALUE_INPUT, VALUE_CONSTANT, VALUE_MADE, VALUE_VIEW } value_kind;

typedef struct recorded_value {
    value_kind kind;
    collet_array *like; /* an array of this dtype and shape; for a constant, its elements, too */
    uint32_t base;      /* for a view, the value whose memory it uses; else the value itself */
    int32_t out;        /* the index of a returned value, or -1 */
    uint32_t slot;      /* the memory of an intermediate value */
    uint32_t last;      /* the last step that uses the memory */
} recorded_value;

typedef struct recorded_step {
    uint32_t n_out, n_in;
    uint32_t op;                   /* 0: an evaluation or a view */
    collet_expression *expression; /* NULL: a call or a view */
    uint32_t view;                 /* COLLET_VIEW_*; 0: no view */
    void *extra;       /* the parameters of a call, the numbers of a view, or NULL; owned */
    int32_t count;     /* how many numbers a view has */
    uint32_t values[]; /* outputs first */
} recorded_step;

struct collet_recording {
    collet_runtime *runtime;
    recorded_value *values;
    recorded_step **steps;
    uint32_t n_values, n_steps, n_in, n_out, n_slots;
    uint32_t *ins; /* the values that are inputs */
    uint32_t *
        outs; /* the returned values; collet_recording_complete sets the members up to `complete` */
    uint32_t *fresh, n_fresh; /* views that each run makes: of inputs and returned values */
    uint64_t *slots;          /* bytes of memory that intermediate values share */
    int complete;
    pthread_mutex_t lock;   /* guards `idle` */
    struct workspace *idle; /* the memory of earlier runs */
};

/* Makes the view `s` of an array. */
collet_status steps_view(collet_context *cx, const recorded_step *s, const collet_array *from,
                         collet_array **out);
