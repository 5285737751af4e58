/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the options of an extraction, copied and checked. */
#ifndef COLLET_EXTRACT_SETTINGS_H
#define COLLET_EXTRACT_SETTINGS_H

#include <collet/trajectory.h>

/*
 * Options with defaults in place of 0 and NULL, except where 0 and NULL choose something: `keys`,
 * masses, `reference`, backend, context, `threads`, `batch_frames` and callbacks. `stop` is -1 for
 * the end of the file. Strings, masses and `command` are the settings' own.
 */
typedef collet_extraction_options extract_settings;

/* COLLET_INVALID with the name of the option, COLLET_NO_MEMORY; nothing is left to free then. */
collet_status extract_settings_copy(extract_settings *settings,
                                    const collet_extraction_options *options, collet_error *err);
void extract_settings_free(extract_settings *settings);

#endif
