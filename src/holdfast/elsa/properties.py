"""Import and export of `customProperties` and `metadata` of activities, and of `options` of definitions.

Data that Elsa has no place for is stored in `customProperties.holdfast`, which Elsa preserves and ignores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json
from holdfast.elsa.table import Row, camel, snake
from holdfast.elsa.types import parse_type
from holdfast.model.commit_strategies import refusal
from holdfast.model.definition import ActivationStrategy, DefinitionOptions, IncidentStrategy
from holdfast.model.pointers import pointer
from holdfast.model.policy import ActivityOptions, JournalRule, MergeMode

T = TypeVar("T")

OURS = "holdfast"
"""Key of `customProperties` for data that Elsa has no place for."""

_ACTIVITY_COMMITS = {"CommitAlways": "always", "CommitNever": "never", "Executing": "executing", "Executed": "executed"}
_WORKFLOW_COMMITS = {
    name: snake(name)
    for name in ("WorkflowExecuting", "WorkflowExecuted", "ActivityExecuting", "ActivityExecuted", "Periodic")
}
_ACTIVATION = {
    ActivationStrategy.CORRELATED_SINGLETON: "CorrelatedSingletonStrategy",
    ActivationStrategy.SINGLETON: "SingletonStrategy",
    ActivationStrategy.CORRELATION: "CorrelationStrategy",
    ActivationStrategy.ALWAYS: "AllowAlwaysStrategy",
}
_MERGE = {mode.value.capitalize(): mode for mode in MergeMode}
_MERGE_NUMBERS = ("None", "Stream", "Merge", "Converge", "Cascade", "Race")


def own_properties(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Content of `customProperties.holdfast`."""
    own = properties.get(OURS)
    return own if isinstance(own, Mapping) else {}


def own_part(properties: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = own_properties(properties).get(part)
    return found if isinstance(found, Mapping) else {}


def _own_options(properties: Mapping[str, Any], kind: type[T], reports: Reports, path: str) -> T:
    try:
        return msgspec.convert(own_properties(properties).get("options", {}), kind)
    except msgspec.ValidationError as error:
        reports.error(
            pointer(path, OURS, "options"),
            "bad-options",
            f"These are not valid Holdfast options: {error}.",
            "Correct or remove them.",
        )
        return kind()


# -- options of an activity --------------------------------------------------------------------------------------------


def read_activity_options(
    properties: Mapping[str, Any], row: Row | None, reports: Reports, path: str
) -> ActivityOptions:
    options = _own_options(properties, ActivityOptions, reports, path)
    commit = properties.get("commitStrategyName")
    journal = _read_journal(properties.get("logPersistenceConfig"), row, reports, pointer(path, "logPersistenceConfig"))
    if properties.get("resilienceStrategy"):
        reports.warning(
            pointer(path, "resilienceStrategy"),
            "resilience-strategy",
            "Holdfast has no resilience strategies from a host configuration.",
            "It is kept. Configure retries with the option `retry`.",
        )
    return msgspec.structs.replace(
        options,
        can_start=properties.get("canStartWorkflow") is True,
        merge=_read_merge(properties.get("mergeMode")),
        commit=_read_commit(commit, _ACTIVITY_COMMITS, reports, pointer(path, "commitStrategyName")) or options.commit,
        journal=journal or options.journal,
    )


def write_activity_options(options: ActivityOptions, row: Row | None, reports: Reports, path: str) -> Json:
    """The equivalent `customProperties`. Options that Elsa lacks are stored under our key and reported."""
    written: Json = {}
    rest = options
    if options.can_start:
        written["canStartWorkflow"] = True
    if options.merge is not None:
        written["mergeMode"] = options.merge.value.capitalize()
    commits = {ours: elsa for elsa, ours in _ACTIVITY_COMMITS.items()}
    if options.commit is not None:
        written["commitStrategyName"] = commits.get(options.commit, options.commit)
    rest = msgspec.structs.replace(rest, can_start=False, merge=None, commit=None)
    if options.journal is not None and not _says_off(options.journal):
        written["logPersistenceConfig"] = _written_journal(options.journal, row)
        rest = msgspec.structs.replace(rest, journal=None)
    if rest != ActivityOptions():
        own = msgspec.to_builtins(rest)
        written[OURS] = {"options": own}
        reports.warning(
            pointer(path, "options"),
            "not-in-elsa",
            f"Elsa has no place for the option(s) {', '.join(own)}.",
            "They are stored in customProperties and restored on re-import; Elsa ignores them.",
        )
    return written


def _read_commit(name: Any, elsas: Mapping[str, str], reports: Reports, path: str) -> str | None:
    """Our name of a commit strategy. A strategy of an Elsa host keeps its name: a plugin may register it."""
    if not isinstance(name, str) or not name:
        return None
    found = elsas.get(name, name)
    reason = refusal(found)
    if reason is not None:
        reports.warning(
            path,
            "commit-strategy",
            reason,
            f"Elsa's names here are {', '.join(elsas)}. Without a plugin that registers '{name}', the workflow is refused.",
        )
    return found


def _read_merge(value: Any) -> MergeMode | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_MERGE_NUMBERS):
        value = _MERGE_NUMBERS[value]
    return _MERGE.get(str(value).capitalize())


def _says_off(rule: JournalRule) -> bool:
    return "off" in (rule.default, *rule.inputs.values(), *rule.outputs.values())


def _read_journal(config: Any, row: Row | None, reports: Reports, path: str) -> JournalRule | None:
    if not isinstance(config, Mapping):
        return None
    default = _mode(config.get("default"), reports, pointer(path, "default"))
    sides: dict[str, dict[str, str]] = {"inputs": {}, "outputs": {}}
    for side, modes in sides.items():
        named = config.get(side)
        for name, leaf in named.items() if isinstance(named, Mapping) else ():
            mode = _mode(leaf, reports, pointer(path, side, name))
            if mode is not None:
                modes[_our_name(name, side, row)] = mode
    rule = JournalRule(default=default, inputs=sides["inputs"], outputs=sides["outputs"])
    return rule if rule != JournalRule() else None


def _mode(leaf: Any, reports: Reports, path: str) -> str | None:
    """`include` or `exclude`; None inherits."""
    if not isinstance(leaf, Mapping):
        return None
    if leaf.get("evaluationMode") == "Expression":
        reports.warning(
            path,
            "journal-expression",
            "In Holdfast, an expression cannot decide whether the journal keeps a value.",
            "The expression is kept, and the default applies.",
        )
        return None
    name = parse_type(str(leaf.get("strategyType") or "Inherit")).name.lower()
    return name if name in ("include", "exclude") else None


def _our_name(name: str, side: str, row: Row | None) -> str:
    key = name[:1].lower() + name[1:]
    for elsa, ours in _pairs(side, row):
        if elsa == key:
            return ours
    return snake(key)


def _pairs(side: str, row: Row | None) -> tuple[tuple[str, str], ...]:
    if row is None:
        return ()
    return row.outputs if side == "outputs" else tuple((field.elsa, field.ours) for field in row.inputs)


def _written_journal(rule: JournalRule, row: Row | None) -> Json:
    written: Json = {}
    if rule.default is not None:
        written["default"] = _strategy(rule.default)
    for side, modes in (("inputs", rule.inputs), ("outputs", rule.outputs)):
        elsas = {ours: elsa for elsa, ours in _pairs(side, row)}
        if modes:
            written[side] = {elsas.get(name, camel(name)): _strategy(mode) for name, mode in modes.items()}
    return written


def _strategy(mode: str) -> Json:
    return {"evaluationMode": "Strategy", "strategyType": mode.capitalize(), "expression": None}


# -- options of a definition -------------------------------------------------------------------------------------------


def read_definition_options(
    fields: Mapping[str, Any], properties: Mapping[str, Any], reports: Reports
) -> DefinitionOptions:
    own = _own_options(properties, DefinitionOptions, reports, "/customProperties")
    config = properties.get("logPersistenceConfig")
    journal = _mode(config.get("default"), Reports(), "") if isinstance(config, Mapping) else None
    commit = fields.get("commitStrategyName")
    return msgspec.structs.replace(
        own,
        activation=_read_activation(fields.get("activationStrategyType")),
        incident=(
            IncidentStrategy.CONTINUE
            if "ContinueWithIncidents" in str(fields.get("incidentStrategyType"))
            else IncidentStrategy.FAULT
        ),
        commit=_read_commit(commit, _WORKFLOW_COMMITS, reports, "/options/commitStrategyName"),
        journal=journal or own.journal,
        usable_as_activity=fields.get("usableAsActivity") is True,
        activity_category=fields.get("activityCategory") or None,
        auto_update_consumers=fields.get("autoUpdateConsumingWorkflows") is True,
    )


def _read_activation(name: Any) -> ActivationStrategy:
    for strategy, elsa in _ACTIVATION.items():
        if elsa.removesuffix("Strategy") in str(name):
            return strategy
    return ActivationStrategy.ALWAYS


def write_definition_options(options: DefinitionOptions) -> tuple[Json, Json]:
    """Elsa's `options`, and the `customProperties` that belong to them."""
    written: Json = {"autoUpdateConsumingWorkflows": options.auto_update_consumers}
    if options.usable_as_activity:
        written["usableAsActivity"] = True
    if options.activity_category is not None:
        written["activityCategory"] = options.activity_category
    if options.activation != ActivationStrategy.ALWAYS:
        known = {str(strategy): name for strategy, name in _ACTIVATION.items()}
        written["activationStrategyType"] = known.get(options.activation, options.activation)
    if options.incident == IncidentStrategy.CONTINUE:
        written["incidentStrategyType"] = "ContinueWithIncidentsStrategy"
    if options.commit is not None:
        elsas = {ours: elsa for elsa, ours in _WORKFLOW_COMMITS.items()}
        written["commitStrategyName"] = elsas.get(options.commit, options.commit)
    properties: Json = {}
    own: Json = {}
    if options.journal in ("include", "exclude"):
        properties["logPersistenceConfig"] = {"default": _strategy(options.journal)}
    elif options.journal is not None:
        own["journal"] = options.journal
    for name in ("timeout", "transient", "flowchart_mode"):
        value = getattr(options, name)
        if value:
            own[name] = msgspec.to_builtins(value)
    if own:
        properties[OURS] = {"options": own}
    return written, properties


# -- metadata ----------------------------------------------------------------------------------------------------------

_DESIGNER = ("position", "size")
_TAKEN = frozenset({*_DESIGNER, "elsa", "designer"})


def read_metadata(metadata: Any) -> Json:
    """Elsa's `designer.position` and `designer.size` are one level higher here; everything else is the same."""
    if not isinstance(metadata, Mapping):
        return {}
    ours: Json = {key: value for key, value in metadata.items() if key not in _TAKEN}
    designer = metadata.get("designer")
    if isinstance(designer, Mapping):
        ours.update({key: designer[key] for key in _DESIGNER if isinstance(designer.get(key), Mapping)})
    return ours


def write_metadata(metadata: Mapping[str, Any]) -> Json:
    written: Json = {key: msgspec.to_builtins(value) for key, value in metadata.items() if key not in _TAKEN}
    designer = {key: dict(metadata[key]) for key in _DESIGNER if isinstance(metadata.get(key), Mapping)}
    if designer:
        written["designer"] = designer
    return written
