"""Demo data for the Studio: a few workflows, and instances in every state."""

from __future__ import annotations

from typing import Any

from tests.support.studio.server import StudioServer

FORMAT = "holdfast/definition@1"

APPROVAL: dict[str, Any] = {
    "format": FORMAT,
    "id": "approval",
    "name": "Invoice approval",
    "description": "Small invoices are paid at once; large ones wait for a person.",
    "inputs": [
        {"name": "amount", "type": "integer", "required": True, "description": "In whole euros"},
        {"name": "supplier", "type": "string", "default": "Acme"},
    ],
    "outputs": [{"name": "decision", "type": "string"}],
    "variables": [{"name": "answer"}, {"name": "fee", "default": 0}],
    "root": {
        "id": "chart",
        "type": "Flowchart",
        "activities": [
            {"id": "received", "type": "WriteLine", "inputs": {"text": {"$python": "'Invoice over ' + str(amount)"}}},
            {"id": "large", "type": "FlowDecision", "inputs": {"condition": {"$python": "amount > 1000"}}},
            {
                "id": "ask",
                "type": "HumanTask",
                "name": "Ask the manager",
                "inputs": {
                    "title": {"$python": "'Approve ' + str(amount) + ' € for ' + supplier"},
                    "description": "Look at the invoice, then decide.",
                    "form": {
                        "$literal": {
                            "type": "object",
                            "required": ["approved"],
                            "properties": {
                                "approved": {"type": "boolean", "title": "Approve it"},
                                "reason": {"type": "string", "title": "Reason", "maxLength": 400},
                            },
                        }
                    },
                },
                "outputs": {"result": "answer"},
            },
            {"id": "fee", "type": "SetVariable", "inputs": {"variable": "fee", "value": {"$python": "amount // 100"}}},
            {"id": "pay", "type": "SetOutput", "inputs": {"name": "decision", "value": "paid"}},
        ],
        "connections": [
            {"from": "received", "to": "large"},
            {"from": "large", "outcome": "True", "to": "ask"},
            {"from": "large", "outcome": "False", "to": "fee"},
            {"from": "ask", "to": "fee"},
            {"from": "fee", "to": "pay"},
        ],
    },
}

SHIPMENT: dict[str, Any] = {
    "format": FORMAT,
    "id": "shipment",
    "name": "Shipment",
    "description": "Divides the parcels among the vans; fails when there are none.",
    "inputs": [
        {"name": "parcels", "type": "integer", "required": True},
        {"name": "vans", "type": "integer", "required": True},
    ],
    "variables": [{"name": "free", "default": 0}, {"name": "each", "default": 0}],
    "root": {
        "id": "steps",
        "type": "Sequence",
        "activities": [
            {"id": "note", "type": "WriteLine", "inputs": {"text": {"$python": "str(parcels) + ' parcels'"}}},
            {"id": "count", "type": "SetVariable", "inputs": {"variable": "free", "value": {"$python": "vans"}}},
            {
                "id": "divide",
                "type": "SetVariable",
                "name": "Divide",
                "inputs": {"variable": "each", "value": {"$python": "parcels // free"}},
            },
            {"id": "done", "type": "WriteLine", "inputs": {"text": {"$python": "str(each) + ' in each van'"}}},
        ],
    },
}

NIGHTLY: dict[str, Any] = {
    "format": FORMAT,
    "id": "nightly",
    "name": "Nightly report",
    "root": {
        "id": "steps",
        "type": "Sequence",
        "activities": [
            {"id": "night", "type": "Cron", "inputs": {"expression": "0 3 * * *"}, "options": {"can_start": True}},
            {"id": "write", "type": "WriteLine", "inputs": {"text": "The report is written"}},
        ],
    },
}

WELCOME: dict[str, Any] = {
    "format": FORMAT,
    "id": "welcome",
    "name": "Welcome a customer",
    "inputs": [{"name": "customer", "type": "string", "required": True}],
    "root": {
        "id": "steps",
        "type": "Sequence",
        "activities": [
            {"id": "greet", "type": "WriteLine", "inputs": {"text": {"$python": "'Hello ' + customer"}}},
            {"id": "wait", "type": "Event", "inputs": {"event_name": "confirmed"}},
            {"id": "thanks", "type": "WriteLine", "inputs": {"text": "Thank you"}},
        ],
    },
}

DEFINITIONS = (APPROVAL, SHIPMENT, NIGHTLY, WELCOME)


def seed(server: StudioServer) -> dict[str, str]:
    """Publishes and runs them; the ids of instances that are worth a look."""
    for document in DEFINITIONS:
        server.publish(document)
    for ids, folder, labels in (
        (["approval", "shipment"], "Finance", ["invoices"]),
        (["welcome"], "Customers", ["onboarding", "mail"]),
    ):
        for id in ids:
            server.call("PUT", f"/api/definitions/{id}/labels", {"labels": labels, "folder": folder})
    changed = {**APPROVAL, "description": "Invoices over 2,000 wait for a person; the fee is two percent."}
    chart = {**APPROVAL["root"], "activities": [_changed(one) for one in APPROVAL["root"]["activities"]]}
    server.call("PUT", "/api/definitions/approval", {**changed, "root": chart})
    waiting = server.execute("approval", {"amount": 2400, "supplier": "Northwind"}, correlation_id="invoice-1041")
    for amount in (120, 480, 990):
        server.execute("approval", {"amount": amount})
    broken = server.execute("shipment", {"parcels": 12, "vans": 0}, correlation_id="tour-7")
    server.execute("shipment", {"parcels": 12, "vans": 3})
    greeting = server.execute("welcome", {"customer": "Ada"})
    canceled = server.execute("welcome", {"customer": "Grace"})
    server.call("POST", f"/api/instances/{canceled['instance_id']}/cancel", {"why": "signed up twice"})
    return {
        "waiting": waiting["instance_id"],
        "broken": broken["instance_id"],
        "greeting": greeting["instance_id"],
    }


def _changed(activity: dict[str, Any]) -> dict[str, Any]:
    if activity["id"] == "large":
        return {**activity, "inputs": {"condition": {"$python": "amount > 2000"}}}
    if activity["id"] == "fee":
        return {**activity, "inputs": {"variable": "fee", "value": {"$python": "amount // 50"}}}
    return activity
