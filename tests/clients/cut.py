"""A network that fails: passes connections on to a site, and cuts every other one after some bytes of the answer, and every stream of
events in the middle of its first or second event. Prints its port."""

import itertools
import socket
import sys
import threading

SITE = ("127.0.0.1", int(sys.argv[1]))
# How much of the answer passes: nothing, half a head, more than a small answer.
PASSES = itertools.cycle([0, None, 120, None, 700, None])
STREAM_PASSES = itertools.cycle([700, 1100, None])


def pass_on(source: socket.socket, target: socket.socket, most: int | None) -> None:
    passed = 0
    try:
        while read := source.recv(65536):
            if b"text/event-stream" in read and passed == 0:
                most = next(STREAM_PASSES)
            target.sendall(read if most is None else read[: most - passed])
            passed += len(read)
            if most is not None and passed > most:
                break
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    site = socket.create_connection(SITE)
    threading.Thread(target=pass_on, args=(client, site, None), daemon=True).start()
    threading.Thread(target=pass_on, args=(site, client, next(PASSES)), daemon=True).start()
