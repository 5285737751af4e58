/* SPDX-License-Identifier: Apache-2.0 */
/* decoders.h - one interface to zlib, libbz2 and liblzma. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum io_decoded {
    IO_DECODED_MORE, /* give more input, or take the output */
    IO_DECODED_END,  /* the end of a packed part */
    IO_DECODED_DAMAGED,
    IO_DECODED_NO_MEMORY
} io_decoded;

/* Input that is not yet used and output that is still free. */
typedef struct io_decoding {
    const uint8_t *input;
    size_t n_input;
    uint8_t *output;
    size_t n_output;
    int is_last; /* 1: no input follows */
} io_decoding;

typedef struct io_decoder {
    const char *signature; /* the first bytes of a packed file */
    size_t n_signature;
    const char *library; /* "libbz2" */
    const char *program; /* "bunzip2" */
    /* Each part needs a new stream. NULL: out of memory. All three functions are NULL if Collet was built without the
     * library. */
    void *(*begin)(void);
    io_decoded (*step)(void *stream, io_decoding *data);
    void (*end)(void *stream);
} io_decoder;

/* Returns the decoder of a file with these first bytes; NULL: the file is not packed. */
const io_decoder *io_decoder_find(const uint8_t *bytes, size_t n);

#define IO_DECODER_SIGNATURE 10 /* `find` needs at most this many bytes */
