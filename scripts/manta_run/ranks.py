# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""How the watchers of nodes reach the manta-run that was called: each connects to it and says which ranks it watches."""
import fcntl
import os
import socket
import struct


class WatchedRank:
    """What the job knows of a rank that lives."""

    def __init__(self, rank, host, process):
        self.rank, self.host, self.process = rank, host, process


class WatchedNode:
    """What the job knows of the ranks that one watcher has."""

    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""
        self.host = None  # until it has said who it is
        self.ranks = {}   # number -> WatchedRank, of those that live

    def tell(self, text):
        try:
            self.connection.sendall(text.encode() + b"\n")
        except OSError:
            pass  # the end of the connection is about to be heard


class Listener:
    """The port of a job. Watchers find it, and prove that they belong to the job, by the variable MANTA_RUN."""

    def __init__(self, recovery):
        self.id = os.urandom(4).hex()
        self.token = os.urandom(16).hex()
        self.socket = socket.socket()
        self.socket.bind(("", 0))
        self.socket.listen(1024)
        self.socket.setblocking(False)
        port = self.socket.getsockname()[1]
        os.environ["MANTA_RUN"] = "/".join(
            [self.id, self.token, "recovering" if recovery else "plain", socket.gethostname(), str(port), ",".join(self.addresses())])

    @staticmethod
    def addresses():
        """The numbers of this machine, that of the default route first; its name last."""
        found = []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))  # sends nothing
                found.append(s.getsockname()[0])
            except OSError:
                pass
            for _, name in socket.if_nameindex():
                try:  # SIOCGIFADDR
                    reply = fcntl.ioctl(s, 0x8915, struct.pack("256s", name.encode()[:15]))
                    found.append(socket.inet_ntoa(reply[20:24]))
                except OSError:
                    pass
        unique = [a for i, a in enumerate(found) if a not in found[:i] and not a.startswith("127.")]
        return unique + [socket.gethostname()]

    def accept(self):
        """The watcher that has connected, which has still to say its name; None if it has gone again."""
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return None
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a node may lose its power
        for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        node = WatchedNode(connection)
        node.tell("manta-run " + self.id)
        return node
