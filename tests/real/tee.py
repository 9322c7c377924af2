"""Sits on a server's pipes and keeps every byte: FOLDER/PID.to and FOLDER/PID.from. Usage: tee.py FOLDER COMMAND..."""

import os
import subprocess
import sys
import threading

folder, command = sys.argv[1], sys.argv[2:]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def keep(source, target, name):
    with open(os.path.join(folder, f"{os.getpid()}.{name}"), "wb", buffering=0) as record:
        while chunk := os.read(source, 65536):
            record.write(chunk)
            while chunk:
                chunk = chunk[os.write(target, chunk) :]


def to_server():
    try:
        keep(0, child.stdin.fileno(), "to")
    except BrokenPipeError:
        pass
    child.stdin.close()


threading.Thread(target=to_server, daemon=True).start()
keep(child.stdout.fileno(), 1, "from")
os._exit(max(child.wait(), 0))
