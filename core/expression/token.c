/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_word(char c)
{
    return text_is_letter(c) || is_digit(c) || c == '_';
}

static size_t number_length(const char *s)
{
    const char *at = s;
    while (is_digit(*at))
        at++;
    if (*at == '.')
        for (at++; is_digit(*at);)
            at++;
    const char *power = at + 1;
    if (*at == 'e' || *at == 'E') {
        power += *power == '+' || *power == '-';
        if (is_digit(*power))
            for (at = power; is_digit(*at);)
                at++;
    }
    while (is_word(*at)) /* includes letters that do not belong to a number, for the message */
        at++;
    return (size_t)(at - s);
}

void token_next(parser *p)
{
    static const char *const signs[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!="};
    p->at += strspn(p->at, " \t\r\n");
    p->token = p->at;
    p->length = 1;
    if (!*p->at) {
        p->kind = TOKEN_END;
        p->length = 0;
    } else if (text_is_letter(*p->at) || *p->at == '_') {
        p->kind = TOKEN_NAME;
        while (is_word(p->at[p->length]))
            p->length++;
    } else if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1]))) {
        p->kind = TOKEN_NUMBER;
        p->length = number_length(p->at);
    } else {
        p->kind = strchr("+-*/%<>=!&|^~(),;", *p->at) ? TOKEN_SIGN : TOKEN_BAD;
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            if (!strncmp(p->at, signs[i], 2))
                p->length = 2;
    }
    p->at += p->length;
}

int token_is(const parser *p, const char *text)
{
    return p->kind != TOKEN_END && p->length == strlen(text) && !memcmp(p->token, text, p->length);
}

static int column_of(const parser *p, const char *at)
{
    int column = 1;
    for (const char *s = p->text; s < at; s++)
        column += (*s & 0xc0) != 0x80;
    return column;
}

collet_status token_fail(parser *p, const char *at, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return collet_fail(p->err, COLLET_INVALID, "column %d: %s", column_of(p, at), why);
}

collet_status token_expected(parser *p, const char *what)
{
    int length = (int)(p->length < 40 ? p->length : 40);
    return p->kind == TOKEN_END
               ? token_fail(p, p->token, "expected %s, and the text ends", what)
               : token_fail(p, p->token, "expected %s, not '%.*s'", what, length, p->token);
}
