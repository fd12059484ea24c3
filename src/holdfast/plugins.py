"""Plugins: load them, order them by their needs, and collect their registrations.

A plugin is an object with `name`, `needs` and `register(registration)`; see `holdfast.ports.Plugin`. Plugins come from
`Holdfast(plugins=[…])` and from installed packages with the entry point group `holdfast.plugins` (a plugin, or a
callable that returns one). Registrations take effect after all plugins have registered, so a conflict is always an
error at start that names both plugins.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from graphlib import CycleError, TopologicalSorter
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct, structs

from holdfast.errors import PluginError
from holdfast.model.values.registry import default_name
from holdfast.ports import (
    ActivationRule,
    ActivityProvider,
    ActivityType,
    CommitRule,
    EndpointPolicy,
    ExpressionEvaluator,
    IncidentRule,
    MiddlewarePlacement,
    Plugin,
    StoreFactory,
    TransportFactory,
)

GROUP = "holdfast.plugins"
T = TypeVar("T")
Task = Callable[[], Awaitable[None]]


class AddedSetting(Struct, frozen=True, kw_only=True):
    """A setting that a plugin adds to the table in `holdfast.settings`."""

    name: str
    type: type
    default: Any
    description: str


class RecurringTask(Struct, frozen=True, kw_only=True):
    name: str
    every: timedelta
    task: Task
    single_node: bool = False


# -- the result --------------------------------------------------------------------------------------------------------


class Registry(Struct, frozen=True, kw_only=True):
    """All registrations. Immutable; `refreshed` returns a new registry."""

    plugins: tuple[str, ...] = ()
    """Names in registration order."""
    activity_types: Mapping[tuple[str, int], ActivityType] = {}
    """By type and version."""
    providers: Mapping[str, ActivityProvider] = {}
    provided: Mapping[tuple[str, int], str] = {}
    """The provider of an activity type."""
    languages: Mapping[str, ExpressionEvaluator] = {}
    middleware: tuple[MiddlewarePlacement, ...] = ()
    services: Mapping[type, Any] = {}
    value_types: tuple[type, ...] = ()
    value_aliases: Mapping[str, type] = {}
    """Classes by further names that stored data may have for them."""
    commit_strategies: Mapping[str, CommitRule] = {}
    incident_strategies: Mapping[str, IncidentRule] = {}
    activation_strategies: Mapping[str, ActivationRule] = {}
    endpoint_policies: Mapping[str, EndpointPolicy] = {}
    settings: tuple[AddedSetting, ...] = ()
    start_tasks: tuple[Task, ...] = ()
    recurring_tasks: tuple[RecurringTask, ...] = ()
    stores: Mapping[str, StoreFactory] = {}
    transports: Mapping[str, TransportFactory] = {}
    studio_modules: Mapping[str, Path] = {}

    def latest(self) -> dict[str, ActivityType]:
        """The highest version of each activity type."""
        found: dict[str, ActivityType] = {}
        for (name, _), activity_type in sorted(self.activity_types.items(), key=lambda item: item[0]):
            found[name] = activity_type
        return found

    def refreshed(self) -> Registry:
        """Query every provider again. Types that a provider stops yielding stay for the instances that pinned them."""
        types, provided = dict(self.activity_types), dict(self.provided)
        for provider in self.providers.values():
            for activity_type in map(activity_type_of, provider.activity_types()):
                key = _key(activity_type)
                holder = provided.get(key, "a plugin") if key in types else provider.name
                if holder != provider.name:
                    raise PluginError(
                        f"The activity type '{key[0]}' (version {key[1]}) is registered twice: by {holder} and by the "
                        f"activity provider {provider.name}. Rename one of them."
                    )
                types[key], provided[key] = activity_type, provider.name
        return structs.replace(self, activity_types=MappingProxyType(types), provided=MappingProxyType(provided))


def activity_type_of(offered: Any) -> ActivityType:
    """The activity type of an `Activity` class or `@activity` function, or the given activity type."""
    activity_type: ActivityType = getattr(offered, "activity_type", offered)
    if not hasattr(activity_type, "descriptor") or not callable(getattr(activity_type, "compile", None)):
        raise PluginError(
            f"{offered!r} is not an activity: it has neither `activity_type` nor `descriptor` and `compile`. "
            "Derive it from Activity or put @activity on the function."
        )
    return activity_type


def _key(activity_type: ActivityType) -> tuple[str, int]:
    return activity_type.descriptor.type, activity_type.descriptor.version


# -- registration ------------------------------------------------------------------------------------------------------


class Registrar:
    """Implements `holdfast.ports.Registration`: collects registrations with the plugin that made them."""

    def __init__(self) -> None:
        self.plugins: list[str] = []
        self._claims: dict[str, dict[Any, tuple[str, Any]]] = {}
        self._provided: dict[tuple[str, int], str] = {}
        self._start_tasks: list[Task] = []

    def admit(self, plugin: Plugin) -> None:
        """Call `register` of the plugin. Errors name the plugin."""
        self.plugins.append(plugin.name)
        try:
            plugin.register(self)
        except PluginError:
            raise
        except Exception as error:
            raise PluginError(f"Plugin '{plugin.name}' failed while registering: {error!r}.") from error

    def activity(self, *types: Any) -> None:
        for offered in types:
            activity_type = activity_type_of(offered)
            name, version = _key(activity_type)
            self._claim("activity type", (name, version), activity_type, shown=f"{name} (version {version})")

    def activity_provider(self, provider: ActivityProvider) -> None:
        self._claim("activity provider", provider.name, provider)
        types = [activity_type_of(offered) for offered in provider.activity_types()]
        self.activity(*types)
        self._provided |= dict.fromkeys(map(_key, types), provider.name)

    def language(self, evaluator: ExpressionEvaluator) -> None:
        self._claim("language", evaluator.language, evaluator)

    def middleware(self, placement: MiddlewarePlacement) -> None:
        self._claim("middleware", placement.name, placement)

    def service(self, service_type: type[T], instance: T) -> None:
        if not getattr(service_type, "_is_protocol", False) and not isinstance(instance, service_type):
            raise PluginError(
                f"Plugin '{self._claimant}' registers {instance!r} as the service {service_type.__qualname__}, "
                "but it is not an instance of that type. Register an instance of that type."
            )
        self._claim("service", service_type, instance, shown=service_type.__qualname__)

    def value_type(self, *types: type) -> None:
        for value_type in types:
            self._claim("value type", default_name(value_type), value_type)

    def value_alias(self, name: str, value_type: type) -> None:
        self._claim("value type alias", name, value_type)

    def commit_strategy(self, name: str, strategy: CommitRule) -> None:
        self._claim("commit strategy", name, strategy)

    def incident_strategy(self, name: str, strategy: IncidentRule) -> None:
        self._claim("incident strategy", name, strategy)

    def activation_strategy(self, name: str, strategy: ActivationRule) -> None:
        self._claim("activation strategy", name, strategy)

    def endpoint_policy(self, name: str, policy: EndpointPolicy) -> None:
        self._claim("endpoint policy", name, policy)

    def setting(self, name: str, setting_type: type, default: Any, description: str) -> None:
        added = AddedSetting(name=name, type=setting_type, default=default, description=description)
        self._claim("setting", name, added)

    def on_start(self, task: Task) -> None:
        self._start_tasks.append(task)

    def recurring(self, name: str, every: Any, task: Task, *, single_node: bool = False) -> None:
        if not isinstance(every, timedelta) or every <= timedelta(0):
            raise PluginError(
                f"The recurring task '{name}' of plugin '{self._claimant}' has the interval {every!r}. "
                "Give a timedelta above zero."
            )
        self._claim("recurring task", name, RecurringTask(name=name, every=every, task=task, single_node=single_node))

    def store(self, scheme: str, factory: StoreFactory) -> None:
        self._claim("store", scheme, factory)

    def transport(self, scheme: str, factory: TransportFactory) -> None:
        self._claim("transport", scheme, factory)

    def studio(self, name: str, module: Path) -> None:
        if not re.fullmatch(r"[a-z0-9-]+", name) or not module.is_file():
            raise PluginError(
                f"The Studio module '{name}' of plugin '{self._claimant}' has the file {module}. "
                "Give a name of lower-case letters, digits and hyphens, and a file that exists."
            )
        self._claim("Studio module", name, module)

    def registry(self) -> Registry:
        return Registry(
            plugins=tuple(self.plugins),
            activity_types=self._table("activity type"),
            providers=self._table("activity provider"),
            provided=MappingProxyType(self._provided),
            languages=self._table("language"),
            middleware=tuple(self._table("middleware").values()),
            services=self._table("service"),
            value_types=tuple(self._table("value type").values()),
            value_aliases=self._table("value type alias"),
            commit_strategies=self._table("commit strategy"),
            incident_strategies=self._table("incident strategy"),
            activation_strategies=self._table("activation strategy"),
            endpoint_policies=self._table("endpoint policy"),
            settings=tuple(self._table("setting").values()),
            start_tasks=tuple(self._start_tasks),
            recurring_tasks=tuple(self._table("recurring task").values()),
            stores=self._table("store"),
            transports=self._table("transport"),
            studio_modules=self._table("Studio module"),
        )

    @property
    def _claimant(self) -> str:
        return self.plugins[-1]

    def _claim(self, kind: str, name: Any, value: Any, *, shown: str | None = None) -> None:
        taken = self._claims.setdefault(kind, {})
        holder, held = taken.setdefault(name, (self._claimant, value))
        if held is not value:
            raise PluginError(
                f"The {kind} '{shown or name}' is registered twice: by plugin '{holder}' and by plugin "
                f"'{self._claimant}'. Rename one of them or remove one plugin."
            )

    def _table(self, kind: str) -> Mapping[Any, Any]:
        return MappingProxyType({name: value for name, (_, value) in self._claims.get(kind, {}).items()})


# -- order -------------------------------------------------------------------------------------------------------------


def load_plugins(plugins: Iterable[Plugin] = (), *, entry_points: bool = True) -> Registry:
    """Register the given plugins and, by default, those of installed packages."""
    given = list(plugins)
    registrar = Registrar()
    for plugin in in_order([*given, *_installed(given)] if entry_points else given):
        registrar.admit(plugin)
    return registrar.registry()


def in_order(plugins: Sequence[Plugin]) -> list[Plugin]:
    """Order each plugin after those it needs, otherwise as given. Reports missing plugins, name conflicts and cycles."""
    by_name: dict[str, Plugin] = {}
    problems: list[str] = []
    for plugin in plugins:
        other = by_name.setdefault(plugin.name, plugin)
        if other is not plugin:
            problems.append(
                f"The plugin name '{plugin.name}' is registered twice: by {_origin(other)} and by {_origin(plugin)}. "
                "Remove one of them."
            )
    graph = {name: _needs(plugin) for name, plugin in by_name.items()}
    for name, needs in graph.items():
        problems.extend(
            f"Plugin '{name}' needs '{need}', which is missing. Install it or pass it: Holdfast(plugins=[…])."
            for need in needs
            if need not in by_name
        )
    if problems:
        raise PluginError("\n".join(problems))
    try:
        return [by_name[name] for name in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        # graphlib lists each plugin before the plugin that needs it.
        cycle = " needs ".join(f"'{name}'" for name in reversed(error.args[1]))
        raise PluginError(f"Plugins need each other in a cycle: {cycle}. Remove one of these needs.") from error


def _needs(plugin: Plugin) -> tuple[str, ...]:
    needs = getattr(plugin, "needs", ())
    if isinstance(needs, str):
        raise PluginError(f"Plugin '{plugin.name}': `needs` is a string. Write a tuple of names: needs = ('{needs}',).")
    return tuple(needs)


def _installed(given: Sequence[Plugin]) -> list[Plugin]:
    """Plugins of installed packages, except those that the caller passed as configured objects."""
    own = {(plugin.name, type(plugin)) for plugin in given}
    found = [_load(entry) for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name)]
    return [plugin for plugin in found if (plugin.name, type(plugin)) not in own]


def _load(entry: metadata.EntryPoint) -> Plugin:
    source = f"entry point '{entry.name}' ({entry.value})"
    try:
        offered = entry.load()
        plugin: Plugin = offered() if callable(offered) else offered
    except Exception as error:
        raise PluginError(f"The {source} cannot be loaded: {error!r}. Fix or uninstall its package.") from error
    if not isinstance(getattr(plugin, "name", None), str) or not callable(getattr(plugin, "register", None)):
        raise PluginError(f"The {source} gives {plugin!r}, which is not a plugin: it needs `name` and `register`.")
    return plugin


def _origin(plugin: Plugin) -> str:
    kind = type(plugin)
    return f"{kind.__module__}.{kind.__qualname__}"


__all__ = [
    "GROUP",
    "AddedSetting",
    "RecurringTask",
    "Registrar",
    "Registry",
    "activity_type_of",
    "in_order",
    "load_plugins",
]
