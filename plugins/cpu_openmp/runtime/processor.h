/* SPDX-License-Identifier: Apache-2.0 */
/* processor.h - the processor's features beyond the levels of isa.h. */
#pragma once

#include <stdint.h>

#include "isa.h"

#define PROCESSOR_V2 1u   /* x86-64-v2: SSE4.2 */
#define PROCESSOR_V3 2u   /* x86-64-v3: AVX2, FMA */
#define PROCESSOR_V4 4u   /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
#define PROCESSOR_VNNI 8u /* int8 products of AVX-512 */
#define PROCESSOR_BF16 16u
#define PROCESSOR_AMX 32u
#define PROCESSOR_AMD 64u      /* made by AMD or Hygon */
#define PROCESSOR_COUNTS 256u  /* AVX512_VPOPCNTDQ: population counts of 32 and 64 bits */
#define PROCESSOR_VIRTUAL 512u /* the machine is a virtual machine */
#define PROCESSOR_CAPPED 128u  /* the machine supports a higher level than `level` */

/* The features, limited to `level`, that the processor and the operating system support. 0 on architectures other than
 * x86-64. */
uint32_t processor_features(const isa_level *level);
