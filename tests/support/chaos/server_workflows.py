"""Workflows of the chaos test of the server. `holdfast serve` imports this module. The ledger is the one of the cluster test."""

from __future__ import annotations

from datetime import timedelta

from holdfast.activities.control.sequence import Sequence
from holdfast.activities.events import Event
from holdfast.activities.http.endpoint import HttpEndpoint
from holdfast.activities.http.response import WriteHttpResponse
from holdfast.activities.human import HumanTask
from holdfast.activities.scheduling import Delay
from holdfast.authoring.fields import expr
from holdfast.authoring.workflow import Workflow
from tests.support.chaos.cluster_workflows import book

SOON = timedelta(milliseconds=20)
ROUTE = "tickets"

checkout = Workflow(
    Sequence(
        book.bind(what="reserve"),
        Delay(SOON),
        Event("paid", result="token"),
        HumanTask("Pack it", result="answer"),
        book.bind(what="ship"),
    ),
    id="chaos_checkout",
    variables={"token": "", "answer": None},
)

ticket = Workflow(
    Sequence(
        HttpEndpoint(path=ROUTE, supported_methods=["POST"], parsed_content="order", can_start=True),
        book.bind(what="ticket"),
        WriteHttpResponse(content=expr("{'ticket': order['number']}")),
        Delay(SOON),
        book.bind(what="print"),
    ),
    id="chaos_ticket",
    variables={"order": None},
)

OF_CHECKOUT = ("reserve", "ship")
OF_TICKET = ("ticket", "print")
