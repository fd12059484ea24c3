"""The Django model of an order."""

from __future__ import annotations

from django.db import models


class Order(models.Model):
    id = models.CharField(max_length=40, primary_key=True)
    total = models.IntegerField()

    def __str__(self) -> str:
        return str(self.id)
