"""Generator of random workflow functions as source text. One seed gives one program."""

from __future__ import annotations

from random import Random

MAYBE = "if a == 12345: u = z0 = z1 = i = j = e = q = 0"
START = "b, c, ys, d, p = 1, 2, [0, 1], {'a': 1, 'k': 2}, Box(1)"


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.left = 0
        self.inner = False

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # -- expressions ---------------------------------------------------------------------------------------------------

    def number(self, depth: int = 2, awaits: bool = True) -> str:
        if depth <= 0 or self.chance(0.25):
            return self.pick("a", "b", "c", "0", "1", "2", "3", "7", "a", "b", "c", "u" if self.chance(0.2) else "c")
        one, two = self.number(depth - 1, awaits), self.number(depth - 1, awaits)
        items = self.items(depth - 1, awaits)
        plain = [
            f"({one} {self.pick('+', '-', '*')} {two})",
            f"see({one})",
            f"{items}[{self.pick('0', '-1', '1')}]",
            f"len({items})",
            f"risky({one})",
            f"(b := {one})",
            f"max({self.number(0)}, {self.number(0)}, key=lambda q: (str(q), c))",
            f"d.get({self.pick(repr('a'), repr('k'))}, {one})",
            f"-{one}",
            f"sum([z for z in {self.items(0)} if isinstance(z, int)])",
        ]
        waiting = [
            f"(await act({one}))",
            f"(await act({one}, y={two}))",
            f"(await act(y={one}, x={two}))",
            f"(await {self.pick('fail', 'act')}({one}))",
            f"({one} {self.pick('and', 'or')} {two} {self.pick('and', 'or')} await act({one}))",
            f"({one} if {self.test(depth - 1)} else await act({two}))",
            f"(a := {one})",
            f"see(await act({one}))",
            f"len([*{items}, await act({one}), *{items}])",
            f"(await table({one}))[{self.pick(repr('a'), repr('c'), repr('zz'))}]",
        ]
        return self.pick(*plain, *(waiting if awaits else []))

    def test(self, depth: int = 2, awaits: bool = True) -> str:
        one, two = self.number(depth - 1, awaits), self.number(depth - 1, awaits)
        return self.pick(
            f"{one} {self.pick('<', '>', '==', '<=')} {two}",
            f"{one} < {two} <= {self.number(depth - 1, awaits)}",
            f"not {one}",
            f"{one} in {self.items(depth - 1, awaits)}",
            "xs is ys",
            one,
            "d",
            f"{one} < see({two}) < {self.number(0)} < 9",
        )

    def items(self, depth: int = 2, awaits: bool = True) -> str:
        if depth <= 0:
            return self.pick("xs", "ys", "[1, 2]")
        one, inner = self.number(depth - 1, awaits), self.items(depth - 1, awaits)
        found = [
            "xs", "ys", "xs", "ys", f"[{one}, {self.number(0)}]", f"xs[{self.pick('1:', ':2', '::-1')}]",
            "[z + c for z in xs if isinstance(z, int)]", f"sorted({inner}, key=lambda q: (str(q), a))", "list(d)",
            "[xs, ys, xs]", f"push({self.pick('xs', 'ys')}, {one})",
        ]  # fmt: skip
        if awaits:
            found += [
                f"(await numbers({one}))", f"[await act(z) for z in {self.items(0)}]",
                f"[z for z in {self.items(0)} if z != await act(c)]", f"[*{inner}, {one}]", f"xs[await act({one}):]",
                f"list({{z: await act(z, y=w) for z in {self.items(0)} if isinstance(z, int) for w in (1, 2)}}.values())",
                f"(await gather(act({self.number(0)}), numbers(a)))", "(await gather(*[act(z) for z in (1, 2)]))",
                f"(await same({inner}))",
            ]  # fmt: skip
        return self.pick(*found)

    def anything(self, depth: int = 2) -> str:
        return self.pick(
            self.number(depth),
            self.number(depth),
            self.items(depth),
            self.pick(
                "p", "p.items", "d", "(a, xs)", f"f'{{a}}-{{await act({_in_quotes(self.number(1))})!r:>3}}-{{b}}'",
                f"{{'k': {self.number(1)}, **d, 'a': {self.number(1)}}}", f"Box({self.number(1)}, {self.items(1)})",
                "Color.RED", "1.5", "{1, 2}", "2**70",
            ),
        )  # fmt: skip

    def loop_items(self) -> str:
        items = self.items(1)
        return self.pick(
            "xs", "ys", items, f"range({self.pick('3', '1, 4', '3, 0, -1')})", f"enumerate({items})", "d", "d.values()",
            "reversed(xs)", "'xy'", "(1, 2)", "p.items", "{1, 2, 3}", "map(see, xs)", f"zip({items}, ys)", "d.items()",
        )  # fmt: skip

    # -- statements ----------------------------------------------------------------------------------------------------

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, in_loop: bool, depth: int, most: int = 3) -> None:
        before = len(self.lines)
        for _ in range(self.random.randint(1, most)):
            if self.left > 0:
                self.statement(indent, in_loop, depth)
        if len(self.lines) == before:
            self.write(indent, self.pick("pass", "b = await act(a)", "c = see(c)"))

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        self.left -= 1
        simple = [self._assign, self._change, self._expression, self._alias, self._simple]
        compound = [self._if, self._for, self._while, self._try, self._try, self._match]
        kinds = simple * 2 + (compound if depth > 0 else []) + [self._leave]
        self.random.choice(kinds)(indent, in_loop, depth)

    def _assign(self, indent: int, in_loop: bool, depth: int) -> None:
        number, items = self.number(), self.items()
        self.write(
            indent,
            self.pick(
                f"{self.pick('a', 'b', 'c', 'u')} = {self.number(3)}",
                f"a, b = b, {number}",
                f"a, *ys = {items}",
                f"(a, b), c = (await act(1), {number}), {self.number()}",
                f"c = u = {number}",
                f"xs[{self.pick('0', '-1')}] = {self.anything(1)}",
                f"d[{self.pick(repr('a'), repr('n'))}] = {number}",
                f"xs[await act({self.number(1)}) % 2] = {number}",
                "d[see('q')] = await act(see(1)) + see(2)",
                f"p.x = {number}",
                f"p.items = {items}",
                "z0: int = 3",
                "z1: int = await act(2)",
            ),
        )

    def _change(self, indent: int, in_loop: bool, depth: int) -> None:
        number = self.number()
        self.write(
            indent,
            self.pick(
                f"{self.pick('a', 'b', 'c')} {self.pick('+=', '-=')} {number}",
                f"xs[{self.pick('0', '-1')}] += {number}",
                f"d[{self.pick(repr('a'), repr('k'))}] += {number}",
                f"p.x += {number}",
                f"d['a'] += await fail({self.number(1)})",
                "xs and xs.pop()",
                "xs.reverse()",
                "d.pop('a', None)",
                f"d.update(a={self.number(1)})",
                "del u",
                "del xs[-1:]",
                "u = 1",
            ),
        )

    def _expression(self, indent: int, in_loop: bool, depth: int) -> None:
        number = self.number(1)
        self.write(
            indent,
            self.pick(
                f"push(xs, {self.number()})",
                f"await act({self.number()})",
                f"see({number}), await act({number}), see({self.number(1)})",
                f"push({self.pick('xs', 'ys', 'p.items')}, await fail({number}))",
                f"xs and xs.pop(await act({number}))",
                f"xs.append(await act({number})) if len(xs) < 6 else None",
                f"assert {self.test(1)}, {number}",
                f"assert await act({number}), await act(2)",
            ),
        )

    def _alias(self, indent: int, in_loop: bool, depth: int) -> None:
        self.write(
            indent,
            self.pick(
                "ys = xs", "d['l'] = xs", "p.items = xs", "ys = d.get('l', ys)", "xs = p.items", "ys = list(xs)", "u = p",
                "ys = [xs, ys][0]", "d = {'a': a, 'b': [b]}", "d = dict(d, z=xs)", "xs = [a, b, c]", "ys = []",
            ),
        )  # fmt: skip

    def _simple(self, indent: int, in_loop: bool, depth: int) -> None:
        if self.inner:
            self.write(indent, "b = await act(a)")
        else:
            self.write(
                indent, self.pick(f"a = await sub({self.number(1)}, xs)", "b = await sub(await act(1), items=ys)")
            )

    def _leave(self, indent: int, in_loop: bool, depth: int) -> None:
        test = self.test(1)
        ways = [f"if {test}: return {self.anything(1)}", f"if {test}: raise {self.pick('ValueError(a)', 'Trouble(b)')}"]
        if in_loop:
            ways += [f"if {test}: {self.pick('break', 'continue')}"] * 3
        self.write(indent, self.pick(*ways))

    def _if(self, indent: int, in_loop: bool, depth: int) -> None:
        self.write(indent, f"if {self.test()}:")
        self.block(indent + 1, in_loop, depth - 1)
        if self.chance(0.5):
            self.write(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)

    def _for(self, indent: int, in_loop: bool, depth: int) -> None:
        items = self.loop_items()
        pairs = items.startswith(("enumerate", "zip", "d.items"))
        target = self.pick("i, j", "i, j", "i") if pairs else self.pick("i", "i", "a", "xs[0]", "p.x")
        self.write(indent, f"for {target} in {items}:")
        self.write(indent + 1, "tick()")
        self.block(indent + 1, True, depth - 1)
        if self.chance(0.3):
            self.write(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)

    def _while(self, indent: int, in_loop: bool, depth: int) -> None:
        self.write(indent, f"while tick() and ({self.test()}):")
        self.block(indent + 1, True, depth - 1)
        if self.chance(0.3):
            self.write(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)

    def _try(self, indent: int, in_loop: bool, depth: int) -> None:
        self.write(indent, "try:")
        self.block(indent + 1, in_loop, depth - 1)
        handlers = self.random.randrange(3)
        for _ in range(handlers):
            kind = self.pick("ValueError", "KeyError", "(TypeError, IndexError)", "Trouble", "Exception", "LookupError")
            if self.chance(0.6):
                self.write(indent, f"except {kind} as e:")
                self.write(
                    indent + 1,
                    self.pick("push(ys, e.args)", "a = len(e.args)", "u = e", "await same(str(e))", "await act(1)",
                              "a = e.__context__ is None"),
                )  # fmt: skip
            else:
                self.write(indent, f"except {kind}:")
            self.block(indent + 1, in_loop, depth - 1)
            if self.chance(0.3):
                self.write(
                    indent + 1, self.pick("raise", "raise Trouble(a)", "raise ValueError(1) from None",
                                          "raise DeepTrouble(2) from KeyError(3)")
                )  # fmt: skip
        if handlers and self.chance(0.3):
            self.write(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)
        if not handlers or self.chance(0.4):
            self.write(indent, "finally:")
            self.block(indent + 1, in_loop, depth - 1, 2)

    def _match(self, indent: int, in_loop: bool, depth: int) -> None:
        self.write(indent, f"match {self.pick('a', 'xs', 'p', 'd', self.number(1))}:")
        patterns = ["0 | 1", "int(q)", "[q, *rest]", "[]", "Box(x=q, items=[*_])", "{'a': q, **kw}", "q if see(q) == 3"]
        for pattern in self.random.sample(patterns, 2):
            self.write(indent + 1, f"case {pattern}:")
            self.block(indent + 2, in_loop, depth - 1, 2)
        if self.chance(0.5):
            self.write(indent + 1, "case _:")
            self.block(indent + 2, in_loop, depth - 1, 2)

    # -- programs ------------------------------------------------------------------------------------------------------

    def function(self, name: str, parameters: str, statements: int, depth: int, first: list[str]) -> list[str]:
        self.lines, self.left = [], statements
        for line in first:
            self.write(1, line)
        while self.left > 0:
            self.statement(1, False, depth)
        if self.chance(0.8):
            self.write(1, f"return {self.anything(1)}")
        return ["@workflow", f"async def {name}({parameters}):", *self.lines, ""]


def program(seed: int, statements: int = 12) -> str:
    generator = Generator(seed)
    head = [
        "from tests.support.programs.namespace import *",
        "from holdfast.authoring.compiled import workflow",
        "from holdfast.authoring.primitives import gather",
        "",
    ]
    generator.inner = True
    sub = generator.function("sub", "a, items=None", 4, 2, [START, MAYBE, "xs = items or [1]"])
    generator.inner = False
    main = generator.function("main", "a, xs", statements, 3, [START, MAYBE])
    return "\n".join([*head, *sub, *main])


def _in_quotes(text: str) -> str:
    """For a place inside single quotes: before Python 3.12 an f-string may not hold its own quotes."""
    return text.replace("'", '"')
