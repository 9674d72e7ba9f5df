# Serves the files of a folder by TLS on loopback. A file NAME.how says how NAME is sent.
import http.server
import os
import ssl
import sys
import threading

root, certificate, key, requests = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def wait_for_end(self):
        # curl sends nothing after its request, so this returns when the connection ends.
        self.rfile.read(1)

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        with open(requests, "a") as log:
            log.write(name + "\n")
        print(name, flush=True)
        path, how = os.path.join(root, name), ""
        if os.path.exists(path + ".how"):
            with open(path + ".how") as file:
                how = file.read()
        if how == "silent":
            self.wait_for_end()
            return
        if how.startswith("redirect "):
            self.send_response(302)
            self.send_header("Location", how.split(" ", 1)[1])
            self.end_headers()
            return
        if not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            body = file.read()
        self.send_response(200)
        if how != "endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if how == "endless":
            while True:
                self.wfile.write(body)
        if how in ("truncated", "stopped"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if how == "stopped":
                self.wait_for_end()
            return
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server = Server(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
# The test closes this pipe, also when it is killed.
sys.stdin.read()
