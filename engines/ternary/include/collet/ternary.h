/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ternary.h - networks of ternary weights, in memory and in files: libcollet-ternary.
 *
 *   collet_ternary_weights   a packed matrix of -1, 0 and 1, 2 bits each
 *   collet_ternary_network   layers of such matrices, run one after another
 *   collet_ternary_file      an open .t2, .npy, .gguf or .safetensors file
 *   collet_ternary_output    a complete file that is not yet visible under its name
 *
 * The library uses the ops ternary_pack, ternary_linear, ... of libcore. The conventions of
 * collet.h hold here too. Nothing here prints, exits or keeps state between calls.
 */
#ifndef COLLET_TERNARY_H
#define COLLET_TERNARY_H

#include <collet/devices.h>
#include <collet/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Progress and cancellation --------------------------------------------------------------- */

/*
 * Long calls take a monitor, or NULL. Its functions run on the calling thread, must not use the same
 * context, and may be NULL.
 *   progress   called about once per million weights. `done` counts weights, or vectors in a run. If
 *              `progress` cancels a call, the call leaves no output.
 *   warn       called for a suspicious result: more than 90 % of a matrix's codes are 0, or all are
 *              equal. `text` is valid during the call.
 */
typedef struct collet_ternary_monitor {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;    /* 0 */
    collet_progress_fn progress;
    void *user;
    void (*warn)(void *user, const char *text);
} collet_ternary_monitor;

/* ---- Weights --------------------------------------------------------------------------------- */

/*
 * A checked matrix of M x K packed weights (COLLET_TERNARY_T2): 2 bits a weight, rows padded to whole
 * blocks of 256 weights, and one f32 scale a row. The data are arrays, so they move to the
 * backend that computes with them and stay there. Weights never change after creation; any
 * number of contexts of their runtime may use them at the same time.
 */
typedef struct collet_ternary_weights collet_ternary_weights;

/*
 * Floating-point weights are already ternary if the numbers of every row are -s, 0 and s, as
 * converters of ternary models (BitNet) write them; s may differ between rows. All functions that
 * convert numbers to codes keep such weights exactly: the codes are the signs, and the scale of a row is
 * s, rounded to f32. The exception is a threshold that the caller gives.
 */

/* Tests weights (..., K) in f32, f64, f16 or bf16. If they are already ternary, *scale becomes an f32 array (...)
 * with the s of each row, 1 for a row of zeros; otherwise *scale becomes NULL. */
COLLET_API collet_status collet_ternary_recognise(collet_context *context, collet_array **scale,
                                                  const collet_array *weights,
                                                  const collet_ternary_monitor *monitor,
                                                  collet_error *err);

/* Quantizes and packs floating-point weights (M, K). Weights that are already ternary are kept exactly if params is
 * NULL, and with COLLET_TERNARY_ABSMEAN. If params is NULL, other weights are quantized with a threshold of 0.3.
 * INVALID if a weight is not finite, or a scale is outside the range of f32. */
COLLET_API collet_status collet_ternary_weights_quantize(
    collet_context *context, collet_ternary_weights **out, const collet_array *weights,
    const collet_ternary_quantize_params *params, const collet_ternary_monitor *monitor,
    collet_error *err);
/* Packs codes (M, K) i8. scale: (M) f32, copied; NULL: all scales are 1. INVALID if a code is not -1, 0 or 1. */
COLLET_API collet_status collet_ternary_weights_from_codes(collet_context *context,
                                                           collet_ternary_weights **out,
                                                           const collet_array *codes,
                                                           const collet_array *scale,
                                                           collet_error *err);
/* Uses packed rows (M, B) of K = `columns` weights each. Their storage is shared, not copied: do
 * not write to it while the weights exist. scale: as in collet_ternary_weights_from_codes. Reads all bytes
 * to check them: INVALID if a code is invalid or padding is not 0. */
COLLET_API collet_status collet_ternary_weights_from_bytes(
    collet_context *context, collet_ternary_weights **out, const collet_array *bytes,
    int64_t columns, const collet_array *scale, const collet_ternary_monitor *monitor,
    collet_error *err);
COLLET_API void collet_ternary_weights_destroy(collet_ternary_weights *weights);

COLLET_API int64_t collet_ternary_weights_rows(const collet_ternary_weights *weights);
COLLET_API int64_t collet_ternary_weights_columns(const collet_ternary_weights *weights);
/* (M, B) u8 and (M) f32, owned by the weights; the scale is NULL if all scales are 1. */
COLLET_API const collet_array *collet_ternary_weights_bytes(const collet_ternary_weights *weights);
COLLET_API const collet_array *collet_ternary_weights_scale(const collet_ternary_weights *weights);

/* ---- Networks -------------------------------------------------------------------------------- */

typedef struct collet_ternary_layer {
    uint32_t struct_size;
    uint32_t activations; /* activations, relu, threshold: see collet_ternary_linear_params */
    uint32_t relu;
    float threshold;
    const collet_ternary_weights *weights;
    const collet_array *bias; /* f32 (M) or NULL */
} collet_ternary_layer;

/* Layers in sequence, and the buffers between them. */
typedef struct collet_ternary_network collet_ternary_network;

/* Creates a network of `count` >= 1 layers. A layer must have as many columns as the layer before it has rows;
 * otherwise SHAPE, and the text names the two layers. Shares the layers' weights and biases; you may destroy
 * these before the network. */
COLLET_API collet_status collet_ternary_network_create(collet_context *context,
                                                       collet_ternary_network **out,
                                                       const collet_ternary_layer *layers,
                                                       uint32_t count, collet_error *err);
COLLET_API void collet_ternary_network_destroy(collet_ternary_network *network);

/* Elements of a row of x (K of the first layer) and of a row of y (M of the last layer). */
COLLET_API int64_t collet_ternary_network_inputs(const collet_ternary_network *network);
COLLET_API int64_t collet_ternary_network_outputs(const collet_ternary_network *network);

/* Computes y f32 (..., outputs) from x f32 (..., inputs), both with the same leading axes.
 * Allocates only when the leading axes differ from the previous run's. Only one thread at a time may run
 * a network, with any context of the layers' runtime. Asynchronous, like kernels. */
COLLET_API collet_status collet_ternary_network_run(collet_context *context,
                                                    collet_ternary_network *network,
                                                    collet_array *y, const collet_array *x,
                                                    collet_error *err);

/* ---- Files: reading -------------------------------------------------------------------------- */

/*
 * An open file, mapped and not read into memory, so it may be larger than memory:
 *   .t2     packed layers with scales and biases, Collet's own format (collet-ternary(1))
 *   .npy    a matrix, or a single row, of f2, f4 or f8 numbers or of i1 codes
 *   .gguf   tensors; the types TQ2_0, TQ1_0, Q2_0, F16, BF16, F32, F64 and I8 can be read
 *   .safetensors   tensors of F16, BF16, F32, F64 and I8, and BitNet's packed weights: U8 tensors NAME with
 *           a tensor NAME_scale. config.json in the folder of the file states whether layers divide by this scale
 *           (linear_class "bitlinear") or multiply ("autobitlinear"). A tensor .bias is the layer's bias.
 * Any number of threads may read one file. Truncating a mapped file ends the process with SIGBUS.
 */
typedef struct collet_ternary_file collet_ternary_file;

COLLET_ENUM(uint32_t){
    COLLET_TERNARY_FILE_T2 = 1,
    COLLET_TERNARY_FILE_NPY = 2,
    COLLET_TERNARY_FILE_GGUF = 3,
    COLLET_TERNARY_FILE_SAFETENSORS = 4,
};

/*
 * `name` is a path or, if no file has that name, "FILE:TENSOR". *index becomes the tensor's index,
 * or -1 if no tensor was named; index may be NULL. The type is recognised by content. Checks everything
 * except the layers' data. A GGUF file can be opened even if single tensors have faults. IO, FORMAT,
 * UNSUPPORTED, NOT_FOUND, OVERFLOW, NO_MEMORY.
 */
COLLET_API collet_status collet_ternary_file_open(collet_ternary_file **out, int64_t *index,
                                                  const char *name, collet_error *err);
COLLET_API void collet_ternary_file_destroy(collet_ternary_file *file);

typedef struct collet_ternary_file_info {
    uint32_t struct_size; /* set by the caller */
    uint32_t kind;        /* COLLET_TERNARY_FILE_* */
    uint32_t version;     /* version of the GGUF format; else 0 */
    uint32_t reserved;
    int64_t count;    /* number of matrices: layers, tensors, or 1 */
    uint64_t bytes;   /* size of the file */
    const char *path; /* valid until the file is closed */
    uint32_t part;    /* part 1 .. parts of a split GGUF file; 0: not split */
    uint32_t parts;
} collet_ternary_file_info;

COLLET_API void collet_ternary_file_get_info(const collet_ternary_file *file,
                                             collet_ternary_file_info *info);

/* The content of a matrix. */
COLLET_ENUM(uint32_t){
    COLLET_TERNARY_OTHER = 0,   /* nothing that can be read as weights */
    COLLET_TERNARY_NUMBERS = 1, /* floating-point numbers */
    COLLET_TERNARY_CODES = 2,   /* one i8 a weight */
    COLLET_TERNARY_PACKED = 3,  /* rows in a format COLLET_TERNARY_T2, ..., or in one of the formats below */
};

/* Formats of PACKED that only files have: weights become COLLET_TERNARY_T2 when they are loaded. A Q2_0 weight is -1,
 * 0, 1 or 2 times the scale of its block, a BITNET weight is -1, 0, 1 or 2 times the scale of the matrix; 2 counts as
 * an invalid code. */
COLLET_ENUM(uint32_t){
    COLLET_TERNARY_Q2_0 = 64,     /* GGUF type 42 as llama.cpp writes it: 64 weights in 18 bytes */
    COLLET_TERNARY_Q2_0_128 = 65, /* as PrismML writes it: 128 weights in 34 bytes */
    COLLET_TERNARY_BITNET = 66,   /* safetensors: a byte has one weight of each quarter of the rows */
};

typedef struct collet_ternary_matrix {
    uint32_t struct_size; /* set by the caller */
    uint32_t content;     /* COLLET_TERNARY_OTHER, ... */
    uint32_t format;      /* format of PACKED */
    collet_dtype dtype;   /* dtype of NUMBERS and CODES */
    int32_t ndim;
    uint32_t in_network; /* 1: the fields of a layer below are set */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t rows, columns; /* extents as a matrix; 0 for OTHER */
    uint64_t row_bytes;    /* rows x row_bytes are the bytes of the weights (BITNET: if columns are a
    multiple of 4); 0 for OTHER */
    /* The following are set for a layer of a .t2 file, else 0; has_scale and has_bias for BITNET too. activations, relu
     * and threshold: as in collet_ternary_layer. */
    uint32_t activations, relu;
    float threshold;
    uint32_t has_scale, has_bias;
    char type[24];     /* type in the file: "t2", "f32", "Q4_0"; Q2_0 with the weights of a block: "Q2_0/64"; "BitNet" */
    char name[256];    /* name of a layer or tensor, UTF-8, cut to fit; "" if it has none. Control
    characters and invalid bytes of a tensor's name are \xNN */
    const char *fault; /* why a tensor cannot be read: the fault, such as "the tensor has no
                          axes; ...", or why its type is not supported (static text); NULL: it can be read */
} collet_ternary_matrix;

/* NOT_FOUND if there is no such matrix. */
COLLET_API collet_status collet_ternary_file_matrix_at(const collet_ternary_file *file,
                                                       collet_ternary_matrix *matrix, size_t index,
                                                       collet_error *err);

typedef struct collet_ternary_counts {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t minus, zero, plus, invalid;
} collet_ternary_counts;

/* Counts the codes of a matrix of CODES or PACKED. Checks a layer's checksum first (FORMAT). */
COLLET_API collet_status collet_ternary_file_count(collet_context *context,
                                                   const collet_ternary_file *file,
                                                   collet_ternary_counts *counts, size_t index,
                                                   const collet_ternary_monitor *monitor,
                                                   collet_error *err);

/*
 * Loads a matrix as weights. Layers in the format t2 are used in the mapping, without a copy; other
 * matrices are converted a few rows at a time. `quantize` sets how numbers are quantized; with it, blocks
 * of TQ2_0, TQ1_0 and Q2_0 are quantized again. If `quantize` is NULL, numbers are quantized as in
 * collet_ternary_weights_quantize, and codes are kept as stored. INVALID: the text has the first value
 * that is not finite, the first invalid code, a row whose blocks have different scales, or a scale outside
 * the range of f32. *bias becomes the bias of a layer of a .t2 file or of a BitNet model, or NULL; `bias` may be
 * NULL.
 */
COLLET_API collet_status collet_ternary_file_load(
    collet_context *context, const collet_ternary_file *file, collet_ternary_weights **out,
    collet_array **bias, size_t index, const collet_ternary_quantize_params *quantize,
    const collet_ternary_monitor *monitor, collet_error *err);

#define COLLET_TERNARY_AS_STORED UINT32_MAX
/* Loads all layers of a .t2 file. `activations` and `threshold` replace the values of every layer,
 * unless `activations` is COLLET_TERNARY_AS_STORED. The file may be closed before the network is
 * destroyed. */
COLLET_API collet_status collet_ternary_network_load(collet_context *context,
                                                     collet_ternary_network **out,
                                                     const collet_ternary_file *file,
                                                     uint32_t activations, float threshold,
                                                     const collet_ternary_monitor *monitor,
                                                     collet_error *err);

/* ---- Files: writing -------------------------------------------------------------------------- */

/* A complete file on the disk that is not yet visible under its name. The program can report about the file, and then
 * publish or drop it. */
typedef struct collet_ternary_output collet_ternary_output;

/* Gives the file its name. If a file of that name exists: replace = 1 replaces it atomically, replace = 0 fails
 * with IO. */
COLLET_API collet_status collet_ternary_output_publish(collet_ternary_output *output,
                                                       int32_t replace, collet_error *err);
/* Removes the file if it was not published. */
COLLET_API void collet_ternary_output_destroy(collet_ternary_output *output);
COLLET_API uint64_t collet_ternary_output_bytes(const collet_ternary_output *output);
/* The number of weights of the layers of a .t2 file; 0 for other files. */
COLLET_API int64_t collet_ternary_output_weights(const collet_ternary_output *output);

/* One layer to be packed; set struct_size, and set unused fields to 0. */
typedef struct collet_ternary_source {
    uint32_t struct_size;
    uint32_t activations; /* activations, relu, threshold: as in collet_ternary_layer */
    uint32_t relu;
    float threshold;
    const char *weights; /* as in collet_ternary_file_open: an .npy file, FILE.gguf:TENSOR or
    FILE.safetensors:TENSOR */
    const char *scale;   /* .npy, one number for each row or one for all; replaces the computed
    scales. NULL: none */
    const char *bias;    /* .npy, one number for each row. NULL: none, or the bias of a BITNET matrix */
    const collet_ternary_quantize_params *quantize; /* as in collet_ternary_file_load */
} collet_ternary_source;

/* Writes a .t2 file of `count` layers in a format COLLET_TERNARY_*. INVALID, SHAPE, DTYPE, IO: the
 * text names the file. INVALID also if `path` is one of the inputs. */
COLLET_API collet_status collet_ternary_files_pack(collet_context *context,
                                                   collet_ternary_output **out, const char *path,
                                                   const collet_ternary_source *layers,
                                                   uint32_t count, uint32_t format,
                                                   const collet_ternary_monitor *monitor,
                                                   collet_error *err);

/* Writes a .t2 file of layers in memory, with names (NULL: none; an element may be NULL). */
COLLET_API collet_status collet_ternary_layers_write(collet_context *context,
                                                     collet_ternary_output **out, const char *path,
                                                     const collet_ternary_layer *layers,
                                                     const char *const *names, uint32_t count,
                                                     const collet_ternary_monitor *monitor,
                                                     collet_error *err);

COLLET_ENUM(uint32_t){
    COLLET_TERNARY_WRITE_CODES = 0,  /* i1 */
    COLLET_TERNARY_WRITE_VALUES = 1, /* f4: codes times scale */
    COLLET_TERNARY_WRITE_BYTES = 2,  /* u1: the packed rows */
};
/* Writes a PACKED matrix as .npy; `what` is COLLET_TERNARY_WRITE_*. INVALID for the bytes of BITNET, whose rows
 * share bytes. */
COLLET_API collet_status collet_ternary_file_unpack(collet_context *context,
                                                    const collet_ternary_file *file,
                                                    collet_ternary_output **out, const char *path,
                                                    size_t index, uint32_t what,
                                                    const collet_ternary_monitor *monitor,
                                                    collet_error *err);

/* ---- Files: running -------------------------------------------------------------------------- */

/* Paths of .npy files. x (..., inputs) has f2, f4, f8, i1, u1, i4 or i8 numbers; y is written as f4. */
typedef struct collet_ternary_run_files {
    uint32_t struct_size;
    uint32_t reserved;
    const char *x;
    const char *y;      /* NULL: not written */
    const char *labels; /* one integer per vector: the class that y's largest number should have.
                           NULL: nothing is compared */
    const char *model;  /* a file that y must not replace, such as the network's. NULL: none */
    const collet_devices *devices; /* devices that share the vectors; NULL: the context alone */
} collet_ternary_run_files;

typedef struct collet_ternary_run_result {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t vectors;
    int64_t correct; /* vectors for which the index of y's largest number equals the label */
    double seconds;  /* computing time of the slowest device, without reading and writing */
} collet_ternary_run_result;

/* Runs the network on all vectors of a file, a few at a time. *out becomes NULL if y is not
 * written. */
COLLET_API collet_status collet_ternary_network_run_files(
    collet_context *context, collet_ternary_network *network, collet_ternary_output **out,
    collet_ternary_run_result *result, const collet_ternary_run_files *files,
    const collet_ternary_monitor *monitor, collet_error *err);

/* The memory that collet_ternary_network_run_files needs on a device. */
typedef struct collet_ternary_run_plan {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    int64_t vectors;
    int64_t at_a_time; /* most vectors that a device computes at once */
    uint64_t bytes;    /* bytes of arrays on each device, with the network */
} collet_ternary_run_plan;

/* Opens and checks the files; writes nothing. Each device runs the first at_a_time vectors twice;
 * collet_ternary_network_share_at then returns the time of the second run. */
COLLET_API collet_status collet_ternary_network_plan_files(collet_context *context,
                                                           collet_ternary_network *network,
                                                           collet_ternary_run_plan *plan,
                                                           const collet_ternary_run_files *files,
                                                           collet_error *err);

/* Computes y (vectors, outputs) from x (vectors, inputs), both C-contiguous, a few vectors at a time, on
 * `devices` (NULL: the context alone), and waits. The devices must belong to the network's runtime. */
COLLET_API collet_status collet_ternary_network_run_vectors(
    collet_context *context, collet_ternary_network *network, float *y, const float *x,
    int64_t vectors, const collet_devices *devices, const collet_ternary_monitor *monitor,
    collet_error *err);

/* Sets *share to the part of device `index` in the network's last run with `devices`, or in its last plan, in
 * vectors. NOT_FOUND beyond the last device. The strings are valid until the next run. */
COLLET_API collet_status collet_ternary_network_share_at(const collet_ternary_network *network,
                                                         collet_device_share *share, size_t index,
                                                         collet_error *err);

#ifdef __cplusplus
}
#endif
#endif
