/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - blocks of malloc with inaccessible pages behind them. */
#ifndef ENGINES_INSPECT_GUARD_H
#define ENGINES_INSPECT_GUARD_H

/* From now on the first access behind a block of malloc, or to a freed block, ends the program; a write to the
 * at most 15 bytes up to the next multiple of 16 ends it when the block is freed. Where address space is too
 * short for that, blocks are ordinary ones. One thread. */
void inspect_guard_begin(void);

#endif
