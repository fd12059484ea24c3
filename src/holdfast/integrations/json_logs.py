"""JSON log formatter: one object per record, events with their fields.

    logging.getLogger().handlers[0].setFormatter(JsonFormatter())
    telemetry.subscribe(telemetry.log_event)      # every event of the table, at its level

The fields of an event are keys of the object: `instance_id`, `activity_id`, `trace_id` and others can be queried.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_OWN = (
    frozenset(logging.makeLogRecord({}).__dict__)
    | {"message", "asctime", "event", "fields", "taskName"}
    | {"color_message"}
)
"""Attributes that are written under another key, or (uvicorn) repeat the message for terminals."""


class JsonFormatter(logging.Formatter):
    """Formats records as JSON, including attributes passed by `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        event = getattr(record, "event", None)
        if event is not None:
            line["event"] = event
            fields: Mapping[str, Any] = getattr(record, "fields", {})
            line.update({name: value for name, value in fields.items() if name != "trace" and value is not None})
            line.update(_trace(fields.get("trace")))
        else:
            line["message"] = record.getMessage()
        line.update({name: value for name, value in record.__dict__.items() if name not in _OWN})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _trace(traceparent: Any) -> dict[str, str]:
    parts = str(traceparent or "").split("-")
    return {"trace_id": parts[1], "span_id": parts[2]} if len(parts) == 4 else {}
