"""The loop of a child process: read a request, evaluate it under limits of the kernel, answer.

The kernel ends the process when the evaluation has used its processor time (SIGPROF), also inside a native call, and
refuses memory above the limit. The process can neither write files nor dump core.
"""

from __future__ import annotations

import resource
import signal
from socket import socket

from msgspec.structs import replace

from holdfast.expressions.isolation.frames import frame, receive
from holdfast.expressions.isolation.requests import decode_request, encode
from holdfast.expressions.isolation.responder import Responder

MEMORY_MAX = 768 * 1024 * 1024
"""Maximum address space of a child process."""
RETIRE_KB = 256 * 1024
"""A process whose resident memory was ever above this ends after its answer, and another one replaces it."""
REQUESTS_MAX = 20_000
"""Requests after which a process ends: no leak of an engine grows for long."""
CPU_SLACK = 0.5
"""Part of the limit of a request that is added to it. The limits of the language apply first, with a better message."""


def limit_process() -> None:
    """Limits of this process for the rest of its life."""
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_MAX),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def serve(stream: socket, responder: Responder) -> None:
    """Answer requests until the other side closes the stream."""
    for number in range(1, REQUESTS_MAX + 1):
        raw = receive(stream)
        if raw is None:
            return
        request = decode_request(raw)
        signal.setitimer(signal.ITIMER_PROF, request.seconds * (1 + CPU_SLACK))
        answer = responder.answer(request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        retires = number == REQUESTS_MAX or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > RETIRE_KB
        stream.sendall(frame(encode(replace(answer, retires=retires))))
        if retires:
            return
        responder.prepare()
