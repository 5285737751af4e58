/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c,
 * tests/engines/test_io_pdb.c */
#include "text.h"

#include "io/decimal.h"
#include "io/numerals.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Finds the token after the last occurrence of `key` at the start of a word; NULL: none. */
static const char *find_value(const char *text, size_t length, const char *key, size_t *n)
{
    const char *end = text + length;
    size_t key_length = strlen(key);
    const char *found = NULL;

    for (const char *at = text; at + key_length <= end; at++)
        if (memcmp(at, key, key_length) == 0 && (at == text || at[-1] == ' ' || at[-1] == ','))
            found = at + key_length;
    if (!found)
        return NULL;
    while (found < end && *found == ' ')
        found++;
    *n = 0;
    while (found + *n < end && found[*n] != ' ' && found[*n] != '\t')
        (*n)++;
    if (*n > 0 && found[*n - 1] == ',')
        (*n)--;
    return found;
}

trajectory_text_moment trajectory_text_title(const char *text, size_t length)
{
    trajectory_text_moment moment = {0};
    size_t n;

    const char *value = find_value(text, length, "t=", &n);
    moment.has_time = value && io_decimal_parse(value, n, &moment.time);
    value = find_value(text, length, "step=", &n);
    if (!value || !io_decimal_parse_integer(value, n, &moment.step))
        moment.step = -1;
    return moment;
}

size_t trajectory_text_split(const char *text, size_t length, trajectory_word *words, size_t max)
{
    const char *end = text + length;
    size_t n = 0;

    while (n < max) {
        while (text < end && (*text == ' ' || *text == '\t'))
            text++;
        if (text == end)
            break;
        words[n].text = text;
        while (text < end && *text != ' ' && *text != '\t')
            text++;
        words[n].length = (size_t)(text - words[n].text);
        n++;
    }
    return n;
}

io_lines trajectory_text_lines(trajectory_reader *trajectory, int64_t offset, int64_t line)
{
    return (io_lines){.source = &trajectory->source, .offset = offset, .number = line};
}

collet_status trajectory_text_fail(const io_lines *lines, collet_error *err, const char *format,
                                   ...)
{
    char text[COLLET_ERROR_TEXT];
    va_list arguments;
    locale_t before = io_numerals_begin();

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    io_numerals_end(before);
    va_end(arguments);
    return collet_fail(err, COLLET_FORMAT, "%s:%lld: %s", lines->source->path,
                       (long long)lines->number - 1, text);
}

collet_status trajectory_text_copy_name(const io_lines *lines, trajectory_word word,
                                        char name[TRAJECTORY_ATOM_NAME], collet_error *err)
{
    if (word.length >= TRAJECTORY_ATOM_NAME)
        return trajectory_text_fail(lines, err, "the name '%.*s' has more than %d letters",
                                    (int)(word.length < 60 ? word.length : 60), word.text,
                                    TRAJECTORY_ATOM_NAME - 1);
    memcpy(name, word.text, word.length);
    return COLLET_OK;
}

collet_status trajectory_text_explain(trajectory_reader *trajectory, const io_lines *lines,
                                      collet_status status, collet_error *err)
{
    if (status != COLLET_FORMAT || trajectory->truncated)
        return status;
    if (lines->cut)
        return trajectory_reader_truncated(trajectory, err);
    if (err) {
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof err->text - n, " (frame %lld)",
                 (long long)trajectory->index);
    }
    return status;
}

/* ---- The end of the file ----------------------------------------------------------------- */

#define CERTAIN 3 /* programs that write a fixed number of decimals write at least this number */

/* Returns the number of digits after the decimal point of a number without exponent; 0 for other text. */
static size_t count_decimals(trajectory_word number)
{
    const char *point = memchr(number.text, '.', number.length);
    size_t n = 0, room = point ? (size_t)(number.text + number.length - point) - 1 : 0;

    while (n < room && point[1 + n] >= '0' && point[1 + n] <= '9')
        n++;
    return n == room ? n : 0;
}

trajectory_text_ending trajectory_text_judge(const trajectory_word *numbers, size_t n)
{
    size_t decimals = n > 1 ? count_decimals(numbers[0]) : 0;

    for (size_t i = 1; i + 1 < n; i++)
        if (count_decimals(numbers[i]) != decimals)
            return TRAJECTORY_TEXT_UNCERTAIN;
    if (decimals < CERTAIN)
        return TRAJECTORY_TEXT_UNCERTAIN;
    size_t last = count_decimals(numbers[n - 1]);
    return last < decimals    ? TRAJECTORY_TEXT_CUT
           : last == decimals ? TRAJECTORY_TEXT_WHOLE
                              : TRAJECTORY_TEXT_UNCERTAIN;
}

collet_status trajectory_text_finish(trajectory_reader *trajectory, trajectory_text_ending ending,
                                     collet_error *err)
{
    if (ending == TRAJECTORY_TEXT_WHOLE)
        return COLLET_OK;
    if (ending == TRAJECTORY_TEXT_CUT || trajectory->index > 0) {
        collet_status status = trajectory_reader_truncated(trajectory, err);
        if (err) {
            size_t length = strlen(err->text);
            snprintf(err->text + length, sizeof err->text - length,
                     "; if the frame is complete, end its last line");
        }
        return status;
    }
    trajectory->info.note = "the file ends without a line end, so that its last number may lack "
                            "digits: if it is complete, end its last line";
    return COLLET_OK;
}
