"""A daemon for tests of the REST gateway that need no fabric: fake_daemon.py SOCKET.

It has no partitions, prints each command that it gets, and answers a change after the seconds that the file
"slow" beside the socket has, if it is there.
"""
import json
import os
import socket
import sys
import threading
import time

path = sys.argv[1]
slow = os.path.join(os.path.dirname(path), "slow")


def serve(client):
    with client, client.makefile("rwb") as f:
        request = json.loads(f.readline())
        f.read(request.get("body", 0))
        command = request["command"]
        print(command, flush=True)
        if command == "partition change" and os.path.exists(slow):
            time.sleep(float(open(slow).read()))
        result = {
            "partition show": {"partitions": []},
            "partitions": {"partitions": []},
            "partition change": {"changed": 1, "change": 1},
            "status": {"version": "0", "state": "master", "policy": {"dynamic": {"change": 1, "change-in-force": 1}}},
        }.get(command, {})
        print(command, "answered", flush=True)
        f.write(json.dumps({"ok": True, "result": result}).encode() + b"\n")


server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(64)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
