# SPDX-License-Identifier: Apache-2.0
"""The helia-aot command line: the only place of the compiler that prints or exits."""
