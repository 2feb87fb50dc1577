"""`mlflow`, whose command `server` becomes the web server. Otherwise the web server is a child process, and outlives a
parent that is killed."""

import os

from mlflow import server
from mlflow.cli import cli


def become(command: list[str], extra_env: dict[str, str], **_: object) -> None:
    os.execvpe(command[0], command, {**os.environ, **extra_env})


server._exec_cmd = become
cli()
