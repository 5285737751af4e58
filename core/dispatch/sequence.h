/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence - calls that were checked once and are run again, also on other arrays.
 *
 * A step is a call with its kernel and everything that the kernel is given. The storages of all
 * steps are the sequence's slots; an operand is a slot and an offset. A run makes each slot's bytes
 * usable once, as dispatch does for a call's operands, and then calls the kernels one after
 * another.
 */
#ifndef COLLET_CORE_SEQUENCE_H
#define COLLET_CORE_SEQUENCE_H

#include "context/context.h"
#include "memory/array.h"

#define SEQUENCE_NONE UINT32_MAX

/* Where an operand's bytes are, as recorded. */
typedef struct step_operand {
    uint32_t slot; /* SEQUENCE_NONE: absent */
    uint64_t offset;
} step_operand;

typedef struct step {
    collet_status (*run)(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
    collet_kernel_call call;
    const collet_kernel_row *row;
    const op *op;
    uint32_t count; /* operands */
    step_operand *from;
    collet_array *views; /* one an operand, with a reference to its storage; until the end of the
                            recording */
    collet_operand operands[];
} step;

typedef struct slot {
    storage *storage;              /* of the last run, with a reference */
    collet_array view;             /* what the steps use of it */
    uint64_t recorded;             /* view.offset at the recording */
    uint64_t written, written_end; /* bytes that the first use overwrites: none if equal */
    int32_t reads;                 /* needs the bytes that were there before */
    int32_t writes;
    int32_t argument;
    void *memory;                  /* host address or buffer of the last run */
    int settled;                   /* storage_settled, when this run began */
    int commit_read, commit_write; /* of storage_use, in a run */
} slot;

struct collet_sequence {
    collet_runtime *runtime;
    device *device;
    step **steps;
    uint32_t step_count, step_capacity;
    slot *slots;
    uint32_t slot_count;
    uint32_t *arguments; /* slot of each argument; SEQUENCE_NONE: of an empty array */
    collet_array *specs; /* each as recorded; `storage` is not to be used */
    uint32_t argument_count;
    uint32_t scratch; /* the slot with the kernels' workspace, or SEQUENCE_NONE */
    uint64_t scratch_bytes;
    int unaccepted;   /* offsets of operands have changed since the rows accepted the calls */
    collet_error err; /* of the kernels */
    /* Of a device with collet.record/1: the steps as the device has recorded them, up to date for
     * this queue and base; `recorded_in` is NULL if operands have changed since. */
    collet_recording *recording;
    block *replays; /* its replays, and once the sequence is freed the recording; or NULL */
    const queue *recorded_in;
    uint64_t recorded_base;
    int run_before;   /* what the calls make on first use is there */
    int unrecordable; /* the device refused to record them */
};

/* Records a call for which libcore has chosen `row`; `call` has no memory, `arrays` are its
 * operands, outputs first. NO_MEMORY. */
collet_status sequence_append(collet_sequence *s, const op *o, const collet_kernel_row *row,
                              const collet_kernel_call *call, const collet_array *const *arrays,
                              collet_error *err);
/* Makes the workspace as large as the largest step's. NO_MEMORY. */
collet_status sequence_scratch(collet_sequence *s, collet_error *err);
/* Removes all steps but the first `count`. */
void sequence_truncate(collet_sequence *s, uint32_t count);

#endif
