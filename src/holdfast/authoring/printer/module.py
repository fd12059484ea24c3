"""Prints a definition as a Python module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Any

from msgspec import Struct

from holdfast.authoring.activity import OPTIONS, Activity
from holdfast.authoring.fields import OutputSpec, PortSpec
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.printer.text import Imports, call, fields, identifier, struct, value
from holdfast.errors import ConversionError
from holdfast.model.definition import ActivityNode, Connection, Definition, DefinitionOptions, PortEntry

_COMMON = ("id", "name", "variables")


class Known(Struct, frozen=True, kw_only=True):
    """Python object for an activity type: a built-in class or a function of the user."""

    module: str
    name: str
    thing: Any


class Printed(Struct, frozen=True, kw_only=True):
    text: str
    unknown: tuple[str, ...]
    """Types that are known only by name."""


def print_definition(definition: Definition, known: Mapping[str, Known], *, name: str = "workflow") -> Printed:
    """A module whose `name` is the workflow. Positions and other editor metadata are omitted."""
    for node in definition.root.walk():
        if node.type == "Function":
            module, function = definition.metadata.get("module"), definition.metadata.get("function")
            raise ConversionError(
                f"'{definition.id}' was compiled from a function, which is its Python source: {module}:{function}. "
                "Only definitions that are not code can be converted."
            )
    return _Printer(definition, known).printed(name)


class _Printer:
    def __init__(self, definition: Definition, known: Mapping[str, Known]) -> None:
        self.definition = definition
        self.known = known
        self.imports = Imports()
        self.statements: list[str] = []
        self.names: dict[str, str] = {}
        """Variable names of activities that connections refer to, by activity id."""
        self.taken: set[str] = set()
        self.unknown: dict[str, None] = {}

    def printed(self, name: str) -> Printed:
        self.taken.add(name)
        built = f"{name} = {self._workflow()}"
        title = (self.definition.description or self.definition.title).replace('"""', "'''").replace("\\", "\\\\")
        head = [f'"""{title}"""', "", "from __future__ import annotations", *self.imports.lines(), ""]
        text = "\n".join([*head, *self.statements, built]) + "\n"
        return Printed(text=text, unknown=tuple(self.unknown))

    def _workflow(self) -> str:
        item, use = self.definition, self.imports
        arguments = [self.node(item.root), f"id={value(item.id, use)}"]
        if item.name not in (None, item.id):
            arguments.append(f"name={value(item.name, use)}")
        if item.version != 1:
            arguments.append(f"version={item.version}")
        for key in ("description", "inputs", "outputs", "outcomes", "labels", "extra"):
            given = getattr(item, key)
            if given:
                arguments.append(f"{key}={value(list(given) if isinstance(given, tuple) else given, use)}")
        if item.variables:
            arguments.append(f"variables={self._variables(item.variables)}")
        if item.options != DefinitionOptions():
            arguments.append(f"options={struct(item.options, use)}")
        return call(use.use("holdfast", "Workflow"), arguments)

    def _variables(self, variables: tuple[Any, ...]) -> str:
        plain = {item.name: item.default for item in variables}
        if all(item == type(item)(name=item.name, default=item.default) for item in variables):
            return value(plain, self.imports)
        return value(list(variables), self.imports)

    # -- activities ----------------------------------------------------------------------------------------------------

    def node(self, node: ActivityNode) -> str:
        known = self.known.get(node.type)
        if known is not None and isinstance(known.thing, FunctionActivity) and _fits_function(node, known.thing):
            return self._bound(node, known)
        if known is not None and isinstance(known.thing, type) and _fits_class(node, known.thing):
            return self._object(node, known)
        if known is None:
            self.unknown[node.type] = None
        return self._placed(node)

    def _bound(self, node: ActivityNode, known: Known) -> str:
        given = [f"{name}={value(item, self.imports)}" for name, item in node.inputs.items()]
        given += [f"result={value(name, self.imports)}" for name in node.outputs.values()]
        return call(f"{self.imports.use(known.module, known.name)}.bind", [*given, *self._common(node)])

    def _object(self, node: ActivityNode, known: Known) -> str:
        name, many = self.imports.use(known.module, known.name), _positional_port(known.thing)
        arguments: list[str] = []
        if known.name == "Flowchart":
            arguments += self._flowchart(node)
        elif many is not None and many in node.ports:
            arguments += [self.node(child) for child in node.ports[many]]
        rest = {port: children for port, children in node.ports.items() if port != many}
        first = next((spec for spec in known.thing.activity_type.specs if spec != many), None)
        for key, item in node.inputs.items():
            text = value(item, self.imports)
            is_first = key == first and not arguments and many is None
            arguments.append(text if is_first else f"{key}={text}")
        arguments += [f"{key}={self._port(children)}" for key, children in rest.items()]
        arguments += [f"{key}={value(target, self.imports)}" for key, target in node.outputs.items()]
        return call(name, [*arguments, *self._common(node)])

    def _common(self, node: ActivityNode) -> Iterator[str]:
        yield f"id={value(node.id, self.imports)}"
        if node.name is not None:
            yield f"name={value(node.name, self.imports)}"
        if node.variables:
            yield f"variables={self._variables(node.variables)}"
        yield from (f"{name}={text}" for name, text in fields(node.options, self.imports))

    def _placed(self, node: ActivityNode) -> str:
        use = self.imports
        arguments = [value(node.type, use)]
        if node.version != 1:
            arguments.append(f"version={node.version}")
        arguments.append(f"id={value(node.id, use)}")
        if node.name is not None:
            arguments.append(f"name={value(node.name, use)}")
        records = {"inputs": node.inputs, "outputs": node.outputs, "extra": node.extra}
        arguments += [f"{key}={value(record, use)}" for key, record in records.items() if record]
        if node.ports:
            ports = [f"{value(name, use)}: {self._port(children)}" for name, children in node.ports.items()]
            arguments.append("ports=" + call("", ports).replace("(", "{", 1)[:-1] + "}")
        if node.variables:
            arguments.append(f"variables={self._variables(node.variables)}")
        if node.connections:
            arguments.append(f"connections={value([_bare(item) for item in node.connections], use)}")
        if fields(node.options, use):
            arguments.append(f"options={struct(node.options, use)}")
        return call(use.use("holdfast.api", "Placed"), arguments)

    def _port(self, children: Any) -> str:
        if isinstance(children, ActivityNode):
            return self.node(children)
        items = [self._entry(item) if isinstance(item, PortEntry) else self.node(item) for item in children]
        return call("", items).replace("(", "[", 1)[:-1] + "]"

    def _entry(self, entry: PortEntry) -> str:
        items = [f"{value(name, self.imports)}: {value(item, self.imports)}" for name, item in entry.data.items()]
        items += [f"{value(name, self.imports)}: {self.node(item)}" for name, item in entry.activities.items()]
        return call("", items).replace("(", "{", 1)[:-1] + "}"

    # -- flowcharts ----------------------------------------------------------------------------------------------------

    def _flowchart(self, node: ActivityNode) -> list[str]:
        """Print the activities before the workflow, under names that arrows can use."""
        names: list[str] = []
        for child in node.ports.get("activities", ()):
            name = self._name(child.id)
            self.statements.append(f"{name} = {self.node(child)}")
            names.append(name)
        links = [self._link(item) for item in node.connections]
        if links:
            names.append("connections=" + call("", links).replace("(", "[", 1)[:-1] + "]")
        return names

    def _name(self, activity_id: str) -> str:
        base = found = identifier(activity_id)
        number = 1
        while found in self.taken:
            number += 1
            found = f"{base}_{number}"
        self.taken.add(found)
        self.names[activity_id] = found
        return found

    def _link(self, connection: Connection) -> str:
        source, target = self.names[connection.source], self.names[connection.target]
        leaving = source if connection.outcome is None else f"{source}.on({value(connection.outcome, self.imports)})"
        if connection.delay is None:
            return f"{leaving} >> {target}"
        return f"({leaving} >> {target}).after({value(connection.delay, self.imports)})"


def _bare(connection: Connection) -> Connection:
    return Connection(
        source=connection.source, target=connection.target, outcome=connection.outcome, delay=connection.delay
    )


def _fits_function(node: ActivityNode, function: FunctionActivity[..., Any]) -> bool:
    descriptor = function.activity_type.descriptor
    names = {item.name for item in descriptor.inputs}
    plain = not (node.extra or node.ports or node.variables or node.connections or set(node.outputs) - {"result"})
    return plain and node.version == descriptor.version and set(node.inputs) <= names and not names & set(OPTIONS)


def _fits_class(node: ActivityNode, cls: type[Activity]) -> bool:
    specs = cls.activity_type.specs
    chart = cls.__name__ == "Flowchart"
    if node.extra or node.version != cls.activity_type.facts.version or (node.connections and not chart):
        return False
    if set(specs) & {*OPTIONS, *_COMMON} and (node.name is not None or node.variables or set(specs) & set(OPTIONS)):
        return False
    if chart and not _arrows_are_complete(node):
        return False
    many = _positional_port(cls)
    return (
        all(name in specs and not isinstance(specs[name], PortSpec | OutputSpec) for name in node.inputs)
        and all(isinstance(specs.get(name), OutputSpec) for name in node.outputs)
        and all(isinstance(specs.get(name), PortSpec) for name in node.ports)
        and (many is None or all(isinstance(item, ActivityNode) for item in node.ports.get(many, ())))
    )


def _arrows_are_complete(node: ActivityNode) -> bool:
    """Whether all connections are between activities of the chart, without duplicates."""
    ids = [child.id for child in node.children()]
    ends = [(item.source, item.outcome, item.target) for item in node.connections]
    known = all(item.source in ids and item.target in ids for item in node.connections)
    return known and len(ends) == len(set(ends)) and len(ids) == len(set(ids))


def _positional_port(cls: type[Activity]) -> str | None:
    """The port that takes the positional arguments: `Sequence(one, other)`."""
    for name, parameter in signature(cls.__init__).parameters.items():
        if parameter.kind is Parameter.VAR_POSITIONAL and name in cls.activity_type.specs:
            return name
    return None
