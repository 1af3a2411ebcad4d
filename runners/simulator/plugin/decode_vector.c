/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector (MVE) and floating-point encodings as one table: bits that must match, timing class, operands.
 *
 * The first row that matches wins, so special cases stand before the general row they are carved from.
 *
 * Operands are words of two letters and a mark, in any order:
 *   Qd [15:13]  Qn [19:17]  Qm [3:1]        vector register
 *   2d 4d                                   two or four vector registers from Qd on
 *   Pd Pn Pm                                VFP register of the precision in bits [9:8]
 *   Sd Sm Dd Dm                             VFP register, single or double whatever bits [9:8] say
 *   Mm                                      pair of single registers from Sm on
 *   Rn [19:16]  Rt [15:12]  Rm [3:0]  Rl [18:16]   core register
 *   Re [19:17]:0  Ro [3:1]:1  Lo [15:13]:0  Hi [22:20]:1   core registers of fixed parity
 *   F  V                                    APSR flags, VPR; one letter
 *   X.                                      multiple transfer: registers from Vd on, count in bits [7:0]
 *   L.                                      lanes of a gather or scatter, from the lane size in bits [8:7]
 *   L4 L2                                   four or two lanes
 * Marks: none reads; `=` writes; `+` reads and writes; `A` writes, and reads when bit 5 (accumulate) is set;
 *   `^` store data; `@` gather offsets; `!` address with write-back when bit 21 is set; `*` address
 *   always written back.
 * Encodings: Armv8-M Architecture Reference Manual; every row was checked against the GNU assembler.
 */
#include <stddef.h>

#include "decode.h"

struct row {
    uint32_t mask;
    uint32_t value;
    enum timing_class timing_class;
    const char *operands;
    const char *name; /* for the reader, and for `decode_dump` in the tests */
};

static const struct row rows[] = {
    /* Two-register moves between core and vector registers; holes of the vector loads too. */
    {0xfff01fe0, 0xec100f00, CLASS_MVE_TO_LANE, "Qd+ Rm Rn", "vmov two core registers to lanes"},
    {0xfff01fe0, 0xec000f00, CLASS_MVE_FROM_LANE, "Rm= Rn= Qd", "vmov two lanes to core registers"},

    /* Gather and scatter: [Rn, Qm] has P = 0 and W = 0, which contiguous accesses never have. */
    {0xeff01e20, 0xec900e00, CLASS_MVE_GATHER, "Qd= Rn Qm@ L.", "vldr [Rn, Qm]"},
    {0xfff01e20, 0xec800e00, CLASS_MVE_SCATTER, "Qd^ Rn Qm@ L.", "vstr [Rn, Qm]"},
    {0xff511f80, 0xfd101e00, CLASS_MVE_GATHER, "Qd= Qn@ L4", "vldrw [Qm, #imm]"},
    {0xff511f80, 0xfd101f00, CLASS_MVE_GATHER, "Qd= Qn@ L2", "vldrd [Qm, #imm]"},
    {0xff511f80, 0xfd001e00, CLASS_MVE_SCATTER, "Qd^ Qn@ L4", "vstrw [Qm, #imm]"},
    {0xff511f80, 0xfd001f00, CLASS_MVE_SCATTER, "Qd^ Qn@ L2", "vstrd [Qm, #imm]"},

    /* Loads and stores of system registers; they sit in holes of the vector loads. */
    {0xfe101f80, 0xec100f80, CLASS_FP_STATUS, "Rn! F= V=", "vldr system"},
    {0xfe101f80, 0xec000f80, CLASS_FP_STATUS, "Rn! F V", "vstr system"},

    /* Interleaving loads and stores. */
    {0xffd01e5f, 0xfc901e00, CLASS_MVE_LOAD_INTERLEAVED, "2d+ Rn!", "vld2"},
    {0xffd01e1f, 0xfc901e01, CLASS_MVE_LOAD_INTERLEAVED, "4d+ Rn!", "vld4"},
    {0xffd01e5f, 0xfc801e00, CLASS_MVE_STORE_INTERLEAVED, "2d^ Rn!", "vst2"},
    {0xffd01e1f, 0xfc801e01, CLASS_MVE_STORE_INTERLEAVED, "4d^ Rn!", "vst4"},

    /* Contiguous loads and stores. */
    {0xee581e00, 0xec100e00, CLASS_MVE_LOAD, "Qd= Rl!", "vldrb widening"},
    {0xee581f80, 0xec180f00, CLASS_MVE_LOAD, "Qd= Rl!", "vldrh widening"},
    {0xfe501e00, 0xec101e00, CLASS_MVE_LOAD, "Qd= Rn!", "vldrb.8, vldrh.16, vldrw.32"},
    {0xfe581e00, 0xec000e00, CLASS_MVE_STORE, "Qd^ Rl!", "vstrb narrowing"},
    {0xfe581f80, 0xec080f00, CLASS_MVE_STORE, "Qd^ Rl!", "vstrh narrowing"},
    {0xfe501e00, 0xec001e00, CLASS_MVE_STORE, "Qd^ Rn!", "vstrb.8, vstrh.16, vstrw.32"},

    /* Three registers, space 111x 1111 0: float rows have fixed size bits and come first. */
    {0xffe11ff1, 0xef000d40, CLASS_MVE_FP_ADD, "Qd= Qn Qm", "vadd.f"},
    {0xffe11ff1, 0xef200d40, CLASS_MVE_FP_ADD, "Qd= Qn Qm", "vsub.f"},
    {0xffe11ff1, 0xff200d40, CLASS_MVE_FP_ADD, "Qd= Qn Qm", "vabd.f"},
    {0xffc11ff1, 0xff000f50, CLASS_MVE_FP_ADD, "Qd= Qn Qm", "vmaxnm, vminnm"},
    {0xffe11ff1, 0xff000d50, CLASS_MVE_FP_MULTIPLY, "Qd= Qn Qm", "vmul.f"},
    {0xffe11ff1, 0xef000c50, CLASS_MVE_FP_MULTIPLY, "Qd+ Qn Qm", "vfma"},
    {0xffe11ff1, 0xef200c50, CLASS_MVE_FP_MULTIPLY, "Qd+ Qn Qm", "vfms"},
    {0xffc11ff1, 0xef000840, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vadd.i"},
    {0xffc11ff1, 0xff000840, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vsub.i"},
    {0xefc11ff1, 0xef000050, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vqadd"},
    {0xefc11ff1, 0xef000250, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vqsub"},
    {0xefc11ff1, 0xef000040, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vhadd"},
    {0xefc11ff1, 0xef000240, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vhsub"},
    {0xefc11ff1, 0xef000140, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vrhadd"},
    {0xefc11ff1, 0xef000740, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vabd"},
    {0xefc11fe1, 0xef000640, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vmax, vmin"},
    {0xffc11ff1, 0xef000150, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vand, vbic, vorr, vorn"},
    {0xfff11ff1, 0xff000150, CLASS_MVE_INTEGER, "Qd= Qn Qm", "veor"},
    {0xefc11ff1, 0xef000440, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vshl by vector"},
    {0xefc11ff1, 0xef000450, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm", "vqshl by vector"},
    {0xefc11ff1, 0xef000540, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm", "vrshl by vector"},
    {0xefc11ff1, 0xef000550, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm", "vqrshl by vector"},
    {0xffc11ff1, 0xef000950, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vmul.i"},
    {0xffc11ff1, 0xef000b40, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vqdmulh"},
    {0xffc11ff1, 0xff000b40, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vqrdmulh"},

    /* Immediate moves stand in the size = 0 hole of the immediate shifts. */
    {0xeff819d0, 0xef800150, CLASS_MVE_INTEGER, "Qd+", "vorr, vbic immediate 32"},
    {0xeff81dd0, 0xef800950, CLASS_MVE_INTEGER, "Qd+", "vorr, vbic immediate 16"},
    {0xeff81ff0, 0xef800e70, CLASS_MVE_IMMEDIATE, "Qd=", "vmov.i64 immediate"},
    {0xeff810f0, 0xef800070, CLASS_MVE_INTEGER, "Qd=", "vmvn immediate"},
    {0xeff810f0, 0xef800050, CLASS_MVE_IMMEDIATE, "Qd=", "vmov immediate"},
    {0xffc01ff1, 0xef800550, CLASS_MVE_INTEGER, "Qd= Qm", "vshl immediate"},
    {0xefc01ff1, 0xef800050, CLASS_MVE_INTEGER, "Qd= Qm", "vshr"},
    {0xffc01ff1, 0xff800450, CLASS_MVE_INTEGER, "Qd+ Qm", "vsri"},
    {0xffc01ff1, 0xff800550, CLASS_MVE_INTEGER, "Qd+ Qm", "vsli"},
    {0xefc01ff1, 0xef800750, CLASS_MVE_SHIFT_ROUND, "Qd= Qm", "vqshl immediate"},
    {0xffc01ff1, 0xff800650, CLASS_MVE_SHIFT_ROUND, "Qd= Qm", "vqshlu"},
    {0xefc01ff1, 0xef800250, CLASS_MVE_SHIFT_ROUND, "Qd= Qm", "vrshr"},
    {0xefe01cf1, 0xefa00c50, CLASS_MVE_CONVERT, "Qd= Qm", "vcvt fixed point"},

    /* Two registers. */
    {0xffff1ff1, 0xffb005c0, CLASS_MVE_INTEGER, "Qd= Qm", "vmvn"},
    {0xfff31f71, 0xffb10340, CLASS_MVE_INTEGER, "Qd= Qm", "vabs.s, vneg.s"},
    {0xfff31f71, 0xffb00740, CLASS_MVE_INTEGER, "Qd= Qm", "vqabs, vqneg"},
    {0xfff31f71, 0xffb00440, CLASS_MVE_INTEGER, "Qd= Qm", "vcls, vclz"},
    {0xfff31e71, 0xffb00040, CLASS_MVE_INTEGER, "Qd= Qm", "vrev"},
    {0xfff31f71, 0xffb10740, CLASS_MVE_FP_ADD, "Qd= Qm", "vabs.f, vneg.f"},
    {0xfff31c71, 0xffb20440, CLASS_MVE_FP_MULTIPLY, "Qd= Qm", "vrint"},
    {0xfff31e71, 0xffb30640, CLASS_MVE_CONVERT, "Qd= Qm", "vcvt integer"},
    {0xfff31c71, 0xffb30040, CLASS_MVE_CONVERT, "Qd= Qm", "vcvta, vcvtn, vcvtp, vcvtm"},

    /* Complex arithmetic, space 1111 110. */
    {0xfee11ff1, 0xfc800840, CLASS_MVE_FP_ADD, "Qd= Qn Qm", "vcadd.f"},
    {0xfe611ff1, 0xfc200840, CLASS_MVE_FP_MULTIPLY, "Qd+ Qn Qm", "vcmla.f"},

    /* Predication. VPST is the VCMP hole with a mask; VPNOT the same hole without. VPT is VCMP with a mask. */
    {0xffffffff, 0xfe310f4d, CLASS_MVE_CONTROL, "V+", "vpnot"},
    {0xffbf1fff, 0xfe310f4d, CLASS_MVE_CONTROL, "V+", "vpst"},
    {0xffc0ffff, 0xf000e801, CLASS_MVE_CONTROL, "Rn V=", "vctp"},
    {0xfff11ff1, 0xfe310f01, CLASS_MVE_INTEGER, "Qd= Qn Qm V", "vpsel"},
    {0xefb10f70, 0xee310f00, CLASS_MVE_COMPARE, "Qn Qm V=", "vcmp.f, vpt.f"},
    {0xefb10f50, 0xee310f40, CLASS_MVE_COMPARE, "Qn Rm V=", "vcmp.f, vpt.f scalar"},
    {0xff810f70, 0xfe010f00, CLASS_MVE_COMPARE, "Qn Qm V=", "vcmp, vpt"},
    {0xff810f50, 0xfe010f40, CLASS_MVE_COMPARE, "Qn Rm V=", "vcmp, vpt scalar"},

    /* Space 111x 1110, bit 0 of the first halfword and bit 4 zero: float rows first. */
    {0xfff10ff1, 0xee300f00, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm F+", "vadc"},
    {0xfff10ff1, 0xfe300f00, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm F+", "vsbc"},
    {0xeff11ff0, 0xee300f40, CLASS_MVE_FP_MULTIPLY, "Qd= Qn Rm", "vadd.f scalar"},
    {0xeff11ff0, 0xee301f40, CLASS_MVE_FP_MULTIPLY, "Qd= Qn Rm", "vsub.f scalar"},
    {0xeff10ff1, 0xee300f01, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vqdmull"},
    {0xeff10ff0, 0xee300f60, CLASS_MVE_MULTIPLY, "Qd= Qn Rm", "vqdmull scalar"},
    {0xeff10ff0, 0xee300e00, CLASS_MVE_FP_MULTIPLY, "Qd= Qn Qm", "vcmul.f"},
    {0xffc10ff1, 0xfe000f00, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vcadd.i"},
    {0xffc10ff1, 0xee000f00, CLASS_MVE_INTEGER, "Qd= Qn Qm", "vhcadd"},
    {0xefc11ff0, 0xee000f60, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vqadd scalar"},
    {0xefc11ff0, 0xee001f60, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vqsub scalar"},
    {0xefc11ff0, 0xee000f40, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vhadd scalar"},
    {0xefc11ff0, 0xee001f40, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vhsub scalar"},
    {0xffc11ff0, 0xee000e60, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vqdmlah"},
    {0xffc11ff0, 0xee000e40, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vqrdmlah"},
    {0xffc11ff0, 0xee001e60, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vqdmlash"},
    {0xffc11ff0, 0xee001e40, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vqrdmlash"},
    {0xffc10ff0, 0xee000e00, CLASS_MVE_MULTIPLY, "Qd+ Qn Qm", "vqdmladh, vqrdmladh"},
    {0xffc10ff0, 0xfe000e00, CLASS_MVE_MULTIPLY, "Qd+ Qn Qm", "vqdmlsdh, vqrdmlsdh"},

    /* Space 111x 1110 with bit 0 of the first halfword set, size = 3: conversions, moves, shifts by register. */
    {0xffff0fe1, 0xee3f0e01, CLASS_MVE_CONVERT_NARROW, "Qd+ Qm", "vcvtb, vcvtt f16.f32"},
    {0xffff0fe1, 0xfe3f0e01, CLASS_MVE_CONVERT, "Qd= Qm", "vcvtb, vcvtt f32.f16"},
    {0xefff0ff1, 0xee3f0e81, CLASS_MVE_FP_ADD, "Qd+ Qm", "vmaxnma, vminnma"},
    {0xfffb0ff1, 0xfe310e81, CLASS_MVE_NARROW, "Qd+ Qm", "vmovn"},
    {0xfffb0ff1, 0xee310e81, CLASS_MVE_NARROW, "Qd+ Qm", "vqmovun"},
    {0xeffb0ff1, 0xee330e01, CLASS_MVE_NARROW, "Qd+ Qm", "vqmovn"},
    {0xfff30ff1, 0xee330e81, CLASS_MVE_INTEGER, "Qd+ Qm", "vmaxa, vmina"},
    {0xeffb0ff1, 0xee310e01, CLASS_MVE_INTEGER, "Qd= Qm", "vshll by element size"},
    {0xeff31ff0, 0xee311e60, CLASS_MVE_INTEGER, "Qd+ Rm", "vshl scalar"},
    {0xeff31ff0, 0xee311ee0, CLASS_MVE_SHIFT_ROUND, "Qd+ Rm", "vqshl scalar"},
    {0xeff31f70, 0xee331e60, CLASS_MVE_SHIFT_ROUND, "Qd+ Rm", "vrshl, vqrshl scalar"},
    {0xeff11ff0, 0xee310e60, CLASS_MVE_FP_MULTIPLY, "Qd= Qn Rm", "vmul.f scalar"},
    {0xeff11ff0, 0xee310e40, CLASS_MVE_FP_MULTIPLY, "Qd+ Qn Rm", "vfma scalar"},
    {0xeff11ff0, 0xee311e40, CLASS_MVE_FP_MULTIPLY, "Qd+ Qn Rm", "vfmas scalar"},
    {0xeff10ff1, 0xee310e00, CLASS_MVE_SHIFT_ROUND, "Qd= Qn Qm", "vmull polynomial"},

    /* The same space, any size. */
    {0xffc10f7e, 0xee010f6e, CLASS_MVE_INTEGER, "Qd= Re*", "vidup, vddup"},
    {0xffc10f70, 0xee010f60, CLASS_MVE_INTEGER, "Qd= Re* Ro", "viwdup, vdwdup"},
    {0xffc11ff0, 0xee010f40, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vadd.i scalar"},
    {0xffc11ff0, 0xee011f40, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vsub.i scalar"},
    {0xffc11ff0, 0xfe011e60, CLASS_MVE_INTEGER, "Qd= Qn Rm", "vbrsr"},
    {0xffc11ff0, 0xee011e60, CLASS_MVE_MULTIPLY, "Qd= Qn Rm", "vmul.i scalar"},
    {0xffc11ff0, 0xee010e60, CLASS_MVE_MULTIPLY, "Qd= Qn Rm", "vqdmulh scalar"},
    {0xffc11ff0, 0xfe010e60, CLASS_MVE_MULTIPLY, "Qd= Qn Rm", "vqrdmulh scalar"},
    {0xefc11ff0, 0xee010e40, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vmla scalar"},
    {0xefc11ff0, 0xee011e40, CLASS_MVE_MULTIPLY, "Qd+ Qn Rm", "vmlas scalar"},
    {0xefc10ff1, 0xee010e01, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vmulh, vrmulh"},
    {0xefc10ff1, 0xee010e00, CLASS_MVE_MULTIPLY, "Qd= Qn Qm", "vmull"},

    /* Space 111x 1110 1: narrowing and widening shifts, across lanes, dot products. */
    {0xefe70ff1, 0xeea00f40, CLASS_MVE_INTEGER, "Qd= Qm", "vmovl"},
    {0xefe00ff1, 0xeea00f40, CLASS_MVE_INTEGER, "Qd= Qm", "vshll"},
    {0xffe01ff0, 0xeea00fc0, CLASS_MVE_INTEGER, "Qd+ Rm+", "vshlc"},
    {0xefe00ff1, 0xee800fc1, CLASS_MVE_NARROW, "Qd+ Qm", "vshrn, vrshrn"},
    {0xefe00ff0, 0xee800f40, CLASS_MVE_NARROW, "Qd+ Qm", "vqshrn, vqrshrn"},
    {0xefe00ff1, 0xee800fc0, CLASS_MVE_NARROW, "Qd+ Qm", "vqshrun, vqrshrun"},
    {0xffff0f71, 0xeeec0f00, CLASS_MVE_MINMAX32, "Rt+ Qm", "vmaxnmav, vminnmav f32"},
    {0xffff0f71, 0xfeec0f00, CLASS_MVE_MINMAX16, "Rt+ Qm", "vmaxnmav, vminnmav f16"},
    {0xffff0f71, 0xeeee0f00, CLASS_MVE_MINMAX32, "Rt+ Qm", "vmaxnmv, vminnmv f32"},
    {0xffff0f71, 0xfeee0f00, CLASS_MVE_MINMAX16, "Rt+ Qm", "vmaxnmv, vminnmv f16"},
    {0xefff0f71, 0xeee20f00, CLASS_MVE_MINMAX8, "Rt+ Qm", "vmaxv, vminv 8"},
    {0xefff0f71, 0xeee60f00, CLASS_MVE_MINMAX16, "Rt+ Qm", "vmaxv, vminv 16"},
    {0xefff0f71, 0xeeea0f00, CLASS_MVE_MINMAX32, "Rt+ Qm", "vmaxv, vminv 32"},
    {0xffff0f71, 0xeee00f00, CLASS_MVE_MINMAX8, "Rt+ Qm", "vmaxav, vminav 8"},
    {0xffff0f71, 0xeee40f00, CLASS_MVE_MINMAX16, "Rt+ Qm", "vmaxav, vminav 16"},
    {0xffff0f71, 0xeee80f00, CLASS_MVE_MINMAX32, "Rt+ Qm", "vmaxav, vminav 32"},
    {0xef8f1fd1, 0xee890f00, CLASS_MVE_REDUCE, "LoA HiA Qm", "vaddlv"},
    {0xeff31fd1, 0xeef10f00, CLASS_MVE_REDUCE, "LoA Qm", "vaddv"},
    {0xefc10ff1, 0xee800f01, CLASS_MVE_ABAV, "Rt+ Qn Qm", "vabav"},
    {0xeff00fd1, 0xeef00e00, CLASS_MVE_DOT, "LoA Qn Qm", "vmladav 16, 32"},
    {0xeff10fd1, 0xeef00f00, CLASS_MVE_DOT, "LoA Qn Qm", "vmladav 8"},
    {0xfff00fd1, 0xeef00e01, CLASS_MVE_DOT, "LoA Qn Qm", "vmlsdav 16, 32"},
    {0xfff10fd1, 0xfef00e01, CLASS_MVE_DOT, "LoA Qn Qm", "vmlsdav 8"},
    {0xef800fd1, 0xee800e00, CLASS_MVE_DOT, "LoA HiA Qn Qm", "vmlaldav"},
    {0xff800fd1, 0xee800e01, CLASS_MVE_DOT, "LoA HiA Qn Qm", "vmlsldav"},
    {0xef810fd1, 0xee800f00, CLASS_MVE_DOT, "LoA HiA Qn Qm", "vrmlaldavh"},
    {0xff810fd1, 0xfe800e01, CLASS_MVE_DOT, "LoA HiA Qn Qm", "vrmlsldavh"},

    /* Lanes. Bits [22] and [6:5] hold lane and size. */
    {0xffb10fdf, 0xeea00b10, CLASS_MVE_INTEGER, "Qn= Rt", "vdup"},
    {0xff100f1f, 0xee100b10, CLASS_MVE_FROM_LANE, "Rt= Qn", "vmov lane to core register"},
    {0xff900f1f, 0xee000b10, CLASS_MVE_TO_LANE, "Qn+ Rt", "vmov core register to lane"},

    /* Scalar floating point, three registers; precision in bits [9:8]. */
    {0xffb00c50, 0xee300800, CLASS_FP_ADD, "Pd= Pn Pm", "vadd"},
    {0xffb00c50, 0xee300840, CLASS_FP_ADD, "Pd= Pn Pm", "vsub"},
    {0xffb00c10, 0xee200800, CLASS_FP_MULTIPLY, "Pd= Pn Pm", "vmul, vnmul"},
    {0xffa00c10, 0xee000800, CLASS_FP_MAC, "Pd+ Pn Pm", "vmla, vmls, vnmla, vnmls"},
    {0xffb00c10, 0xeea00800, CLASS_FP_FMA, "Pd+ Pn Pm", "vfma, vfms"},
    {0xffb00c10, 0xee900800, CLASS_FP_FMA, "Pd+ Pn Pm", "vfnma, vfnms"},
    {0xffb00c50, 0xee800800, CLASS_FP_DIVIDE32, "Pd= Pn Pm", "vdiv"},
    {0xff800c50, 0xfe000800, CLASS_FP_SIMPLE, "Pd= Pn Pm F", "vsel"},
    {0xffb00c10, 0xfe800800, CLASS_FP_SIMPLE, "Pd= Pn Pm", "vmaxnm, vminnm"},

    /* Scalar floating point, two registers. */
    {0xffb00cf0, 0xeeb00800, CLASS_FP_MOVE, "Pd=", "vmov immediate"},
    {0xffbf0cd0, 0xeeb00840, CLASS_FP_MOVE, "Pd= Pm", "vmov"},
    {0xffbf0cd0, 0xeeb008c0, CLASS_FP_SIMPLE, "Pd= Pm", "vabs"},
    {0xffbf0cd0, 0xeeb10840, CLASS_FP_SIMPLE, "Pd= Pm", "vneg"},
    {0xffbf0cd0, 0xeeb108c0, CLASS_FP_DIVIDE32, "Pd= Pm", "vsqrt"},
    {0xffbf0f50, 0xeeb20a40, CLASS_FP_CONVERT, "Sd= Sm", "vcvtb, vcvtt f32.f16"},
    {0xffbf0f50, 0xeeb30a40, CLASS_FP_CONVERT, "Sd+ Sm", "vcvtb, vcvtt f16.f32"},
    {0xffbf0f50, 0xeeb20b40, CLASS_FP_CONVERT, "Dd= Sm", "vcvtb, vcvtt f64.f16"},
    {0xffbf0f50, 0xeeb30b40, CLASS_FP_CONVERT, "Sd+ Dm", "vcvtb, vcvtt f16.f64"},
    {0xffbf0c50, 0xeeb40840, CLASS_FP_COMPARE, "Pd Pm F=", "vcmp"},
    {0xffbf0c7f, 0xeeb50840, CLASS_FP_COMPARE, "Pd F=", "vcmp zero"},
    {0xffbf0c50, 0xeeb60840, CLASS_FP_CONVERT, "Pd= Pm", "vrintr, vrintz"},
    {0xffbf0cd0, 0xeeb70840, CLASS_FP_CONVERT, "Pd= Pm", "vrintx"},
    {0xffbf0fd0, 0xeeb70ac0, CLASS_FP_CONVERT, "Dd= Sm", "vcvt f64.f32"},
    {0xffbf0fd0, 0xeeb70bc0, CLASS_FP_CONVERT, "Sd= Dm", "vcvt f32.f64"},
    {0xffbf0c50, 0xeeb80840, CLASS_FP_CONVERT, "Pd= Sm", "vcvt from integer"},
    {0xffbe0c50, 0xeebc0840, CLASS_FP_CONVERT, "Sd= Pm", "vcvt to integer"},
    {0xffbe0c50, 0xeeba0840, CLASS_FP_CONVERT, "Pd+", "vcvt from fixed point"},
    {0xffbe0c50, 0xeebe0840, CLASS_FP_CONVERT, "Pd+", "vcvt to fixed point"},
    {0xffbf0fd0, 0xfeb00ac0, CLASS_FP_SIMPLE, "Sd+ Sm", "vins"},
    {0xffbf0fd0, 0xfeb00a40, CLASS_FP_SIMPLE, "Sd= Sm", "vmovx"},
    {0xffbc0c50, 0xfebc0840, CLASS_FP_CONVERT, "Sd= Pm", "vcvta, vcvtn, vcvtp, vcvtm"},
    {0xffbc0cd0, 0xfeb80840, CLASS_FP_CONVERT, "Pd= Pm", "vrinta, vrintn, vrintp, vrintm"},

    /* Moves between core and floating-point registers. */
    {0xfff00e7f, 0xee000810, CLASS_FP_FROM_CORE, "Pn= Rt", "vmov core to half"},
    {0xfff00e7f, 0xee100810, CLASS_FP_TO_CORE, "Rt= Pn", "vmov half to core"},
    {0xfff00f7f, 0xee000a10, CLASS_FP_FROM_CORE, "Pn= Rt", "vmov core to single"},
    {0xfff00f7f, 0xee100a10, CLASS_FP_TO_CORE, "Rt= Pn", "vmov single to core"},
    {0xfff00ff0, 0xec400b10, CLASS_FP_FROM_CORE, "Dm= Rt Rn", "vmov two core to double"},
    {0xfff00ff0, 0xec500b10, CLASS_FP_TO_CORE, "Rt= Rn= Dm", "vmov double to two core"},
    {0xfff00fd0, 0xec400a10, CLASS_FP_FROM_CORE, "Mm= Rt Rn", "vmov two core to two singles"},
    {0xfff00fd0, 0xec500a10, CLASS_FP_TO_CORE, "Rt= Rn= Mm", "vmov two singles to two core"},
    {0xffff0fff, 0xeef10a10, CLASS_FP_STATUS, "Rt= F", "vmrs fpscr"},
    {0xffff0fff, 0xeef20a10, CLASS_FP_STATUS, "Rt= F", "vmrs fpscr_nzcvqc"},
    {0xfff00fff, 0xeef00a10, CLASS_FP_STATUS, "Rt= F V", "vmrs"},
    {0xffff0fff, 0xeee20a10, CLASS_FP_STATUS, "Rt F=", "vmsr fpscr_nzcvqc"},
    {0xfff00fff, 0xeee00a10, CLASS_FP_STATUS, "Rt F= V=", "vmsr"},

    /* Scalar floating-point loads and stores. */
    {0xffbf0e00, 0xec9f0a00, CLASS_FP_MOVE, "V=", "vscclrm"},
    {0xfff0ffff, 0xec300a00, CLASS_FP_LOAD_MULTIPLE, "Rn", "vlldm"},
    {0xfff0ffff, 0xec200a00, CLASS_FP_STORE_MULTIPLE, "Rn", "vlstm"},
    {0xff300c00, 0xed100800, CLASS_FP_LOAD, "Pd= Rn", "vldr"},
    {0xff300c00, 0xed000800, CLASS_FP_STORE, "Pd^ Rn", "vstr"},
    {0xff900e00, 0xec900a00, CLASS_FP_LOAD_MULTIPLE, "X.= Rn!", "vldmia"},
    {0xffb00e00, 0xed300a00, CLASS_FP_LOAD_MULTIPLE, "X.= Rn!", "vldmdb"},
    {0xff900e00, 0xec800a00, CLASS_FP_STORE_MULTIPLE, "X.^ Rn!", "vstmia"},
    {0xffb00e00, 0xed200a00, CLASS_FP_STORE_MULTIPLE, "X.^ Rn!", "vstmdb"},
};

static uint32_t field(uint32_t encoding, unsigned low, unsigned width)
{
    return (encoding >> low) & ((1u << width) - 1u);
}

static uint32_t run_of_registers(unsigned first, unsigned count)
{
    uint64_t ones = (UINT64_C(1) << count) - 1u;
    return (uint32_t)(ones << first);
}

static bool is_double(uint32_t encoding)
{
    return field(encoding, 8, 2) == 3;
}

/* A VFP register number: four bits and one more that is the lowest (single) or the highest (double). */
static uint32_t vfp_registers(uint32_t encoding, char place, bool as_double, unsigned count)
{
    unsigned four = place == 'd' ? field(encoding, 12, 4)
                  : place == 'n' ? field(encoding, 16, 4) : field(encoding, 0, 4);
    unsigned one = place == 'd' ? field(encoding, 22, 1)
                 : place == 'n' ? field(encoding, 7, 1) : field(encoding, 5, 1);
    return as_double ? run_of_registers(2 * four, 2) : run_of_registers(2 * four + one, count);
}

static uint32_t vector_operand(uint32_t encoding, const char *word)
{
    switch (word[0]) {
    case 'Q': {
        unsigned low = word[1] == 'd' ? 13 : word[1] == 'n' ? 17 : 1;
        return run_of_registers(4 * field(encoding, low, 3), 4);
    }
    case '2': return run_of_registers(4 * field(encoding, 13, 3), 8);
    case '4': return run_of_registers(4 * field(encoding, 13, 3), 16);
    case 'P': return vfp_registers(encoding, word[1], is_double(encoding), 1);
    case 'S': return vfp_registers(encoding, word[1], false, 1);
    case 'M': return vfp_registers(encoding, word[1], false, 2);
    case 'D': return vfp_registers(encoding, word[1], true, 2);
    case 'X': {
        unsigned first = 2 * field(encoding, 12, 4) + (is_double(encoding) ? 0 : field(encoding, 22, 1));
        return run_of_registers(first, field(encoding, 0, 8) & 63);
    }
    default: return 0;
    }
}

static uint32_t core_operand(uint32_t encoding, const char *word)
{
    unsigned number;
    if (word[0] == 'F') {
        return 1u << REGISTER_FLAGS;
    }
    if (word[0] == 'V') {
        return 1u << REGISTER_VPR;
    }
    if (word[0] == 'L') { /* Lo */
        number = 2 * field(encoding, 13, 3);
    } else if (word[0] == 'H') {
        number = 2 * field(encoding, 20, 3) + 1;
    } else {
        switch (word[1]) {
        case 'n': number = field(encoding, 16, 4); break;
        case 't': number = field(encoding, 12, 4); break;
        case 'm': number = field(encoding, 0, 4); break;
        case 'l': number = field(encoding, 16, 3); break;
        case 'e': number = 2 * field(encoding, 17, 3); break;
        default: number = 2 * field(encoding, 1, 3) + 1; break;
        }
    }
    if (number == REGISTER_PC) {
        /* Moves to "r15" write the flags; PC as a base is always ready. */
        return word[1] == 't' ? 1u << REGISTER_FLAGS : 0;
    }
    return 1u << number;
}

static void apply_core(struct instruction *instruction, uint32_t registers, char mark)
{
    bool reads = mark != '=' && !(mark == 'A' && !field(instruction->encoding, 5, 1));
    bool writes_back = mark == '*' || (mark == '!' && field(instruction->encoding, 21, 1));
    if (reads) {
        instruction->core_sources |= registers;
    }
    if (mark == '=' || mark == '+' || mark == 'A') {
        instruction->core_results |= registers;
    }
    if (writes_back) {
        instruction->core_writebacks |= registers;
    }
}

static void apply_vector(struct instruction *instruction, uint32_t registers, char mark)
{
    switch (mark) {
    case '=': instruction->vector_results |= registers; break;
    case '+':
        instruction->vector_results |= registers;
        instruction->vector_sources |= registers;
        break;
    case '^': instruction->store_data |= registers; break;
    case '@': instruction->gather_offsets |= registers; break;
    default: instruction->vector_sources |= registers; break;
    }
}

static void apply_operand(struct instruction *instruction, const char *word)
{
    uint32_t encoding = instruction->encoding;
    bool one_letter = word[0] == 'F' || word[0] == 'V';
    char mark = word[one_letter ? 1 : 2];
    if (mark == ' ') {
        mark = '\0';
    }
    if (word[0] == 'L' && word[1] != 'o') {
        instruction->transfers =
            (uint8_t)(word[1] == '.' ? 16u >> field(encoding, 7, 2) : (unsigned)(word[1] - '0'));
    } else if (word[0] == 'R' || word[0] == 'F' || word[0] == 'V' || word[0] == 'L' || word[0] == 'H') {
        apply_core(instruction, core_operand(encoding, word), mark);
    } else {
        apply_vector(instruction, vector_operand(encoding, word), mark);
        if (word[0] == 'X') {
            instruction->transfers = (uint8_t)field(encoding, 0, 8);
        }
    }
}

/* Rows carry the class of single precision; half and double differ in a few. */
static enum timing_class class_of_precision(enum timing_class single, uint32_t encoding)
{
    unsigned precision = field(encoding, 8, 2); /* 1 half, 2 single, 3 double */
    if (precision == 1 && single == CLASS_FP_DIVIDE32) {
        return CLASS_FP_DIVIDE16;
    }
    if (precision != 3) {
        return single;
    }
    switch (single) {
    case CLASS_FP_ADD: return CLASS_FP64_ADD;
    case CLASS_FP_MULTIPLY: return CLASS_FP64_MULTIPLY;
    case CLASS_FP_MAC: return CLASS_FP64_MAC;
    case CLASS_FP_FMA: return CLASS_FP64_FMA;
    case CLASS_FP_DIVIDE32: return CLASS_FP64_DIVIDE;
    default: return single;
    }
}

static bool uses_precision(const char *operands)
{
    for (const char *c = operands; *c != '\0'; c++) {
        if (*c == 'P') {
            return true;
        }
    }
    return false;
}

static void apply_operands(struct instruction *instruction, const char *operands)
{
    const char *word = operands;
    while (*word != '\0') {
        apply_operand(instruction, word);
        while (*word != '\0' && *word != ' ') {
            word++;
        }
        while (*word == ' ') {
            word++;
        }
    }
}

bool decode_vector(struct instruction *instruction)
{
    uint32_t encoding = instruction->encoding;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if ((encoding & row->mask) != row->value) {
            continue;
        }
        bool precision = uses_precision(row->operands);
        if (precision && field(encoding, 8, 2) == 0) {
            continue; /* no such precision: this is vector space */
        }
        instruction->timing_class =
            (uint8_t)(precision ? class_of_precision(row->timing_class, encoding) : row->timing_class);
        apply_operands(instruction, row->operands);
        return true;
    }
    return false;
}
