#!/usr/bin/env python3
"""Checks what `mcp-approve log export` wrote, without mcp-approve.

usage: verify_export.py [--part] [--allowed-signers LIST] [--revoked KEYS] FILE [HEAD]   (FILE may be - for standard input)

Each record is linked to the one before it: link = H(1 || previous || seq || writer || H(0 || body)), H is SHA-256, seq
has 8 bytes, big-endian, and the first `previous` is the 32 bytes "mcp-approve audit chain, genesis". An export of the
whole log is checked from its first record on. Where older records were removed, a later record says which, and with what link
the chain goes on; any other file that begins later has lost records. With --part it may: it is then checked from its second
record. Filtered exports have gaps and cannot be checked. HEAD is a link noted elsewhere: it must be in the file, else the end was cut off or replaced.
FILE may be a folder that `--format evidence` wrote: then all its files are checked, and what was signed.
HEAD may also be the last record that was removed, if LIST is given and somebody signed that.
LIST is a file of OpenSSH's allowed signers: every signature of an approval or a change is checked against it, with `ssh-keygen
-Y verify`;
KEYS are keys that were revoked: public keys, one a line, or a KRL of OpenSSH's. Without LIST, a folder's own list is used.
"""

import base64
import datetime
import hashlib
import json
import os
import subprocess
import sys
import tempfile


def digest_of_parts(*parts):
    digest = hashlib.sha256()
    for part in (part.encode("utf-8") for part in parts):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def is_of_verdict(statement, row):
    """Whether a statement is for the call and the verdict of a decision. One signature may cover several calls."""
    verdict = statement["said"]["verdict"]
    # A denial from a desk may be signed without the digest of the bytes: it ends the call, whatever its bytes.
    names = ("session", "ticket") if verdict == "deny" else ("session", "ticket", "call")
    cards = [[card[name] for name in names] for card in [statement["card"], *statement.get("also", [])]]
    call = [row["session"], row["ticket"], row["digest"]][: len(names)]
    return call in cards and verdict == row["verdict"]


def is_of_change(statement, row):
    """Whether a statement is for the change in a record: of a policy, of what was agreed to or said, of the log."""
    change, detail, of = statement["change"], row["detail"], ""
    if row["kind"] == "policy":
        kind, digest, of = "policy", detail["text"], detail["file"]
    elif row["kind"] == "agreed":
        kind, digest, agreed = "tools", row["digest"], detail["agreed"]
        parts = [agreed["what"], *(agreed.get(key, "") for key in ("tool", "key", "schema", "value"))]
        # Secrets in a record are replaced: then only its digest says what was agreed to.
        server = "" if agreed["what"] == "meta" else detail["fingerprint"]
        if "redacted:" not in parts[-1] and digest_of_parts(server, *parts) != digest:
            return False
    elif row["kind"] == "tools":
        kind, of_what = "tools", row.get("digest") or detail["program"]
        digest = digest_of_parts("review", detail["fingerprint"], row.get("tool") or "", of_what, detail["review"])
    else:
        kind, digest = "log", detail["stretches"][-1]["head"]
    return (change["kind"], change["of"]) == (kind, of) and digest in change["changes"]


def is_of_stop(statement, row):
    """Whether a statement is the stop in a record."""
    scope = "all machines" if statement["machine"] == "*" else statement["machine"]
    at = datetime.datetime.fromtimestamp(statement["time"] // 1000, datetime.timezone.utc)
    begin = f"{statement['signer']} froze {scope} at {at.strftime('%Y-%m-%d %H:%M:%S')} UTC"
    return statement["stop"] == "freeze" and row["detail"]["reason"].startswith(begin)


def why_not(signed, row, signers, revoked):
    """Why a signature in a record does not count; None where it does."""
    statement = json.loads(signed["statement"])
    if row["kind"] == "decision":
        namespace, is_of, what = "verdict@mcp-approve", is_of_verdict, "call or verdict"
    elif row["kind"] == "policy" and row["detail"]["what"] == "calls are frozen":
        namespace, is_of, what = "freeze@mcp-approve", is_of_stop, "stop"
    else:
        namespace, is_of, what = "change@mcp-approve", is_of_change, "change"
    if not is_of(statement, row):
        return f"it is for another {what}"
    blob = base64.b64decode(signed["sshsig"])
    # Flags and counter are the last five bytes of a FIDO key's signature. ssh-keygen accepts one without a touch.
    is_fido = blob[18:].startswith((b"sk-ssh-ed25519@", b"sk-ecdsa-sha2-nistp256@"))
    if is_fido and not blob[-5] & 1:
        return "the key signed without a touch"
    at = datetime.datetime.fromtimestamp(statement["time"] // 1000, datetime.timezone.utc)
    with tempfile.NamedTemporaryFile("w", suffix=".sig") as file:
        file.write(armored(signed["sshsig"]))
        file.flush()
        verify = ["ssh-keygen", "-Y", "verify", "-n", namespace, "-f", signers, "-I", statement["signer"]]
        verify += ["-O", at.strftime("verify-time=%Y%m%d%H%M%SZ"), "-s", file.name]
        verify += ["-r", revoked] if revoked else []
        done = subprocess.run(verify, input=signed["statement"].encode("utf-8"), capture_output=True, check=False)
    return None if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip() or "ssh-keygen refuses it"


def armored(base64_text):
    lines = [base64_text[at : at + 70] for at in range(0, len(base64_text), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def link_of(previous, seq, writer, inner):
    return hashlib.sha256(b"\1" + previous + seq.to_bytes(8, "big") + writer + inner).digest()


def digest_of(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def why_removed_is_untrue(row, earlier):
    """Why a record of what was removed cannot be true, after what an earlier one said; None where it can."""
    stretches = row["detail"]["stretches"]
    last, link = 0, b"mcp-approve audit chain, genesis".hex()
    for one in stretches:
        if one["first"] != last + 1 or one["before"] != link or one["count"] != one["last"] - one["first"] + 1:
            return "it does not follow from what was removed before, or counts another number"
        last, link = one["last"], one["head"]
    if last >= row["seq"] or len(stretches) <= len(earlier) or stretches[: len(earlier)] != earlier:
        return "it contradicts an earlier one"
    return None


def check_folder(folder, rows):
    """Checks every file of a folder of evidence; returns its list of signers, where it has one."""
    sums = {}
    with open(os.path.join(folder, "SHA256SUMS"), encoding="utf-8") as file:
        for line in file:
            digest, name = line.rstrip("\n").split("  ", 1)
            sums[name] = digest
    there = {
        os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names
    } - {"SHA256SUMS"}
    if there != set(sums):
        sys.exit(f"BROKEN: files are missing or added: {sorted(there ^ set(sums))}")
    contents = {}
    for name, digest in sums.items():
        with open(os.path.join(folder, name), "rb") as file:
            contents[name] = file.read()
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            sys.exit(f"BROKEN: {name} is not the file that was written")
    decisions = [row for row in rows if row.get("kind") == "decision"]
    if not decisions:
        sys.exit("BROKEN: no decision is among the records")
    signed = (decisions[-1].get("detail") or {}).get("signatures") or []
    wanted = {}
    for n, one in enumerate(signed, 1):
        wanted[f"statement-{n}.json"] = one["statement"].encode("utf-8")
        wanted[f"statement-{n}.json.sig"] = armored(one["sshsig"]).encode("ascii")
    lines = sorted({one["line"] for one in signed if one.get("line")})
    if lines:
        wanted["allowed_signers"] = "".join(line + "\n" for line in lines).encode("utf-8")
    made = {name for name in contents if name.startswith("statement-") or name == "allowed_signers"}
    for name in made | set(wanted):
        if contents.get(name) != wanted.get(name):
            sys.exit(f"BROKEN: {name} is not what the record of the decision has")
    whole = 0
    for name, content in contents.items():
        if name.startswith("texts/") and name.endswith(".txt") and not name.endswith(".not-whole.txt"):
            if hashlib.sha256(content).hexdigest() != name[len("texts/") : -len(".txt")]:
                sys.exit(f"BROKEN: {name} is not the text of its digest")
            whole += 1
    print(f"The files are as they were written; texts that have the digest that records name: {whole}.")
    return os.path.join(folder, "allowed_signers") if lines else None


def main():
    words, options = sys.argv[1:], {"--allowed-signers": None, "--revoked": None}
    is_part = "--part" in words
    words = [word for word in words if word != "--part"]
    while words and words[0] in options and len(words) > 1:
        options[words[0]], words = words[1], words[2:]
    signers, revoked = options["--allowed-signers"], options["--revoked"]
    if len(words) not in (1, 2) or any(word.startswith("-") and word != "-" for word in words):
        sys.exit(__doc__)
    folder = words[0] if os.path.isdir(words[0]) else None
    path = os.path.join(folder, "records.jsonl") if folder else words[0]
    source = sys.stdin if path == "-" else open(path, encoding="utf-8")
    wanted = words[1].lower() if len(words) == 2 else None
    if folder:
        with open(path, encoding="utf-8") as file:
            own = check_folder(folder, [json.loads(line) for line in file])
        signers = signers or own
    good, bad, unsigned, texts, vouched, claimed = 0, [], [], 0, set(), False
    previous, expected, records, found = b"mcp-approve audit chain, genesis", 1, 0, wanted is None
    begin, removed = None, []
    for line in source:
        row = json.loads(line)
        seq, writer, link = row["seq"], bytes.fromhex(row["writer"]), bytes.fromhex(row["link"])
        inner = bytes.fromhex(row["inner"]) if "inner" in row else hashlib.sha256(b"\0" + row["body"].encode()).digest()
        if records == 0 and seq != 1:
            begin = (seq, writer, inner, link)
            expected, previous = seq, None
        if seq != expected:
            sys.exit(f"BROKEN: record {expected} is missing; the next one found is {seq}")
        if previous is not None and link_of(previous, seq, writer, inner) != link:
            sys.exit(f"BROKEN: record {seq} does not carry the link it must have")
        if "body" in row:
            shown = {key: value for key, value in row.items() if key not in ("version", "seq", "writer", "link", "body")}
            if shown != json.loads(row["body"]):
                sys.exit(f"BROKEN: the fields of record {seq} are not those of its body")
        detail = row.get("detail") or {}
        if row.get("kind") == "removed":
            why = why_removed_is_untrue(row, removed)
            if why:
                sys.exit(f"BROKEN: record {seq} says what was removed, and {why}")
            removed = detail["stretches"]
        if row.get("kind") == "text" and "text" in detail and not detail.get("redacted"):
            if digest_of(detail["text"]) != row["digest"]:
                sys.exit(f"BROKEN: the text in record {seq} is not the one that its digest names")
            texts += 1
        if signers:
            signatures = detail.get("signatures") or []
            unsigned += [str(seq)] if row.get("kind") == "removed" and not signatures else []
            for signed in signatures:
                why = why_not(signed, row, signers, revoked)
                good += why is None
                bad += [] if why is None else [f"record {seq}: {why}"]
                if why is None and row["kind"] == "removed":
                    vouched.add(removed[-1]["head"])
            if row.get("kind") == "removed":
                claimed = not signatures
        found |= row["link"] == wanted
        previous, expected, records = link, seq + 1, records + 1
    if begin and not folder:
        seq, writer, inner, link = begin
        end = next((one for one in removed if one["last"] == seq - 1), None)
        if end is None and not is_part:
            sys.exit(f"BROKEN: it begins with record {seq}, and no record in it says that those before were removed (--part)")
        if end is None:
            print(f"It begins with record {seq}: what stood before is not checked.")
        elif link_of(bytes.fromhex(end["head"]), seq, writer, inner) != link:
            sys.exit(f"BROKEN: record {seq} does not follow from the records that were removed before it")
        else:
            print(f"Records 1 to {end['last']} were removed, and a record after them says so; the chain goes on from there.")
    found |= wanted in vouched
    if not found and any(one["head"] == wanted for one in removed):
        sys.exit(f"NOT CHECKED: a record says that records up to {wanted} were removed, and no signature that was checked says so")
    if not found:
        sys.exit(f"BROKEN: no record carries the link {wanted}")
    print(f"The chain holds: {records} records. Head: {previous.hex() if previous else 'none'}")
    if texts:
        print(f"Texts that have their digest: {texts}.")
    if signers:
        print(f"Signatures that hold: {good}.")
        if unsigned:
            print(f"Nobody signed what was removed, by record {', '.join(unsigned)}.")
        if bad:
            sys.exit("SIGNATURES DO NOT HOLD:\n" + "\n".join(bad))
        if claimed:
            sys.exit("NOT SIGNED: whoever can write the log can have written what it says was removed")


main()
