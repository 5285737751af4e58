/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_packed.c */
#include "decoders.h"

#include <stdlib.h>
#include <string.h>

#if COLLET_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if COLLET_BZIP2
#include <bzlib.h>
#endif
#if COLLET_LZMA
#include <lzma.h>
#define LZMA_MEMORY ((uint64_t)1 << 30) /* xz -9 needs 65 MB */
#endif

/* ---- gzip -------------------------------------------------------------------------------- */

#if COLLET_ZLIB
static void *gzip_begin(void)
{
    z_stream *s = calloc(1, sizeof *s);

    if (s && inflateInit2(s, 16 + MAX_WBITS) != Z_OK) { /* 16: the input begins with a gzip header */
        free(s);
        s = NULL;
    }
    return s;
}

static io_decoded gzip_step(void *stream, io_decoding *data)
{
    z_stream *s = stream;

    s->next_in = data->input;
    s->avail_in = (uInt)data->n_input;
    s->next_out = data->output;
    s->avail_out = (uInt)data->n_output;
    int code = inflate(s, Z_NO_FLUSH);
    data->input = s->next_in;
    data->n_input = s->avail_in;
    data->output = s->next_out;
    data->n_output = s->avail_out;
    switch (code) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress was possible */
        return IO_DECODED_MORE;
    case Z_STREAM_END:
        return IO_DECODED_END;
    case Z_MEM_ERROR:
        return IO_DECODED_NO_MEMORY;
    default:
        return IO_DECODED_DAMAGED;
    }
}

static void gzip_end(void *stream)
{
    inflateEnd(stream);
    free(stream);
}
#define GZIP gzip_begin, gzip_step, gzip_end
#else
#define GZIP NULL, NULL, NULL
#endif

/* ---- bzip2 ------------------------------------------------------------------------------- */

#if COLLET_BZIP2
static void *bzip2_begin(void)
{
    bz_stream *s = calloc(1, sizeof *s);

    if (s && BZ2_bzDecompressInit(s, 0, 0) != BZ_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

static io_decoded bzip2_step(void *stream, io_decoding *data)
{
    bz_stream *s = stream;

    s->next_in = (char *)(uintptr_t)data->input;
    s->avail_in = (unsigned)data->n_input;
    s->next_out = (char *)data->output;
    s->avail_out = (unsigned)data->n_output;
    int code = BZ2_bzDecompress(s);
    data->input = (const uint8_t *)s->next_in;
    data->n_input = s->avail_in;
    data->output = (uint8_t *)s->next_out;
    data->n_output = s->avail_out;
    return code == BZ_OK           ? IO_DECODED_MORE
           : code == BZ_STREAM_END ? IO_DECODED_END
           : code == BZ_MEM_ERROR  ? IO_DECODED_NO_MEMORY
                                   : IO_DECODED_DAMAGED;
}

static void bzip2_end(void *stream)
{
    BZ2_bzDecompressEnd(stream);
    free(stream);
}
#define BZIP2 bzip2_begin, bzip2_step, bzip2_end
#else
#define BZIP2 NULL, NULL, NULL
#endif

/* ---- xz ---------------------------------------------------------------------------------- */

#if COLLET_LZMA
static void *xz_begin(void)
{
    lzma_stream *s = malloc(sizeof *s);

    if (s)
        *s = (lzma_stream)LZMA_STREAM_INIT;
    if (s && lzma_stream_decoder(s, LZMA_MEMORY, 0) != LZMA_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

static io_decoded xz_step(void *stream, io_decoding *data)
{
    lzma_stream *s = stream;

    s->next_in = data->input;
    s->avail_in = data->n_input;
    s->next_out = data->output;
    s->avail_out = data->n_output;
    lzma_ret code = lzma_code(s, LZMA_RUN);
    data->input = s->next_in;
    data->n_input = s->avail_in;
    data->output = s->next_out;
    data->n_output = s->avail_out;
    return code == LZMA_OK || code == LZMA_BUF_ERROR               ? IO_DECODED_MORE
           : code == LZMA_STREAM_END                               ? IO_DECODED_END
           : code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR ? IO_DECODED_NO_MEMORY
                                                                   : IO_DECODED_DAMAGED;
}

static void xz_end(void *stream)
{
    lzma_end(stream);
    free(stream);
}
#define XZ xz_begin, xz_step, xz_end
#else
#define XZ NULL, NULL, NULL
#endif

/* ---- Which ------------------------------------------------------------------------------- */

#define SIGNATURE(text) text, sizeof text - 1

static const io_decoder decoders[] = {
    {SIGNATURE("\x1f\x8b\x08"), "zlib", "gunzip", GZIP},
    {SIGNATURE("BZh"), "libbz2", "bunzip2", BZIP2},
    {SIGNATURE("\xfd\67zXZ\0"), "liblzma", "unxz", XZ},
};

/* A text may begin with BZh, too. In a packed file six bytes follow the level: the digits of pi before the first
 * block, or the digits of the square root of pi if nothing is packed. */
static int is_bzip2(const uint8_t *bytes, size_t n)
{
    return n >= IO_DECODER_SIGNATURE && bytes[3] >= '1' && bytes[3] <= '9' &&
           (memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
            memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

const io_decoder *io_decoder_find(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (n >= decoders[i].n_signature &&
            memcmp(bytes, decoders[i].signature, decoders[i].n_signature) == 0 &&
            (decoders[i].signature[0] != 'B' || is_bzip2(bytes, n)))
            return &decoders[i];
    return NULL;
}
