"""A Django project in one file: settings, routes, the application."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.management import call_command
from django.urls import path
from orders.workflows import fulfil

from holdfast import Holdfast
from holdfast.integrations.asgi import with_lifespan

FILE = Path(os.environ.get("ORDERS_FILE", "orders.db")).absolute()

holdfast = Holdfast(store=f"sqlite:///{FILE.with_suffix('.holdfast.db')}", workflows=[fulfil])

settings.configure(
    SECRET_KEY="only for this example",  # noqa: S106 # nothing is signed with it
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    INSTALLED_APPS=["orders"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FILE}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    ROOT_URLCONF="project",
    HOLDFAST=holdfast,
)
django_application = get_asgi_application()

from orders import views  # noqa: E402 # Django's models are there only after its set-up

urlpatterns = [
    path("orders", views.place),
    path("orders/<order_id>", views.show),
    path("orders/<order_id>/approval", views.decide),
]
tables = partial(sync_to_async(call_command), "migrate", run_syncdb=True, verbosity=0)
application = with_lifespan(django_application, holdfast, before=tables)
