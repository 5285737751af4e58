/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - parses units of files, such as "kilocalorie/mole/angstrom" and "nm ps-1". */
#pragma once

/* What a unit measures, and the unit of results. */
typedef enum trajectory_measure {
    TRAJECTORY_LENGTH,   /* nm */
    TRAJECTORY_TIME,     /* ps */
    TRAJECTORY_VELOCITY, /* nm/ps */
    TRAJECTORY_FORCE     /* kJ/mol/nm */
} trajectory_measure;

/* Sets *factor to the size of the unit `text`: numbers in this unit, times *factor, are in the unit of
 * `measure`. Words are separated by blanks or '*', or by '/', which divides by the next word; a word
 * may end in an exponent, as in "ps-1" and "ps^-2". Returns 0, and sets no factor, for a word that is unknown or
 * a unit that measures something else. */
int trajectory_unit_parse(const char *text, trajectory_measure measure, double *factor);
