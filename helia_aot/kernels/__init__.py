# SPDX-License-Identifier: Apache-2.0
"""The bundled kernel library: C sources in the ns-cmsis-nn dialect, and what the compiler must know about them.

``include/`` holds the interface, ``src/`` one file for each entry; :mod:`helia_aot.kernels.manifest` answers which
files an entry needs, which symbols they define and how much scratch an entry takes. May import
:mod:`helia_aot.errors` only.
"""
