/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Forgets how vectors are loaded and stored, after a file has defined its rows with support_depthwise_3x3_s8.h: the files of
 * a kernel can be compiled as one. No include guard: each of them includes this once.
 */
#undef FIRST
#undef FIRST_KEEP
#undef FIRST_AGAIN
#undef SECOND
#undef SECOND_KEEP
#undef SECOND_AGAIN
#undef THIRD
#undef THIRD_KEEP
#undef THIRD_AGAIN
#undef STORE
