# SPDX-License-Identifier: Apache-2.0
"""A client for the GDB remote serial protocol, as far as QEMU's stub needs one."""

from __future__ import annotations

import select
import socket
import time

_BLOCK_BYTES = 1024
_TIMEOUT_S = 5.0


class StubError(Exception):
    """The stub answered with an error."""


class StubGone(Exception):
    """The stub closed the connection: QEMU ended or aborted."""


class GdbStub:
    """One connection to a stub behind a Unix socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_TIMEOUT_S)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._received = b""

    def close(self) -> None:
        self._socket.close()

    def send(self, packet: str) -> None:
        data = packet.encode("ascii")
        self._write(b"$%s#%02x" % (data, sum(data) & 0xFF))

    def receive(self, timeout_s: float = _TIMEOUT_S) -> bytes:
        """Gives the next packet's content."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._received = self._received.lstrip(b"+")
            end = self._received.find(b"#")
            if self._received[:1] == b"$" and 0 <= end <= len(self._received) - 3:
                content, self._received = self._received[1:end], self._received[end + 3 :]
                self._write(b"+")
                return _unescaped(content)
            if self._received and self._received[:1] != b"$":
                raise StubError(f"unexpected bytes {self._received[:20]!r}")
            self._fill(deadline)

    def has_packet(self) -> bool:
        """Says whether a packet, not a mere acknowledgement, has begun to arrive."""
        while True:
            self._received = self._received.lstrip(b"+")
            if self._received:
                return True
            if not select.select([self._socket], [], [], 0)[0]:
                return False
            self._fill(time.monotonic() + _TIMEOUT_S)

    def ask(self, packet: str) -> bytes:
        self.send(packet)
        return self.receive()

    def command(self, packet: str) -> None:
        answer = self.ask(packet)
        if answer != b"OK":
            raise StubError(f"{packet}: {answer!r}")

    def interrupt(self) -> bytes:
        """Stops the machine; gives the stop packet."""
        self._write(b"\x03")
        return self.receive()

    def read(self, address: int, size: int) -> bytes:
        parts = []
        for start in range(address, address + size, _BLOCK_BYTES):
            count = min(_BLOCK_BYTES, address + size - start)
            answer = self.ask(f"m{start:x},{count:x}")
            if len(answer) != 2 * count:
                raise StubError(f"read 0x{start:x}: {answer[:20]!r}")
            parts.append(bytes.fromhex(answer.decode()))
        return b"".join(parts)

    def write(self, address: int, data: bytes) -> None:
        for offset in range(0, len(data), _BLOCK_BYTES):
            part = data[offset : offset + _BLOCK_BYTES]
            self.command(f"M{address + offset:x},{len(part):x}:{part.hex()}")

    def monitor(self, text: str) -> None:
        """Runs a command of QEMU's monitor; what it prints is dropped."""
        self.send("qRcmd," + text.encode().hex())
        while (answer := self.receive()) != b"OK":
            if answer[:1] != b"O":
                raise StubError(f"{text}: {answer!r}")

    def read_feature(self, name: str) -> None:
        """Asks for a description and drops it: QEMU numbers registers only for who has asked."""
        offset = 0
        while (answer := self.ask(f"qXfer:features:read:{name}:{offset:x},800"))[:1] == b"m":
            offset += len(answer) - 1

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise StubGone(str(error)) from error

    def _fill(self, deadline: float) -> None:
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            raise TimeoutError("no answer from the GDB stub") from None
        except OSError as error:
            raise StubGone(str(error)) from error
        if not data:
            raise StubGone("the GDB stub closed the connection")
        self._received += data


def _unescaped(content: bytes) -> bytes:
    if b"}" not in content and b"*" not in content:
        return content
    out = bytearray()
    position = 0
    while position < len(content):
        byte = content[position]
        if byte == ord("}"):
            position += 1
            out.append(content[position] ^ 0x20)
        elif byte == ord("*"):  # the byte before, again
            position += 1
            out += out[-1:] * (content[position] - 29)
        else:
            out.append(byte)
        position += 1
    return bytes(out)
