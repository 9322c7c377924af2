#!/usr/bin/env python3
"""Checks what `mcp-approve log export` wrote, without mcp-approve.

usage: verify_export.py [--allowed-signers LIST] FILE [HEAD]     (FILE may be - for standard input)

Each record is linked to the one before it: link = H(1 || previous || seq || writer || H(0 || body)), H is SHA-256, seq
has 8 bytes, big-endian, and the first `previous` is the 32 bytes "mcp-approve audit chain, genesis". An export of the
whole log is checked from its first record on; a part that begins later is checked from its second. Filtered exports have gaps
and cannot be checked. HEAD is a link noted elsewhere: it must be in the file, else the end was cut off or replaced.
LIST is a file of OpenSSH's allowed signers: every signature of an approval is checked against it, with `ssh-keygen -Y verify`.
"""

import base64
import datetime
import hashlib
import json
import subprocess
import sys
import tempfile


def why_not(signed, decision, signers):
    """Why a signature in the record of a decision does not count; None where it does."""
    statement = json.loads(signed["statement"])
    # One signature may cover several calls.
    calls = [card["call"] for card in [statement["card"], *statement.get("also", [])]]
    if decision["digest"] not in calls or statement["said"]["verdict"] != decision["verdict"]:
        return "it is for another call or verdict"
    blob = base64.b64decode(signed["sshsig"])
    # Flags and counter are the last five bytes of a FIDO key's signature. ssh-keygen accepts one without a touch.
    is_fido = blob[18:].startswith((b"sk-ssh-ed25519@", b"sk-ecdsa-sha2-nistp256@"))
    if is_fido and not blob[-5] & 1:
        return "the key signed without a touch"
    at = datetime.datetime.fromtimestamp(statement["time"] // 1000, datetime.timezone.utc)
    with tempfile.NamedTemporaryFile("w", suffix=".sig") as file:
        lines = [signed["sshsig"][at : at + 70] for at in range(0, len(signed["sshsig"]), 70)]
        file.write("\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]))
        file.flush()
        verify = ["ssh-keygen", "-Y", "verify", "-n", "verdict@mcp-approve", "-f", signers, "-I", statement["signer"]]
        verify += ["-O", at.strftime("verify-time=%Y%m%d%H%M%SZ"), "-s", file.name]
        done = subprocess.run(verify, input=signed["statement"].encode("utf-8"), capture_output=True, check=False)
    return None if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip() or "ssh-keygen refuses it"


def main():
    words = sys.argv[1:]
    signers = None
    if words[:1] == ["--allowed-signers"] and len(words) > 1:
        signers, words = words[1], words[2:]
    if len(words) not in (1, 2):
        sys.exit(__doc__)
    source = sys.stdin if words[0] == "-" else open(words[0], encoding="utf-8")
    wanted = words[1].lower() if len(words) == 2 else None
    good, bad = 0, []
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
        if signers and row["kind"] == "decision":
            for signed in (row.get("detail") or {}).get("signatures") or []:
                why = why_not(signed, row, signers)
                good += why is None
                bad += [] if why is None else [f"record {seq}: {why}"]
        found |= row["link"] == wanted
        previous, expected, records = link, seq + 1, records + 1
    if not found:
        sys.exit(f"BROKEN: no record carries the link {wanted}")
    print(f"The chain holds: {records} records. Head: {previous.hex() if previous else 'none'}")
    if signers:
        print(f"Signatures that hold: {good}.")
        if bad:
            sys.exit("SIGNATURES DO NOT HOLD:\n" + "\n".join(bad))


main()
