"""Parser of simple JavaScript expressions: names, members, literals, arithmetic, comparisons, conditions.

Everything else is left to the engine. What is accepted here means the same in JavaScript: the whole text is one expression
without assignments, calls with arguments of a program, functions or regular expressions.
"""

from __future__ import annotations

import re
from typing import Any

MAX_SOURCE = 2_000
MAX_DEPTH = 40
_SAFE = (1 << 53) - 1
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?(?![\w.$]))|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|(?P<text>'[^'\\\n\r]*'|\"[^\"\\\n\r]*\")"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&(?!=)|\|\|(?!=)|[-+](?![-+=])|\*(?![*=])|/(?![/*=])|%(?!=)|[<>](?![<>])|!|\?(?![?.])|[:()\[\].,;]))"
)
_LEVELS = (("||",), ("&&",), ("===", "!==", "==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
_CONSTANTS = {"true": True, "false": False, "null": None}

Tree = tuple[Any, ...]
"""A node: its kind and its parts."""


class NotSimple(Exception):
    """The text is left to the engine."""


def parse(source: str) -> Tree:
    """The tree of a simple expression. Raises `NotSimple`."""
    if len(source) > MAX_SOURCE:
        raise NotSimple
    parser = _Parser(_tokens(source.rstrip()))
    tree = parser.condition(0)
    parser.take(";")
    if parser.left:
        raise NotSimple
    return tree


def _tokens(source: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None or match.lastgroup is None:
            raise NotSimple
        found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.left = tokens[::-1]

    def take(self, *signs: str) -> str | None:
        if self.left and self.left[-1][0] == "sign" and self.left[-1][1] in signs:
            return self.left.pop()[1]
        return None

    def need(self, sign: str) -> None:
        if self.take(sign) is None:
            raise NotSimple

    def next(self, kind: str) -> str:
        if not self.left or self.left[-1][0] != kind:
            raise NotSimple
        return self.left.pop()[1]

    def condition(self, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise NotSimple
        test = self.binary(0, depth)
        if self.take("?") is None:
            return test
        first = self.condition(depth + 1)
        self.need(":")
        return ("if", test, first, self.condition(depth + 1))

    def binary(self, level: int, depth: int) -> Tree:
        if level == len(_LEVELS):
            return self.unary(depth)
        left = self.binary(level + 1, depth)
        while (sign := self.take(*_LEVELS[level])) is not None:
            depth += 1
            if depth > MAX_DEPTH:
                raise NotSimple
            left = (sign, left, self.binary(level + 1, depth))
        return left

    def unary(self, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise NotSimple
        if self.take("!") is not None:
            return ("!", self.unary(depth + 1))
        if self.take("-") is not None:
            return ("negative", self.unary(depth + 1))
        return self.member(depth)

    def member(self, depth: int) -> Tree:
        tree = self.primary(depth)
        while True:
            if self.take(".") is not None:
                tree = ("member", tree, self.next("name"))
            elif self.take("[") is not None:
                kind, text = self.left.pop() if self.left else ("", "")
                if kind == "text":
                    tree = ("member", tree, text[1:-1])
                elif kind == "number" and text.isdigit():
                    tree = ("item", tree, int(text))
                else:
                    raise NotSimple
                self.need("]")
            else:
                return tree

    def primary(self, depth: int) -> Tree:
        if self.take("(") is not None:
            tree = self.condition(depth + 1)
            self.need(")")
            return tree
        kind, text = self.left.pop() if self.left else ("", "")
        if kind == "number":
            value = float(text) if "." in text else int(text)
            if abs(value) > _SAFE:
                raise NotSimple
            return ("value", value)
        if kind == "text":
            return ("value", text[1:-1])
        if kind != "name":
            raise NotSimple
        if text in _CONSTANTS:
            return ("value", _CONSTANTS[text])
        if text == "variables":
            self.need(".")
            return ("variable", self.next("name"))
        return self.call(text)

    def call(self, name: str) -> Tree:
        """A getter: `getTotal()`, `getVariable('total')`, `getInput('total')`."""
        self.need("(")
        argument = self.next("text")[1:-1] if self.left and self.left[-1][0] == "text" else None
        self.need(")")
        if name == "getVariable" and argument is not None:
            return ("variable", argument)
        if name == "getInput" and argument is not None:
            return ("input", argument)
        if argument is not None or not name.startswith("get"):
            raise NotSimple
        return ("getter", name)
