# This module is compiled (by mypyc).
"""Walks over responses that carry addresses, what is at fixed places, and the plans of streamed messages."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from kproxy.wire.address import BROKER, COMPACT_INT32, COMPACT_UINT16, CONTROLLER, STRING_INT32, Address
from kproxy.wire.primitives import Buffer, int16_at, int32_at, uint16_at
from kproxy.wire.walk import (
    ARRAY, BLOB, RUN, BytesWalk, Step, StreamLayout, WalkFunction, no_length, not_at_end, skip_tags, uvarint_at,
)


def produce_response_v10(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            n = buf[pos + 4]
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def produce_response_v13(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            n = buf[pos + 4]
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def produce_response_v10_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            n = buf[pos + 4]
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def produce_response_v13_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            n = buf[pos + 4]
                            pos += 5
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def fetch_response_v16(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n0 = buf[pos + 10]
    pos += 11
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 16]:
                                pos = skip_tags(buf, pos + 16, end)
                            else:
                                pos += 17
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def fetch_response_v16_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n0 = buf[pos + 10]
    pos += 11
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n2 = buf[pos + 30]
                    pos += 31
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 16]:
                                pos = skip_tags(buf, pos + 16, end)
                            else:
                                pos += 17
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, BROKER))
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def fetch_response_v16_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 10]
    pos += 11
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def fetch_response_v16_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 16]
    pos += 17
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 0
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def fetch_response_v16_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 30]
    pos += 31
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 0
    n = buf[pos + 4]
    pos += 5
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 1


def fetch_response_v16_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 16]:
        pos = skip_tags(buf, pos + 16, end)
    else:
        pos += 17
    return pos, 0, 0


def fetch_response_v16_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 4]
    pos += 5
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 1


def fetch_response_v16_step_6(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 2


def fetch_response_v16_step_7(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def fetch_response_v16_endpoints(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


fetch_response_v16_layout = StreamLayout((Step(fetch_response_v16_step_1, ARRAY, (Step(fetch_response_v16_step_2, ARRAY, (Step(fetch_response_v16_step_3, ARRAY, (Step(fetch_response_v16_step_4, RUN, ()),)), Step(fetch_response_v16_step_5, BLOB, ()), Step(fetch_response_v16_step_6, RUN, ()),)), Step(fetch_response_v16_step_7, RUN, ()),)),), fetch_response_v16_endpoints, 0)


def metadata_response_v0(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = int32_at(buf, pos)[0]
    pos += 4
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n < 0:
                raise no_length(-1)
            host = pos
            pos += n
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, STRING_INT32, None, BROKER))
            pos += 4
    return pos


def metadata_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = int32_at(buf, pos)[0]
    pos += 4
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n < 0:
                raise no_length(-1)
            host = pos
            pos += n
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, STRING_INT32, None, BROKER))
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def metadata_response_v3(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = int32_at(buf, pos + 4)[0]
    pos += 8
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n < 0:
                raise no_length(-1)
            host = pos
            pos += n
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, STRING_INT32, None, BROKER))
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def metadata_response_v9(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def find_coordinator_response_v0(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    node = int32_at(buf, pos + 2)[0]
    pos += 6
    start = pos
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n < 0:
        raise no_length(-1)
    host = pos
    pos += n
    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, STRING_INT32, None, BROKER))
    pos += 4
    return pos


def find_coordinator_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = int16_at(buf, pos + 6)[0]
    pos += 8
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
    node = int32_at(buf, pos)[0]
    pos += 4
    start = pos
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n < 0:
        raise no_length(-1)
    host = pos
    pos += n
    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, STRING_INT32, None, BROKER))
    pos += 4
    return pos


def find_coordinator_response_v3(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    node = int32_at(buf, pos)[0]
    pos += 4
    start = pos
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n < 1:
        raise no_length(-1)
    host = pos
    pos += n - 1
    addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
    if buf[pos + 4]:
        pos = skip_tags(buf, pos + 4, end)
    else:
        pos += 5
    return pos


def find_coordinator_response_v4(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            if buf[pos + 4] or buf[pos + 5]:
                errors.append(int16_at(buf, pos + 4)[0])
            n = buf[pos + 6]
            pos += 7
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def vote_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    n0 = buf[pos + 2]
    pos += 3
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    if buf[pos + 15]:
                        pos = skip_tags(buf, pos + 15, end)
                    else:
                        pos += 16
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), uint16_at(buf, pos)[0], start, pos + 2, COMPACT_UINT16, size_at, CONTROLLER))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def begin_quorum_epoch_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    n0 = buf[pos + 2]
    pos += 3
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    if buf[pos + 14]:
                        pos = skip_tags(buf, pos + 14, end)
                    else:
                        pos += 15
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), uint16_at(buf, pos)[0], start, pos + 2, COMPACT_UINT16, size_at, CONTROLLER))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def end_quorum_epoch_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    n0 = buf[pos + 2]
    pos += 3
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    if buf[pos + 14]:
                        pos = skip_tags(buf, pos + 14, end)
                    else:
                        pos += 15
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), uint16_at(buf, pos)[0], start, pos + 2, COMPACT_UINT16, size_at, CONTROLLER))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def describe_quorum_response_v2(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    n = buf[pos + 2]
    pos += 3
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    n2 = buf[pos + 16]
                    pos += 17
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 44]:
                                pos = skip_tags(buf, pos + 44, end)
                            else:
                                pos += 45
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 44]:
                                pos = skip_tags(buf, pos + 44, end)
                            else:
                                pos += 45
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            n1 = buf[pos + 4]
            pos += 5
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), uint16_at(buf, pos)[0], start, pos + 2, COMPACT_UINT16, None, CONTROLLER))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def fetch_snapshot_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n0 = buf[pos + 6]
    pos += 7
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    if buf[pos + 18]:
                        pos = skip_tags(buf, pos + 18, end)
                    else:
                        pos += 19
                    n = buf[pos + 16]
                    pos += 17
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    node = int32_at(buf, pos)[0]
                    pos += 4
                    start = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n < 1:
                        raise no_length(-1)
                    host = pos
                    pos += n - 1
                    addresses.append(Address(node, str(buf[host:pos], "utf-8"), uint16_at(buf, pos)[0], start, pos + 2, COMPACT_UINT16, size_at, CONTROLLER))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def describe_cluster_response_v0(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_cluster_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    kind = CONTROLLER if buf[pos] == 2 else BROKER
    n = buf[pos + 1]
    pos += 2
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, kind))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_cluster_response_v2(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    kind = CONTROLLER if buf[pos] == 2 else BROKER
    n = buf[pos + 1]
    pos += 2
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, kind))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos + 1]:
                pos = skip_tags(buf, pos + 1, end)
            else:
                pos += 2
    return pos


def share_fetch_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos] or buf[pos + 1]:
                        errors.append(int16_at(buf, pos)[0])
                    n = buf[pos + 2]
                    pos += 3
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 18]:
                                pos = skip_tags(buf, pos + 18, end)
                            else:
                                pos += 19
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def share_fetch_response_v1_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos] or buf[pos + 1]:
                        errors.append(int16_at(buf, pos)[0])
                    n = buf[pos + 2]
                    pos += 3
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 18]:
                                pos = skip_tags(buf, pos + 18, end)
                            else:
                                pos += 19
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def share_fetch_response_v1_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n = buf[pos + 4]
    pos += 5
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def share_fetch_response_v1_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 16]
    pos += 17
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 0
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def share_fetch_response_v1_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    if buf[pos] or buf[pos + 1]:
        errors.append(int16_at(buf, pos)[0])
    n = buf[pos + 2]
    pos += 3
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    if buf[pos + 8]:
        pos = skip_tags(buf, pos + 8, end)
    else:
        pos += 9
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def share_fetch_response_v1_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 2


def share_fetch_response_v1_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos + 18]:
        pos = skip_tags(buf, pos + 18, end)
    else:
        pos += 19
    return pos, 0, 0


def share_fetch_response_v1_step_6(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 2


def share_fetch_response_v1_step_7(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def share_fetch_response_v1_endpoints(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


share_fetch_response_v1_layout = StreamLayout((Step(share_fetch_response_v1_step_1, ARRAY, (Step(share_fetch_response_v1_step_2, ARRAY, (Step(share_fetch_response_v1_step_3, BLOB, ()), Step(share_fetch_response_v1_step_4, ARRAY, (Step(share_fetch_response_v1_step_5, RUN, ()),)), Step(share_fetch_response_v1_step_6, RUN, ()),)), Step(share_fetch_response_v1_step_7, RUN, ()),)),), share_fetch_response_v1_endpoints, None)


def share_acknowledge_response_v1(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def share_acknowledge_response_v2(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def share_acknowledge_response_v1_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def share_acknowledge_response_v2_in_bytes(buf: bytes, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n0 = buf[pos + 4]
    pos += 5
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            n1 = buf[pos + 16]
            pos += 17
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append(int16_at(buf, pos + 4)[0])
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    node = int32_at(buf, pos)[0]
                    if buf[pos + 8]:
                        pos = skip_tags(buf, pos + 8, end)
                    else:
                        pos += 9
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    n0 = buf[pos]
    pos += 1
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    if n0 > 1:
        if n0 - 1 > end - pos:
            raise no_length(n0 - 1)
        for _ in range(n0 - 1):
            if pos > end:
                raise not_at_end()
            node = int32_at(buf, pos)[0]
            pos += 4
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, None, BROKER))
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos


def update_raft_voter_response_v0(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append(int16_at(buf, pos + 4)[0])
    n0 = buf[pos + 6]
    pos += 7
    if n0 > 127:
        n0, pos = uvarint_at(buf, pos - 1)
    for _ in range(n0):
        tag, size_start = uvarint_at(buf, pos)
        size, pos = uvarint_at(buf, size_start)
        size_at = size_start, pos
        limit = pos + size
        if tag == 0:
            node = int32_at(buf, pos)[0]
            pos += 8
            start = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n < 1:
                raise no_length(-1)
            host = pos
            pos += n - 1
            addresses.append(Address(node, str(buf[host:pos], "utf-8"), int32_at(buf, pos)[0], start, pos + 4, COMPACT_INT32, size_at, CONTROLLER))
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
            if pos != limit:
                raise no_length(size)
        else:
            pos = limit
    return pos


def produce_request_v0_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int32_at(buf, pos + 6)[0]
    pos += 10
    if n < -1:
        raise no_length(n)
    return pos, n, 0


def produce_request_v0_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
    n = int32_at(buf, pos)[0]
    pos += 4
    if n < -1:
        raise no_length(n)
    if n > 0:
        return pos, n, 0
    return pos, 0, 1


def produce_request_v0_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int32_at(buf, pos + 4)[0]
    pos += 8
    if n < -1:
        raise no_length(n)
    return pos, n, 0


def produce_request_v0_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    return pos, 0, 1


def produce_request_v0_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    return pos, 0, 1


produce_request_v0_layout = (Step(produce_request_v0_step_1, ARRAY, (Step(produce_request_v0_step_2, ARRAY, (Step(produce_request_v0_step_3, BLOB, ()), Step(produce_request_v0_step_4, RUN, ()),)), Step(produce_request_v0_step_5, RUN, ()),)),)


def produce_request_v3_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
    n = int32_at(buf, pos + 6)[0]
    pos += 10
    if n < -1:
        raise no_length(n)
    return pos, n, 0


def produce_request_v3_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
    n = int32_at(buf, pos)[0]
    pos += 4
    if n < -1:
        raise no_length(n)
    if n > 0:
        return pos, n, 0
    return pos, 0, 1


def produce_request_v3_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = int32_at(buf, pos + 4)[0]
    pos += 8
    if n < -1:
        raise no_length(n)
    return pos, n, 0


def produce_request_v3_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    return pos, 0, 1


def produce_request_v3_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    return pos, 0, 1


produce_request_v3_layout = (Step(produce_request_v3_step_1, ARRAY, (Step(produce_request_v3_step_2, ARRAY, (Step(produce_request_v3_step_3, BLOB, ()), Step(produce_request_v3_step_4, RUN, ()),)), Step(produce_request_v3_step_5, RUN, ()),)),)


def produce_request_v9_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def produce_request_v9_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 0
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def produce_request_v9_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 4]
    pos += 5
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def produce_request_v9_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def produce_request_v9_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


produce_request_v9_layout = (Step(produce_request_v9_step_1, ARRAY, (Step(produce_request_v9_step_2, ARRAY, (Step(produce_request_v9_step_3, BLOB, ()), Step(produce_request_v9_step_4, RUN, ()),)), Step(produce_request_v9_step_5, RUN, ()),)),)


def produce_request_v13_step_1(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        pos += n - 1
    n = buf[pos + 6]
    pos += 7
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def produce_request_v13_step_2(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 16]
    pos += 17
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    if n > 1:
        return pos, n - 1, 0
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def produce_request_v13_step_3(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    n = buf[pos + 4]
    pos += 5
    if n > 127:
        n, pos = uvarint_at(buf, pos - 1)
    return pos, n - 1, 0


def produce_request_v13_step_4(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


def produce_request_v13_step_5(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]:
    if buf[pos]:
        pos = skip_tags(buf, pos, end)
    else:
        pos += 1
    return pos, 0, 1


produce_request_v13_layout = (Step(produce_request_v13_step_1, ARRAY, (Step(produce_request_v13_step_2, ARRAY, (Step(produce_request_v13_step_3, BLOB, ()), Step(produce_request_v13_step_4, RUN, ()),)), Step(produce_request_v13_step_5, RUN, ()),)),)


SKIMS: dict[tuple[int, int], WalkFunction] = {
    (0, 10): produce_response_v10,
    (0, 11): produce_response_v10,
    (0, 12): produce_response_v10,
    (0, 13): produce_response_v13,
    (1, 16): fetch_response_v16,
    (1, 17): fetch_response_v16,
    (1, 18): fetch_response_v16,
    (3, 0): metadata_response_v0,
    (3, 1): metadata_response_v1,
    (3, 2): metadata_response_v1,
    (3, 3): metadata_response_v3,
    (3, 4): metadata_response_v3,
    (3, 5): metadata_response_v3,
    (3, 6): metadata_response_v3,
    (3, 7): metadata_response_v3,
    (3, 8): metadata_response_v3,
    (3, 9): metadata_response_v9,
    (3, 10): metadata_response_v9,
    (3, 11): metadata_response_v9,
    (3, 12): metadata_response_v9,
    (3, 13): metadata_response_v9,
    (10, 0): find_coordinator_response_v0,
    (10, 1): find_coordinator_response_v1,
    (10, 2): find_coordinator_response_v1,
    (10, 3): find_coordinator_response_v3,
    (10, 4): find_coordinator_response_v4,
    (10, 5): find_coordinator_response_v4,
    (10, 6): find_coordinator_response_v4,
    (52, 1): vote_response_v1,
    (52, 2): vote_response_v1,
    (53, 1): begin_quorum_epoch_response_v1,
    (54, 1): end_quorum_epoch_response_v1,
    (55, 2): describe_quorum_response_v2,
    (59, 1): fetch_snapshot_response_v1,
    (60, 0): describe_cluster_response_v0,
    (60, 1): describe_cluster_response_v1,
    (60, 2): describe_cluster_response_v2,
    (78, 1): share_fetch_response_v1,
    (78, 2): share_fetch_response_v1,
    (79, 1): share_acknowledge_response_v1,
    (79, 2): share_acknowledge_response_v2,
    (82, 0): update_raft_voter_response_v0,
}

IN_BYTES: dict[tuple[int, int], BytesWalk] = {
    (0, 10): produce_response_v10_in_bytes,
    (0, 11): produce_response_v10_in_bytes,
    (0, 12): produce_response_v10_in_bytes,
    (0, 13): produce_response_v13_in_bytes,
    (1, 16): fetch_response_v16_in_bytes,
    (1, 17): fetch_response_v16_in_bytes,
    (1, 18): fetch_response_v16_in_bytes,
    (78, 1): share_fetch_response_v1_in_bytes,
    (78, 2): share_fetch_response_v1_in_bytes,
    (79, 1): share_acknowledge_response_v1_in_bytes,
    (79, 2): share_acknowledge_response_v2_in_bytes,
}

STREAMS: dict[tuple[int, int], StreamLayout] = {
    (1, 16): fetch_response_v16_layout,
    (1, 17): fetch_response_v16_layout,
    (1, 18): fetch_response_v16_layout,
    (78, 1): share_fetch_response_v1_layout,
    (78, 2): share_fetch_response_v1_layout,
}

REQUEST_STREAMS: dict[tuple[int, int], tuple[Step, ...]] = {
    (0, 0): produce_request_v0_layout,
    (0, 1): produce_request_v0_layout,
    (0, 2): produce_request_v0_layout,
    (0, 3): produce_request_v3_layout,
    (0, 4): produce_request_v3_layout,
    (0, 5): produce_request_v3_layout,
    (0, 6): produce_request_v3_layout,
    (0, 7): produce_request_v3_layout,
    (0, 8): produce_request_v3_layout,
    (0, 9): produce_request_v9_layout,
    (0, 10): produce_request_v9_layout,
    (0, 11): produce_request_v9_layout,
    (0, 12): produce_request_v9_layout,
    (0, 13): produce_request_v13_layout,
}

# api key -> (first version, last version, offset of the top-level error code from the body's start)
ERROR_OFFSETS: dict[int, tuple[tuple[int, int, int], ...]] = {
    1: ((7, 18, 4),),
    10: ((0, 0, 0), (1, 3, 4)),
    11: ((0, 1, 0), (2, 9, 4)),
    12: ((0, 0, 0), (1, 4, 4)),
    13: ((0, 0, 0), (1, 5, 4)),
    14: ((0, 0, 0), (1, 5, 4)),
    16: ((0, 0, 0), (1, 5, 4)),
    17: ((0, 1, 0),),
    18: ((0, 5, 0),),
    22: ((0, 6, 4),),
    24: ((4, 5, 4),),
    25: ((0, 4, 4),),
    26: ((0, 5, 4),),
    29: ((0, 3, 4),),
    35: ((3, 5, 4),),
    36: ((0, 2, 0),),
    38: ((0, 3, 0),),
    39: ((0, 2, 0),),
    40: ((0, 2, 0),),
    41: ((0, 3, 0),),
    43: ((1, 2, 4),),
    45: ((0, 0, 4), (1, 1, 5)),
    46: ((0, 0, 4),),
    47: ((0, 0, 0),),
    48: ((0, 1, 4),),
    50: ((0, 0, 4),),
    52: ((0, 2, 0),),
    53: ((0, 1, 0),),
    54: ((0, 1, 0),),
    55: ((0, 2, 0),),
    56: ((0, 3, 4),),
    57: ((0, 2, 4),),
    59: ((0, 1, 4),),
    60: ((0, 2, 4),),
    62: ((0, 4, 4),),
    63: ((0, 2, 4),),
    64: ((0, 0, 4),),
    66: ((0, 2, 4),),
    67: ((0, 0, 4),),
    68: ((0, 1, 4),),
    70: ((0, 0, 4),),
    71: ((0, 0, 4),),
    72: ((0, 0, 4),),
    73: ((0, 0, 4),),
    74: ((0, 1, 4),),
    76: ((1, 1, 4),),
    78: ((1, 2, 4),),
    79: ((1, 2, 4),),
    80: ((0, 1, 4),),
    81: ((0, 0, 4),),
    82: ((0, 0, 4),),
    88: ((0, 1, 4),),
    91: ((0, 0, 4),),
    92: ((0, 0, 4),),
    93: ((0, 0, 4),),
    94: ((0, 0, 4),),
}

# api key -> the first version whose response begins with throttle_time_ms
THROTTLE_FIRST: dict[int, int] = {
    1: 1,
    2: 2,
    3: 3,
    8: 3,
    9: 3,
    10: 1,
    11: 2,
    12: 1,
    13: 1,
    14: 1,
    15: 1,
    16: 1,
    19: 2,
    20: 1,
    21: 0,
    22: 0,
    23: 2,
    24: 0,
    25: 0,
    26: 0,
    28: 0,
    29: 0,
    30: 0,
    31: 0,
    32: 0,
    33: 0,
    34: 0,
    35: 0,
    37: 0,
    42: 0,
    43: 0,
    44: 0,
    45: 0,
    46: 0,
    48: 0,
    49: 0,
    50: 0,
    51: 0,
    56: 0,
    57: 0,
    59: 0,
    60: 0,
    61: 0,
    62: 0,
    63: 0,
    64: 0,
    65: 0,
    66: 0,
    67: 0,
    68: 0,
    69: 0,
    70: 0,
    71: 0,
    72: 0,
    73: 0,
    74: 0,
    75: 0,
    76: 1,
    77: 1,
    78: 1,
    79: 1,
    80: 0,
    81: 0,
    82: 0,
    88: 0,
    89: 0,
    90: 0,
    91: 0,
    92: 0,
    93: 0,
    94: 0,
}
