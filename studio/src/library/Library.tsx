/** Activity library: drag an activity onto the canvas, or press Enter to add it after the selection. */

import { useMemo, useState } from "react";
import { ActivityIcon } from "../catalogue/ActivityIcon";
import { findActivities, grouped } from "../catalogue/activitySearch";
import { defineMessages } from "../i18n/messages";
import type { ActivityDescriptor, Catalogue } from "../model/descriptors";
import { SearchField } from "../ui";
import "./library.css";

const t = defineMessages("library", {
  search: "Search activities",
  title: "Activities",
  none: "No activity matches “{query}”.",
  trigger: "Can start a workflow",
  states: "Drag a state onto the canvas, or use the plus button of a state to add the next one.",
  state: "State",
});

/** Data type of a drag from the library. */
export const DRAG_TYPE = "application/x-holdfast-activity";

/** Pseudo type: the library offers it inside a state machine. */
const STATE: ActivityDescriptor = {
  type: "State",
  display_name: t("state"),
  icon: "circle-dot",
  inputs: [],
  outputs: [],
  ports: [],
  outcomes: [],
};

export function Library({
  catalogue: known,
  isMachine,
  onAdd,
}: {
  catalogue: Catalogue;
  isMachine: boolean;
  onAdd: (type: string) => void;
}) {
  const [query, setQuery] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const found = useMemo(() => findActivities(known, query), [known, query]);
  const groups = useMemo(() => (query ? [["", found] as const] : grouped(found)), [found, query]);
  if (isMachine) {
    return (
      <aside className="hf-library" aria-label={t("title")}>
        <div className="hf-library-list" style={{ paddingTop: 8 }}>
          <Item item={STATE} onAdd={onAdd} />
          <p className="faint small hf-library-none">{t("states")}</p>
        </div>
      </aside>
    );
  }
  return (
    <aside className="hf-library" aria-label={t("title")}>
      <div className="hf-library-head">
        <SearchField
          label={t("search")}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            const [first] = found;
            if (event.key === "Enter" && first !== undefined) onAdd(first.type);
          }}
        />
      </div>
      <div className="hf-library-list">
        {groups.map(([category, items]) => (
          <section key={category}>
            {category ? (
              <button
                type="button"
                className="hf-library-group"
                aria-expanded={!closed.has(category)}
                onClick={() => setClosed(toggled(closed, category))}
              >
                {category}
              </button>
            ) : null}
            {closed.has(category) ? null : items.map((item) => <Item key={item.type} item={item} onAdd={onAdd} />)}
          </section>
        ))}
        {found.length === 0 ? <p className="faint small hf-library-none">{t("none", { query })}</p> : null}
      </div>
    </aside>
  );
}

function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

function Item({ item, onAdd }: { item: ActivityDescriptor; onAdd: (type: string) => void }) {
  return (
    <button
      type="button"
      draggable
      className="hf-library-item"
      title={item.description ?? undefined}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAG_TYPE, item.type);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => onAdd(item.type)}
    >
      <ActivityIcon name={item.icon ?? "box"} />
      <span className="grow clip">{item.display_name ?? item.type}</span>
      {item.trigger ? (
        <span className="hf-trigger-dot" role="img" aria-label={t("trigger")} title={t("trigger")} />
      ) : null}
    </button>
  );
}
