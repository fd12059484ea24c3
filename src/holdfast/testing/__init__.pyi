# The names for users' tests. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.authoring.primitives import doubles as doubles
from holdfast.testing.clock import VirtualClock as VirtualClock
from holdfast.testing.harness import Harness as Harness, Stub as Stub
