# SPDX-License-Identifier: Apache-2.0
# Short names for the scripts, which also work without make. Pass arguments in ARGS:
#   make search ARGS="--help"
#   make test ARGS="-k digits"

.PHONY: setup search test

setup:
	scripts/setup

search:
	scripts/search $(ARGS)

test:
	scripts/test $(ARGS)
