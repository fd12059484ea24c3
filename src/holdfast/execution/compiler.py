"""Compiler: turns a definition into a plan. Collects all problems and raises them together; an existing plan can run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import CompositionCycle, ExpressionError, InvalidDefinition
from holdfast.execution.activation_slot import slot_rule
from holdfast.execution.builder import NodeBuilder, constant
from holdfast.execution.commit_points import CommitPoints, commit_after
from holdfast.execution.composite import as_workflow_node, compile_composite, find_workflow
from holdfast.execution.journal_policy import INCLUDE, rule_of
from holdfast.execution.pipeline import ordered, wrap
from holdfast.execution.plan import Done, Node, Plan
from holdfast.execution.typed_values import check_slot
from holdfast.execution.workflow_pipeline import around_workflows
from holdfast.model.definition import ActivityNode, Definition, Expression, IncidentStrategy, Storage, Variable
from holdfast.model.hashing import content_hash
from holdfast.model.policy import ActivityOptions
from holdfast.model.problem import Problem, errors_in
from holdfast.model.scope import Names, Shape
from holdfast.model.values import TypeRegistry
from holdfast.ports import (
    ActivationRule,
    ActivityType,
    CommitRule,
    CompiledExpression,
    CompiledScript,
    DefinitionSource,
    ExpressionEvaluator,
    IncidentRule,
    MiddlewarePlacement,
)

_READS_OUTPUTS = re.compile(r"output|last_?result|get\w+From\w+", re.IGNORECASE)


class Environment(Struct, frozen=True, kw_only=True):
    """Everything that definitions are compiled against."""

    activity: Callable[[str, int], ActivityType | None]
    """Activity type by name and version. An unknown version gives the latest."""
    known_types: Callable[[], list[str]]
    languages: Mapping[str, ExpressionEvaluator]
    types: TypeRegistry
    definitions: DefinitionSource | None = None
    middleware: tuple[MiddlewarePlacement, ...] = ()
    flowchart_mode: str = "counter"
    commit_strategies: Mapping[str, CommitRule] = {}
    commit_strategy: str | None = None
    """Commit strategy of workflows that name none."""
    incident_strategies: Mapping[str, IncidentRule] = {}
    activation_strategies: Mapping[str, ActivationRule] = {}
    journal: str = INCLUDE
    """Default journal policy."""


def compile_plan(definition: Definition, environment: Environment) -> Plan:
    """Raises `InvalidDefinition` with all problems, or `CompositionCycle`."""
    plan = Plan(definition, content_hash(definition), environment.types)
    plan.flowchart_mode = definition.options.flowchart_mode or environment.flowchart_mode
    plan.around = around_workflows(ordered(environment.middleware))
    compiler = Compiler(plan, environment)
    plan.ends_instance = compiler.incident_rule(definition.options.incident)
    plan.slot = slot_rule(definition, environment.activation_strategies, compiler.problems)
    try:
        plan.root = compiler.root(definition)
    except RecursionError:
        compiler.problems.append(
            Problem(
                path="/root",
                code="nested-too-deeply",
                message="The activities are nested too deeply to compile.",
                remedy="Move inner parts to separate workflows, or use a Flowchart.",
            )
        )
    errors = errors_in(compiler.problems)
    if errors:
        raise InvalidDefinition(errors, name=f"Workflow '{definition.title}'")
    return plan


class Compiler:
    def __init__(self, plan: Plan, environment: Environment) -> None:
        self.plan = plan
        self.environment = environment
        self.problems: list[Problem] = []
        self.chain: list[str] = []
        """Ids of the workflows being compiled, outermost first."""
        self.prefix = ""
        self.more_types: dict[str, ActivityType] = {}
        self.handlers = 0
        """Number of exception handlers (of compiled functions) around the node being compiled."""
        self.definition = plan.definition
        self.commits = CommitPoints(
            plan, environment.commit_strategies, environment.commit_strategy, self.problems.append
        )

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def root(self, definition: Definition) -> Node:
        node = self._new(as_workflow_node(definition), None, Names(()))
        node.done = _finished
        node.timeout = definition.options.timeout
        self.composite(node, definition, "/root", {})
        return node

    def place(self, definition: ActivityNode, parent: Node, names: Names, done: Done, path: str) -> Node:
        node = self._new(definition, parent, names)
        after = self.commits.place(node, path)
        node.done = done = commit_after(done) if after else done
        activity = self.activity_type(definition.type, definition.version)
        if activity is None:
            self._place_workflow(node, path)
        else:
            self._describe(node, activity)
            builder = NodeBuilder(self, node, done, path)
            if not getattr(activity, "checks_inputs", False):
                self._check_names(builder)
            node.op = activity.compile(builder)
            if node.step is None:
                node.op = builder.log.around_op(node.op)
        if after or node.commit_before:
            node.step = None
        if hasattr(node, "op"):
            wrap(self, node)
        return node

    def _place_workflow(self, node: Node, path: str) -> None:
        """An unknown activity type may be a workflow used as an activity."""
        found = find_workflow(self.environment.definitions, node.definition)
        if found is None:
            self._unknown(node, path)
            return
        self.composite(node, found, path, node.definition.inputs)

    def composite(self, node: Node, definition: Definition, path: str, inputs: Mapping[str, Any]) -> None:
        if definition.id in self.chain:
            raise CompositionCycle([*self.chain, definition.id])
        if node.parent is not None and definition.id not in self.plan.parts:
            self.plan.parts[definition.id] = content_hash(definition)
        self.chain.append(definition.id)
        outer, self.prefix = self.prefix, (f"{node.key}/" if node.parent is not None else "")
        holder, self.definition = self.definition, definition
        compile_composite(self, node, definition, path, inputs)
        self.prefix, self.definition = outer, holder
        self.chain.pop()

    def _new(self, definition: ActivityNode, parent: Node | None, names: Names) -> Node:
        key = self.prefix + definition.id
        if key in self.plan.by_key:
            number = 2
            while f"{key}~{number}" in self.plan.by_key:
                number += 1
            if parent is not None and parent.parent is not None:
                self.problems.append(
                    Problem(
                        path=key,
                        code="duplicate-id",
                        message=f"Two activities have the id '{definition.id}'.",
                        remedy="Give one of them another id.",
                    )
                )
            key = f"{key}~{number}"
        node = Node(len(self.plan.nodes), key, definition, parent, names)
        self.plan.nodes.append(node)
        rule = rule_of(definition, self.definition.options.journal, self.environment.journal)
        if rule is not None:
            self.plan.journal_rules[node.index] = rule
        self.plan.by_key[key] = node
        self.plan.keys[node.index] = key
        if definition.variables:
            node.shape = self.declare(key, definition.variables)
            node.inner = Names((node.shape, *names.shapes))
        return node

    def _describe(self, node: Node, activity: ActivityType) -> None:
        node.descriptor = activity.descriptor
        own, declared = node.definition.options, getattr(activity, "options", ActivityOptions())
        node.options = replace(
            own,
            retry=own.retry or declared.retry,
            timeout=own.timeout or declared.timeout,
            on_lost=own.on_lost or declared.on_lost,
            queue=own.queue or declared.queue,
            priority=own.priority or declared.priority,
        )
        node.retry, node.timeout = node.options.retry, node.options.timeout
        node.secrets = frozenset(item.name for item in node.descriptor.inputs if item.secret)

    def _check_names(self, builder: NodeBuilder) -> None:
        descriptor = builder.node.descriptor
        known = {item.name for item in descriptor.inputs}
        for name in builder.definition.inputs:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                builder.problem(
                    f"inputs/{name}",
                    "unknown-input",
                    f"'{descriptor.type}' has no input '{name}'.",
                    f"It has: {listed}.",
                )
        for item in descriptor.inputs:
            if item.required and item.name not in builder.definition.inputs:
                builder.problem(
                    f"inputs/{item.name}",
                    "missing-input",
                    f"'{descriptor.type}' needs the input '{item.name}'.",
                    "Set a value or an expression.",
                )

    def _unknown(self, node: Node, path: str) -> None:
        wanted = node.definition.type.lower().removeprefix("elsa.")
        near = [name for name in self.environment.known_types() if wanted in name.lower() or name.lower() in wanted]
        guess = f"Did you mean {', '.join(near[:3])}? " if near else ""
        self.problems.append(
            Problem(
                path=f"{path}/type",
                code="unknown-type",
                message=f"Activity '{node.key}' has the unknown type '{node.definition.type}'.",
                remedy=f"{guess}Register it with Holdfast(activities=[…]), a plugin, or as a workflow usable as activity.",
            )
        )

    def add_types(self, types: Mapping[str, ActivityType]) -> None:
        """Add activity types that belong to the activity being compiled (the parts of a composite)."""
        self.more_types.update(types)

    def activity_type(self, name: str, version: int) -> ActivityType | None:
        return self.environment.activity(name, version) or self.more_types.get(name)

    def incident_rule(self, name: str) -> IncidentRule:
        """Rule that decides whether an unhandled incident faults the instance."""
        if name == IncidentStrategy.FAULT:
            return lambda incident: True
        if name == IncidentStrategy.CONTINUE:
            return lambda incident: False
        rule = self.environment.incident_strategies.get(name)
        if rule is None:
            known = ", ".join([*IncidentStrategy, *self.environment.incident_strategies])
            self.problems.append(
                Problem(
                    path="/options/incident",
                    code="unknown-strategy",
                    message=f"Unknown incident strategy '{name}'.",
                    remedy=f"Known: {known}. Plugins can register more.",
                )
            )
            return lambda incident: True
        return rule

    # -- scopes --------------------------------------------------------------------------------------------------------

    def declare(self, key: str, variables: tuple[Variable, ...], shape: Shape | None = None) -> Shape:
        """Shape of declared variables."""
        shape = shape or self._shape(key)
        for variable in variables:
            index = shape.add(shape.names, variable.name, variable.type, variable.default)
            check_slot(self.plan, shape, index, f"variable '{variable.name}'")
            if variable.id is not None:
                shape.ids[variable.id] = index
            if variable.storage is Storage.MEMORY:
                shape.transient.add(index)
                self.plan.transient_shapes = True
        return shape

    def shape(self, key: str, variables: Mapping[str, Any]) -> Shape:
        """Shape of variables that an activity passes to a child."""
        shape = self._shape(key)
        for name, default in variables.items():
            shape.add(shape.names, name, "any", default)
        return shape

    def _shape(self, key: str) -> Shape:
        shape = self.plan.shapes[key] = Shape(key)
        return shape

    # -- expressions ---------------------------------------------------------------------------------------------------

    def expression(self, value: Expression, names: Names, path: str) -> CompiledExpression:
        if value.language != "code":  # compiled code cannot read outputs of other activities
            self._note_outputs(value.source)
        evaluator = self._language(value.language, path)
        if evaluator is None:
            return constant(None)
        try:
            compiled = evaluator.compile(value.source, names)
        except ExpressionError as error:
            self._bad_expression(error, path)
            return constant(None)
        self.plan.waits = self.plan.waits or compiled.waits
        return compiled

    def script(self, language: str, source: str, names: Names, path: str) -> CompiledScript | None:
        self._note_outputs(source)
        evaluator = self._language(language, path)
        if evaluator is None:
            return None
        try:
            compiled = evaluator.compile_script(source, names)
        except ExpressionError as error:
            self._bad_expression(error, path)
            return None
        self.plan.waits = self.plan.waits or compiled.waits
        return compiled

    def _language(self, language: str, path: str) -> ExpressionEvaluator | None:
        evaluator = self.environment.languages.get(language)
        if evaluator is None:
            known = ", ".join(f"${name}" for name in sorted(self.environment.languages))
            self.problems.append(
                Problem(
                    path=path,
                    code="unknown-language",
                    message=f"Unknown expression language '${language}'.",
                    remedy=f"Known: {known}. Plugins can register more.",
                )
            )
        return evaluator

    def _bad_expression(self, error: ExpressionError, path: str) -> None:
        self.problems.append(
            Problem(path=path, code="bad-expression", message=str(error), remedy="Correct the expression.")
        )

    def _note_outputs(self, source: Any) -> None:
        if isinstance(source, str) and _READS_OUTPUTS.search(source):
            self.plan.records_outputs = True


def _finished(live: Any, owner: Any, scope: Any, outcome: Any) -> None:
    live.outcome = outcome


__all__ = ["Compiler", "Environment", "compile_plan"]
