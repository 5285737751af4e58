/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_cif.c, tests/fuzz/fuzz_trajectory.c */
#include "tokens.h"

#include "io/letters.h"

#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void trajectory_cif_seek(trajectory_cif_tokens *t, int64_t offset, int64_t line)
{
    t->lines.offset = offset;
    t->lines.number = line;
    t->at = NULL;
}

static collet_status next_line(trajectory_cif_tokens *t, collet_error *err)
{
    size_t length;

    t->line_offset = t->lines.offset;
    collet_status status = io_lines_next(&t->lines, &t->begin, &length, err);
    t->at = t->begin;
    t->end = t->begin ? t->begin + length : NULL;
    return status;
}

/* Reads a value that begins with ';' at the start of a line and ends at such a line. */
static collet_status read_text(trajectory_cif_tokens *t, trajectory_cif_token *token,
                               collet_error *err)
{
    size_t n = (size_t)(t->end - t->begin) - 1;
    long long first = (long long)t->lines.number - 1;

    n = n < TRAJECTORY_CIF_TEXT ? n : TRAJECTORY_CIF_TEXT - 1;
    memcpy(t->text, t->begin + 1, n);
    token->word = (trajectory_word){t->text, n};
    token->quoted = 1;
    do {
        collet_status status = next_line(t, err);
        if (status != COLLET_OK)
            return status;
        if (!t->begin)
            return trajectory_text_fail(&t->lines, err,
                                        "the file ends inside the text that begins in line %lld "
                                        "with ';'",
                                        first);
    } while (t->begin == t->end || *t->begin != ';');
    t->at = t->begin + 1;
    return COLLET_OK;
}

/* Reads a value in quotation marks. A mark ends the value only if a blank or the line's end follows. */
static collet_status read_quoted(trajectory_cif_tokens *t, trajectory_cif_token *token,
                                 collet_error *err)
{
    char mark = *t->at++;
    const char *close = t->at;

    while (close < t->end && !(*close == mark && (close + 1 == t->end || is_blank(close[1]))))
        close++;
    if (close == t->end)
        return trajectory_text_fail(&t->lines, err, "the line has no %c that ends a value", mark);
    token->word = (trajectory_word){t->at, (size_t)(close - t->at)};
    token->quoted = 1;
    t->at = close + 1;
    return COLLET_OK;
}

collet_status trajectory_cif_read(trajectory_cif_tokens *t, trajectory_cif_token *token,
                                  collet_error *err)
{
    *token = (trajectory_cif_token){.quoted = 0};
    for (;;) {
        while (t->at && t->at < t->end && is_blank(*t->at))
            t->at++;
        if (t->at && t->at < t->end && *t->at != '#')
            break;
        collet_status status = next_line(t, err);
        if (status != COLLET_OK || !t->begin)
            return status;
        if (t->begin < t->end && *t->begin == ';') {
            token->offset = t->line_offset;
            token->line = t->lines.number - 1;
            return read_text(t, token, err);
        }
    }
    token->offset = t->line_offset + (t->at - t->begin);
    token->line = t->lines.number - 1;
    if (*t->at == '\'' || *t->at == '"')
        return read_quoted(t, token, err);
    token->word.text = t->at;
    while (t->at < t->end && !is_blank(*t->at))
        t->at++;
    token->word.length = (size_t)(t->at - token->word.text);
    t->open = t->at == t->end && t->lines.cut;
    return COLLET_OK;
}

static int begins_with(trajectory_word word, const char *text)
{
    return word.length >= strlen(text) && io_same_letters(word.text, text, strlen(text));
}

int trajectory_cif_is(const trajectory_cif_token *token, const char *name)
{
    return !token->quoted && token->word.length == strlen(name) && begins_with(token->word, name);
}

int trajectory_cif_ends_values(const trajectory_cif_token *token)
{
    return !token->word.text ||
           (!token->quoted &&
            (*token->word.text == '_' || begins_with(token->word, "data_") ||
             begins_with(token->word, "save_") || trajectory_cif_is(token, "loop_") ||
             trajectory_cif_is(token, "stop_") || trajectory_cif_is(token, "global_")));
}

int trajectory_cif_recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n;

    if (memchr(bytes, 0, n))
        return 0;
    while (text < end && (is_blank(*text) || *text == '\n' || *text == '\r' || *text == '#')) {
        const char *next = *text == '#' ? memchr(text, '\n', (size_t)(end - text)) : text;
        text = next ? next + 1 : end;
    }
    return begins_with((trajectory_word){text, (size_t)(end - text)}, "data_");
}
