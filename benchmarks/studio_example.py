"""Realistic workflow of forty activities: the order of a shop, from the request to the review of the parcel."""

from __future__ import annotations

from typing import Any

from tests.support.studio.demo import FORMAT

PY = "$python"

STEPS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("received", "HttpEndpoint", "Order received", {"path": "orders", "supported_methods": ["POST"]}),
    ("keep", "SetVariable", "Keep the order", {"variable": "order", "value": {PY: "body"}}),
    ("correlate", "Correlate", "Know it by its number", {"correlation_id": {PY: "order['id']"}}),
    ("valid", "FlowDecision", "Is it complete?", {"condition": {PY: "len(order['lines']) > 0"}}),
    ("refuse", "WriteHttpResponse", "Answer 422", {"status_code": 422, "content": "An order has lines."}),
    ("accept", "WriteHttpResponse", "Answer 202", {"status_code": 202}),
    ("branch", "FlowFork", "Check side by side", {"branches": ["Stock", "Credit", "Fraud"]}),
    ("stock", "SendHttpRequest", "Ask the warehouse", {"url": "https://stock.example.com/check", "method": "POST"}),
    ("short", "FlowDecision", "All in stock?", {"condition": {PY: "not missing"}}),
    ("buy", "DispatchWorkflow", "Order from the supplier", {"workflow": "purchase"}),
    ("arrive", "Event", "Goods arrived", {"event_name": "goods-arrived"}),
    ("credit", "SendHttpRequest", "Ask for the credit", {"url": "https://credit.example.com/score", "method": "POST"}),
    ("worthy", "FlowDecision", "Credit good?", {"condition": {PY: "score >= 600"}}),
    ("prepay", "HumanTask", "Ask for prepayment", {"title": "Agree on prepayment", "role": "sales"}),
    ("fraud", "RunScript", "Weigh the signs", {"script": "risk = 0.9 if order['lines'] else 0", "language": "python"}),
    ("risky", "FlowDecision", "Looks risky?", {"condition": {PY: "risk > 0.8"}}),
    ("review", "HumanTask", "Review by hand", {"title": "Look at this order", "role": "risk"}),
    ("join", "FlowJoin", "All checks done", {"mode": "wait_all"}),
    ("total", "SetVariable", "Add up the total", {"variable": "total", "value": {PY: "sum(prices)"}}),
    ("large", "FlowDecision", "Over 1,000 €?", {"condition": {PY: "total > 1000"}}),
    ("approve", "HumanTask", "Ask the manager", {"title": "Approve a large order", "role": "managers"}),
    ("approved", "FlowDecision", "Approved?", {"condition": {PY: "answer['approved']"}}),
    (
        "decline",
        "SendHttpRequest",
        "Write that we cannot",
        {"url": "https://mail.example.com/declined", "method": "POST"},
    ),
    ("cancel", "SetOutput", "Canceled", {"name": "state", "value": "canceled"}),
    ("pay", "SendHttpRequest", "Charge the card", {"url": "https://pay.example.com/charges", "method": "POST"}),
    ("paid", "FlowDecision", "Paid?", {"condition": {PY: "charge['ok']"}}),
    ("patience", "Delay", "Give them a day", {"duration": "P1D"}),
    ("again", "FlowDecision", "Third time?", {"condition": {PY: "tries >= 3"}}),
    ("pick", "ParallelForEach", "Pick every line", {"items": {PY: "order['lines']"}, "item": "line"}),
    (
        "size",
        "SetVariable",
        "Choose the parcel",
        {"variable": "parcel", "value": {PY: "'small' if total < 100 else 'large'"}},
    ),
    ("carrier", "FlowSwitch", "Which carrier?", {}),
    ("mail", "SendHttpRequest", "Hand to the post", {"url": "https://post.example.com/labels", "method": "POST"}),
    ("courier", "SendHttpRequest", "Call the courier", {"url": "https://courier.example.com/rides", "method": "POST"}),
    ("shop", "PublishEvent", "Ready in the shop", {"event_name": "ready-to-collect"}),
    ("tell", "SendHttpRequest", "Tell the customer", {"url": "https://mail.example.com/shipped", "method": "POST"}),
    ("delivered", "Event", "Delivered", {"event_name": "delivered"}),
    ("week", "Delay", "Wait a week", {"duration": "P7D"}),
    ("ask", "SendHttpRequest", "Ask how it was", {"url": "https://mail.example.com/review", "method": "POST"}),
    ("done", "SetOutput", "Completed", {"name": "state", "value": "completed"}),
    ("end", "End", "End", {}),
)

WAYS = (
    "received>keep keep>correlate correlate>valid valid:True>accept valid:False>refuse refuse>end accept>branch "
    "branch:Stock>stock branch:Credit>credit branch:Fraud>fraud stock>short short:False>buy buy>arrive "
    "short:True>join arrive>join credit>worthy worthy:True>join worthy:False>prepay prepay>join fraud>risky "
    "risky:True>review risky:False>join review>join join>total total>large large:True>approve large:False>pay "
    "approve>approved approved:True>pay approved:False>decline decline>cancel cancel>end pay>paid paid:False>again "
    "again:False>patience patience>pay again:True>decline paid:True>pick pick>size size>carrier carrier:Post>mail "
    "carrier:Courier>courier carrier:Default>shop mail>tell courier>tell shop>tell tell>delivered delivered>week "
    "week>ask ask>done done>end"
)


def order() -> dict[str, Any]:
    root = {
        "id": "chart",
        "type": "Flowchart",
        "activities": [_activity(*step) for step in STEPS],
        "connections": _ways(),
    }
    names = ("order", "body", "missing", "score", "risk", "prices", "total", "answer", "charge", "tries", "parcel")
    return {
        "format": FORMAT,
        "id": "order",
        "name": "Order to parcel",
        "description": "From the shop's request to the review of the parcel.",
        "variables": [{"name": name} for name in names],
        "outputs": [{"name": "state", "type": "string"}],
        "root": root,
    }


def _activity(id: str, type: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    activity: dict[str, Any] = {"id": id, "type": type, "name": name, "inputs": inputs}
    if id == "received":
        activity["options"] = {"can_start": True}
    if id == "pick":
        activity["body"] = {"id": "one", "type": "RunTask", "name": "Pick it", "inputs": {"task_name": "pick"}}
    if id == "carrier":
        weights = (("Post", "parcel == 'small'"), ("Courier", "parcel == 'large'"))
        activity["cases"] = [{"label": label, "condition": {PY: text}} for label, text in weights]
    return activity


def _ways() -> list[dict[str, str]]:
    found = []
    for way in WAYS.split():
        start, end = way.split(">")
        source, _, outcome = start.partition(":")
        found.append({"from": source, "to": end} | ({"outcome": outcome} if outcome else {}))
    return found
