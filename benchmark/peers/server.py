"""The driver's connection to the Redis server: commands, and figures of INFO."""
import socket


class Server:
    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb")
        self.port = port
        self.sent = 0

    def call(self, *words):
        words = [str(word).encode() for word in words]
        self.sent += 1
        self._socket.sendall(b"*%d\r\n" % len(words)
                             + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        line = self._replies.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self._replies.read(size + 2)[:-2].decode()
        raise RuntimeError(f"the server answered {line!r} to {words[0]!r}")

    def info(self, section):
        lines = (line.partition(":") for line in self.call("INFO", section).splitlines())
        return {name: value for name, colon, value in lines if colon}

    def version(self):
        fields = self.info("server")
        if "valkey_version" in fields:
            return "Valkey " + fields["valkey_version"]
        return "Redis " + fields["redis_version"]

    def cpu(self):
        """Returns the CPU seconds, user and system."""
        fields = self.info("cpu")
        return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])

    def commands(self):
        """Returns the number of executed commands, also in scripts, without the driver's own."""
        own = self.sent
        return int(self.info("stats")["total_commands_processed"]) - own

    def memory(self):
        return int(self.info("memory")["used_memory"])
