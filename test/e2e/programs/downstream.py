"""A service behind a tool call: its spans follow the caller's traceparent as far as its sampler lets them.

The sampler, the service's name and the OTLP endpoint come from the standard OTEL_* variables; argument: the port.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("downstream")


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/lookup":
            self.look_up()
        self.send_response(204)
        self.end_headers()

    def look_up(self):
        context = extract(self.headers)
        with tracer.start_as_current_span("GET /lookup", context, kind=SpanKind.SERVER):
            with tracer.start_as_current_span("SELECT"):
                pass

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
