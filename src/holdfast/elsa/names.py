"""Variable names of a document: Elsa refers to variables by id, Holdfast by name where the name is unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from holdfast.elsa.round_trip import Json
from holdfast.elsa.types import elsa_type
from holdfast.model.definition import Definition, Variable


class Declared:
    """All variables of a definition, including those of containers, and its workflow outputs."""

    __slots__ = ("_by_id", "_by_name", "_names", "outputs")

    def __init__(self, variables: Iterable[Variable], outputs: Iterable[str] = ()) -> None:
        found = list(variables)
        self._names = Counter(variable.name for variable in found)
        self._by_id = {variable.id or variable.name: variable for variable in found}
        self._by_name = {variable.name: variable for variable in found}
        self.outputs = frozenset(outputs)

    @classmethod
    def of(cls, definition: Definition) -> Declared:
        inner = (variable for node in definition.root.walk() for variable in node.variables)
        return cls([*definition.variables, *inner], [output.name for output in definition.outputs])

    def reference(self, elsa_id: str) -> str | None:
        """Our reference for a variable id (or name): the name if it is unique, else the id."""
        variable = self._by_id.get(elsa_id) or self._by_name.get(elsa_id)
        if variable is None:
            return None
        return variable.name if self._names[variable.name] == 1 else variable.id or variable.name

    def elsa_id(self, reference: str) -> str:
        """Elsa's id for one of our references. An undeclared name is returned unchanged."""
        variable = self._find(reference)
        return (variable.id or variable.name) if variable else reference

    def described(self, reference: str) -> Json:
        """The variable in the form that Elsa uses in references."""
        variable = self._find(reference)
        if variable is None:
            return {"id": reference, "name": reference}
        return {"id": variable.id or variable.name, "name": variable.name, "typeName": elsa_type(variable.type)}

    def _find(self, reference: str) -> Variable | None:
        return self._by_id.get(reference) or self._by_name.get(reference)
