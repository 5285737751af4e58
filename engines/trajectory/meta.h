/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - the meta file: describes results and inputs. */
#ifndef COLLET_EXTRACT_META_H
#define COLLET_EXTRACT_META_H

#include "state.h"

/*
 * JSON text about an extraction that is done, with a final newline, in *text (the caller frees).
 * man/collet-extract.1 lists the members. COLLET_NO_MEMORY.
 */
collet_status extract_meta_format(const collet_extraction *extraction, char **text,
                                  collet_error *err);

#endif
