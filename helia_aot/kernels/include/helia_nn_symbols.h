/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Empty in the library. A generated module carries its own, which gives every public symbol the module's prefix.
 */
#ifndef HELIA_NN_SYMBOLS_H
#define HELIA_NN_SYMBOLS_H

#endif
