"""A small client for protocol 3.0, for tests that need to see or send single messages, or to survive a server's death."""
import socket
import struct


class ServerError(Exception):
    """An ErrorResponse: fields by their letter."""

    def __init__(self, fields):
        super().__init__(fields.get("M", "?"))
        self.fields = fields

    @property
    def sqlstate(self):
        return self.fields.get("C")


class ConnectionLost(Exception):
    pass


class Connection:
    def __init__(self, host, port, user="postgres", database="postgres", timeout=30.0, options=None):
        if host.startswith("/"):
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(timeout)
            self._call(self.sock.connect, f"{host}/.s.PGSQL.{port}")
        else:
            self.sock = self._call(socket.create_connection, (host, port), timeout)
        self.buffer = b""
        self.parameters = {}
        self.notices = []
        self.backend_pid = self.secret = 0
        self.status = b"I"
        body = struct.pack("!I", 196608)
        settings = {"user": user, "database": database}
        settings.update(options or {})
        for name, value in settings.items():
            body += name.encode() + b"\0" + value.encode() + b"\0"
        body += b"\0"
        self.send_raw(struct.pack("!I", len(body) + 4) + body)
        while True:
            kind, payload = self.read_message()
            if kind == b"E":
                raise ServerError(parse_fields(payload))
            if kind == b"K":
                self.backend_pid, self.secret = struct.unpack("!iI", payload)
            elif kind == b"Z":
                self.status = payload
                return

    @staticmethod
    def _call(function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            raise ConnectionLost(str(error)) from error

    def send_raw(self, data):
        self._call(self.sock.sendall, data)

    def send(self, kind, payload=b""):
        self.send_raw(kind + struct.pack("!I", len(payload) + 4) + payload)

    def _read(self, count):
        while len(self.buffer) < count:
            data = self._call(self.sock.recv, 65536)
            if not data:
                raise ConnectionLost("server closed the connection")
            self.buffer += data
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read_message(self):
        """(type, payload); notices and parameter changes are kept aside."""
        while True:
            head = self._read(5)
            payload = self._read(struct.unpack("!I", head[1:])[0] - 4)
            kind = head[:1]
            if kind == b"S":
                name, value = payload.split(b"\0")[:2]
                self.parameters[name.decode()] = value.decode()
            elif kind == b"N":
                self.notices.append(parse_fields(payload))
            else:
                return kind, payload

    def read_until_ready(self):
        """Messages up to ReadyForQuery; the transaction status goes into self.status."""
        messages = []
        while True:
            kind, payload = self.read_message()
            if kind == b"Z":
                self.status = payload
                return messages
            messages.append((kind, payload))

    def query(self, text):
        """Runs a query string; returns the rows of its results as lists of str or None. Raises its first error."""
        self.send(b"Q", text.encode() + b"\0")
        rows, error = [], None
        for kind, payload in self.read_until_ready():
            if kind == b"D":
                rows.append(parse_row(payload))
            elif kind == b"E":
                error = error or ServerError(parse_fields(payload))
        if error:
            raise error
        return rows

    def close(self):
        try:
            self.send(b"X")
        except ConnectionLost:
            pass
        self.sock.close()


def parse_fields(payload):
    fields = {}
    for part in payload.split(b"\0"):
        if part:
            fields[part[:1].decode()] = part[1:].decode("utf-8", "replace")
    return fields


def parse_row(payload):
    values = []
    (count,) = struct.unpack("!h", payload[:2])
    at = 2
    for _ in range(count):
        (length,) = struct.unpack("!i", payload[at:at + 4])
        at += 4
        if length < 0:
            values.append(None)
        else:
            values.append(payload[at:at + length].decode("utf-8", "replace"))
            at += length
    return values


def cancel(host, port, pid, secret):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) if host.startswith("/") else socket.socket()
    sock.connect(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port))
    sock.sendall(struct.pack("!IIiI", 16, 80877102, pid, secret))
    sock.recv(1)
    sock.close()
