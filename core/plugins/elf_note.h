/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note - reads notes from a shared object of this machine, trusting nothing in it.
 */
#ifndef COLLET_CORE_ELF_NOTE_H
#define COLLET_CORE_ELF_NOTE_H

#include <collet/types.h>

/*
 * One note. `content` is lent for the call. Returns COLLET_OK to go on; anything else ends the walk
 * and is what it returns, with *code and err set by the function.
 */
typedef collet_status (*elf_note_fn)(void *user, const char *owner, uint32_t type,
                                     const unsigned char *content, size_t bytes, const char **code,
                                     collet_error *err);

/*
 * Checks that `fd` is a whole shared object for this processor and hands every note of its PT_NOTE
 * segments to `visit`. Only program headers are read: section headers may be stripped. On failure
 * *code is "empty", "not-elf", "truncated", "wrong-class", "wrong-machine", "not-shared-object",
 * "malformed-elf" or "unreadable". IO, FORMAT, NO_MEMORY.
 */
collet_status elf_note_walk(int fd, elf_note_fn visit, void *user, const char **code,
                            collet_error *err);

#endif
