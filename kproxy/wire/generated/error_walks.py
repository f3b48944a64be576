# This module is compiled (by mypyc).
"""Walks over responses that note all error codes, and where the names are that they are about."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from kproxy.wire.primitives import Buffer, int16_at, int32_at
from kproxy.wire.walk import ErrorFunction, Found, no_length, not_at_end, skip_tags, uvarint_at


def produce_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 14
    return pos


def produce_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 22
    return pos


def produce_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 30
    return pos


def produce_response_v8(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 30)[0]
                    pos += 34
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            n = int16_at(buf, pos + 4)[0]
                            pos += 6
                            if n < -1:
                                raise no_length(n)
                            if n > 0:
                                pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def produce_response_v9(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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
    return pos


def produce_response_v13(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
    return pos


def fetch_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = int32_at(buf, pos + 14)[0]
                    pos += 18
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = int32_at(buf, pos + 14)[0]
                    pos += 18
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 22)[0]
                    pos += 26
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            pos += 16
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 30)[0]
                    pos += 34
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            pos += 16
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v7(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
    n0 = int32_at(buf, pos + 10)[0]
    pos += 14
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 30)[0]
                    pos += 34
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            pos += 16
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v11(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
    n0 = int32_at(buf, pos + 10)[0]
    pos += 14
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 30)[0]
                    pos += 34
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            pos += 16
                    n = int32_at(buf, pos + 4)[0]
                    pos += 8
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def fetch_response_v12(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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
    return pos


def fetch_response_v13(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
    return pos


def list_offsets_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 6)[0]
                    pos += 10
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 8
    return pos


def list_offsets_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 22
    return pos


def list_offsets_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 22
    return pos


def list_offsets_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 26
    return pos


def list_offsets_response_v6(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    if buf[pos + 26]:
                        pos = skip_tags(buf, pos + 26, end)
                    else:
                        pos += 27
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def metadata_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            pos += 4
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 10)[0]
                    pos += 14
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 10)[0]
                    pos += 14
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 10)[0]
                    pos += 14
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 10)[0]
                    pos += 14
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 10)[0]
                    pos += 14
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v7(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 14)[0]
                    pos += 18
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
    return pos


def metadata_response_v8(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 4)[0]
            pos += 6
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    n = int16_at(buf, pos)[0]
    pos += 2
    if n < -1:
        raise no_length(n)
    if n > 0:
        pos += n
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos + 1)[0]
            pos += 5
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = int32_at(buf, pos + 14)[0]
                    pos += 18
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        pos += (n2) * 4
            pos += 4
    return pos


def metadata_response_v9(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 1]
            pos += 2
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = buf[pos + 14]
                    pos += 15
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def metadata_response_v10(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 17]
            pos += 18
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = buf[pos + 14]
                    pos += 15
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def metadata_response_v13(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 17]
            pos += 18
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = buf[pos + 14]
                    pos += 15
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    pos += 2
    return pos


def offset_commit_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def offset_commit_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def offset_commit_response_v8(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def offset_commit_response_v10(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def offset_fetch_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos + 12)[0]
                    pos += 14
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
    return pos


def offset_fetch_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos + 12)[0]
                    pos += 14
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    pos += 2
    return pos


def offset_fetch_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos + 12)[0]
                    pos += 14
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    pos += 2
    return pos


def offset_fetch_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos + 16)[0]
                    pos += 18
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    pos += 2
    return pos


def offset_fetch_response_v6(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                    n = buf[pos + 16]
                    pos += 17
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    pos += 2
    return pos


def offset_fetch_response_v8(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
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
                    topic2 = pos
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos] or buf[pos + 1]:
                                errors.append((int16_at(buf, pos)[0], topic2, group1))
                            if buf[pos + 2]:
                                pos = skip_tags(buf, pos + 2, end)
                            else:
                                pos += 3
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            if buf[pos + 2]:
                pos = skip_tags(buf, pos + 2, end)
            else:
                pos += 3
    return pos


def offset_fetch_response_v10(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos] or buf[pos + 1]:
                                errors.append((int16_at(buf, pos)[0], 0, group1))
                            if buf[pos + 2]:
                                pos = skip_tags(buf, pos + 2, end)
                            else:
                                pos += 3
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            if buf[pos + 2]:
                pos = skip_tags(buf, pos + 2, end)
            else:
                pos += 3
    return pos


def find_coordinator_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n = buf[pos + 4]
            pos += 5
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos + 4] or buf[pos + 5]:
                errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
    return pos


def leave_group_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
    n0 = int32_at(buf, pos + 6)[0]
    pos += 10
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            pos += 2
    return pos


def leave_group_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            if buf[pos + 2]:
                pos = skip_tags(buf, pos + 2, end)
            else:
                pos += 3
    return pos


def describe_groups_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            group1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
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
                        pos += n
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def describe_groups_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            group1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
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
                        pos += n
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def describe_groups_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            group1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
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
                        pos += n
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
            pos += 4
    return pos


def describe_groups_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            group1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
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
                        pos += n
                    n = int32_at(buf, pos)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
            pos += 4
    return pos


def describe_groups_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            group1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
            n = buf[pos + 2]
            pos += 3
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
                        pos += n - 1
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
                        pos += n - 1
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
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def describe_groups_response_v6(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
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
                        pos += n - 1
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
                        pos += n - 1
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
                        pos += n - 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def create_topics_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            pos += 2
    return pos


def create_topics_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def create_topics_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def create_topics_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 6]
            pos += 7
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos + 3]:
                        pos = skip_tags(buf, pos + 3, end)
                    else:
                        pos += 4
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            for _ in range(n1):
                tag, size_start = uvarint_at(buf, pos)
                size, pos = uvarint_at(buf, size_start)
                size_at = size_start, pos
                limit = pos + size
                if tag == 0:
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
                    if pos != limit:
                        raise no_length(size)
                else:
                    pos = limit
    return pos


def create_topics_response_v7(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos + 16] or buf[pos + 17]:
                errors.append((int16_at(buf, pos + 16)[0], topic1, 0))
            n = buf[pos + 18]
            pos += 19
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 6]
            pos += 7
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos + 3]:
                        pos = skip_tags(buf, pos + 3, end)
                    else:
                        pos += 4
            n1 = buf[pos]
            pos += 1
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            for _ in range(n1):
                tag, size_start = uvarint_at(buf, pos)
                size, pos = uvarint_at(buf, size_start)
                size_at = size_start, pos
                limit = pos + size
                if tag == 0:
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 2
                    if pos != limit:
                        raise no_length(size)
                else:
                    pos = limit
    return pos


def delete_topics_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            pos += 2
    return pos


def delete_topics_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            pos += 2
    return pos


def delete_topics_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            if buf[pos + 2]:
                pos = skip_tags(buf, pos + 2, end)
            else:
                pos += 3
    return pos


def delete_topics_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def delete_topics_response_v6(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos + 16] or buf[pos + 17]:
                errors.append((int16_at(buf, pos + 16)[0], topic1, 0))
            n = buf[pos + 18]
            pos += 19
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def delete_records_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 12] or buf[pos + 13]:
                        errors.append((int16_at(buf, pos + 12)[0], topic1, 0))
                    pos += 14
    return pos


def delete_records_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                    if buf[pos + 12] or buf[pos + 13]:
                        errors.append((int16_at(buf, pos + 12)[0], topic1, 0))
                    if buf[pos + 14]:
                        pos = skip_tags(buf, pos + 14, end)
                    else:
                        pos += 15
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def offset_for_leader_epoch_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 14
    return pos


def offset_for_leader_epoch_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 18
    return pos


def offset_for_leader_epoch_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    pos += 18
    return pos


def offset_for_leader_epoch_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    if buf[pos + 18]:
                        pos = skip_tags(buf, pos + 18, end)
                    else:
                        pos += 19
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def add_partitions_to_txn_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def add_partitions_to_txn_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def add_partitions_to_txn_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
                    topic2 = pos
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
                            if buf[pos + 4] or buf[pos + 5]:
                                errors.append((int16_at(buf, pos + 4)[0], topic2, 0))
                            if buf[pos + 6]:
                                pos = skip_tags(buf, pos + 6, end)
                            else:
                                pos += 7
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def write_txn_markers_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n1 = int32_at(buf, pos + 8)[0]
            pos += 12
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    topic2 = pos
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 4] or buf[pos + 5]:
                                errors.append((int16_at(buf, pos + 4)[0], topic2, 0))
                            pos += 6
    return pos


def write_txn_markers_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            n1 = buf[pos + 8]
            pos += 9
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    topic2 = pos
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
                            if buf[pos + 4] or buf[pos + 5]:
                                errors.append((int16_at(buf, pos + 4)[0], topic2, 0))
                            if buf[pos + 6]:
                                pos = skip_tags(buf, pos + 6, end)
                            else:
                                pos += 7
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def txn_offset_commit_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def txn_offset_commit_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def txn_offset_commit_response_v6(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def create_acls_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def create_acls_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def delete_acls_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], 0, 0))
                    n = int16_at(buf, pos + 2)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos + 1)[0]
                    pos += 3
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    pos += 2
    return pos


def delete_acls_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], 0, 0))
                    n = int16_at(buf, pos + 2)[0]
                    pos += 4
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos + 1)[0]
                    pos += 3
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos + 1)[0]
                    pos += 3
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    pos += 2
    return pos


def delete_acls_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], 0, 0))
                    n = buf[pos + 2]
                    pos += 3
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 1]
                    pos += 2
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 1]
                    pos += 2
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
                    if buf[pos + 2]:
                        pos = skip_tags(buf, pos + 2, end)
                    else:
                        pos += 3
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_configs_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 1)[0]
            pos += 3
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    pos += 3
    return pos


def describe_configs_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 1)[0]
            pos += 3
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n2 = int32_at(buf, pos + 3)[0]
                    pos += 7
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            n = int16_at(buf, pos)[0]
                            pos += 2
                            if n < -1:
                                raise no_length(n)
                            if n > 0:
                                pos += n
                            n = int16_at(buf, pos)[0]
                            pos += 2
                            if n < -1:
                                raise no_length(n)
                            if n > 0:
                                pos += n
                            pos += 1
    return pos


def describe_configs_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 1)[0]
            pos += 3
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n2 = int32_at(buf, pos + 3)[0]
                    pos += 7
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            n = int16_at(buf, pos)[0]
                            pos += 2
                            if n < -1:
                                raise no_length(n)
                            if n > 0:
                                pos += n
                            n = int16_at(buf, pos)[0]
                            pos += 2
                            if n < -1:
                                raise no_length(n)
                            if n > 0:
                                pos += n
                            pos += 1
                    n = int16_at(buf, pos + 1)[0]
                    pos += 3
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def describe_configs_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n = buf[pos + 1]
            pos += 2
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
                        pos += n - 1
                    n2 = buf[pos + 3]
                    pos += 4
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
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
                                pos += n - 1
                            if buf[pos + 1]:
                                pos = skip_tags(buf, pos + 1, end)
                            else:
                                pos += 2
                    n = buf[pos + 1]
                    pos += 2
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


def alter_configs_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 1)[0]
            pos += 3
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def alter_configs_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n = buf[pos + 1]
            pos += 2
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def alter_replica_log_dirs_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def alter_replica_log_dirs_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    if buf[pos + 6]:
                        pos = skip_tags(buf, pos + 6, end)
                    else:
                        pos += 7
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_log_dirs_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n2 = int32_at(buf, pos)[0]
                    pos += 4
                    if n2 < -1:
                        raise no_length(n2)
                    if n2 > 0:
                        if n2 > end - pos:
                            raise no_length(n2)
                        for _ in range(n2):
                            if pos > end:
                                raise not_at_end()
                            pos += 21
    return pos


def describe_log_dirs_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                            if buf[pos + 21]:
                                pos = skip_tags(buf, pos + 21, end)
                            else:
                                pos += 22
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_log_dirs_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                            if buf[pos + 21]:
                                pos = skip_tags(buf, pos + 21, end)
                            else:
                                pos += 22
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_log_dirs_response_v4(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                            if buf[pos + 21]:
                                pos = skip_tags(buf, pos + 21, end)
                            else:
                                pos += 22
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 16]:
                pos = skip_tags(buf, pos + 16, end)
            else:
                pos += 17
    return pos


def describe_log_dirs_response_v5(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                            if buf[pos + 21]:
                                pos = skip_tags(buf, pos + 21, end)
                            else:
                                pos += 22
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 17]:
                pos = skip_tags(buf, pos + 17, end)
            else:
                pos += 18
    return pos


def create_partitions_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def create_partitions_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def delete_groups_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            pos += 2
    return pos


def delete_groups_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            if buf[pos + 2]:
                pos = skip_tags(buf, pos + 2, end)
            else:
                pos += 3
    return pos


def delete_groups_response_v3(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def elect_leaders_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = int16_at(buf, pos + 6)[0]
                    pos += 8
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def elect_leaders_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
    n0 = int32_at(buf, pos + 6)[0]
    pos += 10
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = int16_at(buf, pos + 6)[0]
                    pos += 8
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def elect_leaders_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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


def incremental_alter_configs_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n = int16_at(buf, pos + 1)[0]
            pos += 3
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
    return pos


def incremental_alter_configs_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n = buf[pos + 1]
            pos += 2
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def alter_partition_reassignments_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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


def alter_partition_reassignments_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 5] or buf[pos + 6]:
        errors.append((int16_at(buf, pos + 5)[0], 0, 0))
    n = buf[pos + 7]
    pos += 8
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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


def offset_delete_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
    n0 = int32_at(buf, pos + 6)[0]
    pos += 10
    if n0 < -1:
        raise no_length(n0)
    if n0 > 0:
        if n0 > end - pos:
            raise no_length(n0)
        for _ in range(n0):
            if pos > end:
                raise not_at_end()
            topic1 = pos
            n = int16_at(buf, pos)[0]
            pos += 2
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos + 4] or buf[pos + 5]:
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    pos += 6
    return pos


def alter_client_quotas_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = int16_at(buf, pos + 2)[0]
            pos += 4
            if n < -1:
                raise no_length(n)
            if n > 0:
                pos += n
            n1 = int32_at(buf, pos)[0]
            pos += 4
            if n1 < -1:
                raise no_length(n1)
            if n1 > 0:
                if n1 > end - pos:
                    raise no_length(n1)
                for _ in range(n1):
                    if pos > end:
                        raise not_at_end()
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
                    n = int16_at(buf, pos)[0]
                    pos += 2
                    if n < -1:
                        raise no_length(n)
                    if n > 0:
                        pos += n
    return pos


def alter_client_quotas_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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


def describe_user_scram_credentials_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
                    if buf[pos + 5]:
                        pos = skip_tags(buf, pos + 5, end)
                    else:
                        pos += 6
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def alter_user_scram_credentials_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_quorum_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = buf[pos + 22]
                    pos += 23
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
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
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_quorum_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n2 = buf[pos + 22]
                    pos += 23
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 28]:
                                pos = skip_tags(buf, pos + 28, end)
                            else:
                                pos += 29
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
                            if buf[pos + 28]:
                                pos = skip_tags(buf, pos + 28, end)
                            else:
                                pos += 29
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_quorum_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos] or buf[pos + 1]:
        errors.append((int16_at(buf, pos)[0], 0, 0))
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
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
    return pos


def update_features_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_producers_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            topic1 = pos
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
                    n = buf[pos + 6]
                    pos += 7
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
                            if buf[pos + 36]:
                                pos = skip_tags(buf, pos + 36, end)
                            else:
                                pos += 37
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_transactions_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, 0))
            n = buf[pos + 2]
            pos += 3
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
            n1 = buf[pos + 22]
            pos += 23
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
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def consumer_group_describe_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
            n = buf[pos + 8]
            pos += 9
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
                        pos += n - 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def consumer_group_describe_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
            n = buf[pos + 8]
            pos += 9
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
                        pos += n - 1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
                    if buf[pos + 1]:
                        pos = skip_tags(buf, pos + 1, end)
                    else:
                        pos += 2
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def describe_topic_partitions_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            topic1 = pos + 2
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], topic1, 0))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            n1 = buf[pos + 17]
            pos += 18
            if n1 > 127:
                n1, pos = uvarint_at(buf, pos - 1)
            if n1 > 1:
                if n1 - 1 > end - pos:
                    raise no_length(n1 - 1)
                for _ in range(n1 - 1):
                    if pos > end:
                        raise not_at_end()
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], topic1, 0))
                    n2 = buf[pos + 14]
                    pos += 15
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    n2 = buf[pos]
                    pos += 1
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        pos += (n2 - 1) * 4
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def share_group_describe_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
            n = buf[pos + 8]
            pos += 9
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
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
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
                            n = buf[pos + 16]
                            pos += 17
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def share_fetch_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos] or buf[pos + 1]:
                        errors.append((int16_at(buf, pos)[0], 0, 0))
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
    return pos


def share_acknowledge_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
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
    return pos


def share_acknowledge_response_v2(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
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
    return pos


def initialize_share_group_state_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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


def read_share_group_state_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n2 = buf[pos + 12]
                    pos += 13
                    if n2 > 127:
                        n2, pos = uvarint_at(buf, pos - 1)
                    if n2 > 1:
                        if n2 - 1 > end - pos:
                            raise no_length(n2 - 1)
                        for _ in range(n2 - 1):
                            if pos > end:
                                raise not_at_end()
                            if buf[pos + 19]:
                                pos = skip_tags(buf, pos + 19, end)
                            else:
                                pos += 20
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def write_share_group_state_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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


def delete_share_group_state_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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


def read_share_group_state_summary_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos + 16]:
                        pos = skip_tags(buf, pos + 16, end)
                    else:
                        pos += 17
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def read_share_group_state_summary_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
                        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
                    n = buf[pos + 6]
                    pos += 7
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    if buf[pos + 20]:
                        pos = skip_tags(buf, pos + 20, end)
                    else:
                        pos += 21
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def streams_group_describe_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
            n = buf[pos + 8]
            pos += 9
            if n < 128:
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 1:
                                    pos += n - 1
                                n3 = buf[pos + 6]
                                pos += 7
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                                            pos += n - 1
                                        if buf[pos]:
                                            pos = skip_tags(buf, pos, end)
                                        else:
                                            pos += 1
                                if buf[pos]:
                                    pos = skip_tags(buf, pos, end)
                                else:
                                    pos += 1
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 1:
                                    pos += n - 1
                                n3 = buf[pos + 6]
                                pos += 7
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                                            pos += n - 1
                                        if buf[pos]:
                                            pos = skip_tags(buf, pos, end)
                                        else:
                                            pos += 1
                                if buf[pos]:
                                    pos = skip_tags(buf, pos, end)
                                else:
                                    pos += 1
                        if buf[pos]:
                            pos = skip_tags(buf, pos, end)
                        else:
                            pos += 1
                if buf[pos]:
                    pos = skip_tags(buf, pos, end)
                else:
                    pos += 1
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
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
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos]
                    pos += 1
                    if n < 128:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            pos += n - 1
                        if buf[pos + 2]:
                            pos = skip_tags(buf, pos + 2, end)
                        else:
                            pos += 3
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
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
                    if buf[pos + 1]:
                        pos = skip_tags(buf, pos + 1, end)
                    else:
                        pos += 2
            if buf[pos + 4]:
                pos = skip_tags(buf, pos + 4, end)
            else:
                pos += 5
    return pos


def streams_group_describe_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            code0 = pos
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            group1 = pos
            if buf[code0] or buf[code0 + 1]:
                errors.append((int16_at(buf, code0)[0], 0, group1))
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
                pos += n - 1
            n = buf[pos + 8]
            pos += 9
            if n < 128:
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 1:
                                    pos += n - 1
                                n3 = buf[pos + 6]
                                pos += 7
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                                            pos += n - 1
                                        if buf[pos]:
                                            pos = skip_tags(buf, pos, end)
                                        else:
                                            pos += 1
                                if buf[pos]:
                                    pos = skip_tags(buf, pos, end)
                                else:
                                    pos += 1
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 1:
                                    pos += n - 1
                                n3 = buf[pos + 6]
                                pos += 7
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                                            pos += n - 1
                                        if buf[pos]:
                                            pos = skip_tags(buf, pos, end)
                                        else:
                                            pos += 1
                                if buf[pos]:
                                    pos = skip_tags(buf, pos, end)
                                else:
                                    pos += 1
                        if buf[pos]:
                            pos = skip_tags(buf, pos, end)
                        else:
                            pos += 1
                if buf[pos]:
                    pos = skip_tags(buf, pos, end)
                else:
                    pos += 1
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
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
                        pos += n - 1
                    n = buf[pos + 4]
                    pos += 5
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
                    n = buf[pos]
                    pos += 1
                    if n < 128:
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            pos += n - 1
                        if buf[pos + 2]:
                            pos = skip_tags(buf, pos + 2, end)
                        else:
                            pos += 3
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
                                pos += n - 1
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            if buf[pos + 12]:
                                pos = skip_tags(buf, pos + 12, end)
                            else:
                                pos += 13
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 1:
                                pos += n - 1
                            n3 = buf[pos]
                            pos += 1
                            if n3 > 127:
                                n3, pos = uvarint_at(buf, pos - 1)
                            if n3 > 1:
                                if n3 - 1 > end - pos:
                                    raise no_length(n3 - 1)
                                pos += (n3 - 1) * 4
                            if buf[pos]:
                                pos = skip_tags(buf, pos, end)
                            else:
                                pos += 1
                    if buf[pos]:
                        pos = skip_tags(buf, pos, end)
                    else:
                        pos += 1
                    if buf[pos + 1]:
                        pos = skip_tags(buf, pos + 1, end)
                    else:
                        pos += 2
            n = buf[pos + 4]
            pos += 5
            if n < 128:
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = uvarint_at(buf, pos - 1)
                                if n > 1:
                                    pos += n - 1
                                n3 = buf[pos + 1]
                                pos += 2
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                                    pos += n - 1
                                n3 = buf[pos]
                                pos += 1
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = uvarint_at(buf, pos - 1)
                                        if n > 1:
                                            pos += n - 1
                                n3 = buf[pos]
                                pos += 1
                                if n3 > 127:
                                    n3, pos = uvarint_at(buf, pos - 1)
                                if n3 > 1:
                                    if n3 - 1 > end - pos:
                                        raise no_length(n3 - 1)
                                    for _ in range(n3 - 1):
                                        if pos > end:
                                            raise not_at_end()
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
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            pos += n - 1
                        n2 = buf[pos + 1]
                        pos += 2
                        if n2 > 127:
                            n2, pos = uvarint_at(buf, pos - 1)
                        if n2 > 1:
                            if n2 - 1 > end - pos:
                                raise no_length(n2 - 1)
                            for _ in range(n2 - 1):
                                if pos > end:
                                    raise not_at_end()
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
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = uvarint_at(buf, pos - 1)
                        if n > 1:
                            pos += n - 1
                        n2 = buf[pos + 1]
                        pos += 2
                        if n2 > 127:
                            n2, pos = uvarint_at(buf, pos - 1)
                        if n2 > 1:
                            if n2 - 1 > end - pos:
                                raise no_length(n2 - 1)
                            for _ in range(n2 - 1):
                                if pos > end:
                                    raise not_at_end()
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
                if buf[pos]:
                    pos = skip_tags(buf, pos, end)
                else:
                    pos += 1
            n = buf[pos + 1]
            pos += 2
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_share_group_offsets_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
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
                    topic2 = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
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
                            if buf[pos + 16] or buf[pos + 17]:
                                errors.append((int16_at(buf, pos + 16)[0], topic2, group1))
                            n = buf[pos + 18]
                            pos += 19
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def describe_share_group_offsets_response_v1(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
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
            group1 = pos
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
                    topic2 = pos
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        pos += n - 1
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
                            if buf[pos + 24] or buf[pos + 25]:
                                errors.append((int16_at(buf, pos + 24)[0], topic2, group1))
                            n = buf[pos + 26]
                            pos += 27
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
            if buf[pos] or buf[pos + 1]:
                errors.append((int16_at(buf, pos)[0], 0, group1))
            n = buf[pos + 2]
            pos += 3
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos


def alter_share_group_offsets_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
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
                        errors.append((int16_at(buf, pos + 4)[0], topic1, 0))
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


def delete_share_group_offsets_response_v0(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int:
    if buf[pos + 4] or buf[pos + 5]:
        errors.append((int16_at(buf, pos + 4)[0], 0, 0))
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
            topic1 = pos
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos + 16] or buf[pos + 17]:
                errors.append((int16_at(buf, pos + 16)[0], topic1, 0))
            n = buf[pos + 18]
            pos += 19
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            if n > 1:
                pos += n - 1
            if buf[pos]:
                pos = skip_tags(buf, pos, end)
            else:
                pos += 1
    return pos

ERROR_WALKS: dict[tuple[int, int], ErrorFunction] = {
    (0, 0): produce_response_v0,
    (0, 1): produce_response_v0,
    (0, 2): produce_response_v2,
    (0, 3): produce_response_v2,
    (0, 4): produce_response_v2,
    (0, 5): produce_response_v5,
    (0, 6): produce_response_v5,
    (0, 7): produce_response_v5,
    (0, 8): produce_response_v8,
    (0, 9): produce_response_v9,
    (0, 10): produce_response_v9,
    (0, 11): produce_response_v9,
    (0, 12): produce_response_v9,
    (0, 13): produce_response_v13,
    (1, 0): fetch_response_v0,
    (1, 1): fetch_response_v1,
    (1, 2): fetch_response_v1,
    (1, 3): fetch_response_v1,
    (1, 4): fetch_response_v4,
    (1, 5): fetch_response_v5,
    (1, 6): fetch_response_v5,
    (1, 7): fetch_response_v7,
    (1, 8): fetch_response_v7,
    (1, 9): fetch_response_v7,
    (1, 10): fetch_response_v7,
    (1, 11): fetch_response_v11,
    (1, 12): fetch_response_v12,
    (1, 13): fetch_response_v13,
    (1, 14): fetch_response_v13,
    (1, 15): fetch_response_v13,
    (1, 16): fetch_response_v13,
    (1, 17): fetch_response_v13,
    (1, 18): fetch_response_v13,
    (2, 0): list_offsets_response_v0,
    (2, 1): list_offsets_response_v1,
    (2, 2): list_offsets_response_v2,
    (2, 3): list_offsets_response_v2,
    (2, 4): list_offsets_response_v4,
    (2, 5): list_offsets_response_v4,
    (2, 6): list_offsets_response_v6,
    (2, 7): list_offsets_response_v6,
    (2, 8): list_offsets_response_v6,
    (2, 9): list_offsets_response_v6,
    (2, 10): list_offsets_response_v6,
    (2, 11): list_offsets_response_v6,
    (3, 0): metadata_response_v0,
    (3, 1): metadata_response_v1,
    (3, 2): metadata_response_v2,
    (3, 3): metadata_response_v3,
    (3, 4): metadata_response_v3,
    (3, 5): metadata_response_v5,
    (3, 6): metadata_response_v5,
    (3, 7): metadata_response_v7,
    (3, 8): metadata_response_v8,
    (3, 9): metadata_response_v9,
    (3, 10): metadata_response_v10,
    (3, 11): metadata_response_v10,
    (3, 12): metadata_response_v10,
    (3, 13): metadata_response_v13,
    (8, 0): offset_commit_response_v0,
    (8, 1): offset_commit_response_v0,
    (8, 2): offset_commit_response_v0,
    (8, 3): offset_commit_response_v3,
    (8, 4): offset_commit_response_v3,
    (8, 5): offset_commit_response_v3,
    (8, 6): offset_commit_response_v3,
    (8, 7): offset_commit_response_v3,
    (8, 8): offset_commit_response_v8,
    (8, 9): offset_commit_response_v8,
    (8, 10): offset_commit_response_v10,
    (9, 0): offset_fetch_response_v0,
    (9, 1): offset_fetch_response_v0,
    (9, 2): offset_fetch_response_v2,
    (9, 3): offset_fetch_response_v3,
    (9, 4): offset_fetch_response_v3,
    (9, 5): offset_fetch_response_v5,
    (9, 6): offset_fetch_response_v6,
    (9, 7): offset_fetch_response_v6,
    (9, 8): offset_fetch_response_v8,
    (9, 9): offset_fetch_response_v8,
    (9, 10): offset_fetch_response_v10,
    (10, 4): find_coordinator_response_v4,
    (10, 5): find_coordinator_response_v4,
    (10, 6): find_coordinator_response_v4,
    (13, 3): leave_group_response_v3,
    (13, 4): leave_group_response_v4,
    (13, 5): leave_group_response_v4,
    (15, 0): describe_groups_response_v0,
    (15, 1): describe_groups_response_v1,
    (15, 2): describe_groups_response_v1,
    (15, 3): describe_groups_response_v3,
    (15, 4): describe_groups_response_v4,
    (15, 5): describe_groups_response_v5,
    (15, 6): describe_groups_response_v6,
    (19, 0): create_topics_response_v0,
    (19, 1): create_topics_response_v1,
    (19, 2): create_topics_response_v2,
    (19, 3): create_topics_response_v2,
    (19, 4): create_topics_response_v2,
    (19, 5): create_topics_response_v5,
    (19, 6): create_topics_response_v5,
    (19, 7): create_topics_response_v7,
    (20, 0): delete_topics_response_v0,
    (20, 1): delete_topics_response_v1,
    (20, 2): delete_topics_response_v1,
    (20, 3): delete_topics_response_v1,
    (20, 4): delete_topics_response_v4,
    (20, 5): delete_topics_response_v5,
    (20, 6): delete_topics_response_v6,
    (21, 0): delete_records_response_v0,
    (21, 1): delete_records_response_v0,
    (21, 2): delete_records_response_v2,
    (23, 0): offset_for_leader_epoch_response_v0,
    (23, 1): offset_for_leader_epoch_response_v1,
    (23, 2): offset_for_leader_epoch_response_v2,
    (23, 3): offset_for_leader_epoch_response_v2,
    (23, 4): offset_for_leader_epoch_response_v4,
    (24, 0): add_partitions_to_txn_response_v0,
    (24, 1): add_partitions_to_txn_response_v0,
    (24, 2): add_partitions_to_txn_response_v0,
    (24, 3): add_partitions_to_txn_response_v3,
    (24, 4): add_partitions_to_txn_response_v4,
    (24, 5): add_partitions_to_txn_response_v4,
    (27, 0): write_txn_markers_response_v0,
    (27, 1): write_txn_markers_response_v1,
    (27, 2): write_txn_markers_response_v1,
    (28, 0): txn_offset_commit_response_v0,
    (28, 1): txn_offset_commit_response_v0,
    (28, 2): txn_offset_commit_response_v0,
    (28, 3): txn_offset_commit_response_v3,
    (28, 4): txn_offset_commit_response_v3,
    (28, 5): txn_offset_commit_response_v3,
    (28, 6): txn_offset_commit_response_v6,
    (30, 0): create_acls_response_v0,
    (30, 1): create_acls_response_v0,
    (30, 2): create_acls_response_v2,
    (30, 3): create_acls_response_v2,
    (31, 0): delete_acls_response_v0,
    (31, 1): delete_acls_response_v1,
    (31, 2): delete_acls_response_v2,
    (31, 3): delete_acls_response_v2,
    (32, 0): describe_configs_response_v0,
    (32, 1): describe_configs_response_v1,
    (32, 2): describe_configs_response_v1,
    (32, 3): describe_configs_response_v3,
    (32, 4): describe_configs_response_v4,
    (33, 0): alter_configs_response_v0,
    (33, 1): alter_configs_response_v0,
    (33, 2): alter_configs_response_v2,
    (34, 0): alter_replica_log_dirs_response_v0,
    (34, 1): alter_replica_log_dirs_response_v0,
    (34, 2): alter_replica_log_dirs_response_v2,
    (35, 0): describe_log_dirs_response_v0,
    (35, 1): describe_log_dirs_response_v0,
    (35, 2): describe_log_dirs_response_v2,
    (35, 3): describe_log_dirs_response_v3,
    (35, 4): describe_log_dirs_response_v4,
    (35, 5): describe_log_dirs_response_v5,
    (37, 0): create_partitions_response_v0,
    (37, 1): create_partitions_response_v0,
    (37, 2): create_partitions_response_v2,
    (37, 3): create_partitions_response_v2,
    (42, 0): delete_groups_response_v0,
    (42, 1): delete_groups_response_v0,
    (42, 2): delete_groups_response_v2,
    (42, 3): delete_groups_response_v3,
    (43, 0): elect_leaders_response_v0,
    (43, 1): elect_leaders_response_v1,
    (43, 2): elect_leaders_response_v2,
    (44, 0): incremental_alter_configs_response_v0,
    (44, 1): incremental_alter_configs_response_v1,
    (45, 0): alter_partition_reassignments_response_v0,
    (45, 1): alter_partition_reassignments_response_v1,
    (47, 0): offset_delete_response_v0,
    (49, 0): alter_client_quotas_response_v0,
    (49, 1): alter_client_quotas_response_v1,
    (50, 0): describe_user_scram_credentials_response_v0,
    (51, 0): alter_user_scram_credentials_response_v0,
    (55, 0): describe_quorum_response_v0,
    (55, 1): describe_quorum_response_v1,
    (55, 2): describe_quorum_response_v2,
    (57, 0): update_features_response_v0,
    (57, 1): update_features_response_v0,
    (61, 0): describe_producers_response_v0,
    (65, 0): describe_transactions_response_v0,
    (69, 0): consumer_group_describe_response_v0,
    (69, 1): consumer_group_describe_response_v1,
    (75, 0): describe_topic_partitions_response_v0,
    (77, 1): share_group_describe_response_v1,
    (78, 1): share_fetch_response_v1,
    (78, 2): share_fetch_response_v1,
    (79, 1): share_acknowledge_response_v1,
    (79, 2): share_acknowledge_response_v2,
    (83, 0): initialize_share_group_state_response_v0,
    (84, 0): read_share_group_state_response_v0,
    (85, 0): write_share_group_state_response_v0,
    (85, 1): write_share_group_state_response_v0,
    (86, 0): delete_share_group_state_response_v0,
    (87, 0): read_share_group_state_summary_response_v0,
    (87, 1): read_share_group_state_summary_response_v1,
    (89, 0): streams_group_describe_response_v0,
    (89, 1): streams_group_describe_response_v1,
    (90, 0): describe_share_group_offsets_response_v0,
    (90, 1): describe_share_group_offsets_response_v1,
    (91, 0): alter_share_group_offsets_response_v0,
    (92, 0): delete_share_group_offsets_response_v0,
}
