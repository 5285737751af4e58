/* SPDX-License-Identifier: Apache-2.0 */
/* elf_note - reads notes from a shared object for this machine; checks everything that it reads. */
#pragma once

#include <collet/types.h>

#include "record.h"

/* Called for each note; `content` is valid during the call. COLLET_OK continues the walk. Any other status, with *why
 * set, ends the walk and is its result. */
typedef collet_status (*elf_note_fn)(void *user, const char *owner, uint32_t type,
                                     const unsigned char *content, size_t bytes, refusal *why);

/* Checks that `fd` is a complete shared object for this processor and passes every note of its
 * PT_NOTE segments to `visit`. Only program headers are read: section headers may be stripped.
 * "empty", "not-elf", "truncated", "wrong-class", "wrong-machine", "not-shared-object",
 * "malformed-elf": FORMAT; "unreadable": IO; NO_MEMORY. */
collet_status elf_note_walk(int fd, elf_note_fn visit, void *user, refusal *why);
/* 1, with *why, for an ELF file (a shared object or a program) that is "wrong-class" or "wrong-machine". */
int elf_note_is_foreign(int fd, refusal *why);
