#!/usr/bin/env python3
"""Checks what `mcp-approve log export` wrote, without mcp-approve.

usage: verify_export.py FILE [HEAD]     (FILE may be - for standard input)

Each record is linked to the one before it: link = H(1 || previous || seq || writer || H(0 || body)), H is SHA-256, seq
has 8 bytes, big-endian, and the first `previous` is the 32 bytes "mcp-approve audit chain, genesis". An export of the
whole log is checked from its first record on; a part that begins later is checked from its second. Filtered exports have gaps
and cannot be checked. HEAD is a link noted elsewhere: it must be in the file, else the end was cut off or replaced.
"""

import hashlib
import json
import sys


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], encoding="utf-8")
    wanted = sys.argv[2].lower() if len(sys.argv) == 3 else None
    previous, expected, records, found = b"mcp-approve audit chain, genesis", 1, 0, wanted is None
    for line in source:
        row = json.loads(line)
        seq, writer, link = row["seq"], bytes.fromhex(row["writer"]), bytes.fromhex(row["link"])
        if records == 0 and seq != 1:
            print(f"It begins with record {seq}: what stood before is not checked.")
            expected, previous = seq, None
        if seq != expected:
            sys.exit(f"BROKEN: record {expected} is missing; the next one found is {seq}")
        body = row["body"]
        if previous is not None:
            inner = hashlib.sha256(b"\0" + body.encode("utf-8")).digest()
            made = hashlib.sha256(b"\1" + previous + seq.to_bytes(8, "big") + writer + inner).digest()
            if made != link:
                sys.exit(f"BROKEN: record {seq} does not carry the link it must have")
            shown = {key: value for key, value in row.items() if key not in ("version", "seq", "writer", "link", "body")}
            if shown != json.loads(body):
                sys.exit(f"BROKEN: the fields of record {seq} are not those of its body")
        found |= row["link"] == wanted
        previous, expected, records = link, seq + 1, records + 1
    if not found:
        sys.exit(f"BROKEN: no record carries the link {wanted}")
    print(f"The chain holds: {records} records. Head: {previous.hex() if previous else 'none'}")


main()
