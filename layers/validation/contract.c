/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c, tests/conformance/verbs/defects.sh */
#include "contract.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME(name, value, meaning) [value] = "COLLET_" #name,
static const char *const names[] = {COLLET_STATUS_LIST(NAME)};

int contract_status(collet_status status, uint32_t allowed, const collet_error *err,
                    char text[CONTRACT_TEXT])
{
    int known = status >= 0 && status < COLLET_STATUS_COUNT;
    text[0] = '\0';
    if (!known || !((allowed | CONTRACT_BIT(OK)) >> status & 1))
        snprintf(text, CONTRACT_TEXT, "it returned the status %d, which this slot may not return: %s",
                 status, known ? names[status] : "there is no such status");
    else if (status == COLLET_OK || status == COLLET_NOT_READY)
        return 0;
    else if (!memchr(err->text, '\0', sizeof err->text))
        snprintf(text, CONTRACT_TEXT, "the error's text has no terminating NUL");
    else if (err->status != status)
        snprintf(text, CONTRACT_TEXT, "it returned the status %d and set the error's to %d", status,
                 err->status);
    else if (!err->text[0])
        snprintf(text, CONTRACT_TEXT, "it returned the status %d without a text", status);
    return text[0] != '\0';
}

/* After its head a table has only pointers to functions. */
int contract_table(const void *table, uint32_t size, char text[CONTRACT_TEXT])
{
    struct {
        uint32_t struct_size, reserved;
    } head = {0, 0};
    void (*function)(void);
    text[0] = '\0';
    memcpy(&head.struct_size, table, sizeof head.struct_size);
    if (head.struct_size < size) {
        snprintf(text, CONTRACT_TEXT,
                 "%" PRIu32 " bytes, fewer than the first release of its version, %" PRIu32,
                 head.struct_size, size);
        return 1;
    }
    memcpy(&head, table, sizeof head);
    if (head.reserved)
        snprintf(text, CONTRACT_TEXT, "a reserved member that is not 0");
    for (size_t at = sizeof head; at < size; at += sizeof function) {
        memcpy(&function, (const char *)table + at, sizeof function);
        if (!function)
            snprintf(text, CONTRACT_TEXT, "a function that is NULL, at byte %zu", at);
    }
    return text[0] != '\0';
}

int contract_stats(const collet_memory_stats *s, uint32_t given, char text[CONTRACT_TEXT])
{
    text[0] = '\0';
    if (s->struct_size != given || s->reserved)
        snprintf(text, CONTRACT_TEXT, "it changed struct_size or reserved");
    else if (s->held < s->current || s->peak < s->current)
        snprintf(text, CONTRACT_TEXT,
                 "current is %" PRIu64 ", more than held, %" PRIu64 ", or peak, %" PRIu64, s->current,
                 s->held, s->peak);
    else if (s->total && (s->total < s->held || s->available > s->total - s->held))
        snprintf(text, CONTRACT_TEXT,
                 "held %" PRIu64 " and available %" PRIu64 " are more than total, %" PRIu64, s->held,
                 s->available, s->total);
    return text[0] != '\0';
}
