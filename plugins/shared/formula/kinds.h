/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - selects the rows of elementwise.def for one kind of dtypes: OF_I(IFC, text) is the text if
 * integers (I) are among the kinds IFC, else nothing. Kinds: B bool, I integers, F f32 f64 f16 bf16, W only
 * f32 and f64, C complex. */
#pragma once

/* KINDS_<kinds> selects, from five parameters, the parameters that belong to the kinds: bool, integers, f32 and f64,
 * f16 and bf16, complex. */
#define KINDS_B(b, i, f, h, c) b
#define KINDS_I(b, i, f, h, c) i
#define KINDS_W(b, i, f, h, c) f
#define KINDS_F(b, i, f, h, c) f h
#define KINDS_C(b, i, f, h, c) c
#define KINDS_BI(b, i, f, h, c) b i
#define KINDS_IF(b, i, f, h, c) i f h
#define KINDS_FC(b, i, f, h, c) f h c
#define KINDS_BIF(b, i, f, h, c) b i f h
#define KINDS_IFC(b, i, f, h, c) i f h c
#define KINDS_BIFC(b, i, f, h, c) b i f h c

#define OF_B(kinds, text) KINDS_##kinds(text, , , , )
#define OF_I(kinds, text) KINDS_##kinds(, text, , , )
#define OF_F(kinds, text) KINDS_##kinds(, , text, , )
#define OF_H(kinds, text) KINDS_##kinds(, , , text, )
#define OF_C(kinds, text) KINDS_##kinds(, , , , text)
