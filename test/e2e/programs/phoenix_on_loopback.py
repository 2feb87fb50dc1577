"""Phoenix without its gRPC port, which it opens on every interface. The tests may listen on 127.0.0.1 only."""

from phoenix.server import grpc_server
from phoenix.server.main import main


async def no_port(_server: object) -> None:
    """Replaces the start of the gRPC server."""


grpc_server.GrpcServer.__aenter__ = no_port
main()
