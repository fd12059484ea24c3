"""Views that start an order, approve it and show it."""

from __future__ import annotations

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from holdfast.errors import InstanceNotFound
from orders.models import Order
from orders.workflows import Approval, fulfil


@csrf_exempt
@require_POST
async def place(request: HttpRequest) -> HttpResponse:
    given = json.loads(request.body)
    if given["total"] <= 0:
        return JsonResponse({"error": "An order has a total."}, status=422)
    order, _ = await Order.objects.aget_or_create(id=given["id"], defaults={"total": given["total"]})
    call = fulfil.options(instance_id=f"order-{order.id}", idempotency_key=f"order-{order.id}")
    instance = await settings.HOLDFAST.start(call, order.id, order.total)
    return JsonResponse({"instance": instance.id}, status=201)


@csrf_exempt
@require_POST
async def decide(request: HttpRequest, order_id: str) -> HttpResponse:
    approved = bool(json.loads(request.body)["approved"])
    await settings.HOLDFAST.handle(fulfil, f"order-{order_id}").send(Approval(approved))
    return HttpResponse(status=202)


@require_GET
async def show(request: HttpRequest, order_id: str) -> HttpResponse:
    order = await Order.objects.filter(id=order_id).afirst()
    if order is None:
        return JsonResponse({"error": "There is no such order."}, status=404)
    instance = settings.HOLDFAST.handle(fulfil, f"order-{order_id}")
    try:
        status = await instance.status()
    except InstanceNotFound:
        status = "pending"
    result = await instance.result() if status == "finished" else None
    return JsonResponse({"id": order.id, "total": order.total, "status": status, "result": result})
