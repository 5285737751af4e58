/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract - checks of the rules in collet/plugin.h and collet/extensions.h that need to see only one call. The layer
 * checks the calls of a program; the conformance kit checks its own calls.
 *
 * Each function returns 1 if its rule is broken, and writes to `text` how.
 */
#pragma once

#include <collet/extensions.h>

#define CONTRACT_TEXT 320

/* The statuses that a slot may return besides OK, as bits. */
#define CONTRACT_BIT(name) (1u << COLLET_##name)
#define CONTRACT_OPEN (CONTRACT_BIT(UNAVAILABLE) | CONTRACT_BIT(FAILED) | CONTRACT_BIT(NO_MEMORY))
#define CONTRACT_CREATE                                                                            \
    (CONTRACT_BIT(NO_MEMORY) | CONTRACT_BIT(FAILED) | CONTRACT_BIT(DEVICE_LOST))
#define CONTRACT_ACCEPT (CONTRACT_BIT(REFUSED) | CONTRACT_BIT(DEVICE_LOST))
#define CONTRACT_ENQUEUE (CONTRACT_ACCEPT | CONTRACT_BIT(FAILED))
#define CONTRACT_WAIT                                                                              \
    (CONTRACT_BIT(NOT_READY) | CONTRACT_BIT(FAILED) | CONTRACT_BIT(DEVICE_LOST))
#define CONTRACT_STAMP (CONTRACT_ENQUEUE | CONTRACT_BIT(NO_MEMORY))
#define CONTRACT_REPORT (CONTRACT_BIT(FAILED) | CONTRACT_BIT(DEVICE_LOST))
#define CONTRACT_IMPORT                                                                            \
    (CONTRACT_BIT(INVALID) | CONTRACT_BIT(NO_MEMORY) | CONTRACT_BIT(DEVICE_LOST))

/* The rule: the status is OK or allowed, and an error has a text and the same status. */
int contract_status(collet_status status, uint32_t allowed, const collet_error *err,
                    char text[CONTRACT_TEXT]);
/* The rule: libcore must be able to use the table; its first version has `size` bytes. */
int contract_table(const void *table, uint32_t size, char text[CONTRACT_TEXT]);
/* The rule: the numbers in *s are consistent, and s->struct_size is still `given`. */
int contract_stats(const collet_memory_stats *s, uint32_t given, char text[CONTRACT_TEXT]);
