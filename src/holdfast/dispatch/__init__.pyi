# The base classes and factories of transports. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.dispatch.address import TransportOptions as TransportOptions
from holdfast.dispatch.broker_consumer import BrokerConsumer as BrokerConsumer
from holdfast.dispatch.broker_transport import BrokerTransport as BrokerTransport
from holdfast.dispatch.steps import TransportSteps as TransportSteps, ticket_of as ticket_of
from holdfast.dispatch.url import transport_from_url as transport_from_url
