"""Names available to generated code: the guards, and no Python built-ins."""

from __future__ import annotations

from typing import Any

from holdfast.expressions import budget
from holdfast.expressions.python import access, arithmetic, functions, methods, mutation, text

GUARDS: dict[str, Any] = {
    "__builtins__": {},
    "int": int,
    "float": float,
    "Trouble": Exception,
    "g_add": arithmetic.add,
    "g_subtract": arithmetic.subtract,
    "g_multiply": arithmetic.multiply,
    "g_divide": arithmetic.divide,
    "g_floor_divide": arithmetic.floor_divide,
    "g_modulo": arithmetic.modulo,
    "g_power": arithmetic.power,
    "g_shift_left": arithmetic.shift_left,
    "g_shift_right": arithmetic.shift_right,
    "g_or": arithmetic.bit_or,
    "g_and": arithmetic.bit_and,
    "g_xor": arithmetic.bit_xor,
    "g_invert": arithmetic.invert,
    "g_compared": budget.weigh,
    "g_contains": arithmetic.contains,
    "g_key": budget.key,
    "g_weigh": budget.weigh,
    "g_charge": budget.charge,
    "g_field": access.field,
    "g_item": access.item,
    "g_part": access.part,
    "g_each": access.each,
    "g_each_now": access.each_now,
    "g_spread": access.spread,
    "g_spread_keys": access.spread_keys,
    "g_merged": access.merged,
    "g_call": methods.call,
    "g_formatted": text.formatted,
    "g_joined": text.joined,
    "g_is": isinstance,
    "g_own": mutation.own,
    "g_put": mutation.put,
    "g_drop": mutation.drop,
    "g_change": mutation.change,
    "g_outcomes": mutation.set_outcomes,
    **{f"f_{name}": function for name, function in functions.FUNCTIONS.items()},
    **{f"f_{name.replace('.', '_')}": function for name, function in functions.MEMBERS.items()},
    **{f"c_{name.replace('.', '_')}": value for name, value in functions.CONSTANTS.items()},
    **{f"t_{name}": kind for name, kind in functions.TYPES.items()},
}
