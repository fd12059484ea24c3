# The base classes and factories of transports. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.dispatch.address import CarrierOptions as CarrierOptions
from holdfast.dispatch.carrier import Carrier as Carrier
from holdfast.dispatch.delivery_queue import Intake as Intake
from holdfast.dispatch.steps import TransportSteps as TransportSteps, ticket_of as ticket_of
from holdfast.dispatch.url import transport_from_url as transport_from_url
