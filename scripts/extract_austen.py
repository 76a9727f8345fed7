#!/usr/bin/env python3
"""Extracts Jane Austen's six novels from the data file of the R package janeaustenr as one text file.

usage: extract_austen.py Rdata.rdb OUT.txt

Rdata.rdb lies in the Debian package r-cran-janeaustenr under usr/lib/R/site-library/janeaustenr/data/ (unpack it
with `dpkg-deb -x`; R is not needed). It is a sequence of records: the uncompressed length in 4 big-endian bytes, then a
zlib stream that holds one R object in R's XDR serialisation, version 3. Each novel is a character vector with one
string per printed line. Novels appear in the order of the file, which is alphabetical by name.
"""

import os
import pathlib
import struct
import sys
import zlib

from of_package.whole_file import one_line, whole_file

CHARACTER_VECTOR = 16  # STRSXP
STRING = 9  # CHARSXP: the low byte of its flags; the rest of the flags tells the encoding


def records(data):
    """Yields the uncompressed records."""
    while data:
        (length,) = struct.unpack_from(">I", data)
        stream = zlib.decompressobj()
        record = stream.decompress(data[4:]) + stream.flush()
        if len(record) != length:
            raise ValueError(f"a record of {len(record)} bytes says that it has {length}")
        yield record
        data = stream.unused_data


def lines(record):
    """The strings of a serialised character vector."""
    if record[:2] != b"X\n":
        raise ValueError("a record is not in R's XDR format")
    (encoding_length,) = struct.unpack_from(">I", record, 14)  # after version, writer's and minimal R version
    at = 18 + encoding_length
    kind, count = struct.unpack_from(">II", record, at)
    at += 8
    if kind & 0xFF != CHARACTER_VECTOR:
        raise ValueError("a record is not a character vector")
    for _ in range(count):
        flags, length = struct.unpack_from(">II", record, at)
        if flags & 0xFF != STRING:
            raise ValueError(f"expected a string at byte {at} of a record")
        at += 8
        yield record[at : at + length].decode("utf-8")
        at += length


@one_line()
def main():
    if len(sys.argv) != 3:
        sys.exit("usage: extract_austen.py Rdata.rdb OUT.txt")
    source, target = sys.argv[1:]
    try:
        novels = [list(lines(record)) for record in records(pathlib.Path(source).read_bytes())]
        if not novels:
            raise ValueError("no records")
    except (ValueError, struct.error, zlib.error) as error:
        raise ValueError(f"{source}: is no Rdata.rdb of janeaustenr, or damaged ({error}); take it from the package again") from None
    with whole_file(target) as file:
        file.writelines(line + "\n" for novel in novels for line in novel)
    print(f"{target}: {len(novels)} novels, {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    main()
