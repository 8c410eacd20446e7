"""
A collector for tests: takes traces by OTLP over HTTP and tells what it decoded.

It reads with the official bindings (python3-opentelemetry-proto), which know nothing of the encoder under test, and is as
strict as https://opentelemetry.io/docs/specs/otlp/ and the comments of trace.proto: what breaks them is answered 400.

  POST /v1/traces   ExportTraceServiceRequest as application/x-protobuf or application/json, plain or gzip
  GET  /received    every request taken so far: its headers, and its spans

Prints the port it listens on, on loopback. Ends with its standard input.
"""
import base64
import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
received = []


class Broken(Exception):
    """The request is against the protocol."""


def decode(body, content_type):
    request = trace_service_pb2.ExportTraceServiceRequest()
    try:
        if content_type == PROTOBUF:
            request.ParseFromString(body)
        else:
            json_format.ParseDict(with_base64_ids(json.loads(body)), request)
    except Broken:
        raise
    except Exception as error:
        raise Broken(f"{type(error).__name__}: {error}") from error
    return request


def with_base64_ids(request):
    """OTLP's JSON writes ids in hexadecimal, where the JSON mapping of protobuf, which decodes it here, wants base64."""
    for resource in request.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            for span in scope.get("spans", []):
                for holder in [span, *span.get("links", [])]:
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if key in holder:
                            if len(holder[key]) not in (0, 16, 32):
                                raise Broken(f"{key} is not hexadecimal")
                            holder[key] = base64.b64encode(bytes.fromhex(holder[key])).decode()
    return request


def spans_of(request):
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                check(span)
                yield {
                    "name": span.name,
                    "kind": trace_pb2.Span.SpanKind.Name(span.kind),
                    "traceId": span.trace_id.hex(),
                    "spanId": span.span_id.hex(),
                    "parentSpanId": span.parent_span_id.hex(),
                    # Nanoseconds are beyond a number of JavaScript.
                    "startUnixNano": str(span.start_time_unix_nano),
                    "endUnixNano": str(span.end_time_unix_nano),
                    "flags": span.flags,
                    "status": {
                        "code": trace_pb2.Status.StatusCode.Name(span.status.code),
                        "message": span.status.message,
                    },
                    "attributes": attributes_of(span.attributes),
                    "events": [{"name": event.name, "attributes": attributes_of(event.attributes)} for event in span.events],
                    "links": len(span.links),
                    "scope": scope.scope.name,
                    "resource": attributes_of(resource.resource.attributes),
                }


def check(span):
    if len(span.trace_id) != 16 or not any(span.trace_id):
        raise Broken("trace_id is not 16 bytes, or all zeros")
    if len(span.span_id) != 8 or not any(span.span_id):
        raise Broken("span_id is not 8 bytes, or all zeros")
    if span.parent_span_id and (len(span.parent_span_id) != 8 or not any(span.parent_span_id)):
        raise Broken("parent_span_id is not 8 bytes, or all zeros")
    if span.name == "":
        raise Broken("a span without a name")
    if span.end_time_unix_nano < span.start_time_unix_nano or span.start_time_unix_nano == 0:
        raise Broken("a span that ends before it starts, or has no start")


def attributes_of(pairs):
    found = {}
    for pair in pairs:
        if pair.key == "" or pair.key in found:
            raise Broken("an attribute without a key, or twice")
        kind = pair.value.WhichOneof("value")
        if kind is None:
            raise Broken("an attribute without a value")
        value = getattr(pair.value, kind)
        plain = kind in ("string_value", "bool_value", "int_value", "double_value")
        found[pair.key] = {"type": kind, "value": value if plain else json_format.MessageToDict(pair.value)}
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/received":
            return self.answer(404, JSON, b"{}")
        self.answer(200, JSON, json.dumps(received).encode())

    def do_POST(self):
        body = self.body()
        content_type = self.headers.get("content-type", "")
        if self.path != "/v1/traces":
            return self.answer(404, "text/plain", b"")
        if content_type not in (PROTOBUF, JSON):
            return self.answer(415, "text/plain", b"")
        try:
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            taken = {"headers": {name.lower(): value for name, value in self.headers.items()}, "bytes": len(body)}
            taken["spans"] = list(spans_of(decode(body, content_type)))
        except Broken as error:
            reason = ascii(str(error))
            print(f"refused: {reason}", file=sys.stderr, flush=True)
            return self.answer(400, "text/plain", reason.encode())
        received.append(taken)
        self.answer(200, content_type, b"" if content_type == PROTOBUF else b"{}")

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        chunks = []
        while (size := int(self.rfile.readline().split(b";")[0], 16)) > 0:
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def answer(self, status, content_type, body):
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
