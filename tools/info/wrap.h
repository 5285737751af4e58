/* SPDX-License-Identifier: Apache-2.0 */
/* wrap - breaks text at blanks to fit the terminal. */
#ifndef INFO_WRAP_H
#define INFO_WRAP_H

/* Prints `text`, which begins in column `indent` of the current line, and ends the line. Further
 * lines begin in that column too, or further left on a narrow terminal. Nothing is broken when
 * standard output is no terminal. */
void wrap_print(const char *text, int indent);

#endif
