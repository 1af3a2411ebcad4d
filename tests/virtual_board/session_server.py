# SPDX-License-Identifier: Apache-2.0
"""Runs sessions as forks of one process that has pyOCD imported, since that import is most of what a session costs.

Reads one JSON object a line, ``{"arguments": [job, report], "folder": ..., "environment": {...}}``, and answers each with the
exit code of its session. What a session prints as errors is in ``stderr`` in the folder.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from contextlib import suppress

from runners.device import session


def run(arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Gives the exit code of a session."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT, 0o600), 2)
            session.main([*arguments, str(os.getppid())])
            code = 0
        except BaseException:  # a fork must never return into the loop below
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return code


def main() -> None:
    """Serves until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(f"{run(**json.loads(line))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
