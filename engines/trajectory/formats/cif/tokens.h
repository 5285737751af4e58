/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - the words of a CIF file: names of items, keywords and values. */
#ifndef ENGINES_TRAJECTORY_FORMATS_CIF_TOKENS_H
#define ENGINES_TRAJECTORY_FORMATS_CIF_TOKENS_H

#include "trajectory/formats/text.h"

#define TRAJECTORY_CIF_TEXT 256

typedef struct trajectory_cif_tokens {
    io_lines lines;      /* the lines after the current line */
    const char *at;      /* the unread rest of the current line; NULL: no line was read */
    const char *end;     /* end of the current line */
    const char *begin;   /* begin of the current line */
    int64_t line_offset; /* byte of the file at which the current line begins */
    int open;            /* 1: the file ends with the word that was read last, without a line end */
    char text[TRAJECTORY_CIF_TEXT]; /* start of the last value with several lines */
} trajectory_cif_tokens;

typedef struct trajectory_cif_token {
    trajectory_word
        word;       /* without quotation marks, valid until the next read; text NULL: end of file */
    int quoted;     /* 1: a value, whatever its text */
    int64_t offset; /* where it begins, for trajectory_cif_seek */
    int64_t line;
} trajectory_cif_token;

/*
 * Reads the next word. If a value has several lines, only a part of the first line is returned.
 * COLLET_FORMAT with "path:line:" for a quotation mark or a text that is not closed.
 */
collet_status trajectory_cif_read(trajectory_cif_tokens *tokens, trajectory_cif_token *token,
                                  collet_error *err);

/* Continues with the word at an offset in a line. */
void trajectory_cif_seek(trajectory_cif_tokens *tokens, int64_t offset, int64_t line);

/* 1 for the end of the file, the name of an item or a keyword: each of them ends the values of a loop. */
int trajectory_cif_ends_values(const trajectory_cif_token *token);

/* 1 if the word is this name, in any case. */
int trajectory_cif_is(const trajectory_cif_token *token, const char *name);

/* 1 if a CIF file can begin with these n bytes. */
int trajectory_cif_recognise(const uint8_t *bytes, size_t n);

#endif
