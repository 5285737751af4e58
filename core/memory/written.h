/* SPDX-License-Identifier: Apache-2.0 */
/* written - finds writes of a program to memory that it must not write (setting layers=programs): memory
 * that it wrapped and has not acquired, and memory that it acquired for reading. A storage keeps a hash of
 * its bytes on the host while neither the program nor a call may write them. The caller holds the storage's
 * lock. */
#pragma once

#include "copies.h"

/* written_begin begins to watch a storage that wraps host memory; written_end ends the watch of any storage. */
void written_begin(storage *s);
void written_end(storage *s);
/* INVALID, once, if the program has written the bytes since written_note; INVALID if it has unmapped them. */
collet_status written_check(storage *s, collet_error *err);
/* Notes the bytes after a change of the storage's state, if nobody may write them from now on. */
void written_note(storage *s);
