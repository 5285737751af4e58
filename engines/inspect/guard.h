/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - blocks of malloc with inaccessible pages behind them. */
#pragma once

/* After this call an access behind a block of malloc, or to a freed block, ends the program. Blocks are padded
 * to a multiple of 16 bytes: a write to this padding ends the program when the block is freed. When address
 * space runs out, blocks are not guarded. For programs with one thread. */
void inspect_guard_begin(void);
