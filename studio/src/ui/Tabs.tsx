import { type KeyboardEvent, useRef } from "react";

export type Tab<Id extends string> = { id: Id; label: string; count?: number | undefined };

export function Tabs<Id extends string>({
  tabs,
  value,
  onChange,
  label,
}: {
  tabs: readonly Tab<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  label: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const arrows = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === value);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)]?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={arrows}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          aria-selected={tab.id === value}
          tabIndex={tab.id === value ? 0 : -1}
          onClick={() => onChange(tab.id)}
        >
          {tab.label}
          {tab.count !== undefined ? <span className="count">{tab.count}</span> : null}
        </button>
      ))}
    </div>
  );
}

export function Segments<Id extends string>({
  options,
  value,
  onChange,
  label,
}: {
  options: readonly { id: Id; label: string }[];
  value: Id;
  onChange: (id: Id) => void;
  label: string;
}) {
  return (
    <fieldset className="segments" aria-label={label}>
      {options.map((option) => (
        <button key={option.id} type="button" aria-pressed={option.id === value} onClick={() => onChange(option.id)}>
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
